//! Pauses: a run is put down, and goes on when it is released.

use super::{Checked, ErrorKind, LONG, SHORT, claim, claimed, create, refused, step};
use crate::{AuditFilter, AuditKind, End, HeldKind, HeldReason, Rest, Run, RunStatus};

async fn state(store: &Checked) -> Run {
    store.run("run-1").await.unwrap().unwrap()
}

fn is_paused_by_ada(held: Option<HeldReason>) {
    let held = held.unwrap();
    assert_eq!(held.kind, HeldKind::Paused);
    assert_eq!(held.by.as_deref(), Some("ada"));
    assert!(held.why.contains("paused by `ada`"), "{held}");
}

async fn kinds(store: &Checked) -> Vec<AuditKind> {
    let events = store.audit(&AuditFilter::default()).await.unwrap();
    events.into_iter().map(|event| event.kind).collect()
}

pub(super) async fn a_run_that_nobody_has_is_held_as_paused(store: Checked) {
    create(&store, "run-1").await;
    let paused = store.pause("run-1", "ada").await.unwrap();
    assert_eq!(
        (paused.status, paused.paused_by.as_deref()),
        (RunStatus::Held, Some("ada"))
    );
    is_paused_by_ada(paused.held);
    assert_eq!(store.claim(&claim("w", LONG)).await.unwrap(), None);
    let again = store.pause("run-1", "grace").await.unwrap();
    assert_eq!(
        again.paused_by.as_deref(),
        Some("ada"),
        "the first one counts"
    );
    let released = store.unhold("run-1", "grace", None).await.unwrap();
    assert_eq!(
        (released.status, released.paused_by),
        (RunStatus::Ready, None)
    );
    claimed(&store, "w").await;
    assert_eq!(
        kinds(&store).await,
        [
            AuditKind::Started,
            AuditKind::Paused,
            AuditKind::Held,
            AuditKind::Released
        ]
    );
}

pub(super) async fn a_run_under_way_is_held_when_its_worker_gives_it_back(store: Checked) {
    create(&store, "run-1").await;
    let waits = Rest::Waiting {
        wake_at: None,
        messages: 0,
    };
    for rest in [Rest::Ready, waits] {
        let lease = claimed(&store, "w").await;
        let paused = store.pause("run-1", "ada").await.unwrap();
        assert_eq!(paused.status, RunStatus::Running);
        assert!(paused.messages > lease.run.messages, "the worker is told");
        let seq = paused.last_seq;
        store
            .commit(&lease, &step(&format!("s{seq}"), seq, seq + 1))
            .await
            .unwrap();
        store.release(&lease, &rest).await.unwrap();
        let held = state(&store).await;
        assert_eq!(held.status, RunStatus::Held);
        is_paused_by_ada(held.held);
        store.unhold("run-1", "ada", None).await.unwrap();
    }
    let lease = claimed(&store, "w").await;
    store.pause("run-1", "ada").await.unwrap();
    let done = Rest::done(End::Answered);
    store.release(&lease, &done).await.unwrap();
    assert_eq!(
        state(&store).await.status,
        RunStatus::Done,
        "it was over first"
    );
}

pub(super) async fn a_paused_run_whose_worker_is_gone_is_held(store: Checked) {
    create(&store, "run-1").await;
    let lease = store.claim(&claim("w", SHORT)).await.unwrap().unwrap();
    store.pause("run-1", "ada").await.unwrap();
    tokio::time::sleep(SHORT * 2).await;
    assert_eq!(store.claim(&claim("w2", LONG)).await.unwrap(), None);
    let held = state(&store).await;
    assert_eq!(held.status, RunStatus::Held);
    is_paused_by_ada(held.held);
    let late = store.commit(&lease, &step("a", 0, 1)).await;
    refused(late, ErrorKind::LeaseLost);
    store.unhold("run-1", "ada", None).await.unwrap();
    // Now the worker is gone before the pause.
    let lease = store.claim(&claim("w", SHORT)).await.unwrap().unwrap();
    tokio::time::sleep(SHORT * 2).await;
    let held = store.pause("run-1", "ada").await.unwrap();
    assert_eq!(held.status, RunStatus::Held);
    let late = store.commit(&lease, &step("a", 0, 1)).await;
    refused(late, ErrorKind::LeaseLost);
}

pub(super) async fn a_release_takes_a_pause_back(store: Checked) {
    create(&store, "run-1").await;
    let lease = claimed(&store, "w").await;
    store.pause("run-1", "ada").await.unwrap();
    let released = store.unhold("run-1", "ada", None).await.unwrap();
    assert_eq!(
        (released.status, released.paused_by),
        (RunStatus::Running, None)
    );
    store.release(&lease, &Rest::Ready).await.unwrap();
    assert_eq!(state(&store).await.status, RunStatus::Ready);
}

pub(super) async fn a_run_that_is_over_is_not_paused(store: Checked) {
    create(&store, "run-1").await;
    let lease = claimed(&store, "w").await;
    let done = Rest::done(End::Answered);
    store.release(&lease, &done).await.unwrap();
    refused(store.pause("run-1", "ada").await, ErrorKind::Over);
    refused(store.pause("run-2", "ada").await, ErrorKind::NotFound);
}

pub(super) async fn a_paused_run_can_be_cancelled(store: Checked) {
    create(&store, "run-1").await;
    store.pause("run-1", "ada").await.unwrap();
    let cancelled = store.cancel("run-1", "grace").await.unwrap();
    assert_eq!(
        (cancelled.status, cancelled.paused_by),
        (RunStatus::Ready, None)
    );
    let lease = claimed(&store, "w").await;
    store.release(&lease, &Rest::Ready).await.unwrap();
    assert_eq!(
        state(&store).await.status,
        RunStatus::Ready,
        "a worker ends it"
    );
}
