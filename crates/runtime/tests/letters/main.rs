//! Notifications, dead letters and clusters of failures. Each test is done in every store.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]

mod clusters;
mod contents;
#[cfg(unix)]
mod killed;
mod notifications;
mod replays;
#[path = "../durable/stores.rs"]
#[allow(dead_code, reason = "others use all of it")]
mod stores;
mod tools;

use agents_runtime::{
    Client, DeadLetter, DeliveryError, LetterQuery, Notification, Principal, Runtime, Subscriber,
    Told,
};
use serde::{Deserialize, Serialize};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// An order has left the house.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct OrderShipped {
    order: u32,
}

impl Notification for OrderShipped {
    const NAME: &'static str = "shop.order_shipped";
}

fn shipped(order: u32) -> OrderShipped {
    OrderShipped { order }
}

/// Orders that were taken, with the ids of their notifications.
type Taken = Arc<Mutex<Vec<(String, u32, String)>>>;

/// Creates a subscriber that takes all orders but those that `fails` names.
fn subscriber(
    name: &str,
    taken: &Taken,
    fails: impl Fn(&OrderShipped, &Told) -> Option<DeliveryError> + Send + Sync + 'static,
) -> Subscriber {
    let taken = taken.clone();
    let take = move |shipped: OrderShipped, told: Told| {
        let failed = fails(&shipped, &told);
        let taken = taken.clone();
        async move {
            if let Some(failed) = failed {
                return Err(failed);
            }
            let tenant = told.scope().tenant_id().to_owned();
            let mut taken = taken.lock().unwrap();
            taken.push((told.id().to_owned(), shipped.order, tenant));
            Ok(())
        }
    };
    Subscriber::new(name, take).retry_after([Duration::from_millis(1); 2])
}

/// Worker that stops with the test.
struct Working {
    stop: CancellationToken,
    worker: JoinHandle<()>,
}

impl Working {
    fn on(runtime: &Runtime) -> Self {
        let stop = CancellationToken::new();
        let worker = tokio::spawn(runtime.clone().work(stop.clone()));
        Working { stop, worker }
    }

    async fn stop(self) {
        self.stop.cancel();
        self.worker.await.unwrap();
    }
}

/// Waits until this is so.
async fn until(mut is_so: impl AsyncFnMut() -> bool) {
    for _ in 0..3000 {
        if is_so().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it did not come to that");
}

async fn dead(client: &Client) -> Vec<DeadLetter> {
    let all = LetterQuery::default();
    let listed = client.letters().list(&all, &Principal::operator()).await;
    listed.unwrap()
}

/// Waits until there are this many dead letters, and returns them.
async fn died(client: &Client, number: usize) -> Vec<DeadLetter> {
    until(async || dead(client).await.len() == number).await;
    dead(client).await
}

fn grace() -> Principal {
    Principal::new("grace", "acme")
}
