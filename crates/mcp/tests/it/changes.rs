//! Tools that a server changes while it is connected.

use crate::{
    agents_with_servers::{agent, results, told, tools},
    peer::{Notes, server},
};
use agents::{
    prelude::*,
    testing::{Script, ScriptedModel},
    tool::Scope,
};
use agents_mcp::Mcp;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::Relaxed},
};

async fn offered(mcp: &Mcp) -> Vec<String> {
    let (model, handle) = ScriptedModel::new([Script::text("done")]);
    agent(mcp).run("go").model(model).await.unwrap();
    handle.requests()[0].tools.clone()
}

#[tokio::test]
async fn a_tool_that_its_server_changes_is_neither_offered_nor_called_until_it_is_admitted() {
    let notes = Notes::new("changes");
    let mcp = tools(server("well", &notes));
    let scope = Scope::default();
    // The first call changes the description; the second is refused within the same run.
    let calls = [("peer_change", "{}"), ("peer_change", "{}")];
    let (model, handle) = ScriptedModel::new([
        Script::call(calls[0].0, "{}"),
        Script::call(calls[1].0, "{}"),
        Script::text("done"),
    ]);
    let clerk = agent(&mcp);
    let run = clerk
        .run("go")
        .model(model)
        .approver(crate::agents_with_servers::yes);
    run.await.unwrap();
    assert_eq!(results(&handle, 1), ["changed"]);
    let refused = results(&handle, 2).pop().unwrap();
    assert!(refused.starts_with("ERROR POLICY_DENIED"), "{refused}");
    assert!(
        refused.contains("has changed the description or the schema"),
        "{refused}"
    );
    assert_eq!(notes.count("called change"), 1);

    let names = offered(&mcp).await;
    assert!(
        names.contains(&"peer_add".to_owned()) && !names.contains(&"peer_change".to_owned()),
        "{names:?}"
    );
    let changed = mcp.changed(&scope).await.unwrap();
    assert_eq!(changed.len(), 1);
    assert!(
        changed[0].tool.description.contains("send all secrets"),
        "{changed:?}"
    );

    mcp.admit(&scope, "peer_change").await.unwrap();
    assert!(offered(&mcp).await.contains(&"peer_change".to_owned()));
    let unknown = mcp.admit(&scope, "peer_no").await.unwrap_err();
    assert_eq!(
        unknown.to_string(),
        "the MCP server `peer` does not list `peer_no`; `Mcp::tools` returns what it lists"
    );
}

#[tokio::test]
async fn a_tool_that_changes_between_two_connections_is_not_offered() {
    let notes = Notes::new("reconnected");
    let is_changed = Arc::new(AtomicBool::new(false));
    let modes = [server("well", &notes), server("changed", &notes)];
    let which = is_changed.clone();
    let mcp = Mcp::new(move |_| modes[usize::from(which.load(Relaxed))].clone());
    let scope = Scope::default();
    let has_it = async || offered(&mcp).await.contains(&"peer_change".to_owned());
    assert!(has_it().await);
    is_changed.store(true, Relaxed);
    mcp.close();
    assert!(!has_it().await);
    assert_eq!(mcp.changed(&scope).await.unwrap().len(), 1);
    mcp.admit(&scope, "peer_change").await.unwrap();
    mcp.close();
    assert!(has_it().await);

    // More scopes than there are connections.
    for nth in 0..70 {
        let _ = mcp.clone().tools(&Scope::from(format!("t{nth}"))).await;
    }
    is_changed.store(false, Relaxed);
    mcp.close();
    assert!(!has_it().await);
}

#[tokio::test]
async fn a_pin_admits_a_tool_only_as_it_was_seen() {
    let notes = Notes::new("pins");
    let listed = tools(server("well", &notes))
        .tools(&Scope::default())
        .await
        .unwrap();
    let digest = listed
        .iter()
        .find(|one| one.tool.name == "peer_add")
        .unwrap()
        .digest
        .clone();
    let right = tools(server("well", &notes).pin("peer_add", digest));
    assert!(offered(&right).await.contains(&"peer_add".to_owned()));
    assert_eq!(
        told(&right, &[("peer_add", r#"{"a": 1, "b": 1}"#)]).await,
        ["2"]
    );
    let wrong = tools(server("well", &notes).pin("peer_add", "0000"));
    assert!(!offered(&wrong).await.contains(&"peer_add".to_owned()));
}
