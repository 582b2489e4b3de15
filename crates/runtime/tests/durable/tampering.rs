//! Rows that somebody without the keys has changed.

use crate::office::*;
use agents_runtime::{Approval, HeldKind, Progress};

#[tokio::test]
async fn a12_a_decision_that_was_written_by_hand_runs_nothing() {
    let files = Files::new("forged");
    let (office, run, _) = stored(&files).await;
    files.by_hand(
        "UPDATE agent_approvals SET status = 'approved', decided_by = 'grace', use_by = 9999999999999;
         UPDATE agent_runs SET status = 'ready'",
    );
    let _worker = Worker::start(&office.runtime);
    let why = held(&run).await;
    assert!(why.contains("written by hand"), "{why}");
    assert!(office.ran.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a12_a_proof_of_another_decision_proves_nothing() {
    let files = Files::new("replayed");
    let (office, run, request) = stored(&files).await;
    office.decide(&request, Approval::deny("no")).await.unwrap();
    files.by_hand("UPDATE agent_approvals SET status = 'approved', use_by = 9999999999999");
    let _worker = Worker::start(&office.runtime);
    let why = held(&run).await;
    assert!(why.contains("written by hand"), "{why}");
    assert!(office.ran.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a12_altered_removed_and_exchanged_entries_hold_the_run() {
    for (name, sql) in [
        (
            "altered",
            "UPDATE agent_run_commits SET entries = zeroblob(length(entries)) WHERE after_seq > 0",
        ),
        (
            "removed",
            "DELETE FROM agent_run_commits WHERE after_seq = (SELECT min(after_seq) FROM agent_run_commits WHERE after_seq > 0)",
        ),
        (
            "exchanged",
            "UPDATE agent_run_commits SET entries = (SELECT entries FROM agent_run_commits WHERE after_seq = 0)
             WHERE after_seq > 0",
        ),
        ("input", "UPDATE agent_runs SET data = zeroblob(length(data))"),
        ("key", "UPDATE agent_runs SET data_key = zeroblob(length(data_key))"),
    ] {
        let files = Files::new(name);
        let (office, run, _) = stored(&files).await;
        files.by_hand(&format!("{sql}; UPDATE agent_runs SET status = 'ready'"));
        let _worker = Worker::start(&office.runtime);
        held(&run).await;
        let kind = match run.progress().await.unwrap() {
            Progress::Held(held) => held.kind,
            other => panic!("{other:?}"),
        };
        assert_eq!(kind, HeldKind::Altered, "{name}");
        assert!(office.ran.lock().unwrap().is_empty(), "{name}");
    }
}
