//! Denials by rules and approvers, and conditions that a resumed run has to keep.

use super::*;
use crate::world::{put_down_after, scripted_agent};
use ::agents::{
    journal::MemoryJournal,
    run::{Approval, ApprovalRequest},
    tool::{Effects, FnTool, ToolSpec},
};
use serde_json::json;

/// Returns a tool that writes, and the arguments that it ran with.
fn gated() -> (FnTool, Arc<Mutex<Vec<String>>>) {
    let ran: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = ran.clone();
    let schema = json!({"type": "object", "properties": {"to": {"type": "string"}}});
    let spec = ToolSpec::new("post", "Posts.", Effects::Writes, schema)
        .approval(::agents::tool::NeedsApproval::Always);
    let tool = FnTool::with_spec(spec, move |args, _| {
        seen.lock().expect("nobody panicked").push(args.to_string());
        async { Ok::<_, io::Error>("sent") }
    });
    (tool, ran)
}

// 52: a tool that needs no approval runs without an approver.
#[tokio::test]
async fn a_tool_that_asks_for_nobody_s_word_runs_where_there_is_nobody() {
    let seen = call(0, r#"{"n":1}"#, no_arms()).await;
    assert_eq!((seen.runs, seen.told().as_str()), (1, "did 1"));
    let asked = |kind: &EventKind| matches!(kind, EventKind::ApprovalRequested(_));
    assert_eq!(seen.count(asked), 0);
}

// 55: an approved call runs exactly as it was shown. An approver cannot edit a call; a requested revision goes to the
// model, which calls again.
#[tokio::test]
async fn a_call_to_be_revised_does_not_run_and_the_changed_one_is_asked_about_anew() {
    let (tool, ran) = gated();
    let (model, handle) = ScriptedModel::new([
        Script::call("post", r#"{"to":"all"}"#),
        Script::call("post", r#"{'to': 'ada',}"#),
        Script::text("end"),
    ]);
    let shown: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = shown.clone();
    let approver = move |request: ApprovalRequest| {
        let args = request.args.as_str().to_owned();
        let revise = args.contains("all");
        seen.lock().expect("nobody panicked").push(args);
        async move {
            match revise {
                true => Approval::Revise {
                    note: "not to everybody".into(),
                },
                false => Approval::Approve,
            }
        }
    };
    let agent: Plain = AgentBuilder::new("a").tool(tool).model(model).build();
    let outcome = agent.run("go").approver(approver).outcome().await.unwrap();
    assert_eq!(
        *shown.lock().unwrap(),
        [r#"{"to":"all"}"#, r#"{"to":"ada"}"#]
    );
    assert_eq!(*ran.lock().unwrap(), [r#"{"to":"ada"}"#]);
    let told = handle.requests()[1].last().to_owned();
    assert!(
        told.contains("not approved as it is: not to everybody; change the call"),
        "{told}"
    );
    let attempts: Vec<_> = outcome
        .outputs
        .receipts()
        .map(|receipt| receipt.attempts.len())
        .collect();
    assert_eq!(attempts, [0, 1]);
}

/// Returns the journal of a run with a call of `post`.
async fn posted() -> MemoryJournal {
    let journal = MemoryJournal::new();
    let script = [Script::call("post", r#"{"to":"ada"}"#), Script::text("end")];
    let agent = scripted_agent("a", script).tool(gated().0).build();
    let run = agent.run("go").approver(|_| async { Approval::Approve });
    run.journal(journal.clone()).await.unwrap();
    journal
}

// 56: a resumed run has the agent's current tools. A stored call of a removed tool does not run, and a call that now
// needs approval is asked about.
#[tokio::test]
async fn a_stored_call_runs_only_if_the_agent_may_make_it_now() {
    let journal = posted().await;
    let replied = put_down_after(&journal, "replied", 1);
    let (model, handle) = ScriptedModel::new([Script::text("end")]);
    let without: Plain = AgentBuilder::new("a").model(model).build();
    let run = without.run("go").journal(replied.journal());
    run.await.unwrap();
    let told = handle.requests()[0].last().to_owned();
    assert!(told.contains("there is no tool `post`"), "{told}");

    let (tool, ran) = gated();
    let (model, handle) = ScriptedModel::new([Script::text("end")]);
    let with: Plain = AgentBuilder::new("a").tool(tool).model(model).build();
    let run = with.run("go").journal(replied.journal());
    run.approver(|_| async { Approval::deny("not any more") })
        .await
        .unwrap();
    assert!(handle.requests()[0].last().contains("not any more"));
    assert!(ran.lock().unwrap().is_empty());
    // Nothing is asked or run after the call is settled.
    let settled = put_down_after(&journal, "settled", 1);
    let (tool, ran) = gated();
    let (model, handle) = ScriptedModel::new([Script::text("end")]);
    let with: Plain = AgentBuilder::new("a").tool(tool).model(model).build();
    let run = with.run("go").journal(settled.journal());
    run.await.unwrap();
    assert_eq!(handle.requests()[0].last(), "sent");
    assert!(ran.lock().unwrap().is_empty());
}
