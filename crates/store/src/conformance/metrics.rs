//! Figures about the work of a store.

use super::{Checked, SHORT, claim, claimed, create, execution, new_run, request, step};
use crate::{Commit, Finish, NewRun, Rest, RunStatus, StoreMetrics};

pub(super) async fn figures_tell_what_there_is_to_do(store: Checked) {
    assert_eq!(
        store.metrics(None).await.unwrap(),
        StoreMetrics::default(),
        "an empty store"
    );
    create(&store, "run-1").await;
    let lease = claimed(&store, "w").await;
    let commit = Commit {
        asked: vec![request("r1", "d1"), request("r2", "d2")],
        began: vec![execution("e1", None, "d1")],
        ..step("a", 0, 1)
    };
    store.commit(&lease, &commit).await.unwrap();
    let commit = Commit {
        ended: vec![Finish {
            id: "e1".to_owned(),
            output: None,
            error: None,
            effect_unknown: true,
            took: SHORT,
        }],
        ..step("b", 1, 2)
    };
    store.commit(&lease, &commit).await.unwrap();
    let waits = Rest::Waiting {
        wake_at: None,
        messages: 0,
    };
    store.release(&lease, &waits).await.unwrap();
    let none = store.metrics(None).await.unwrap();
    assert_eq!(none.oldest_claimable, None, "it waits for people");
    create(&store, "run-2").await;
    store.pause("run-2", "ada").await.unwrap();
    let of_another = NewRun {
        tenant: "other".to_owned(),
        ..new_run("run-3")
    };
    store.create(&of_another).await.unwrap();
    tokio::time::sleep(SHORT).await;
    let all = store.metrics(None).await.unwrap();
    let runs = [
        (RunStatus::Ready, 1),
        (RunStatus::Waiting, 1),
        (RunStatus::Held, 1),
    ];
    assert_eq!(all.runs, runs.into_iter().collect());
    assert_eq!((all.pending, all.in_doubt, all.paused), (2, 1, 1));
    assert!(all.oldest_pending >= Some(SHORT), "{all:?}");
    assert!(all.oldest_claimable >= Some(SHORT), "{all:?}");
    let own = store.metrics(Some("acme")).await.unwrap();
    assert_eq!(own.oldest_claimable, None);
    assert_eq!((own.pending, own.in_doubt), (2, 1));
    let other = store.metrics(Some("other")).await.unwrap();
    assert_eq!((other.pending, other.in_doubt, other.paused), (0, 0, 0));
    // A run whose worker is gone can be claimed.
    store.claim(&claim("w", SHORT)).await.unwrap().unwrap();
    assert_eq!(store.metrics(None).await.unwrap().oldest_claimable, None);
    tokio::time::sleep(SHORT * 2).await;
    let gone = store.metrics(None).await.unwrap();
    assert!(gone.oldest_claimable.is_some());
}
