//! Commits: whole, in order, once.

use super::{Checked, ErrorKind, claimed, create, execution, refused, request, step};
use crate::{ApprovalFilter, Commit};

pub(super) async fn commits_are_returned_in_order_and_from_a_number(store: Checked) {
    create(&store, "run-1").await;
    let lease = claimed(&store, "w").await;
    for (id, after, last) in [("a", 0, 3), ("b", 3, 4), ("c", 4, 9)] {
        store.commit(&lease, &step(id, after, last)).await.unwrap();
    }
    let all = store.commits("run-1", 0).await.unwrap();
    let bounds: Vec<_> = all.iter().map(|one| (one.after, one.last)).collect();
    assert_eq!(bounds, [(0, 3), (3, 4), (4, 9)]);
    assert_eq!(all[2].entries, b"entries 4 to 9");
    assert!(all.is_sorted_by_key(|one| one.at));
    let rest = store.commits("run-1", 4).await.unwrap();
    assert_eq!(rest, all[2..]);
    assert_eq!(store.run("run-1").await.unwrap().unwrap().last_seq, 9);
}

pub(super) async fn a_commit_behind_another_entry_is_refused(store: Checked) {
    create(&store, "run-1").await;
    let lease = claimed(&store, "w").await;
    store.commit(&lease, &step("a", 0, 3)).await.unwrap();
    for (id, after) in [("b", 0), ("c", 2), ("d", 4)] {
        refused(
            store.commit(&lease, &step(id, after, after + 1)).await,
            ErrorKind::Conflict,
        );
    }
    assert_eq!(store.commits("run-1", 0).await.unwrap().len(), 1);
}

pub(super) async fn a_commit_that_is_repeated_is_stored_once(store: Checked) {
    create(&store, "run-1").await;
    let lease = claimed(&store, "w").await;
    let commit = Commit {
        asked: vec![request("r1", "d1")],
        ..step("a", 0, 3)
    };
    // The acknowledgement of the first one was lost.
    store.commit(&lease, &commit).await.unwrap();
    store.commit(&lease, &commit).await.unwrap();
    assert_eq!(store.commits("run-1", 0).await.unwrap().len(), 1);
    let asked = store.approvals(&ApprovalFilter::default()).await.unwrap();
    assert_eq!(asked.len(), 1);
    store.commit(&lease, &step("b", 3, 4)).await.unwrap();
}

pub(super) async fn a_refused_commit_leaves_nothing_behind(store: Checked) {
    create(&store, "run-1").await;
    let lease = claimed(&store, "w").await;
    let commit = Commit {
        asked: vec![request("r1", "d1")],
        began: vec![execution("e1", Some("r9"), "d9")],
        ..step("a", 0, 3)
    };
    refused(store.commit(&lease, &commit).await, ErrorKind::NotApproved);
    assert!(store.commits("run-1", 0).await.unwrap().is_empty());
    assert!(
        store
            .approvals(&ApprovalFilter::default())
            .await
            .unwrap()
            .is_empty()
    );
    assert_eq!(store.run("run-1").await.unwrap().unwrap().last_seq, 0);
    // Other work that came at the same time is not affected.
    store.commit(&lease, &step("a", 0, 3)).await.unwrap();
}

pub(super) async fn bytes_are_kept_as_they_are(store: Checked) {
    create(&store, "run-1").await;
    let lease = claimed(&store, "w").await;
    let bytes: Vec<u8> = (0..=255).cycle().take(1_000_000).collect();
    let commit = Commit {
        entries: bytes.clone(),
        ..step("a", 0, 1)
    };
    store.commit(&lease, &commit).await.unwrap();
    assert_eq!(store.commits("run-1", 0).await.unwrap()[0].entries, bytes);
}
