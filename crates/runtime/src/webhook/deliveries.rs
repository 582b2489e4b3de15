//! Events that a webhook has not been told of, seen from any process.

use crate::{Action, Client, Principal, RuntimeError};
use agents_core::run::Timestamp;
use agents_store::{AuditKind, Delivery, DeliveryFilter};
use serde::{Deserialize, Serialize};

/// Handle of the events that webhooks have not been told of, made by [`Client::deliveries`]. The handle lists the
/// events. An event that was given up can be sent again.
///
/// ```
/// use agents_runtime::{Client, Principal, RuntimeError};
/// use agents_store::DeliveryFilter;
///
/// /// Sends the events again that the webhook `desk` was not told of within two days.
/// async fn mend(client: &Client) -> Result<(), RuntimeError> {
///     let operator = Principal::operator();
///     let given_up = DeliveryFilter { webhook: Some("desk".into()), given_up: Some(true), ..DeliveryFilter::default() };
///     for one in client.deliveries().list(&given_up, &operator).await? {
///         client.deliveries().send_again(&one.webhook, one.event, &operator).await?;
///     }
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Deliveries {
    client: Client,
}

/// Event that a webhook has not been told of, with the tries so far.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct WebhookDelivery {
    /// Name of the webhook that has to be told.
    pub webhook: String,
    /// Number of the event in the audit trail.
    pub event: u64,
    /// Kind of the event: what has happened.
    pub kind: AuditKind,
    /// Id of the run that the event belongs to.
    pub run_id: String,
    /// Time at which the event happened, by the clock of the store.
    pub at: Timestamp,
    /// Number of tries to deliver the event so far, the one under way included. [`send_again`](Deliveries::send_again)
    /// begins the count anew.
    pub attempts: u32,
    /// Time of the next try; `None` if the event was given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_at: Option<Timestamp>,
    /// Reason why the last try has failed; `None` if none has failed so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl From<Delivery> for WebhookDelivery {
    fn from(delivery: Delivery) -> Self {
        WebhookDelivery {
            webhook: delivery.webhook,
            event: delivery.event.number,
            kind: delivery.event.kind,
            run_id: delivery.event.run,
            at: delivery.event.at,
            attempts: delivery.attempts,
            next_at: delivery.next_at,
            error: delivery.error,
        }
    }
}

impl Client {
    /// Returns the events that webhooks have not been told of.
    pub fn deliveries(&self) -> Deliveries {
        Deliveries {
            client: self.clone(),
        }
    }
}

impl Deliveries {
    /// Returns events that webhooks have not been told of, the oldest first. An event is among them once a worker with
    /// the webhook has looked for events since.
    ///
    /// # Errors
    /// When the principal is no operator, or the store fails.
    pub async fn list(
        &self,
        filter: &DeliveryFilter,
        by: &Principal,
    ) -> Result<Vec<WebhookDelivery>, RuntimeError> {
        self.client.allowed(Action::Webhooks, None, by).await?;
        let found = self.client.bare_store().deliveries(filter).await?;
        Ok(found.into_iter().map(WebhookDelivery::from).collect())
    }

    /// Sends an event again that was given up: its tries begin anew.
    ///
    /// # Errors
    /// When the principal is no operator, the event was not given up, or the store fails.
    pub async fn send_again(
        &self,
        webhook: &str,
        event: u64,
        by: &Principal,
    ) -> Result<(), RuntimeError> {
        self.client.allowed(Action::Webhooks, None, by).await?;
        Ok(self.client.store().await?.redeliver(webhook, event).await?)
    }
}
