//! Statuses of tools that change while agents are at work.

use super::sources::{Tracker, triage};
use crate::world::{Add, Plain, agent_with, counted, errors, spec, told};
use agents::{
    Agent, AgentBuilder, Code, Effects,
    journal::MemoryJournal,
    policy::read_only,
    run::{Approval, ApprovalRequest},
    testing::{Script, ScriptedModel},
    tool::{FnTool, IntoTool, NeedsApproval as Asks, Registry, Status, ToolStatuses, alias},
};
use std::io;

/// A tool that blocks tools when it is called.
fn blocker(statuses: &ToolStatuses, what: &'static str) -> FnTool {
    let statuses = statuses.clone();
    FnTool::with_spec(spec("leak", Effects::Reads), move |_, _| {
        statuses.block(what, "it was stolen");
        async { Ok::<_, io::Error>("leaked") }
    })
}

#[tokio::test]
async fn t5_a_blocked_tool_is_refused_while_agents_run() {
    let (pay, paid) = counted(spec("pay", Effects::Reads));
    let mut registry = Registry::new().with(pay).unwrap();
    let tools = registry.pick(["pay"]).unwrap();
    let statuses = registry.statuses();
    let (model, handle) = ScriptedModel::new([
        Script::call("pay", "{}"),
        Script::call("leak", "{}"),
        Script::call("pay", "{}"),
        Script::text("I cannot pay any more."),
    ]);
    let agent: Plain = AgentBuilder::new("payer")
        .tools(tools)
        .tool(blocker(&statuses, "pay@1.0.0"))
        .model(model.clone())
        .build();
    let outcome = agent
        .run("Pay.")
        .policy(statuses.clone())
        .outcome()
        .await
        .unwrap();

    assert_eq!(paid.load(std::sync::atomic::Ordering::SeqCst), 1);
    let refused = errors(&outcome.outputs)[2].clone().unwrap();
    assert_eq!(
        refused,
        (
            Code::PolicyDenied,
            "`pay@1.0.0` is blocked: it was stolen".into()
        )
    );
    assert!(told(&handle)[0].contains("it was stolen"));
    // The model is not offered the tool any more.
    let offered: Vec<_> = handle
        .requests()
        .iter()
        .map(|request| request.tools.clone())
        .collect();
    assert_eq!(offered[0], ["pay", "leak"]);
    assert_eq!(offered[1], ["pay", "leak"]);
    assert_eq!(
        (&offered[2], &offered[3]),
        (&vec!["leak".to_owned()], &vec!["leak".to_owned()])
    );

    // The registry itself says the same from now on, and without the policy an agent keeps its tool.
    registry.block("pay@1.0.0", "it was stolen").unwrap();
    assert!(
        registry
            .get("pay")
            .unwrap()
            .spec()
            .status
            .blocked()
            .is_some()
    );
    registry.activate("pay@1.0.0").unwrap();
    assert!(statuses.of(registry.get("pay").unwrap().spec()).is_active());
}

#[tokio::test]
async fn t5_a_tool_of_a_server_is_blocked_by_its_pattern() {
    let statuses = ToolStatuses::new();
    let tracker = Tracker::default();
    let agent = triage(&tracker)
        .tool(blocker(&statuses, "tracker_*"))
        .build();
    let (model, handle) = ScriptedModel::new([
        Script::call("tracker_get_acme", r#"{"id": 7}"#),
        Script::call("leak", "{}"),
        Script::call("tracker_get_acme", r#"{"id": 8}"#),
        Script::text("no"),
    ]);
    let run = agent.run("Look.").scope("acme").model(model);
    let outcome = run
        .policy(statuses)
        .policy(read_only())
        .outcome()
        .await
        .unwrap();
    let errors: Vec<_> = errors(&outcome.outputs)
        .into_iter()
        .map(|error| error.map(|error| error.0))
        .collect();
    assert_eq!(errors, [None, None, Some(Code::PolicyDenied)]);
    assert_eq!(handle.requests()[2].tools, ["add", "leak"]);
}

#[tokio::test]
async fn t5_a_block_holds_in_runs_within_and_is_lifted() {
    let statuses = ToolStatuses::new();
    let (inner, _) = ScriptedModel::from_fn(|asked| match asked.results().len() {
        0 => Script::call("add", r#"{"left": 1, "right": 2}"#),
        _ => Script::text(asked.last()),
    });
    let inner: std::sync::Arc<Plain> =
        std::sync::Arc::new(AgentBuilder::new("inner").tool(Add).model(inner).build());
    let asks = FnTool::with_spec(spec("ask", Effects::Reads), move |_, _| {
        let inner = inner.clone();
        // A run of its own.
        async move { inner.run("?").scope("acme").await.map_err(io::Error::other) }
    });
    let run = async |statuses: &ToolStatuses| {
        let (agent, handle) = agent_with(
            [asks.clone()],
            [Script::call("ask", "{}"), Script::text("done")],
        );
        agent.run("go").policy(statuses.clone()).await.unwrap();
        told(&handle)[0].clone()
    };
    assert_eq!(run(&statuses).await, "3");
    statuses.block("a*d", "no sums today");
    assert!(run(&statuses).await.contains("no sums today"));
    statuses.activate("add");
    assert_eq!(run(&statuses).await, "3", "the later one counts");
    statuses.block("add", "no");
    statuses.deprecate("add@1.0.0", "use a pencil");
    assert_eq!(run(&statuses).await, "3", "what is deprecated runs");
}

#[tokio::test]
async fn t5_a_call_that_was_approved_does_not_run_if_its_tool_was_blocked_since() {
    let (pay, paid) = counted(spec("pay", Effects::Reads).approval(Asks::Always));
    let statuses = ToolStatuses::new();
    let (agent, _) = agent_with([pay], [Script::call("pay", "{}"), Script::text("not paid")]);
    let blocking = statuses.clone();
    let run = agent
        .run("Pay.")
        .policy(statuses)
        .journal(MemoryJournal::new());
    let run = run.approver(move |_: ApprovalRequest| {
        blocking.block("pay", "it was stolen");
        async { Approval::Approve }
    });
    let outcome = run.outcome().await.unwrap();
    assert_eq!(paid.load(std::sync::atomic::Ordering::SeqCst), 0);
    assert_eq!(
        errors(&outcome.outputs)[0].clone().unwrap().0,
        Code::PolicyDenied
    );
}

#[test]
fn t5_statuses_are_for_names_versions_and_patterns() {
    let tool = FnTool::with_spec(
        spec("read", Effects::Reads).version("2.0.0"),
        |_, _| async { Ok::<_, io::Error>("") },
    );
    let tool = alias(tool, "read_old");
    let tool = tool.into_tool();
    for (pattern, is_meant) in [
        ("read", true),
        ("read_old", true),
        ("read@2.0.0", true),
        ("read@1.0.0", false),
        ("read@*", true),
        ("rea", false),
        ("*", true),
    ] {
        let statuses = ToolStatuses::new();
        statuses.block(pattern, "no");
        let status = statuses.of(tool.spec());
        assert_eq!(
            status
                == Status::Blocked {
                    reason: "no".into()
                },
            is_meant,
            "{pattern}"
        );
    }
    let statuses = ToolStatuses::new();
    statuses.block("*", "no");
    statuses.clone().activate("read");
    assert!(statuses.of(tool.spec()).is_active(), "clones share");
    assert!(format!("{statuses:?}").contains("read"));
}
