//! Notifications reach their subscribers, at least once.

use crate::{
    OrderShipped, Taken, Working, dead, died, grace, shipped,
    stores::{Place, each},
    subscriber, until,
};
use agents_runtime::{DeliveryError, Notification, Principal, Runtime, Subscriber, Told};
use agents_store::{LetterFilter, Store};
use serde::{Deserialize, Serialize};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};

async fn letters(store: &dyn Store) -> usize {
    store.letters(&LetterFilter::default()).await.unwrap().len()
}

fn no_failure(_: &OrderShipped, _: &Told) -> Option<DeliveryError> {
    None
}

#[tokio::test(flavor = "multi_thread")]
async fn d2_a_notification_reaches_each_subscriber_with_its_scope_and_one_id() {
    each(async |place| {
        let (invoices, mails) = (Taken::default(), Taken::default());
        let runtime = place.runtime().await;
        let runtime = runtime
            .subscriber(subscriber("invoices", &invoices, no_failure))
            .subscriber(subscriber("mails", &mails, no_failure));
        let id = runtime.publish(&shipped(7)).scope("acme").by(&grace());
        let id = id.await.unwrap();
        let working = Working::on(&runtime);
        let both = async || invoices.lock().unwrap().len() + mails.lock().unwrap().len() == 2;
        until(both).await;
        let expected = [(id, 7, "acme".to_owned())];
        assert_eq!(*invoices.lock().unwrap(), expected);
        assert_eq!(*mails.lock().unwrap(), expected);
        let store = place.store().await;
        until(async || letters(&*store).await == 0).await;
        let figures = runtime.metrics().await.unwrap().worker.unwrap();
        assert_eq!((figures.letters_taken, figures.letters_died), (2, 0));
        working.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_notification_of_another_process_waits_for_its_first_subscriber() {
    each(async |place| {
        let api = place.client().await;
        let key = || api.publish(&shipped(7)).scope("acme").key("order-7");
        let id = key().await.unwrap();
        assert_eq!(key().await.unwrap(), id);
        let taken = Taken::default();
        let worker = place.runtime().await;
        let worker = worker.subscriber(subscriber("invoices", &taken, no_failure));
        let working = Working::on(&worker);
        until(async || !taken.lock().unwrap().is_empty()).await;
        assert_eq!(key().await.unwrap(), id, "also when it was taken");
        working.stop().await;
        assert_eq!(*taken.lock().unwrap(), [(id, 7, "acme".to_owned())]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn several_workers_share_the_letters() {
    each(async |place| {
        let taken = Taken::default();
        let api = place.client().await;
        for order in 0..40 {
            api.publish(&shipped(order)).scope("acme").await.unwrap();
        }
        let mut working = Vec::new();
        for _ in 0..3 {
            let runtime = place.runtime().await;
            let runtime = runtime.subscriber(subscriber("invoices", &taken, no_failure));
            working.push(Working::on(&runtime));
        }
        let store = place.store().await;
        until(async || taken.lock().unwrap().len() >= 40 && letters(&*store).await == 0).await;
        for one in working {
            one.stop().await;
        }
        let mut orders: Vec<_> = taken.lock().unwrap().iter().map(|one| one.1).collect();
        orders.sort_unstable();
        assert_eq!(orders, (0..40).collect::<Vec<_>>());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_is_tried_again_and_the_last_one_leaves_a_dead_letter() {
    each(async |place| {
        let tries = Arc::new(AtomicU32::new(0));
        let taken = Taken::default();
        let count = tries.clone();
        let fails = move |shipped: &OrderShipped, told: &Told| {
            count.fetch_add(1, SeqCst);
            match (shipped.order, told.attempt()) {
                // The third try succeeds.
                (1, 1 | 2) | (2, _) => Some(DeliveryError::new("mail ada@example.com is down")),
                (3, _) => Some(DeliveryError::permanent("there is no order 3")),
                _ => None,
            }
        };
        let runtime = place.runtime().await;
        let runtime = runtime.subscriber(subscriber("invoices", &taken, fails));
        for order in [1, 2, 3] {
            runtime
                .publish(&shipped(order))
                .scope("acme")
                .await
                .unwrap();
        }
        let working = Working::on(&runtime);
        let client = runtime.as_client();
        let all = died(client, 2).await;
        until(async || taken.lock().unwrap().len() == 1).await;
        working.stop().await;
        assert_eq!(taken.lock().unwrap()[0].1, 1);
        assert_eq!(tries.load(SeqCst), 3 + 3 + 1);
        for letter in all {
            let detail = client
                .letters()
                .get(&letter.event_id, &grace())
                .await
                .unwrap();
            assert_eq!(letter.failure, "failed");
            assert_eq!(letter.event_name.as_deref(), Some("shop.order_shipped"));
            assert_eq!(letter.handler_name, "invoices");
            let order = detail.payload.unwrap().to::<OrderShipped>().unwrap().order;
            let (tries, said) = match order {
                2 => (3, "mail [email] is down"),
                3 => (1, "there is no order 3"),
                other => panic!("{other}"),
            };
            assert_eq!(letter.attempts, tries);
            let history = detail.failure_history;
            assert_eq!(history.len() as u64, tries);
            assert!(history.iter().all(|one| one.error == said), "{history:?}");
            let numbers: Vec<_> = history.iter().map(|one| one.attempt).collect();
            assert_eq!(numbers, (1..=tries).collect::<Vec<_>>());
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscriber_that_panics_is_a_failure_and_its_worker_goes_on() {
    each(async |place| {
        let taken = Taken::default();
        let panics = |shipped: &OrderShipped, _: &Told| match shipped.order {
            1 => panic!("no ink"),
            _ => None,
        };
        let runtime = place.runtime().await;
        let runtime = runtime.subscriber(subscriber("invoices", &taken, panics));
        for order in [1, 2] {
            runtime
                .publish(&shipped(order))
                .scope("acme")
                .await
                .unwrap();
        }
        let working = Working::on(&runtime);
        let client = runtime.as_client();
        let letter = died(client, 1).await.remove(0);
        until(async || taken.lock().unwrap().len() == 1).await;
        working.stop().await;
        assert_eq!((&*letter.failure, letter.attempts), ("panicked", 3));
        let detail = client
            .letters()
            .get(&letter.event_id, &grace())
            .await
            .unwrap();
        assert_eq!(
            detail.failure_history[0].error,
            "the subscriber panicked: no ink"
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscriber_that_does_not_return_is_dropped_and_tried_again() {
    each(async |place| {
        let tries = Arc::new(AtomicU32::new(0));
        let count = tries.clone();
        let slow = Subscriber::new("invoices", move |_: OrderShipped, _: Told| {
            count.fetch_add(1, SeqCst);
            std::future::pending()
        });
        let slow = slow
            .retry_after([Duration::from_millis(1)])
            .time_limit(Duration::from_millis(50));
        let runtime = place.runtime().await.subscriber(slow);
        runtime.publish(&shipped(1)).scope("acme").await.unwrap();
        let working = Working::on(&runtime);
        let letter = died(runtime.as_client(), 1).await.remove(0);
        working.stop().await;
        assert_eq!((&*letter.failure, letter.attempts), ("timed_out", 2));
        assert_eq!(tries.load(SeqCst), 2);
    })
    .await;
}

/// A future that is stopped cannot be dropped while it blocks its thread. Another worker takes the letter meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_subscriber_that_blocks_past_its_lease_loses_the_letter_to_another_worker() {
    each(async |place| {
        let tries = Arc::new(AtomicU32::new(0));
        let taken = Taken::default();
        let limit = Duration::from_millis(100);
        let mut working = Vec::new();
        for _ in 0..2 {
            let (count, taken) = (tries.clone(), taken.clone());
            let blocks = Subscriber::new("invoices", move |shipped: OrderShipped, told: Told| {
                let is_first = count.fetch_add(1, SeqCst) == 0;
                let taken = taken.clone();
                async move {
                    if is_first {
                        std::thread::sleep(Duration::from_millis(1500));
                        return Err(DeliveryError::permanent("too late to count"));
                    }
                    let mut taken = taken.lock().unwrap();
                    taken.push((told.id().to_owned(), shipped.order, String::new()));
                    Ok(())
                }
            });
            let blocks = blocks.retry_after([Duration::from_millis(1); 5]);
            let runtime = place.runtime().await.subscriber(blocks.time_limit(limit));
            working.push((Working::on(&runtime), runtime));
        }
        let runtime = &working[0].1;
        runtime.publish(&shipped(1)).scope("acme").await.unwrap();
        until(async || !taken.lock().unwrap().is_empty()).await;
        let store = place.store().await;
        until(async || letters(&*store).await == 0).await;
        let client = runtime.as_client().clone();
        for (one, _) in working {
            one.stop().await;
        }
        // The end of the try that came too late has changed nothing.
        assert!(dead(&client).await.is_empty());
        assert_eq!(letters(&*store).await, 0);
    })
    .await;
}

/// Notification as a later version of the code has it.
#[derive(Serialize, Deserialize)]
struct OrderShippedNow {
    order: u32,
    carrier: String,
}

impl Notification for OrderShippedNow {
    const NAME: &'static str = OrderShipped::NAME;
}

/// Notification with a default, which mends it.
#[derive(Serialize, Deserialize)]
struct OrderShippedMended {
    order: u32,
    #[serde(default)]
    carrier: String,
}

impl Notification for OrderShippedMended {
    const NAME: &'static str = OrderShipped::NAME;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payload_that_no_longer_fits_is_a_dead_letter_and_nothing_is_lost() {
    each(async |place| {
        place
            .client()
            .await
            .publish(&shipped(7))
            .scope("acme")
            .await
            .unwrap();
        let runtime = place.runtime().await;
        let runtime = runtime.subscriber(Subscriber::new(
            "invoices",
            async |_: OrderShippedNow, _: Told| -> Result<(), DeliveryError> {
                panic!("it cannot be read")
            },
        ));
        let working = Working::on(&runtime);
        let client = runtime.as_client();
        let letter = died(client, 1).await.remove(0);
        working.stop().await;
        assert_eq!((&*letter.failure, letter.attempts), ("unreadable", 1));
        let detail = client
            .letters()
            .get(&letter.event_id, &grace())
            .await
            .unwrap();
        let said = &detail.failure_history[0].error;
        assert!(said.contains("missing field `carrier`"), "{said}");
        assert!(said.contains("replay the letter"), "{said}");
        assert_eq!(
            detail.payload.unwrap().to::<OrderShipped>().unwrap(),
            shipped(7)
        );

        let (send, mut taken) = tokio::sync::mpsc::unbounded_channel();
        let mended = Subscriber::new("invoices", move |now: OrderShippedMended, _: Told| {
            let send = send.clone();
            async move {
                send.send((now.order, now.carrier)).unwrap();
                Ok(())
            }
        });
        let runtime = place.runtime().await.subscriber(mended);
        let letters = runtime.as_client().letters();
        letters
            .replay(&letter.event_id, "the field has a default", &grace())
            .await
            .unwrap();
        let working = Working::on(&runtime);
        assert_eq!(taken.recv().await, Some((7, String::new())));
        working.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_erased_tenant_has_no_notifications_and_a_letter_without_keys_is_dead() {
    each(async |place| {
        let taken = Taken::default();
        let runtime = place.runtime().await;
        let runtime = runtime.subscriber(subscriber("invoices", &taken, no_failure));
        runtime.publish(&shipped(1)).scope("acme").await.unwrap();
        let client = runtime.as_client();
        let operator = Principal::operator();
        client.erase_tenant("acme", &operator).await.unwrap();
        let store = place.store().await;
        assert_eq!(letters(&*store).await, 0);
        runtime.publish(&shipped(2)).scope("other").await.unwrap();
        // The keys are gone, as after a loss of the keyring.
        let keys = std::fs::read_to_string(place.keys()).unwrap();
        std::fs::write(place.keys(), keys.replace("other", "nobody")).unwrap();
        let worker = other_worker(place, &taken).await;
        let working = Working::on(&worker);
        let letter = died(client, 1).await.remove(0);
        working.stop().await;
        assert_eq!(&*letter.failure, "unreadable");
        let detail = client.letters().get(&letter.event_id, &operator).await;
        let detail = detail.unwrap();
        assert!(detail.payload.is_none());
        let why = detail.payload_missing.unwrap();
        assert!(why.contains("keyring has no version"), "{why}");
        // With the keys, nothing is lost.
        std::fs::write(place.keys(), keys).unwrap();
        let letters = client.letters();
        letters
            .replay(&letter.event_id, "the keys are back", &operator)
            .await
            .unwrap();
        let worker = other_worker(place, &taken).await;
        let working = Working::on(&worker);
        until(async || taken.lock().unwrap().len() == 1).await;
        working.stop().await;
    })
    .await;
}

async fn other_worker(place: &Place, taken: &Taken) -> Runtime {
    let runtime = place.runtime().await;
    runtime.subscriber(subscriber("invoices", taken, no_failure))
}

#[tokio::test(flavor = "multi_thread")]
#[should_panic(expected = "two subscribers of the name `invoices`")]
async fn two_subscribers_have_two_names() {
    let place = Place::of_file();
    let taken = Taken::default();
    let runtime = other_worker(&place, &taken).await;
    let _ = runtime.subscriber(subscriber("invoices", &taken, no_failure));
}
