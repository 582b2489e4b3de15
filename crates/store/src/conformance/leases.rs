//! Leases: one worker at a time, fencing, waits, limits.

use super::{
    Checked, ErrorKind, LONG, SHORT, WHILE, claim, claimed, create, new_run, refused, request, step,
};
use crate::{Answer, Claim, Commit, Decision, End, HeldKind, HeldReason, NewRun, Rest, RunStatus};
use std::time::Duration;

pub(super) async fn one_of_many_workers_gets_a_run(store: Checked) {
    for n in 0..20 {
        create(&store, &format!("run-{n:02}")).await;
    }
    let workers: Vec<_> = (0..8)
        .map(|n| {
            let store = store.clone();
            tokio::spawn(async move {
                let mut got = Vec::new();
                while let Some(lease) = store.claim(&claim(&format!("w{n}"), LONG)).await.unwrap() {
                    got.push(lease.run.id);
                }
                got
            })
        })
        .collect();
    let mut all = Vec::new();
    for worker in workers {
        all.extend(worker.await.unwrap());
    }
    all.sort();
    let expected: Vec<_> = (0..20).map(|n| format!("run-{n:02}")).collect();
    assert_eq!(all, expected, "each run once");
}

pub(super) async fn a_worker_gets_runs_of_its_agents_only(store: Checked) {
    create(&store, "run-1").await;
    let clerk = Claim {
        agents: vec!["clerk".to_owned(), "waiter".to_owned()],
        ..claim("w", LONG)
    };
    assert_eq!(store.claim(&clerk).await.unwrap(), None);
    let other = Claim {
        run: Some("run-2".to_owned()),
        ..claim("w", LONG)
    };
    assert_eq!(store.claim(&other).await.unwrap(), None);
    let lease = claimed(&store, "w").await;
    assert_eq!(
        (&*lease.run.id, lease.run.status),
        ("run-1", RunStatus::Running)
    );
}

pub(super) async fn the_highest_priority_goes_first_then_the_oldest(store: Checked) {
    for (id, priority) in [("run-1", 0), ("run-2", 5), ("run-3", 0), ("run-4", 5)] {
        let new = NewRun {
            priority,
            ..new_run(id)
        };
        store.create(&new).await.unwrap();
        tokio::time::sleep(Duration::from_millis(3)).await;
    }
    let mut order = Vec::new();
    while let Some(lease) = store.claim(&claim("w", LONG)).await.unwrap() {
        order.push(lease.run.id);
    }
    assert_eq!(order, ["run-2", "run-4", "run-1", "run-3"]);
}

pub(super) async fn a_run_whose_lease_has_ended_is_claimed_with_a_greater_fence(store: Checked) {
    create(&store, "run-1").await;
    let first = store.claim(&claim("w1", WHILE)).await.unwrap().unwrap();
    assert_eq!(store.claim(&claim("w2", LONG)).await.unwrap(), None);
    tokio::time::sleep(WHILE + SHORT).await;
    let second = claimed(&store, "w2").await;
    assert!(second.fence > first.fence);
    refused(store.renew(&first, LONG).await, ErrorKind::LeaseLost);
    refused(
        store.release(&first, &Rest::Ready).await,
        ErrorKind::LeaseLost,
    );
    store.renew(&second, LONG).await.unwrap();
}

pub(super) async fn a_late_commit_of_an_earlier_worker_is_refused(store: Checked) {
    create(&store, "run-1").await;
    let first = store.claim(&claim("w", SHORT)).await.unwrap().unwrap();
    store.commit(&first, &step("a", 0, 3)).await.unwrap();
    tokio::time::sleep(SHORT * 2).await;
    // Nobody else has it: the step is not lost.
    store.commit(&first, &step("b", 3, 4)).await.unwrap();
    let second = claimed(&store, "w").await;
    refused(
        store.commit(&first, &step("c", 4, 5)).await,
        ErrorKind::LeaseLost,
    );
    assert_eq!(store.commits("run-1", 0).await.unwrap().len(), 2);
    store.commit(&second, &step("d", 4, 5)).await.unwrap();
}

pub(super) async fn a_renewed_lease_is_not_claimed(store: Checked) {
    create(&store, "run-1").await;
    let lease = store.claim(&claim("w1", WHILE)).await.unwrap().unwrap();
    for _ in 0..4 {
        tokio::time::sleep(WHILE / 3).await;
        let renewed = store.renew(&lease, WHILE).await.unwrap();
        assert!(renewed.until >= lease.until);
        assert_eq!(store.claim(&claim("w2", LONG)).await.unwrap(), None);
    }
}

pub(super) async fn a_run_that_is_given_back_is_not_the_workers_any_more(store: Checked) {
    create(&store, "run-1").await;
    let lease = claimed(&store, "w").await;
    store.release(&lease, &Rest::Ready).await.unwrap();
    refused(
        store.commit(&lease, &step("a", 0, 1)).await,
        ErrorKind::LeaseLost,
    );
    refused(store.renew(&lease, LONG).await, ErrorKind::LeaseLost);
    claimed(&store, "w").await;
}

pub(super) async fn a_waiting_run_goes_on_at_its_time(store: Checked) {
    create(&store, "run-1").await;
    let lease = claimed(&store, "w").await;
    let now = store.now().await.unwrap().as_millis();
    let wake_at = agents_core::run::Timestamp::from_millis(now + 1_000);
    let waits = Rest::Waiting {
        wake_at: Some(wake_at),
        messages: 0,
    };
    store.release(&lease, &waits).await.unwrap();
    let run = store.run("run-1").await.unwrap().unwrap();
    assert_eq!(
        (run.status, run.wake_at),
        (RunStatus::Waiting, Some(wake_at))
    );
    assert_eq!(store.claim(&claim("w", LONG)).await.unwrap(), None);
    tokio::time::sleep(WHILE + SHORT).await;
    claimed(&store, "w").await;
}

pub(super) async fn a_message_that_came_while_the_run_was_put_down_makes_it_ready(store: Checked) {
    create(&store, "run-1").await;
    let lease = claimed(&store, "w").await;
    let asked = Commit {
        asked: vec![request("r1", "d1")],
        ..step("a", 0, 1)
    };
    store.commit(&lease, &asked).await.unwrap();
    let seen = store.renew(&lease, LONG).await.unwrap().messages;
    let decision = Decision {
        id: "approval-r1".to_owned(),
        tenant: None,
        by: "grace".to_owned(),
        answer: Answer::Deny("no".to_owned()),
        proof: b"proof".to_vec(),
    };
    store.decide(&decision).await.unwrap();
    let waits = Rest::Waiting {
        wake_at: None,
        messages: seen,
    };
    store.release(&lease, &waits).await.unwrap();
    claimed(&store, "w").await;
}

pub(super) async fn a_run_that_is_claimed_in_vain_is_held(store: Checked) {
    create(&store, "run-1").await;
    for n in 1..=3 {
        let lease = store.claim(&claim("w", Duration::ZERO)).await.unwrap();
        assert!(lease.is_some_and(|lease| !lease.alone), "claim {n}");
    }
    // It may have been another run that has ended all three workers.
    let busy = Claim {
        alone: false,
        ..claim("w", Duration::ZERO)
    };
    assert_eq!(store.claim(&busy).await.unwrap(), None);
    let lease = store.claim(&claim("w", Duration::ZERO)).await.unwrap();
    assert!(lease.unwrap().alone);
    assert_eq!(store.claim(&claim("w", LONG)).await.unwrap(), None);
    let run = store.run("run-1").await.unwrap().unwrap();
    assert_eq!(run.status, RunStatus::Held);
    assert_eq!(run.held.unwrap().kind, HeldKind::Poisoned);
    // A step that is stored is a reason to go on.
    store.unhold("run-1", "ada", None).await.unwrap();
    for n in 0..5 {
        let lease = store
            .claim(&claim("w", Duration::ZERO))
            .await
            .unwrap()
            .unwrap();
        store
            .commit(&lease, &step(&format!("s{n}"), n, n + 1))
            .await
            .unwrap();
    }
}

pub(super) async fn a_tenant_has_no_more_runs_under_way_than_allowed(store: Checked) {
    for n in 0..3 {
        create(&store, &format!("run-{n}")).await;
    }
    let other = NewRun {
        tenant: "other".to_owned(),
        priority: -1,
        ..new_run("other")
    };
    store.create(&other).await.unwrap();
    let bounded = Claim {
        per_tenant: 2,
        ..claim("w", LONG)
    };
    let mut got = Vec::new();
    while let Some(lease) = store.claim(&bounded).await.unwrap() {
        got.push(lease);
    }
    let tenants: Vec<_> = got.iter().map(|lease| &*lease.run.tenant).collect();
    assert_eq!(tenants, ["acme", "acme", "other"]);
    store
        .release(&got[0], &Rest::done(End::Answered))
        .await
        .unwrap();
    assert_eq!(
        store.claim(&bounded).await.unwrap().unwrap().run.id,
        "run-2"
    );
}

pub(super) async fn a_run_that_is_over_is_not_claimed(store: Checked) {
    create(&store, "run-1").await;
    let lease = claimed(&store, "w").await;
    store
        .release(&lease, &Rest::done(End::Answered))
        .await
        .unwrap();
    assert_eq!(store.claim(&claim("w", LONG)).await.unwrap(), None);
    let run = store.run("run-1").await.unwrap().unwrap();
    assert_eq!(
        (run.status, run.end),
        (RunStatus::Done, Some(End::Answered))
    );
    refused(
        store.commit(&lease, &step("a", 0, 1)).await,
        ErrorKind::LeaseLost,
    );
}

pub(super) async fn all_runs_that_are_not_over_can_be_held(store: Checked) {
    for id in ["run-1", "run-2", "run-3"] {
        create(&store, id).await;
    }
    let over = claimed(&store, "w").await;
    store
        .release(&over, &Rest::done(End::Answered))
        .await
        .unwrap();
    let lease = claimed(&store, "w").await;
    assert_eq!(store.hold_all("restored", "grace").await.unwrap(), 2);
    assert_eq!(store.hold_all("restored", "grace").await.unwrap(), 0);
    refused(
        store.commit(&lease, &step("a", 0, 1)).await,
        ErrorKind::LeaseLost,
    );
    assert!(store.claim(&claim("w", LONG)).await.unwrap().is_none());
    let held = store.run(&lease.run.id).await.unwrap().unwrap();
    let why = HeldReason::new(HeldKind::All, "restored").by("grace");
    assert_eq!(held.held, Some(why));
    store.unhold(&held.id, "grace", None).await.unwrap();
    assert_eq!(claimed(&store, "w").await.run.id, held.id);
}
