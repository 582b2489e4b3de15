//! Deliveries: events that a webhook is told of, at least once.

use super::{
    Checked, ErrorKind, LONG, SHORT, WHILE, claimed, create, new_run, refused, request, step,
};
use crate::{
    AuditKind, Commit, Delivery, DeliveryClaim, DeliveryEnd, DeliveryFilter, HeldKind, HeldReason,
    NewRun, Rest,
};
use std::time::Duration;

fn wants(webhook: &str, time: Duration) -> DeliveryClaim {
    DeliveryClaim {
        webhook: webhook.to_owned(),
        tenant: None,
        kinds: vec![AuditKind::Requested, AuditKind::Held],
        time,
        limit: 10,
    }
}

async fn taken(store: &Checked, webhook: &str) -> Vec<Delivery> {
    store.claim_deliveries(&wants(webhook, LONG)).await.unwrap()
}

/// Stores a run that asks for approval and is then held, so that there are events to deliver.
async fn asks(store: &Checked, id: &str, tenant: &str) {
    let new = NewRun {
        tenant: tenant.to_owned(),
        ..new_run(id)
    };
    store.create(&new).await.unwrap();
    let lease = claimed(store, "w").await;
    let asked = crate::NewApproval {
        id: format!("approval-{id}"),
        ..request("r1", "d1")
    };
    let commit = Commit {
        asked: vec![asked],
        ..step("a", 0, 1)
    };
    store.commit(&lease, &commit).await.unwrap();
    let held = Rest::Held(HeldReason::new(HeldKind::Incompatible, "why"));
    store.release(&lease, &held).await.unwrap();
}

pub(super) async fn a_webhook_is_told_of_events_that_come_after_it(store: Checked) {
    asks(&store, "run-1", "acme").await;
    assert!(
        taken(&store, "desk").await.is_empty(),
        "they were before it"
    );
    asks(&store, "run-2", "acme").await;
    asks(&store, "run-3", "other").await;
    let told = taken(&store, "desk").await;
    let of = |delivery: &Delivery| (delivery.event.run.clone(), delivery.event.kind);
    let expected = [
        ("run-2".to_owned(), AuditKind::Requested),
        ("run-2".to_owned(), AuditKind::Held),
        ("run-3".to_owned(), AuditKind::Requested),
        ("run-3".to_owned(), AuditKind::Held),
    ];
    assert_eq!(told.iter().map(of).collect::<Vec<_>>(), expected);
    for delivery in &told {
        assert_eq!(delivery.attempts, 1);
        store
            .end_delivery(delivery, &DeliveryEnd::Delivered)
            .await
            .unwrap();
    }
    assert!(taken(&store, "desk").await.is_empty());
    let left = store.deliveries(&DeliveryFilter::default()).await.unwrap();
    assert!(left.is_empty());
    // Each webhook has its own, and may have those of one tenant.
    let acme = DeliveryClaim {
        tenant: Some("acme".to_owned()),
        ..wants("acme", LONG)
    };
    assert!(store.claim_deliveries(&acme).await.unwrap().is_empty());
    asks(&store, "run-4", "other").await;
    asks(&store, "run-5", "acme").await;
    let own = store.claim_deliveries(&acme).await.unwrap();
    assert!(own.len() == 2 && own.iter().all(|one| one.event.run == "run-5"));
    assert_eq!(taken(&store, "desk").await.len(), 4);
}

pub(super) async fn a_delivery_is_made_by_one_worker_at_a_time(store: Checked) {
    taken(&store, "desk").await;
    asks(&store, "run-1", "acme").await;
    let workers: Vec<_> = (0..8)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move { taken(&store, "desk").await })
        })
        .collect();
    let mut all = Vec::new();
    for worker in workers {
        all.extend(worker.await.unwrap());
    }
    assert_eq!(all.len(), 2);
    // A worker that ends without a word is followed by another one.
    create(&store, "run-2").await;
    let lease = claimed(&store, "w").await;
    store
        .release(
            &lease,
            &Rest::Held(HeldReason::new(HeldKind::Incompatible, "why")),
        )
        .await
        .unwrap();
    let first = store.claim_deliveries(&wants("desk", WHILE)).await.unwrap();
    assert_eq!(first.len(), 1);
    assert!(taken(&store, "desk").await.is_empty());
    tokio::time::sleep(WHILE + SHORT).await;
    let second = taken(&store, "desk").await;
    assert_eq!((second.len(), second[0].attempts), (1, 2));
    // The first one's failure is not that of the second.
    let failed = DeliveryEnd::GivenUp {
        error: "late".to_owned(),
    };
    store.end_delivery(&first[0], &failed).await.unwrap();
    let given_up = DeliveryFilter {
        given_up: Some(true),
        ..DeliveryFilter::default()
    };
    assert!(store.deliveries(&given_up).await.unwrap().is_empty());
    store
        .end_delivery(&first[0], &DeliveryEnd::Delivered)
        .await
        .unwrap();
    let left = store.deliveries(&DeliveryFilter::default()).await.unwrap();
    assert!(!left.contains(&second[0]), "it has arrived");
}

pub(super) async fn a_failed_delivery_is_made_again_until_it_is_given_up(store: Checked) {
    taken(&store, "desk").await;
    create(&store, "run-1").await;
    let lease = claimed(&store, "w").await;
    store
        .release(
            &lease,
            &Rest::Held(HeldReason::new(HeldKind::Incompatible, "why")),
        )
        .await
        .unwrap();
    let first = taken(&store, "desk").await.remove(0);
    let again = DeliveryEnd::Again {
        after: SHORT,
        error: "503".to_owned(),
    };
    store.end_delivery(&first, &again).await.unwrap();
    assert!(taken(&store, "desk").await.is_empty());
    let open = DeliveryFilter {
        webhook: Some("desk".to_owned()),
        given_up: Some(false),
        ..DeliveryFilter::default()
    };
    let listed = store.deliveries(&open).await.unwrap();
    assert_eq!((listed.len(), listed[0].error.as_deref()), (1, Some("503")));
    let metrics = store.metrics(Some("acme")).await.unwrap();
    assert_eq!((metrics.undelivered, metrics.given_up), (1, 0));
    tokio::time::sleep(SHORT * 2).await;
    let second = taken(&store, "desk").await.remove(0);
    assert_eq!(
        (second.attempts, second.event.number),
        (2, first.event.number)
    );
    let given_up = DeliveryEnd::GivenUp {
        error: "410".to_owned(),
    };
    store.end_delivery(&second, &given_up).await.unwrap();
    assert!(store.deliveries(&open).await.unwrap().is_empty());
    let metrics = store.metrics(None).await.unwrap();
    assert_eq!((metrics.undelivered, metrics.given_up), (0, 1));
    store.redeliver("desk", second.event.number).await.unwrap();
    let third = taken(&store, "desk").await;
    assert_eq!((third.len(), third[0].attempts), (1, 1));
    let none = store.redeliver("desk", second.event.number).await;
    refused(none, ErrorKind::NotFound);
}
