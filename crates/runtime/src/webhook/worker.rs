//! The part of a worker that delivers messages.

use super::{KINDS, Webhook, WebhookMessage, wording};
use crate::{Runtime, RuntimeError, metrics::count};
use agents_store::{Delivery, DeliveryClaim, DeliveryEnd};
use futures_util::future::join_all;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Time between two looks for events to deliver.
const PAUSE: Duration = Duration::from_millis(500);
/// Time that one try to deliver an event may take.
const TRY: Duration = Duration::from_secs(30);
/// Maximum number of messages that a worker delivers at the same time.
const AT_ONCE: u32 = 16;

impl Runtime {
    /// Delivers the events of a webhook until `stop` is cancelled.
    pub(crate) async fn deliver(&self, webhook: &Webhook, stop: &CancellationToken) {
        while !stop.is_cancelled() {
            let pause = match self.deliver_some(webhook).await {
                Ok(0) => PAUSE,
                Ok(_) => continue,
                Err(error) => {
                    tracing::warn!(webhook = webhook.name, %error, "the events of a webhook cannot be read");
                    PAUSE * 10
                }
            };
            tokio::select! {
                () = stop.cancelled() => {}
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    async fn deliver_some(&self, webhook: &Webhook) -> Result<usize, RuntimeError> {
        let claim = DeliveryClaim {
            webhook: webhook.name.clone(),
            tenant: webhook.tenant.clone(),
            kinds: KINDS.to_vec(),
            time: TRY * 2,
            limit: AT_ONCE,
        };
        let store = self.client.store().await?;
        let deliveries = store.claim_deliveries(&claim).await?;
        let tries = deliveries.iter().map(|delivery| async {
            let end = self.try_to_deliver(webhook, delivery).await;
            store.end_delivery(delivery, &end).await
        });
        for ended in join_all(tries).await {
            // The message is delivered once more.
            ended?;
        }
        Ok(deliveries.len())
    }

    async fn try_to_deliver(&self, webhook: &Webhook, delivery: &Delivery) -> DeliveryEnd {
        let counters = &self.shared.counters;
        let message = match WebhookMessage::of(&self.client, webhook, &delivery.event).await {
            Ok(message) => message,
            Err(error) => return webhook.failed(delivery, error.to_string(), false),
        };
        let tried = tokio::time::timeout(TRY, webhook.way.deliver(&message)).await;
        let (error, is_final) = match tried {
            Ok(Ok(())) => {
                count(&counters.delivered);
                return DeliveryEnd::Delivered;
            }
            Ok(Err(error)) => (error.message, error.is_final),
            Err(_) => (wording::NO_ANSWER.to_owned(), false),
        };
        count(&counters.deliveries_failed);
        tracing::warn!(
            webhook = webhook.name,
            id = message.id,
            attempt = delivery.attempts,
            error,
            "an event was not delivered"
        );
        webhook.failed(delivery, error, is_final)
    }
}

impl Webhook {
    /// Returns the end of a try that has failed: another try later, or none.
    fn failed(&self, delivery: &Delivery, error: String, is_final: bool) -> DeliveryEnd {
        let tries = usize::try_from(delivery.attempts).unwrap_or(usize::MAX);
        let next = self.retries.get(tries.saturating_sub(1));
        match next.filter(|_| !is_final) {
            Some(after) => DeliveryEnd::Again {
                after: spread(*after, delivery.event.number),
                error,
            },
            None => DeliveryEnd::GivenUp { error },
        }
    }
}

/// Makes a time up to a tenth longer, so that not all events are tried again at the same moment.
fn spread(time: Duration, number: u64) -> Duration {
    let part = u32::try_from(number % 10).unwrap_or(0);
    time + time / 100 * part
}
