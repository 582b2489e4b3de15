//! Journals that a later version has written.

use super::*;
use crate::{HeldKind, HeldReason, Progress, Runtime, SqliteStore};
use agents_core::{
    AgentBuilder,
    testing::{Script, ScriptedModel},
};
use agents_store::{Claim, Commit, Rest, Store};
use std::time::Duration;

/// Goes on with a run that has these entries, and returns the reason why it is held.
async fn held_with(entries: &[u8]) -> HeldReason {
    let store = SqliteStore::in_memory().await.unwrap();
    let (model, _) = ScriptedModel::new([Script::text("Done.")]);
    let runtime = Runtime::open(store.clone()).model(model);
    let clerk = AgentBuilder::<String, String>::new("clerk").build();
    let run = runtime.agent(clerk).run("Go.").start().await.unwrap();
    let claim = Claim {
        worker: "later".to_owned(),
        agents: vec!["clerk".to_owned()],
        run: None,
        time: Duration::from_secs(60),
        per_tenant: 0,
        most_claims: 3,
        alone: true,
    };
    let lease = store.claim(&claim).await.unwrap().unwrap();
    let keys = runtime.as_client().keys().unwrap();
    let key = key_of(&lease.run, &*keys).unwrap();
    let commit = Commit {
        id: "later".to_owned(),
        last: 1,
        entries: key.seal(&entries_after(0), entries).unwrap(),
        ..Commit::default()
    };
    store.commit(&lease, &commit).await.unwrap();
    store.release(&lease, &Rest::Ready).await.unwrap();
    assert!(runtime.step(run.id()).await.unwrap());
    match run.progress().await.unwrap() {
        Progress::Held(held) => held,
        other => panic!("the run is not held: {other:?}"),
    }
}

#[tokio::test]
async fn a_run_whose_entries_have_a_later_format_is_held_and_says_so() {
    let held = held_with(&[2, 0, 0]).await;
    assert!(held.why.contains("use the later program"), "{held}");
    assert_eq!(held.kind, HeldKind::Incompatible);
}

#[tokio::test]
async fn a_run_with_a_fact_of_a_later_version_is_held_and_says_so() {
    let why = held_with(br#"[[1,5,0,0,{"teleported":{"to":"mars"}}]]"#)
        .await
        .why;
    assert!(why.contains("teleported"), "{why}");
    let rules = br#"[[1,5,0,0,{"started":{"rules":99,"run_id":"r","agent":"clerk","input":"Go.","terms":{"scope":{"org_id":""},"limited":false,"answer":"","max_output_bytes":1},"began":"2026-11-23T18:46:15.979Z"}}]]"#;
    let why = held_with(rules).await.why;
    assert!(why.contains("99"), "{why}");
}
