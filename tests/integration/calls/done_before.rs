//! A call that has written is not executed again without a question or a word.

use agents::{
    Agent, AgentBuilder, Code, Effects, Outcome,
    agent::ModelAgent,
    journal::MemoryJournal,
    run::{Approval, ApprovalReason, ApprovalRequest, EarlierOutcome, ToolEnvelope},
    testing::{Script, ScriptedModel},
    tool::{FnTool, ToolSpec},
};
use serde_json::{Value, json};
use std::{
    io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
};

/// Returns an agent that reserves seats with a tool of this specification, and the count of its executions.
fn desk(
    set: impl FnOnce(ToolSpec) -> ToolSpec,
) -> (ModelAgent<'static, String, String>, Arc<AtomicU32>) {
    let spec = ToolSpec::new(
        "reserve",
        "Reserves.",
        Effects::Writes,
        json!({"type": "object"}),
    );
    let count = Arc::<AtomicU32>::default();
    let ran = count.clone();
    let tool = FnTool::with_spec(set(spec), move |args: Value, _| {
        let nth = ran.fetch_add(1, SeqCst) + 1;
        async move {
            match args["seats"].as_u64() {
                Some(13) => Err(io::Error::other("unlucky")),
                _ => Ok(format!("reservation {nth}")),
            }
        }
    });
    let agent = AgentBuilder::<String, String>::new("desk")
        .tool(tool)
        .build();
    (agent, count)
}

fn reserve(seats: u32) -> Script {
    Script::call("reserve", json!({ "seats": seats }).to_string())
}

async fn run(
    agent: &ModelAgent<'_, String, String>,
    script: impl IntoIterator<Item = Script>,
) -> (Outcome<String>, ScriptedModel) {
    let (model, handle) = ScriptedModel::new(script);
    let outcome = agent
        .run("Reserve 3 seats.")
        .model(model)
        .outcome()
        .await
        .unwrap();
    (outcome, handle)
}

fn done() -> Script {
    Script::text("done")
}

#[tokio::test]
async fn a_write_that_has_succeeded_is_not_executed_again() {
    let (desk, count) = desk(|spec| spec);
    // Keys in another order and other white space make no other call.
    let again = Script::call("reserve", r#"{ "seats" : 3 }"#);
    let script = [reserve(3), again, reserve(3), reserve(3), done()];
    let (outcome, handle) = run(&desk, script).await;
    assert_eq!(count.load(SeqCst), 1);
    let receipts: Vec<_> = outcome.outputs.receipts().collect();
    for repeated in &receipts[1..] {
        let error = repeated.error.as_ref().unwrap();
        assert_eq!(error.code, Code::PolicyDenied);
        assert_eq!(error.reason.as_deref(), Some("REPEATED"));
        assert!(repeated.attempts.is_empty());
    }
    let told = handle.requests()[2].last().to_owned();
    assert!(told.contains("The result was: reservation 1"), "{told}");
    assert!(told.contains("say why in a sentence of your own"), "{told}");
}

#[tokio::test]
async fn two_equal_calls_of_one_reply_write_once() {
    let (desk, count) = desk(|spec| spec);
    let call = || ("reserve".to_owned(), r#"{"seats": 3}"#.to_owned());
    let (outcome, _) = run(&desk, [Script::calls([call(), call()]), done()]).await;
    assert_eq!(count.load(SeqCst), 1);
    assert_eq!(
        outcome.outputs.receipts().filter(|one| one.is_ok()).count(),
        1
    );
}

#[tokio::test]
async fn a_model_that_says_so_may_write_twice() {
    let (desk, count) = desk(|spec| spec);
    let said = |text: &str| {
        let call = r#"{"name": "reserve", "arguments": {"seats": 3}}"#;
        Script::text(format!("{text}\n<tool_call>{call}</tool_call>"))
    };
    // The first time with words tells nothing: the model has to know that the call is done.
    let script = [
        reserve(3),
        said("I reserve."),
        said("I reserve."),
        said("Bob wants three seats as well."),
        said("Bob wants three seats as well."),
        done(),
    ];
    let (outcome, _) = run(&desk, script).await;
    let ok: Vec<_> = outcome
        .outputs
        .receipts()
        .map(ToolEnvelope::is_ok)
        .collect();
    assert_eq!(ok, [true, false, false, true, false]);
    assert_eq!(count.load(SeqCst), 2);
}

#[tokio::test]
async fn other_arguments_failures_and_tools_that_say_so_are_no_repetition() {
    let (desk, count) = self::desk(|spec| spec);
    run(
        &desk,
        [reserve(3), reserve(4), reserve(13), reserve(13), done()],
    )
    .await;
    assert_eq!(count.load(SeqCst), 4);
    for set in [ToolSpec::idempotent, ToolSpec::polls] {
        let (desk, count) = self::desk(set);
        run(&desk, [reserve(3), reserve(3), done()]).await;
        assert_eq!(count.load(SeqCst), 2);
    }
}

#[tokio::test]
async fn an_approver_is_asked_whether_it_is_meant_twice() {
    for approves in [true, false] {
        let (desk, count) = desk(|spec| spec);
        let (model, _) = ScriptedModel::new([reserve(3), reserve(3), done()]);
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = asked.clone();
        let run = desk
            .run("Reserve")
            .model(model)
            .approver(move |request: ApprovalRequest| {
                seen.lock().unwrap().extend(request.reasons);
                async move {
                    match approves {
                        true => Approval::Approve,
                        false => Approval::deny("once is enough"),
                    }
                }
            });
        run.outcome().await.unwrap();
        let asked = asked.lock().unwrap();
        let [ApprovalReason::Repeated(earlier)] = &asked[..] else {
            panic!("{asked:?}");
        };
        assert_eq!(earlier.outcome, EarlierOutcome::Succeeded);
        assert_eq!(count.load(SeqCst), 1 + u32::from(approves));
    }
}

#[tokio::test]
async fn a_run_that_goes_on_knows_what_it_has_done() {
    let script = || [reserve(3), reserve(3), done()];
    let (desk, count) = desk(|spec| spec);
    let whole = MemoryJournal::new();
    let (model, _) = ScriptedModel::new(script());
    let run = desk.run("Reserve").model(model);
    run.journal(whole.clone()).await.unwrap();
    assert_eq!(count.load(SeqCst), 1);
    let mut known = 0;
    for at in crate::world::put_down(&whole) {
        let (model, _) = ScriptedModel::new(script().into_iter().skip(at.replies()));
        let run = desk.run("Reserve").model(model);
        let outcome = run.journal(at.journal()).outcome().await.unwrap();
        let receipts: Vec<_> = outcome.outputs.receipts().collect();
        // Cut off in the middle, the first call is in doubt, and nothing has succeeded.
        if receipts[0].is_ok() {
            let error = receipts[1].error.as_ref().unwrap();
            assert_eq!(error.reason.as_deref(), Some("REPEATED"), "{at}");
            known += 1;
        }
    }
    assert!(known > 3);
}
