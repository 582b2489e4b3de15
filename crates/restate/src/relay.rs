//! Relay: sends Restate the events after which a run can go on. The events are in the audit trail; each was stored in
//! the same transaction as the change that it reports. The store gives the events out as it does for a webhook, and
//! records which of them were sent.

use crate::{Restate, RestateError};
use agents_runtime::{Client, RuntimeError};
use agents_store::{
    AuditKind, Delivery, DeliveryClaim, DeliveryEnd, RunFilter, RunStatus, StoreError,
};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Name of the relay in the store, which notes by it what was sent to Restate.
const NAME: &str = "restate";

/// Kinds of events after which a run can go on.
const KINDS: [AuditKind; 8] = [
    AuditKind::Started,
    AuditKind::Released,
    AuditKind::Cancelled,
    AuditKind::Approved,
    AuditKind::Denied,
    AuditKind::RevisionRequested,
    AuditKind::Expired,
    AuditKind::Settled,
];

/// Time between two looks for events in the store.
const PAUSE: Duration = Duration::from_millis(50);
/// Time after which another relay may send an event that this one has claimed.
const TIME: Duration = Duration::from_secs(30);
/// Time until an event is sent again if Restate did not accept it.
const AGAIN: Duration = Duration::from_secs(1);
/// Maximum number of events that are claimed and sent at once.
const AT_ONCE: u32 = 32;

fn claim(time: Duration, limit: u32) -> DeliveryClaim {
    DeliveryClaim {
        webhook: NAME.to_owned(),
        tenant: None,
        kinds: KINDS.to_vec(),
        time,
        limit,
    }
}

/// Sends Restate the store's events until `stop` is cancelled. An event is sent again until Restate has accepted it.
pub(crate) async fn relay(restate: &Restate, client: &Client, stop: &CancellationToken) {
    while !stop.is_cancelled() {
        let pause = match send_some(restate, client).await {
            Ok(0) => PAUSE,
            Ok(_) => continue,
            Err(error) => {
                tracing::warn!(%error, "the events for Restate cannot be read");
                AGAIN
            }
        };
        stop.run_until_cancelled(tokio::time::sleep(pause)).await;
    }
}

/// Sends the next events to Restate, and returns how many there were.
async fn send_some(restate: &Restate, client: &Client) -> Result<usize, RuntimeError> {
    let store = client.store().await?;
    let deliveries = store.claim_deliveries(&claim(TIME, AT_ONCE)).await?;
    let count = deliveries.len();
    let mut sends = JoinSet::new();
    for delivery in deliveries {
        let restate = restate.clone();
        sends.spawn(async move {
            let end = send(&restate, &delivery).await;
            (delivery, end)
        });
    }
    for (delivery, end) in sends.join_all().await {
        store.end_delivery(&delivery, &end).await?;
    }
    Ok(count)
}

async fn send(restate: &Restate, delivery: &Delivery) -> DeliveryEnd {
    let event = &delivery.event;
    let id = format!("{}-{}", event.run, event.seq);
    match restate.send(&event.run, Some(id)).await {
        Ok(()) => DeliveryEnd::Delivered,
        Err(error) => {
            tracing::warn!(run = event.run, %error, "a run is woken later");
            DeliveryEnd::Again {
                after: AGAIN,
                error: error.to_string(),
            }
        }
    }
}

/// Calls Restate for all runs that are neither over nor held, and returns their number.
pub(crate) async fn wake_all(restate: &Restate, client: &Client) -> Result<u64, RestateError> {
    let failed = |error: RuntimeError| RestateError::new(error.to_string());
    let store = client.store().await.map_err(failed)?;
    let failed = |error: StoreError| RestateError::new(error.to_string());
    // From now on the store keeps events for the relay, so that no run falls between.
    let known = store.claim_deliveries(&claim(Duration::ZERO, 1)).await;
    known.map_err(failed)?;
    let mut count = 0;
    for status in [RunStatus::Ready, RunStatus::Running, RunStatus::Waiting] {
        let mut filter = RunFilter {
            status: Some(status),
            oldest_first: true,
            ..RunFilter::default()
        };
        loop {
            let runs = store.runs(&filter).await.map_err(failed)?;
            let Some(last) = runs.last() else {
                break;
            };
            filter.after = Some(last.id.clone());
            for run in &runs {
                restate.wake(&run.id).await?;
                count += 1;
            }
        }
    }
    Ok(count)
}
