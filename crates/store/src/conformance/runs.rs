//! Runs: stored, found by key, listed, cancelled, held.

use super::{Checked, ErrorKind, LONG, claim, claimed, create, new_run, refused};
use crate::{End, HeldKind, HeldReason, NewRun, Rest, RunFilter, RunStatus};
use std::{collections::BTreeMap, time::Duration};

pub(super) async fn a_run_is_returned_as_it_was_stored(store: Checked) {
    let new = NewRun {
        key: Some("october".to_owned()),
        started_by: Some("ada".to_owned()),
        priority: -3,
        labels: labels(&[("month", "2026-10"), ("", "'\"\\%é")]),
        data: (0..=255).collect(),
        ..new_run("run-1")
    };
    let run = store.create(&new).await.unwrap();
    assert_eq!(
        (
            &run.id,
            &run.tenant,
            &run.key,
            &run.agent,
            &run.started_by,
            run.priority,
            &run.labels,
            &run.data,
            &run.data_key
        ),
        (
            &new.id,
            &new.tenant,
            &new.key,
            &new.agent,
            &new.started_by,
            new.priority,
            &new.labels,
            &new.data,
            &new.data_key,
        )
    );
    assert_eq!(
        (run.status, run.last_seq, run.fence, run.messages),
        (RunStatus::Ready, 0, 0, 0)
    );
    assert_eq!(run.created_at, run.updated_at);
    assert_eq!(store.run("run-1").await.unwrap(), Some(run));
}

pub(super) async fn a_key_stands_for_one_run_of_a_tenant_and_an_agent(store: Checked) {
    let keyed = |id: &str| NewRun {
        key: Some("october".to_owned()),
        ..new_run(id)
    };
    let first = store.create(&keyed("run-1")).await.unwrap();
    let again = NewRun {
        data: b"other input".to_vec(),
        ..keyed("run-2")
    };
    assert_eq!(store.create(&again).await.unwrap(), first);
    assert_eq!(store.run("run-2").await.unwrap(), None);
    let of_another = NewRun {
        tenant: "other".to_owned(),
        ..keyed("run-3")
    };
    assert_eq!(store.create(&of_another).await.unwrap().id, "run-3");
    let of_another = NewRun {
        agent: "clerk".to_owned(),
        ..keyed("run-4")
    };
    assert_eq!(store.create(&of_another).await.unwrap().id, "run-4");
}

pub(super) async fn one_of_many_starts_with_a_key_stores_a_run(store: Checked) {
    let starts: Vec<_> = (0..16)
        .map(|n| {
            let store = store.clone();
            tokio::spawn(async move {
                let keyed = NewRun {
                    key: Some("october".to_owned()),
                    ..new_run(&format!("run-{n}"))
                };
                store.create(&keyed).await.unwrap().id
            })
        })
        .collect();
    let mut ids = Vec::new();
    for start in starts {
        ids.push(start.await.unwrap());
    }
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    assert_eq!(store.runs(&RunFilter::default()).await.unwrap().len(), 1);
}

pub(super) async fn runs_are_listed_the_newest_first_page_by_page(store: Checked) {
    for n in 1..=5 {
        create(&store, &format!("run-{n}")).await;
    }
    let page = |before: Option<&str>| RunFilter {
        before: before.map(str::to_owned),
        limit: 2,
        ..RunFilter::default()
    };
    let mut seen = Vec::new();
    let mut before = None;
    loop {
        let runs = store.runs(&page(before.as_deref())).await.unwrap();
        let Some(last) = runs.last() else { break };
        before = Some(last.id.clone());
        seen.extend(runs.into_iter().map(|run| run.id));
    }
    assert_eq!(seen, ["run-5", "run-4", "run-3", "run-2", "run-1"]);
    claimed(&store, "w").await;
    let running = RunFilter {
        status: Some(RunStatus::Running),
        tenant: Some("acme".to_owned()),
        agent: Some("payer".to_owned()),
        ..RunFilter::default()
    };
    assert_eq!(store.runs(&running).await.unwrap().len(), 1);
    let of_nobody = RunFilter {
        tenant: Some("nobody".to_owned()),
        ..RunFilter::default()
    };
    assert!(store.runs(&of_nobody).await.unwrap().is_empty());
    let behind_nothing = store.runs(&page(Some("run-9"))).await;
    refused(behind_nothing, ErrorKind::NotFound);
}

pub(super) async fn a_run_that_is_not_there_is_none(store: Checked) {
    assert_eq!(store.run("run-1").await.unwrap(), None);
    assert!(store.commits("run-1", 0).await.unwrap().is_empty());
    refused(store.cancel("run-1", "ada").await, ErrorKind::NotFound);
    refused(
        store.unhold("run-1", "ada", None).await,
        ErrorKind::NotFound,
    );
}

pub(super) async fn a_cancelled_run_is_ready_and_keeps_who_cancelled_it(store: Checked) {
    create(&store, "run-1").await;
    let lease = claimed(&store, "w").await;
    let waits = Rest::Waiting {
        wake_at: None,
        messages: 0,
    };
    store.release(&lease, &waits).await.unwrap();
    let run = store.cancel("run-1", "ada").await.unwrap();
    assert_eq!(
        (run.status, run.cancelled_by.as_deref()),
        (RunStatus::Ready, Some("ada"))
    );
    let run = store.cancel("run-1", "grace").await.unwrap();
    assert_eq!(
        run.cancelled_by.as_deref(),
        Some("ada"),
        "the first one counts"
    );
    let lease = claimed(&store, "w").await;
    let renewed = store.renew(&lease, LONG).await.unwrap();
    assert_eq!(renewed.cancelled_by.as_deref(), Some("ada"));
    store
        .release(&lease, &Rest::done(End::Cancelled))
        .await
        .unwrap();
    let run = store.cancel("run-1", "grace").await.unwrap();
    assert_eq!(
        (run.status, run.end),
        (RunStatus::Done, Some(End::Cancelled))
    );
}

pub(super) async fn a_held_run_is_not_claimed_until_it_is_released(store: Checked) {
    create(&store, "run-1").await;
    let lease = claimed(&store, "w").await;
    let why = "no worker has its tool";
    store
        .release(&lease, &Rest::Held(HeldReason::new(HeldKind::Altered, why)))
        .await
        .unwrap();
    assert_eq!(store.claim(&claim("w", LONG)).await.unwrap(), None);
    let run = store.run("run-1").await.unwrap().unwrap();
    assert_eq!(
        (run.status, run.held),
        (
            RunStatus::Held,
            Some(HeldReason::new(HeldKind::Altered, why))
        )
    );
    let run = store.unhold("run-1", "ada", None).await.unwrap();
    assert_eq!((run.status, run.held), (RunStatus::Ready, None));
    claimed(&store, "w").await;
}

pub(super) async fn the_key_of_a_run_is_wrapped_anew_once(store: Checked) {
    create(&store, "run-1").await;
    assert!(store.rewrap("run-1", b"key", b"new").await.unwrap());
    assert!(!store.rewrap("run-1", b"key", b"other").await.unwrap());
    assert_eq!(store.run("run-1").await.unwrap().unwrap().data_key, b"new");
}

fn labels(labels: &[(&str, &str)]) -> BTreeMap<String, String> {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    labels.iter().map(owned).collect()
}

pub(super) async fn runs_are_found_by_labels_key_and_time(store: Checked) {
    for (id, month, key) in [
        ("run-1", "9", None),
        ("run-2", "10", Some("bills")),
        ("run-3", "10", None),
    ] {
        let new = NewRun {
            key: key.map(str::to_owned),
            labels: labels(&[("month", month), ("id", id), ("it's", "a \"text\"")]),
            ..new_run(id)
        };
        store.create(&new).await.unwrap();
        tokio::time::sleep(Duration::from_millis(3)).await;
    }
    create(&store, "run-4").await;
    let found = async |filter: RunFilter| {
        let runs = store.runs(&filter).await.unwrap();
        runs.into_iter().map(|run| run.id).collect::<Vec<_>>()
    };
    let labelled = |wanted: &[(&str, &str)]| RunFilter {
        labels: labels(wanted),
        ..RunFilter::default()
    };
    assert_eq!(
        found(labelled(&[("month", "10")])).await,
        ["run-3", "run-2"]
    );
    let both = [("month", "10"), ("id", "run-2"), ("it's", "a \"text\"")];
    assert_eq!(found(labelled(&both)).await, ["run-2"]);
    for none in [[("month", "1")], [("moon", "10")], [("month", "10%")]] {
        assert!(found(labelled(&none)).await.is_empty(), "{none:?}");
    }
    let keyed = RunFilter {
        key: Some("bills".to_owned()),
        ..RunFilter::default()
    };
    assert_eq!(found(keyed).await, ["run-2"]);
    let second = store.run("run-2").await.unwrap().unwrap().created_at;
    let (since, until) = (
        RunFilter {
            since: Some(second),
            ..RunFilter::default()
        },
        RunFilter {
            until: Some(second),
            ..RunFilter::default()
        },
    );
    assert_eq!(found(since).await, ["run-4", "run-3", "run-2"]);
    assert_eq!(found(until).await, ["run-1"]);
}

pub(super) async fn runs_are_found_whose_contents_may_be_erased(store: Checked) {
    create(&store, "run-1").await;
    let lease = claimed(&store, "w").await;
    let done = Rest::done(End::Answered);
    store.release(&lease, &done).await.unwrap();
    create(&store, "run-2").await;
    let over = store.run("run-1").await.unwrap().unwrap().updated_at;
    let erasable = async |before: u64| {
        let filter = RunFilter {
            erasable: Some(crate::Timestamp::from_millis(before)),
            ..RunFilter::default()
        };
        let runs = store.runs(&filter).await.unwrap();
        runs.into_iter().map(|run| run.id).collect::<Vec<_>>()
    };
    assert!(erasable(over.as_millis()).await.is_empty());
    let later = over.as_millis() + 1000;
    assert_eq!(erasable(later).await, ["run-1"]);
    store.erase("run-1", "ada").await.unwrap();
    assert!(erasable(later).await.is_empty());
    let erased = store.run("run-1").await.unwrap().unwrap();
    assert!(erased.labels.is_empty() && erased.key.is_none());
}
