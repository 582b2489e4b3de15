//! Failed calls, and calls that somebody decided about, on receipts, in the model's results and in timelines.

use crate::{
    bakery::{Bake, Baker, bakery, baking, run},
    world::{Buffer, Hang, Plain, recorded, scripted_agent, tells_the_same},
};
use agents::{
    Agent, AgentBuilder, Effects, Error, ErrorKind, Outcome, Severity, console,
    escalation::{Escalation, retry_with_model},
    recovery::*,
    run::{Approval, ApprovalRequest, ToolEnvelope},
    testing::{Script, ScriptedModel},
    timeline,
    tool::{self, FnTool, ToolSpec},
};
use serde_json::json;
use std::time::Duration;

fn receipts(outcome: &Outcome<String>) -> Vec<&ToolEnvelope> {
    outcome.outputs.receipts().collect()
}

fn reason(receipt: &ToolEnvelope) -> Option<&str> {
    receipt.error.as_ref()?.reason.as_deref()
}

const IN_DOUBT: &str = "it did not finish within 60s, and whether it took effect is not known: find that out before \
    calling it again";

#[tokio::test(start_paused = true)]
async fn of_what_writes_it_is_not_known_whether_it_did_when_its_time_is_over() {
    let (model, handle) = ScriptedModel::new([
        Script::call("bake", r#"{"what": "stone"}"#),
        Script::text("done"),
    ]);
    let outcome = Baker.run("bread").model(model).outcome().await.unwrap();
    let [receipt] = receipts(&outcome)[..] else {
        panic!()
    };
    assert_eq!(receipt.error.as_ref().unwrap().message, IN_DOUBT);
    let attempt = receipt.attempts[0].error.as_ref().unwrap();
    assert_eq!(attempt.message, IN_DOUBT);
    let requests = handle.requests();
    assert!(
        requests[1].last().ends_with(IN_DOUBT),
        "{}",
        requests[1].last()
    );

    // A tool that does not write may be called again.
    let agent: Plain = AgentBuilder::new("idle").tool(Hang).build();
    let (model, _) = ScriptedModel::new([Script::call("hang", "{}"), Script::text("done")]);
    let outcome = agent.run("x").model(model).outcome().await.unwrap();
    let error = receipts(&outcome)[0].error.as_ref().unwrap();
    assert_eq!(error.message, "it did not finish within 50ms");
}

#[tokio::test]
async fn a_throw_leaves_its_reason_on_the_receipt_of_its_call() {
    let (outcome, _) = run(
        Baker,
        vec![Script::calls(
            ["smoke", "rolls"].map(|what| ("bake", format!(r#"{{"what": "{what}"}}"#))),
        )],
    )
    .await;
    assert_eq!(
        outcome.result.as_ref().unwrap_err().kind(),
        ErrorKind::Thrown
    );
    let [thrown, other] = receipts(&outcome)[..] else {
        panic!()
    };
    assert_eq!(reason(thrown), Some("call the fire brigade"));
    assert_eq!(thrown.error.as_ref().unwrap().kind, "ExecutionError");
    assert_eq!(reason(other), None);

    // A failure of the tool itself counts as well.
    let bell = FnTool::new(
        "bell",
        "Rings.",
        Effects::None,
        json!({"type": "object"}),
        |_, _| async { Err::<(), _>(Error::thrown("there is a fire")) },
    );
    let agent: Plain = AgentBuilder::new("ringer").tool(bell).build();
    let (outcome, bundle) = run(agent, vec![Script::call("bell", "{}")]).await;
    assert_eq!(reason(receipts(&outcome)[0]), Some("there is a fire"));
    assert_eq!(reason(&bundle.receipts()[0]), Some("there is a fire"));
}

const AGAIN: &str = "make the call again, correctly, if it is still needed";
const NOT_AGAIN: &str = "the tool has run, and may have taken effect though it failed, so find that out before making \
    the call again";

/// Runs a baker that escalates unreadable arguments and gets another model; also returns the request to that model.
async fn taken_over(arguments: &str) -> (Outcome<String>, String) {
    let (stronger, handle) = ScriptedModel::new([Script::text("done")]);
    let baker = scripted_agent("baker", [Script::call("bake", arguments)])
        .tool(Bake)
        .on_error(|error, _| match error {
            CallError::Deserialization(..) => {
                let up: Decision<Deserialization> =
                    escalate("what is that?").severity(Severity::Low);
                Some(up.into())
            }
            _ => None,
        })
        .on_escalation(move |_: Escalation| retry_with_model(stronger.clone()))
        .build();
    let outcome = baker.run("bread").outcome().await.unwrap();
    let requests = handle.requests();
    (outcome, requests[0].last().to_owned())
}

#[tokio::test]
async fn who_takes_over_is_not_told_to_do_again_what_may_have_been_done() {
    let (outcome, said) = taken_over(r#"{"what": "flour"}"#).await;
    assert!(said.ends_with(NOT_AGAIN), "{said}");
    // No arm gave this text.
    let error = receipts(&outcome)[0].error.as_ref().unwrap();
    assert_eq!(error.hint(), None);
    let details = error.details.as_ref().unwrap();
    assert!(
        details["remark"].as_str().unwrap().ends_with(NOT_AGAIN),
        "{details}"
    );

    // A call that never ran had no effect.
    let (_, said) = taken_over(r#"{"what": 3, "count": "x"}"#).await;
    assert!(said.ends_with(AGAIN), "{said}");
}

#[tokio::test]
async fn an_approval_leaves_its_time_on_the_receipt_and_in_the_pictures() {
    let spec = ToolSpec::new("sell", "Sells.", Effects::Writes, json!({"type": "object"}));
    let sell = FnTool::with_spec(spec.approval(tool::NeedsApproval::Always), |_, _| async {
        Ok::<_, std::io::Error>("sold")
    });
    let agent: Plain = AgentBuilder::new("seller").tool(sell).build();
    let (model, _) = ScriptedModel::new([
        Script::calls([("sell", r#"{"nr":1}"#), ("sell", r#"{"nr":2}"#)]),
        Script::text("done"),
    ]);
    let slow = |_: ApprovalRequest| async {
        tokio::time::sleep(Duration::from_millis(30)).await;
        Approval::Approve
    };
    let run = agent.run("x").model(model).approver(slow);
    let (outcome, recorded) = recorded(run).await;
    for receipt in receipts(&outcome) {
        let took = receipt.attempts[0].approval_s.unwrap();
        assert!((0.025..10.0).contains(&took), "{took}");
        let line = console::receipt(receipt, false);
        assert!(line.contains("(approved after "), "{line}");
    }
    let drawn = timeline::of(&outcome).to_string();
    assert_eq!(drawn.matches("(approved after ").count(), 2, "{drawn}");

    tells_the_same(&recorded, &outcome);
}

#[tokio::test]
async fn both_pictures_show_what_was_escalated_and_who_settled_it() {
    for (trouble, said) in [
        ("flour", "escalated (LOW) → scripted: the flour is wet"),
        ("mouse", "escalated (MEDIUM) → shop: buy: a mouse is in"),
        ("crumbs", "escalated (HIGH) → shop: partial result: only"),
        ("gas", "escalated (CRITICAL) → the run ends: it smell"),
    ] {
        let (model, _) = ScriptedModel::new(baking(&[trouble]));
        let (paper, team) = (Buffer::default(), bakery());
        let run = team.run("bread").model(model);
        let run = run.on_event(timeline::live_to(paper.clone(), false));
        let outcome = run.outcome().await.unwrap();
        assert_eq!(outcome.partial, trouble == "crumbs");
        let live = paper.text();
        for drawn in [live, timeline::of(&outcome).to_string()] {
            let call = drawn.lines().find(|line| line.contains("✗ bake ")).unwrap();
            assert!(call.contains(said), "{drawn}");
            assert_eq!(drawn.matches("escalated").count(), 1, "{drawn}");
            let root = drawn.lines().find(|line| line.contains(" shop  ")).unwrap();
            assert_eq!(root.contains("(partial)"), outcome.partial, "{drawn}");
        }
    }
}
