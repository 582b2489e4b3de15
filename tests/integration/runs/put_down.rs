//! Runs that end when they wait for people, and go on from their journals.

use agents::{
    Agent, AgentBuilder, Effects, Error, ErrorKind,
    agent::{ModelAgent, Progress},
    journal::MemoryJournal,
    model::Message,
    run::{Approval, ApprovalRequest},
    testing::{Script, ScriptedModel},
    tool::{FnTool, NeedsApproval, Risk, ToolSpec},
};
use serde_json::{Value, json};
use std::{
    future::pending,
    sync::{Arc, Mutex},
    time::Duration,
};

type Ran = Arc<Mutex<Vec<Value>>>;

fn schema() -> Value {
    json!({"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]})
}

fn pay(ran: &Ran) -> FnTool {
    let spec = ToolSpec::new("pay", "Pays.", Effects::Writes, schema())
        .approval(NeedsApproval::Always)
        .risk(Risk::High)
        .effect_description("Pays {sum} euros, {nobody} asks.");
    let ran = ran.clone();
    FnTool::with_spec(spec, move |args: Value, _| {
        ran.lock().unwrap().push(args["sum"].clone());
        async move { Ok::<_, Error>(format!("paid {}", args["sum"])) }
    })
}

/// A tool that needs a while.
fn slow(ran: &Ran, effects: Effects) -> FnTool {
    let ran = ran.clone();
    let spec = ToolSpec::new("slow", "Takes a while.", effects, schema());
    FnTool::with_spec(spec, move |args: Value, _| {
        let ran = ran.clone();
        async move {
            tokio::time::sleep(Duration::from_millis(50)).await;
            ran.lock().unwrap().push(args["sum"].clone());
            Ok::<_, Error>("done")
        }
    })
}

fn clerk(model: ScriptedModel, tools: Vec<FnTool>) -> ModelAgent<'static, String, String> {
    let mut clerk = AgentBuilder::new("clerk").model(model);
    for tool in tools {
        clerk = clerk.tool(tool);
    }
    clerk.build()
}

fn calls(calls: &[(&str, &str)]) -> Script {
    Script::calls(calls.iter().copied())
}

async fn yes(_: ApprovalRequest) -> Approval {
    Approval::Approve
}

#[track_caller]
fn waiting<T>(progress: Result<Progress<T>, Error>) -> Vec<ApprovalRequest> {
    match progress.unwrap() {
        Progress::Waiting(requests) => requests,
        Progress::Done(outcome) => panic!("it is over: {:?}", outcome.result.err()),
    }
}

#[tokio::test]
async fn a_run_ends_when_it_waits_and_goes_on_with_the_decision() {
    let ran = Ran::default();
    let (model, handle) = ScriptedModel::new([
        calls(&[("pay", r#"{"sum": 1}"#), ("pay", r#"{"sum": 2}"#)]),
        Script::text("paid"),
    ]);
    let clerk = clerk(model, vec![pay(&ran)]);
    let journal = MemoryJournal::new();
    let run = || clerk.run("Pay.").journal(journal.clone());
    let requests = waiting(run().until_waiting().await);
    let sums: Vec<_> = requests
        .iter()
        .map(|request| request.args.as_str())
        .collect();
    assert_eq!(sums, [r#"{"sum": 1}"#, r#"{"sum": 2}"#]);
    let first = &requests[0];
    assert_eq!((first.risk, &*first.tool_version), (Risk::High, "1.0.0"));
    assert_eq!(
        first.effect_description.as_deref(),
        Some("Pays 1 euros, {nobody} asks.")
    );
    assert_ne!(first.id, requests[1].id);
    let again = waiting(run().until_waiting().await);
    assert_eq!(again, requests, "the requests and their ids stay the same");

    // One of the two is decided: it runs, and the other one waits.
    let second = requests[1].id.clone();
    let only_second = move |request: ApprovalRequest| {
        let is_second = request.id == second;
        async move {
            match is_second {
                true => Approval::Approve,
                false => pending().await,
            }
        }
    };
    let left = waiting(run().approver(only_second).until_waiting().await);
    assert_eq!(left, requests[..1]);
    assert_eq!(*ran.lock().unwrap(), [json!(2)]);
    assert_eq!(
        handle.requests().len(),
        1,
        "the model is asked when both are settled"
    );

    let Progress::Done(outcome) = run().approver(yes).until_waiting().await.unwrap() else {
        panic!("nothing waits any more");
    };
    assert_eq!(outcome.result.unwrap(), "paid");
    assert_eq!(*ran.lock().unwrap(), [json!(2), json!(1)]);
    let receipts: Vec<_> = outcome.outputs.receipts().collect();
    assert!(receipts.iter().all(|receipt| receipt.attempts.len() == 1));
    assert_eq!(handle.requests().len(), 2);
}

#[tokio::test]
async fn nothing_is_put_down_while_a_sibling_moves() {
    for effects in [Effects::Reads, Effects::Writes] {
        let ran = Ran::default();
        let (model, _) = ScriptedModel::new([
            calls(&[("pay", r#"{"sum": 1}"#), ("slow", r#"{"sum": 2}"#)]),
            Script::text("paid"),
        ]);
        let clerk = clerk(model, vec![pay(&ran), slow(&ran, effects)]);
        let journal = MemoryJournal::new();
        waiting(
            clerk
                .run("Pay.")
                .journal(journal.clone())
                .until_waiting()
                .await,
        );
        assert_eq!(
            *ran.lock().unwrap(),
            [json!(2)],
            "the sibling came to its end"
        );
        let run = clerk.run("Pay.").journal(journal).approver(yes);
        assert_eq!(run.await.unwrap(), "paid");
        assert_eq!(*ran.lock().unwrap(), [json!(2), json!(1)]);
    }
}

/// A tool whose body runs an agent that waits.
fn office(
    inner: Arc<ModelAgent<'static, String, String>>,
    effects: Effects,
    idempotent: bool,
) -> FnTool {
    let mut spec = ToolSpec::new("office", "Pays there.", effects, json!({"type": "object"}));
    if idempotent {
        spec = spec.idempotent();
    }
    FnTool::with_spec(spec, move |_: Value, _| {
        let inner = inner.clone();
        async move { inner.run("Pay.").await }
    })
}

#[tokio::test]
async fn a_tool_whose_body_waits_is_begun_again_and_that_is_no_other_attempt() {
    for (effects, idempotent) in [(Effects::Reads, false), (Effects::Writes, true)] {
        let ran = Ran::default();
        let (paying, _) = ScriptedModel::from_fn(|asked| {
            let is_paid = |said: &&Message| matches!(said, Message::Tool { content, .. } if content.starts_with("paid"));
            match asked.messages.iter().filter(is_paid).count() {
                5 => Script::text("all paid"),
                n => Script::call("pay", json!({ "sum": n }).to_string()),
            }
        });
        let inner = Arc::new(clerk(paying, vec![pay(&ran)]));
        let (model, _) = ScriptedModel::new([Script::call("office", "{}"), Script::text("done")]);
        let outer = clerk(model, vec![office(inner, effects, idempotent)]);
        let journal = MemoryJournal::new();
        // More often than a tool may end its process.
        for nth in 0..5 {
            let last = Mutex::new(nth);
            let one = move |_: ApprovalRequest| {
                let mut left = last.lock().unwrap();
                let may = *left > 0;
                *left = 0;
                async move {
                    match may {
                        true => Approval::Approve,
                        false => pending().await,
                    }
                }
            };
            let run = outer.run("go").journal(journal.clone()).approver(one);
            waiting(run.until_waiting().await);
        }
        let run = outer.run("go").journal(journal).approver(yes);
        let outcome = run.outcome().await.unwrap();
        assert_eq!(outcome.outputs.receipts().next().unwrap().attempts.len(), 1);
        assert_eq!(outcome.result.unwrap(), "done");
        assert_eq!(ran.lock().unwrap().len(), 5);
    }
}

#[tokio::test]
async fn a_tool_that_must_not_run_twice_waits_in_place() {
    let ran = Ran::default();
    let (paying, _) =
        ScriptedModel::new([Script::call("pay", r#"{"sum": 1}"#), Script::text("paid")]);
    let inner = Arc::new(clerk(paying, vec![pay(&ran)]));
    let (model, _) = ScriptedModel::new([Script::call("office", "{}"), Script::text("done")]);
    let outer = clerk(model, vec![office(inner, Effects::Writes, false)]);
    let later = |_: ApprovalRequest| async {
        tokio::time::sleep(Duration::from_millis(30)).await;
        Approval::Approve
    };
    let run = outer
        .run("go")
        .journal(MemoryJournal::new())
        .approver(later);
    let Progress::Done(outcome) = run.until_waiting().await.unwrap() else {
        panic!("the office would pay again");
    };
    assert_eq!(outcome.result.unwrap(), "done");
}

#[tokio::test]
async fn only_the_outermost_run_with_a_journal_can_be_put_down() {
    let (model, _) = ScriptedModel::new([]);
    let clerk = clerk(model, Vec::new());
    let error = clerk.run("go").until_waiting().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Build);
    assert!(error.to_string().contains("`.journal(..)`"), "{error}");
}

#[tokio::test]
async fn an_approver_may_change_the_arguments() {
    let ran = Ran::default();
    let (model, handle) =
        ScriptedModel::new([Script::call("pay", r#"{"sum": 900}"#), Script::text("paid")]);
    let clerk = clerk(model, vec![pay(&ran)]);
    let asked = Arc::new(Mutex::new(0));
    let count = asked.clone();
    let less = move |_: ApprovalRequest| {
        *count.lock().unwrap() += 1;
        async { Approval::approve_with(json!({"sum": 90})).by("Ada") }
    };
    let outcome = clerk.run("Pay.").approver(less).outcome().await.unwrap();
    assert_eq!(*ran.lock().unwrap(), [json!(90)]);
    assert_eq!(
        *asked.lock().unwrap(),
        1,
        "what Ada wrote is what she approved"
    );
    let receipt = outcome.outputs.receipts().next().unwrap().clone();
    assert_eq!(receipt.input.as_str(), r#"{"sum":90}"#);
    assert_eq!(receipt.attempts[0].approved_by.as_deref(), Some("Ada"));
    assert_eq!(
        receipt.repairs.to_string(),
        "`the approver` gave the arguments anew"
    );
    let told = format!("{:?}", handle.requests()[1].messages.last().unwrap());
    assert!(told.contains("paid 90"), "{told}");
}

#[tokio::test]
async fn changed_arguments_that_do_not_fit_run_nothing_and_the_model_is_told() {
    for (args, why) in [
        (json!({"sum": "ninety"}), "sum"),
        (json!({"sum": "90"}), "sum"),
        (json!([90]), "do not fit"),
    ] {
        let ran = Ran::default();
        let (model, handle) = ScriptedModel::new([
            Script::call("pay", r#"{"sum": 900}"#),
            Script::text("not paid"),
        ]);
        let clerk = clerk(model, vec![pay(&ran)]);
        let less = move |_: ApprovalRequest| {
            let args = args.clone();
            async move { Approval::approve_with(args).by("Ada") }
        };
        let outcome = clerk.run("Pay.").approver(less).outcome().await.unwrap();
        assert!(ran.lock().unwrap().is_empty());
        let receipt = outcome.outputs.receipts().next().unwrap();
        let error = receipt.error.as_ref().unwrap();
        assert_eq!(error.decided_by(), Some("Ada"));
        assert!(
            error.message.contains("the approver gave other arguments"),
            "{error:?}"
        );
        let told = format!("{:?}", handle.requests()[1].messages.last().unwrap());
        assert!(told.contains(why), "{told}");
    }
}
