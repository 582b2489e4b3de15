//! Agents with the tools of a server.

use crate::peer::{Notes, server};
use agents::{
    AgentBuilder,
    agent::ModelAgent,
    journal::MemoryJournal,
    prelude::*,
    run::{Approval, ApprovalRequest},
    testing::{Script, ScriptedModel},
    tool::{ToolPolicy, ToolSet},
};
use agents_mcp::{self as mcp, Mcp, Server};
use std::{
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};

pub(crate) fn agent(mcp: &Mcp) -> ModelAgent<'static, String, String> {
    AgentBuilder::new("clerk")
        .tools(ToolSet::new().with_all(mcp))
        .build()
}

/// Returns the tools of a server that is described in the same way for all scopes.
pub(crate) fn tools(server: Server) -> Mcp {
    Mcp::new(move |_| server.clone())
}

pub(crate) async fn yes(_: ApprovalRequest) -> Approval {
    Approval::Approve
}

/// Runs these calls with approval; returns what the model was told of each.
pub(crate) async fn told(mcp: &Mcp, calls: &[(&str, &str)]) -> Vec<String> {
    let (model, handle) =
        ScriptedModel::new([Script::calls(calls.iter().copied()), Script::text("done")]);
    let agent = agent(mcp);
    agent.run("go").model(model).approver(yes).await.unwrap();
    results(&handle, 1)
}

/// Returns what the model was told of each call, in its request of this number.
pub(crate) fn results(handle: &ScriptedModel, nth: usize) -> Vec<String> {
    let requests = handle.requests();
    let results = requests[nth].results();
    results.iter().map(|(_, text)| (*text).to_owned()).collect()
}

static NOTES: LazyLock<Notes> = LazyLock::new(|| Notes::new("static"));
static PEER: Mcp = mcp::lazy(|scope| match scope.tenant_id() {
    "elsewhere" => server("dead", &NOTES),
    _ => server("well", &NOTES).reads("peer_add"),
});

/// Counts letters.
#[agents::tool(none)]
async fn count(
    /// What to count.
    text: String,
) -> usize {
    text.len()
}

/// You are a clerk.
#[agent(tools = [Count, ..PEER])]
async fn clerk(request: String) -> String;

#[tokio::test]
async fn a_server_is_connected_at_its_first_use_once_for_each_scope() {
    assert_eq!(NOTES.lines(), [""; 0]);
    let script = || {
        let call = Script::call("peer_add", r#"{"a": 1, "b": "2"}"#);
        ScriptedModel::new([call, Script::text("3")])
    };
    for scope in ["acme", "acme", "ada"] {
        let (model, handle) = script();
        Clerk.run("1 + 2?").scope(scope).model(model).await.unwrap();
        let requests = handle.requests();
        assert_eq!(requests[0].tools[..3], ["count", "peer_add", "peer_change"]);
        assert_eq!(results(&handle, 1)[0], "3", "read leniently, and not gated");
    }
    assert_eq!((NOTES.count("started"), NOTES.count("called add")), (2, 3));
    // The list has two pages; it is read once for each connection.
    assert_eq!(NOTES.count("listed"), 4);

    let (model, handle) = script();
    let error = Clerk
        .run("1 + 2?")
        .scope("elsewhere")
        .model(model)
        .await
        .unwrap_err();
    assert!(
        format!("{error:#}").contains("no licence found"),
        "{error:#}"
    );
    assert_eq!(handle.count(), 0);
}

#[tokio::test]
async fn calls_need_approval_unless_the_user_says_otherwise() {
    let notes = Notes::new("approval");
    let mcp = tools(server("well", &notes));
    let calls = [("peer_write_note", r#"{"text": "hello"}"#)];
    let (model, handle) = ScriptedModel::new([Script::calls(calls), Script::text("done")]);
    let outcome = agent(&mcp).run("go").model(model).outcome().await.unwrap();
    let said = &results(&handle, 1)[0];
    assert!(said.starts_with("ERROR POLICY_DENIED"), "{said}");
    assert_eq!(notes.count("note hello"), 0);
    assert!(
        outcome
            .outputs
            .receipts()
            .all(|receipt| receipt.output.is_none())
    );

    assert_eq!(told(&mcp, &calls).await, ["noted"]);
    assert_eq!(notes.count("note hello"), 1);

    let trusting = AgentBuilder::<String, String>::new("clerk")
        .tools(ToolSet::new().with_all(&mcp))
        .policy(
            "peer_write_*",
            ToolPolicy::new().approval(agents::tool::NeedsApproval::Never),
        )
        .build();
    let (model, _) = ScriptedModel::new([Script::calls(calls), Script::text("done")]);
    trusting.run("go").model(model).await.unwrap();
    assert_eq!(notes.count("note hello"), 2);
}

#[tokio::test]
async fn t7_results_and_failures_are_those_of_the_server() {
    let notes = Notes::new("results");
    let mcp = tools(server("well", &notes));
    let said = told(
        &mcp,
        &[
            ("peer_weather", "{}"),
            ("peer_lie", "{}"),
            ("peer_fail", "{}"),
            ("peer_refuse", "{}"),
            ("peer_add", r#"{"a": 1}"#),
        ],
    )
    .await;
    assert_eq!(said[0], r#"{"degrees":21.5}"#);
    assert!(
        said[1].contains("does not follow its schema")
            && said[1].contains("whether it took effect is not known"),
        "{}",
        said[1]
    );
    let reads = tools(server("well", &notes).reads("peer_lie"));
    let lied = told(&reads, &[("peer_lie", "{}")]).await;
    assert!(
        lied[0].contains("does not follow its schema"),
        "{}",
        lied[0]
    );
    assert!(!lied[0].contains("took effect"), "{}", lied[0]);
    assert!(said[2].starts_with("ERROR PROVIDER_ERROR"), "{}", said[2]);
    assert!(said[2].contains("the disk is full"), "{}", said[2]);
    assert!(
        said[3].contains("VALIDATION_ERROR") && said[3].contains("this is not for you"),
        "{}",
        said[3]
    );
    assert!(said[4].contains("`b`"), "{}", said[4]);
    assert_eq!(
        notes.count("called add"),
        0,
        "arguments that do not fit are not sent"
    );
}

#[tokio::test]
async fn a_tool_whose_name_another_has_or_that_is_too_large_is_left_out() {
    let notes = Notes::new("names");
    let mcp = tools(server("well", &notes));
    let listed = mcp.tools(&"acme".into()).await.unwrap();
    let names: Vec<_> = listed.iter().map(|one| one.tool.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "peer_add",
            "peer_change",
            "peer_die",
            "peer_env",
            "peer_fail",
            "peer_flood",
            "peer_garble",
            "peer_hang",
            "peer_lie",
            "peer_refuse",
            "peer_weather",
            "peer_write_note",
        ]
    );
    let note = listed.last().unwrap();
    assert_eq!((&*note.own_name, note.digest.len()), ("write note", 64));
}

#[tokio::test]
async fn a_stored_run_goes_on_without_asking_for_the_list_and_calls_the_server_of_its_process() {
    let (notes, journal) = (Notes::new("stored"), MemoryJournal::new());
    let call = || Script::call("peer_write_note", r#"{"text": "paid"}"#);
    let mcp = tools(server("well", &notes));
    let (model, _) = ScriptedModel::new([call(), Script::text("done")]);
    let clerk = agent(&mcp);
    let run = clerk.run("go").model(model).journal(journal.clone());
    // Nobody decides yet, so the run is put down.
    let run = run.approver(|_: ApprovalRequest| std::future::pending::<Approval>());
    run.until_waiting().await.unwrap();
    assert_eq!((notes.count("started"), notes.count("listed")), (1, 2));

    // Another process: another connection, a server that has changed nothing.
    let asked = Arc::new(AtomicU32::new(0));
    let count = asked.clone();
    let approver = move |_: ApprovalRequest| {
        count.fetch_add(1, SeqCst);
        async { Approval::Approve }
    };
    let later = agent(&tools(server("well", &notes)));
    let (model, handle) = ScriptedModel::new([Script::text("done")]);
    let run = later
        .run("go")
        .model(model)
        .journal(journal)
        .approver(approver);
    assert_eq!(run.await.unwrap(), "done");
    assert_eq!((asked.load(SeqCst), notes.count("note paid")), (1, 1));
    assert_eq!(results(&handle, 0), ["noted"]);
}

#[test]
fn servers_end_with_their_runtime() {
    let notes = Notes::new("runtime");
    let mcp = tools(server("well", &notes));
    for _ in 0..4 {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let said = runtime.block_on(told(&mcp, &[("peer_add", r#"{"a": 1, "b": 1}"#)]));
        assert_eq!(said, ["2"]);
        drop(runtime);
    }
    assert_eq!(
        notes.count("started"),
        4,
        "each runtime has a connection of its own"
    );
}

#[tokio::test]
async fn a_server_inherits_no_environment_but_what_it_is_given() {
    let notes = Notes::new("env");
    let mcp = tools(
        server("well", &notes)
            .env("GIVEN", "yes")
            .inherit_env("CARGO_PKG_NAME"),
    );
    let said = told(&mcp, &[("peer_env", "{}")]).await;
    let names: Vec<_> = said[0].split(' ').collect();
    for name in ["GIVEN", "CARGO_PKG_NAME", "PATH"] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    assert!(
        !names.iter().any(|name| name.starts_with("CARGO_MANIFEST")),
        "{names:?}"
    );
    assert!(names.len() < 20, "{names:?}");
}

#[tokio::test]
async fn what_the_process_prints_besides_is_passed_over() {
    let notes = Notes::new("chatty");
    let mcp = tools(server("chatty", &notes));
    let said = told(&mcp, &[("peer_add", r#"{"a": 20, "b": 1}"#)]).await;
    assert_eq!(said, ["21"]);
}

#[tokio::test]
async fn a_cancelled_call_is_cancelled_at_the_server() {
    let notes = Notes::new("cancel");
    let mcp = tools(server("well", &notes).timeout(Duration::from_millis(300)));
    let said = told(&mcp, &[("peer_hang", "{}")]).await;
    assert!(
        said[0].contains("did not finish within 300ms"),
        "{}",
        said[0]
    );
    assert!(
        said[0].contains("whether it took effect is not known"),
        "{}",
        said[0]
    );
    notes.wait_for("cancelled").await;
}
