//! Executions in doubt: a person finds out whether they took effect.

use super::{Checked, ErrorKind, LONG, SHORT, claim, claimed, create, execution, refused, step};
use crate::{
    AuditFilter, AuditKind, Begin, Commit, End, ExecutionFilter, ExecutionState, Finish, Lease,
    Rest, RunStatus, Settle,
};

/// Stores a run with an execution in doubt and one that is not in doubt. Returns the lease on the run.
async fn doubtful(store: &Checked) -> Lease {
    create(store, "run-1").await;
    let lease = claimed(store, "w").await;
    let end = |id: &str, effect_unknown| Finish {
        id: id.to_owned(),
        output: None,
        error: Some("the process ended while it ran".to_owned()),
        effect_unknown,
        took: SHORT,
    };
    let began = Commit {
        began: vec![execution("e1", None, "d1"), execution("e2", None, "d2")],
        ..step("a", 0, 1)
    };
    store.commit(&lease, &began).await.unwrap();
    let ended = Commit {
        ended: vec![end("e1", true), end("e2", false)],
        ..step("b", 1, 2)
    };
    store.commit(&lease, &ended).await.unwrap();
    lease
}

fn verdict(execution: &str, by: &str) -> Settle {
    Settle {
        execution: execution.to_owned(),
        had_effect: true,
        by: by.to_owned(),
        proof: b"proof".to_vec(),
        detail: Some(b"why".to_vec()),
    }
}

async fn in_doubt(store: &Checked) -> Vec<String> {
    let filter = ExecutionFilter {
        in_doubt: true,
        ..ExecutionFilter::default()
    };
    let found = store.executions(&filter).await.unwrap();
    found.into_iter().map(|execution| execution.id).collect()
}

pub(super) async fn an_execution_in_doubt_is_settled_once(store: Checked) {
    doubtful(&store).await;
    assert_eq!(in_doubt(&store).await, ["e1"]);
    let found = store.settle(&verdict("e1", "grace")).await.unwrap();
    let settled = found.settled.clone().unwrap();
    assert_eq!(
        (settled.had_effect, &*settled.by, &*settled.proof),
        (true, "grace", &b"proof"[..])
    );
    assert_eq!(store.execution("e1").await.unwrap(), Some(found));
    assert!(in_doubt(&store).await.is_empty());
    let again = store.settle(&verdict("e1", "ada")).await;
    assert!(
        again
            .as_ref()
            .is_err_and(|error| error.to_string().contains("grace"))
    );
    refused(again, ErrorKind::Settled);
    let events = store.audit(&AuditFilter::default()).await.unwrap();
    let told: Vec<_> = events
        .iter()
        .filter(|event| event.kind == AuditKind::Settled)
        .collect();
    let [event] = &told[..] else {
        panic!("{told:?}")
    };
    assert_eq!(
        (event.actor.as_deref(), event.subject.as_deref()),
        (Some("grace"), Some("e1"))
    );
    assert!(event.row_digest.is_some() && event.detail.is_some());
}

pub(super) async fn a_verdict_makes_a_waiting_run_ready(store: Checked) {
    let lease = doubtful(&store).await;
    let waits = Rest::Waiting {
        wake_at: None,
        messages: 0,
    };
    store.release(&lease, &waits).await.unwrap();
    assert_eq!(store.claim(&claim("w", LONG)).await.unwrap(), None);
    store.settle(&verdict("e1", "grace")).await.unwrap();
    let run = store.run("run-1").await.unwrap().unwrap();
    assert_eq!((run.status, run.messages), (RunStatus::Ready, 1));
}

pub(super) async fn an_execution_that_is_not_in_doubt_is_not_settled(store: Checked) {
    doubtful(&store).await;
    refused(
        store.settle(&verdict("e2", "ada")).await,
        ErrorKind::Settled,
    );
    refused(
        store.settle(&verdict("e3", "ada")).await,
        ErrorKind::NotFound,
    );
}

pub(super) async fn an_execution_is_not_in_doubt_after_an_attempt_that_succeeded(store: Checked) {
    let lease = doubtful(&store).await;
    let found = async |id: &str| store.execution(id).await.unwrap().unwrap();
    let doubt = found("e1").await;
    assert!(doubt.is_in_doubt() && doubt.state() == ExecutionState::InDoubt);
    let again = Begin {
        call_id: doubt.call_id.clone(),
        attempt: doubt.attempt + 1,
        ..execution("e3", None, "d1")
    };
    let began = Commit {
        began: vec![again],
        ..step("c", 2, 3)
    };
    store.commit(&lease, &began).await.unwrap();
    assert_eq!(in_doubt(&store).await, ["e1"]);
    let succeeded = Finish {
        id: "e3".to_owned(),
        output: Some(b"output".to_vec()),
        error: None,
        effect_unknown: false,
        took: SHORT,
    };
    let ended = Commit {
        ended: vec![succeeded],
        ..step("d", 3, 4)
    };
    store.commit(&lease, &ended).await.unwrap();
    assert!(in_doubt(&store).await.is_empty());
    let superseded = found("e1").await;
    assert!(superseded.superseded && !superseded.is_in_doubt());
    assert_eq!(superseded.state(), ExecutionState::Failed);
    let settled = store.settle(&verdict("e1", "ada")).await;
    refused(settled, ErrorKind::Settled);
}

pub(super) async fn an_erased_execution_is_not_in_doubt(store: Checked) {
    let lease = doubtful(&store).await;
    store
        .release(&lease, &Rest::done(End::Answered))
        .await
        .unwrap();
    assert_eq!(in_doubt(&store).await, ["e1"]);
    store.erase("run-1", "ada").await.unwrap();
    assert!(in_doubt(&store).await.is_empty());
    let erased = store.execution("e1").await.unwrap().unwrap();
    assert!(!erased.is_in_doubt());
    let settled = store.settle(&verdict("e1", "ada")).await;
    refused(settled, ErrorKind::Settled);
}
