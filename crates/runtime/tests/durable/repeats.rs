//! Calls that have run before in their run: a person is asked, and sees that execution.

use crate::office::*;
use agents::{
    AgentBuilder, Effects, Error,
    model::{Reply, ToolCall},
    run::{ApprovalReason, EarlierOutcome},
    testing::{Script, ScriptedModel},
    tool::{FnTool, Risk, ToolSpec},
};
use agents_runtime::{AgentRef, Approval, Mode, Principal, Request, Runtime, SqliteStore};
use agents_store::ExecutionFilter;
use serde_json::{Value, json};

/// Returns a clerk who books, and does as the scripts say.
fn clerk(
    runtime: Runtime,
    ran: &Ran,
    scripts: impl IntoIterator<Item = Script>,
) -> (Runtime, AgentRef<String, String>) {
    let (model, _) = ScriptedModel::new(scripts);
    let runtime = runtime.model(model);
    let tool = |name: &'static str, set: fn(ToolSpec) -> ToolSpec| {
        let spec = ToolSpec::new(name, "Does it.", Effects::Writes, json!({"type": "object"}));
        let ran = ran.clone();
        FnTool::with_spec(set(spec), move |args: Value, _| {
            ran.lock().unwrap().push(json!([name, args["n"]]));
            async move {
                match args["n"].as_u64() {
                    Some(13) => Err(Error::new(agents::ErrorKind::Denied, "unlucky")),
                    _ => Ok("done"),
                }
            }
        })
    };
    let agent = AgentBuilder::<String, String>::new("clerk")
        .prompt("Book.")
        .tool(tool("book", |spec| spec))
        .tool(tool("set", ToolSpec::idempotent))
        .build();
    let clerk = runtime.agent(agent);
    (runtime, clerk)
}

fn book(n: u32) -> Script {
    Script::call("book", json!({ "n": n }).to_string())
}

/// Another approver, who reads the exact request in another process, is told of the denial. What people said is not in
/// the columns.
#[tokio::test(flavor = "multi_thread")]
async fn a_denied_call_that_comes_again_says_so() {
    on_each_store("denied-again", async |runtime, store| {
        let ran = Ran::default();
        let scripts = [book(1), book(1), book(1), Script::text("Not booked.")];
        let runtime = runtime.policy(agents::policy::confirm_writes());
        let (runtime, clerk) = clerk(runtime, &ran, scripts);
        let _worker = Worker::start(&runtime);
        let run = clerk.run("Book.").scope("acme").by(&ada());
        let run = run.start().await.unwrap();
        let bob = Principal::new("bob", "acme");
        let first = asked(&run, 1).await.remove(0);
        let deny = Approval::deny("no refund, fraud");
        runtime
            .approvals()
            .decide(&first.id, deny, &bob)
            .await
            .unwrap();
        let second = asked(&run, 1).await.remove(0);
        assert_ne!(first.id, second.id);
        let detail = runtime
            .approvals()
            .detail(&second.id, &grace())
            .await
            .unwrap();
        let reasons = &detail.request.reasons;
        let [ApprovalReason::Policy, ApprovalReason::DeniedBefore(denial)] = &reasons[..] else {
            panic!("{reasons:?}");
        };
        assert_eq!(
            (denial.by.as_deref(), &*denial.reason),
            (Some("bob"), "no refund, fraud")
        );
        let stored = store.approval(&second.id).await.unwrap().unwrap();
        let row = stored.reasons.unwrap();
        assert!(row.contains("denied_before"), "{row}");
        assert!(!row.contains("fraud") && !row.contains("bob"), "{row}");
        let deny = Approval::deny("still no");
        runtime
            .approvals()
            .decide(&second.id, deny, &grace())
            .await
            .unwrap();
        // The last denial counts.
        let third = asked(&run, 1).await.remove(0);
        let detail = runtime.approvals().detail(&third.id, &bob).await.unwrap();
        let told = detail.request.reasons.last().unwrap().to_string();
        assert!(told.contains("still no (by grace"), "{told}");
        runtime
            .approvals()
            .decide(&third.id, Approval::deny("no"), &bob)
            .await
            .unwrap();
        done(&run).await.result.unwrap();
        assert!(ran.lock().unwrap().is_empty());
    })
    .await;
}

fn earlier(request: &Request) -> &agents::run::EarlierExecution {
    match &request.reasons[..] {
        [ApprovalReason::Repeated(earlier)] => earlier,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_call_again_asks_and_shows_the_execution() {
    on_each_store("repeats", async |runtime, store| {
        let ran = Ran::default();
        let set = || Script::call("set", r#"{"n": 1}"#);
        // Keys in another order and other white space make no other call; another number does.
        let again = Script::call("book", r#"{ "n" :1 }"#);
        let scripts = [
            book(1),
            book(2),
            set(),
            set(),
            again,
            Script::text("Booked."),
        ];
        let (runtime, clerk) = clerk(runtime, &ran, scripts);
        let _worker = Worker::start(&runtime);
        // No mode lifts it.
        let operator = Principal::operator();
        runtime
            .modes()
            .set(None, Mode::Off, &operator)
            .await
            .unwrap();
        let run = clerk.run("Book.").scope("acme").by(&ada());
        let run = run.start().await.unwrap();
        let request = asked(&run, 1).await.remove(0);
        assert_eq!(
            ran.lock().unwrap().len(),
            4,
            "the others are not asked about"
        );
        let filter = ExecutionFilter {
            run: Some(run.id().to_owned()),
            tool_name: Some("book".to_owned()),
            ..ExecutionFilter::default()
        };
        let executions = store.executions(&filter).await.unwrap();
        let shown = earlier(&request);
        assert_eq!(shown.id, executions[0].id);
        assert_eq!(shown.outcome, EarlierOutcome::Succeeded);
        assert!(shown.at.is_some());
        let text = request.reasons[0].to_string();
        assert!(
            text.contains(&shown.id) && text.contains("succeeded"),
            "{text}"
        );
        let detail = runtime
            .approvals()
            .detail(&request.id, &grace())
            .await
            .unwrap();
        assert_eq!(detail.request.reasons, request.reasons);
        runtime
            .approvals()
            .decide(&request.id, Approval::Approve, &grace())
            .await
            .unwrap();
        done(&run).await.result.unwrap();
        assert_eq!(ran.lock().unwrap().len(), 5);
    })
    .await;
}

#[tokio::test]
async fn of_equal_calls_of_one_reply_the_second_asks() {
    let ran = Ran::default();
    let calls = [("a", 1), ("b", 1), ("c", 2)].map(|(id, n)| ToolCall {
        id: id.to_owned(),
        name: "book".to_owned(),
        arguments: json!({ "n": n }).to_string(),
    });
    let reply = Reply {
        calls: calls.into(),
        ..Reply::default()
    };
    let scripts = [Script::Reply(reply), Script::text("Booked.")];
    let store = SqliteStore::in_memory().await.unwrap();
    let (runtime, clerk) = clerk(Runtime::open(store), &ran, scripts);
    let _worker = Worker::start(&runtime);
    let run = clerk.run("Book.").scope("acme").start().await.unwrap();
    let request = asked(&run, 1).await.remove(0);
    assert_eq!(request.args_summary, "n: 1");
    assert_eq!(ran.lock().unwrap().len(), 2);
    earlier(&request);
    let deny = Approval::deny("once is enough");
    runtime
        .approvals()
        .decide(&request.id, deny, &grace())
        .await
        .unwrap();
    done(&run).await.result.unwrap();
    assert_eq!(ran.lock().unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_call_counts_and_so_does_one_of_an_earlier_process() {
    let files = Files::new("repeats");
    let ran = Ran::default();
    let open = async || SqliteStore::open(files.db()).await.unwrap();
    let (runtime, payer) = clerk(
        Runtime::open(open().await),
        &ran,
        [book(13), book(1), book(13)],
    );
    let worker = Worker::start(&runtime);
    let run = payer.run("Book.").scope("acme").start().await.unwrap();
    let request = asked(&run, 1).await.remove(0);
    assert_eq!(earlier(&request).outcome, EarlierOutcome::Failed);
    worker.stop().await;
    let no = Approval::deny("not again");
    runtime
        .approvals()
        .decide(&request.id, no, &grace())
        .await
        .unwrap();
    // Another process goes on, and knows what the first one has done.
    let (later, _) = clerk(
        Runtime::open(open().await),
        &ran,
        [book(1), Script::text("Booked.")],
    );
    let _worker = Worker::start(&later);
    let request = asked(&run, 1).await.remove(0);
    assert_eq!(earlier(&request).outcome, EarlierOutcome::Succeeded);
    assert_eq!(request.risk_level, Risk::Medium);
    later
        .approvals()
        .decide(&request.id, Approval::Approve, &grace())
        .await
        .unwrap();
    done(&run).await.result.unwrap();
    let ran = ran.lock().unwrap().clone();
    assert_eq!(
        ran,
        [json!(["book", 13]), json!(["book", 1]), json!(["book", 1])]
    );
}
