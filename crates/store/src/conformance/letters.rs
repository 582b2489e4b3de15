//! Letters: notifications on their way to subscribers, at least once.

use super::{Checked, ErrorKind, LONG, SHORT, claimed, create, refused};
use crate::{
    AuditFilter, AuditKind, HeldKind, HeldReason, Letter, LetterClaim, LetterEnd, LetterFailure,
    LetterFilter, NewNotification, PLATFORM, Replay, ReplayOf, Rest, RunStatus, Subscription,
};
use std::time::Duration;

const NAME: &str = "shop.order_shipped";

async fn subscribe(store: &Checked, subscribers: &[&str]) {
    let all = subscribers.iter().map(|name| Subscription {
        subscriber: (*name).to_owned(),
        notification: NAME.to_owned(),
    });
    let all: Vec<_> = all.collect();
    store.subscribe(&all).await.unwrap();
}

fn notification(id: &str) -> NewNotification {
    NewNotification {
        id: id.to_owned(),
        tenant: "acme".to_owned(),
        name: NAME.to_owned(),
        key: None,
        published_by: Some("ada".to_owned()),
        contents: b"contents".to_vec(),
        data_key: b"key".to_vec(),
    }
}

async fn publish(store: &Checked, id: &str) {
    let stored = store.publish(&notification(id)).await.unwrap();
    assert_eq!(stored, id);
}

async fn due(store: &Checked, subscribers: &[&str], time: Duration) -> Vec<Letter> {
    let claim = LetterClaim {
        subscribers: subscribers.iter().map(|&name| name.to_owned()).collect(),
        time,
        limit: 10,
    };
    store.claim_letters(&claim).await.unwrap()
}

fn again() -> LetterEnd {
    LetterEnd::Again {
        after: Duration::ZERO,
        failure: LetterFailure::Failed,
        failures: b"failures".to_vec(),
    }
}

fn dead() -> LetterEnd {
    LetterEnd::Dead {
        failure: LetterFailure::Panicked,
        failures: b"failures".to_vec(),
    }
}

async fn end(store: &Checked, letter: &Letter, end: LetterEnd) {
    store.end_letter(letter, &end).await.unwrap();
}

/// Returns a dead letter to this subscriber, made for the case.
async fn died(store: &Checked, id: &str, subscriber: &str) -> Letter {
    subscribe(store, &[subscriber]).await;
    publish(store, id).await;
    let letter = due(store, &[subscriber], LONG).await.remove(0);
    end(store, &letter, dead()).await;
    store.letter(&letter.id).await.unwrap().unwrap()
}

fn replay(of: ReplayOf, tenant: Option<&str>) -> Replay {
    Replay {
        of,
        tenant: tenant.map(str::to_owned),
        by: "grace".to_owned(),
        detail: Some(b"why".to_vec()),
    }
}

async fn letters(store: &Checked) -> Vec<Letter> {
    store.letters(&LetterFilter::default()).await.unwrap()
}

pub(super) async fn a_notification_goes_to_each_subscriber_of_its_name(store: Checked) {
    subscribe(&store, &["invoices", "mails"]).await;
    let other = Subscription {
        subscriber: "returns".to_owned(),
        notification: "shop.order_returned".to_owned(),
    };
    store.subscribe(&[other]).await.unwrap();
    publish(&store, "n1").await;
    let all = due(&store, &["invoices", "mails", "returns"], LONG).await;
    let to: Vec<_> = all.iter().map(|letter| &*letter.subscriber).collect();
    assert_eq!(to, ["invoices", "mails"]);
    for letter in &all {
        assert_eq!((&*letter.notification, &*letter.name), ("n1", NAME));
        assert_eq!((letter.attempts, &*letter.tenant), (1, "acme"));
        assert_eq!(letter.published_by.as_deref(), Some("ada"));
        assert_eq!(
            (&*letter.contents, &*letter.data_key),
            (&b"contents"[..], &b"key"[..])
        );
        assert!(letter.died_at.is_none() && letter.failure.is_none());
    }
    assert!(due(&store, &["returns"], LONG).await.is_empty());
    for letter in &all {
        end(&store, letter, LetterEnd::Taken).await;
    }
    assert!(letters(&store).await.is_empty());
}

pub(super) async fn a_notification_that_no_subscriber_was_known_for_waits_for_the_first(
    store: Checked,
) {
    publish(&store, "n1").await;
    subscribe(&store, &["invoices", "mails"]).await;
    subscribe(&store, &["invoices", "mails"]).await;
    assert_eq!(due(&store, &["invoices", "mails"], LONG).await.len(), 2);
    // The others have it by then.
    subscribe(&store, &["late"]).await;
    assert!(due(&store, &["late"], LONG).await.is_empty());
    publish(&store, "n2").await;
    assert_eq!(due(&store, &["late"], LONG).await.len(), 1);
}

pub(super) async fn a_key_stands_for_one_notification_also_when_it_was_taken(store: Checked) {
    subscribe(&store, &["invoices"]).await;
    let keyed = |id: &str, tenant: &str| NewNotification {
        key: Some("order-7".to_owned()),
        tenant: tenant.to_owned(),
        ..notification(id)
    };
    assert_eq!(store.publish(&keyed("n1", "acme")).await.unwrap(), "n1");
    assert_eq!(store.publish(&keyed("n2", "acme")).await.unwrap(), "n1");
    assert_eq!(store.publish(&keyed("n3", "other")).await.unwrap(), "n3");
    let all = due(&store, &["invoices"], LONG).await;
    assert_eq!(all.len(), 2);
    for letter in &all {
        end(&store, letter, LetterEnd::Taken).await;
    }
    assert_eq!(store.publish(&keyed("n4", "acme")).await.unwrap(), "n1");
    // It was taken, and waits for nobody.
    subscribe(&store, &["late"]).await;
    assert!(due(&store, &["invoices", "late"], LONG).await.is_empty());
}

pub(super) async fn a_letter_is_tried_by_one_worker_at_a_time(store: Checked) {
    subscribe(&store, &["invoices"]).await;
    for number in 0..20 {
        publish(&store, &format!("n{number}")).await;
    }
    let workers: Vec<_> = (0..8)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move {
                let (mut all, mut in_vain) = (Vec::new(), 0);
                while in_vain < 3 {
                    let some = due(&store, &["invoices"], LONG).await;
                    in_vain += u32::from(some.is_empty());
                    all.extend(some.into_iter().map(|letter| letter.id));
                }
                all
            })
        })
        .collect();
    let mut all = Vec::new();
    for worker in workers {
        all.extend(worker.await.unwrap());
    }
    all.sort_unstable();
    let count = all.len();
    all.dedup();
    assert_eq!((count, all.len()), (20, 20));
}

pub(super) async fn a_letter_whose_worker_is_gone_is_tried_again(store: Checked) {
    subscribe(&store, &["invoices"]).await;
    publish(&store, "n1").await;
    let first = due(&store, &["invoices"], SHORT).await.remove(0);
    tokio::time::sleep(SHORT * 2).await;
    let second = due(&store, &["invoices"], LONG).await.remove(0);
    assert_eq!((first.attempts, second.attempts), (1, 2));
    assert_eq!(first.notification, second.notification);
    assert!(due(&store, &["invoices"], LONG).await.is_empty());
}

pub(super) async fn the_end_of_an_earlier_try_changes_nothing_unless_it_was_taken(store: Checked) {
    subscribe(&store, &["invoices"]).await;
    publish(&store, "n1").await;
    let first = due(&store, &["invoices"], SHORT).await.remove(0);
    tokio::time::sleep(SHORT * 2).await;
    let second = due(&store, &["invoices"], LONG).await.remove(0);
    end(&store, &first, dead()).await;
    end(&store, &first, again()).await;
    let now = store.letter(&first.id).await.unwrap().unwrap();
    assert!(now.died_at.is_none() && now.failure.is_none(), "{now:?}");
    assert!(due(&store, &["invoices"], LONG).await.is_empty());
    end(&store, &first, LetterEnd::Taken).await;
    end(&store, &second, dead()).await;
    assert!(letters(&store).await.is_empty());
}

pub(super) async fn a_letter_that_is_given_up_is_dead_until_it_is_replayed(store: Checked) {
    subscribe(&store, &["invoices"]).await;
    publish(&store, "n1").await;
    let letter = due(&store, &["invoices"], LONG).await.remove(0);
    let id = ReplayOf::Letter(letter.id.clone());
    let alive = store.replay(&replay(id.clone(), None)).await.unwrap_err();
    assert_eq!(alive.kind(), ErrorKind::Settled);
    assert!(
        alive.to_string().contains("on its way, not dead"),
        "{alive}"
    );
    end(&store, &letter, again()).await;
    let letter = due(&store, &["invoices"], LONG).await.remove(0);
    assert_eq!(letter.attempts, 2);
    assert_eq!(letter.failure, Some(LetterFailure::Failed));
    assert_eq!(letter.failures, b"failures");
    end(&store, &letter, dead()).await;
    assert!(due(&store, &["invoices"], LONG).await.is_empty());
    let now = store.letter(&letter.id).await.unwrap().unwrap();
    assert!(now.died_at.is_some() && now.next_at.is_none());
    assert_eq!(now.failure, Some(LetterFailure::Panicked));
    store.replay(&replay(id, Some("acme"))).await.unwrap();
    let letter = due(&store, &["invoices"], LONG).await.remove(0);
    assert_eq!((letter.attempts, letter.fence, letter.replays), (1, 3, 1));
    assert_eq!(letter.failures, b"failures", "they are kept");
    assert_eq!(letter.contents, b"contents");
    end(&store, &letter, LetterEnd::Taken).await;
    assert!(letters(&store).await.is_empty());
    let filter = AuditFilter {
        run: Some(PLATFORM.to_owned()),
        ..AuditFilter::default()
    };
    let told = store.audit(&filter).await.unwrap();
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].kind, AuditKind::Replayed);
    assert_eq!(told[0].actor.as_deref(), Some("grace"));
    assert_eq!(told[0].tenant_id, "acme");
    assert_eq!(told[0].subject.as_deref(), Some(&*letter.id));
    assert_eq!(told[0].detail.as_deref(), Some(&b"why"[..]));
}

pub(super) async fn one_of_many_replays_wins(store: Checked) {
    let letter = died(&store, "n1", "invoices").await;
    let tries: Vec<_> = (0..16)
        .map(|_| {
            let (store, id) = (store.clone(), letter.id.clone());
            tokio::spawn(async move { store.replay(&replay(ReplayOf::Letter(id), None)).await })
        })
        .collect();
    let mut won = 0;
    for one in tries {
        match one.await.unwrap() {
            Ok(()) => won += 1,
            Err(error) => assert_eq!(error.kind(), ErrorKind::Settled, "{error}"),
        }
    }
    assert_eq!(won, 1);
    let all = due(&store, &["invoices"], LONG).await;
    assert_eq!((all.len(), all[0].replays), (1, 1));
}

pub(super) async fn a_held_run_is_replayed_once(store: Checked) {
    create(&store, "run-1").await;
    let of = || ReplayOf::Run("run-1".to_owned());
    refused(store.replay(&replay(of(), None)).await, ErrorKind::Settled);
    let lease = claimed(&store, "w").await;
    let held = Rest::Held(HeldReason::new(HeldKind::Incompatible, "why"));
    store.release(&lease, &held).await.unwrap();
    refused(
        store.replay(&replay(of(), Some("other"))).await,
        ErrorKind::NotFound,
    );
    store.replay(&replay(of(), Some("acme"))).await.unwrap();
    refused(store.replay(&replay(of(), None)).await, ErrorKind::Settled);
    let run = store.run("run-1").await.unwrap().unwrap();
    assert_eq!(run.status, RunStatus::Ready);
    let filter = AuditFilter {
        run: Some("run-1".to_owned()),
        kind: Some(AuditKind::Replayed),
        ..AuditFilter::default()
    };
    let told = store.audit(&filter).await.unwrap();
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].detail.as_deref(), Some(&b"why"[..]));
}

pub(super) async fn nobody_replays_what_belongs_to_another_tenant(store: Checked) {
    let letter = died(&store, "n1", "invoices").await;
    for id in [&*letter.id, "n1", "n1/", "/", "", "n1/nobody"] {
        let of = ReplayOf::Letter(id.to_owned());
        refused(
            store.replay(&replay(of, Some("other"))).await,
            ErrorKind::NotFound,
        );
    }
    let now = store.letter(&letter.id).await.unwrap().unwrap();
    assert!(now.died_at.is_some());
}

pub(super) async fn dead_letters_are_found_by_subscriber_tenant_and_time(store: Checked) {
    let first = died(&store, "n1", "invoices").await;
    let second = died(&store, "n2", "mails").await;
    let wait = due(&store, &["invoices"], LONG).await;
    end(&store, &wait[0], again()).await;
    let found = async |filter: LetterFilter| {
        let found = store.letters(&filter).await.unwrap();
        let ids = found.into_iter().map(|letter| letter.id);
        ids.collect::<Vec<_>>()
    };
    let dead = || LetterFilter {
        dead: Some(true),
        ..LetterFilter::default()
    };
    assert_eq!(found(dead()).await, [&*second.id, &*first.id]);
    let alive = LetterFilter {
        dead: Some(false),
        ..LetterFilter::default()
    };
    assert_eq!(found(alive).await, [&*wait[0].id]);
    let mails = LetterFilter {
        subscriber: Some("mails".to_owned()),
        ..dead()
    };
    assert_eq!(found(mails).await, [&*second.id]);
    let other = LetterFilter {
        tenant: Some("other".to_owned()),
        ..dead()
    };
    assert!(found(other).await.is_empty());
    let page = LetterFilter {
        before: Some(second.number),
        ..dead()
    };
    assert_eq!(found(page).await, [&*first.id]);
    let one = LetterFilter { limit: 1, ..dead() };
    assert_eq!(found(one).await, [&*second.id]);
    let until = LetterFilter {
        died_until: first.died_at,
        ..dead()
    };
    assert!(found(until).await.is_empty());
    let since = LetterFilter {
        died_since: first.died_at,
        ..dead()
    };
    assert_eq!(found(since).await.len(), 2);
}

pub(super) async fn a_subscriber_that_is_removed_keeps_its_dead_letters(store: Checked) {
    let letter = died(&store, "n1", "invoices").await;
    publish(&store, "n2").await;
    store.unsubscribe("invoices").await.unwrap();
    store.unsubscribe("nobody").await.unwrap();
    publish(&store, "n3").await;
    let left = letters(&store).await;
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].id, letter.id);
    // It waits for whoever comes first, as nobody was there.
    subscribe(&store, &["others"]).await;
    let all = due(&store, &["others"], LONG).await;
    let of: Vec<_> = all.iter().map(|letter| &*letter.notification).collect();
    assert_eq!(of, ["n3"]);
}

pub(super) async fn an_erased_tenant_has_no_letters(store: Checked) {
    died(&store, "n1", "invoices").await;
    let other = NewNotification {
        tenant: "other".to_owned(),
        ..notification("n2")
    };
    store.publish(&other).await.unwrap();
    store.erase_tenant("acme", "grace").await.unwrap();
    let left = letters(&store).await;
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].tenant, "other");
}
