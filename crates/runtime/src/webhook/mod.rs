//! Webhooks: other systems are told of requests, decisions and ends.

mod deliveries;
#[cfg(feature = "webhooks")]
mod http;
mod message;
mod secret;
#[cfg_attr(
    not(feature = "webhooks"),
    expect(dead_code, reason = "some texts are about deliveries over HTTP")
)]
mod wording;
mod worker;

pub use deliveries::{Deliveries, WebhookDelivery};
#[cfg(feature = "webhooks")]
pub use http::HttpDelivery;
pub use message::WebhookMessage;
pub use secret::WebhookSecret;

use agents_store::AuditKind;
use async_trait::async_trait;
use std::{fmt, sync::Arc, time::Duration};

/// Default times between the tries to deliver an event: two days in all.
const RETRIES: [Duration; 8] = [
    Duration::from_secs(5),
    Duration::from_secs(5 * 60),
    Duration::from_secs(30 * 60),
    Duration::from_secs(2 * 60 * 60),
    Duration::from_secs(5 * 60 * 60),
    Duration::from_secs(10 * 60 * 60),
    Duration::from_secs(14 * 60 * 60),
    Duration::from_secs(20 * 60 * 60),
];

/// Kinds of events that a webhook is told of.
const KINDS: [AuditKind; 9] = [
    AuditKind::Requested,
    AuditKind::Approved,
    AuditKind::Denied,
    AuditKind::RevisionRequested,
    AuditKind::Expired,
    AuditKind::Withdrawn,
    AuditKind::Held,
    AuditKind::Finished,
    AuditKind::InDoubt,
];

/// Webhook: another system that is told of requests for approval, decisions, doubts, and runs that end or are held.
///
/// Give the webhook to every worker: [`Runtime::webhook`](crate::Runtime::webhook). Each event is stored in the same
/// transaction as the change that it reports, so no event is lost. An event is delivered at least once. It may come
/// twice or out of order; its id stays the same. A failed try is repeated for two days by default. Then the event is
/// given up. [`Client::deliveries`](crate::Client::deliveries) lists the events that are not delivered yet. An event
/// that was given up can be sent again there. A new webhook is told of later events only.
///
/// ```no_run
/// # #[cfg(feature = "webhooks")]
/// # fn add(runtime: agents_runtime::Runtime) -> Result<agents_runtime::Runtime, Box<dyn std::error::Error>> {
/// use agents_runtime::{HttpDelivery, Webhook, WebhookSecret};
///
/// let secret = WebhookSecret::read(&std::env::var("DESK_SECRET")?)?; // whsec_..
/// let desk = Webhook::new("desk", HttpDelivery::to("http://desk.internal/agents", secret)?)
///     .links_to("https://agents.example.com"); // a request is at /approvals/ID
/// # Ok(
/// runtime.webhook(desk)
/// # )
/// # }
/// ```
#[derive(Clone)]
pub struct Webhook {
    name: String,
    tenant: Option<String>,
    base: Option<String>,
    retries: Vec<Duration>,
    way: Arc<dyn Deliver>,
}

/// Transport that delivers the messages of a webhook: `HttpDelivery` (feature `webhooks`), or a type of your own.
///
/// ```
/// use agents_core::async_trait;
/// use agents_runtime::{Deliver, DeliveryError, Webhook, WebhookMessage};
/// use tokio::sync::mpsc::Sender;
///
/// /// Puts messages into a queue of this process.
/// struct Queue(Sender<String>);
///
/// #[async_trait]
/// impl Deliver for Queue {
///     async fn deliver(&self, message: &WebhookMessage) -> Result<(), DeliveryError> {
///         // A full queue is tried again later; nobody reads from a closed one any more.
///         match self.0.try_send(message.body.clone()) {
///             Ok(()) => Ok(()),
///             Err(error) if self.0.is_closed() => Err(DeliveryError::permanent(error.to_string())),
///             Err(error) => Err(DeliveryError::new(error.to_string())),
///         }
///     }
/// }
///
/// let (sender, _receiver) = tokio::sync::mpsc::channel(100);
/// let desk = Webhook::new("desk", Queue(sender));
/// ```
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` delivers no messages",
    label = "expected a way to deliver",
    note = "over HTTP, with the feature `webhooks`: `HttpDelivery::to(\"http://..\", secret)?`"
)]
pub trait Deliver: Send + Sync + 'static {
    /// Delivers a message, and returns when the other system has taken it.
    ///
    /// # Errors
    /// When the other system has not taken the message: see [`DeliveryError`] for whether it is tried again.
    async fn deliver(&self, message: &WebhookMessage) -> Result<(), DeliveryError>;
}

/// Reason why a message, or a notification, was not taken. It also says whether there is another try: yes after
/// [`new`](DeliveryError::new), no after [`permanent`](DeliveryError::permanent).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryError {
    message: String,
    is_final: bool,
}

impl DeliveryError {
    /// Creates the error of a try after which there will be another one.
    pub fn new(message: impl Into<String>) -> Self {
        DeliveryError {
            message: message.into(),
            is_final: false,
        }
    }

    /// Creates the error of an event or a notification that its receiver will never take: there is no other try.
    pub fn permanent(message: impl Into<String>) -> Self {
        DeliveryError {
            message: message.into(),
            is_final: true,
        }
    }
}

impl DeliveryError {
    /// Returns `true` if the event or notification is not tried again.
    pub(crate) fn is_final(&self) -> bool {
        self.is_final
    }
}

impl fmt::Display for DeliveryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for DeliveryError {}

impl Webhook {
    /// Creates a webhook. By its name, the store knows which events the webhook was told of.
    pub fn new(name: impl Into<String>, way: impl Deliver) -> Self {
        Webhook {
            name: name.into(),
            tenant: None,
            base: None,
            retries: RETRIES.to_vec(),
            way: Arc::new(way),
        }
    }

    /// Limits the webhook to the events of one tenant (organisation). By default, it is told of the events of all
    /// tenants.
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    /// Adds links to messages, as the field `url` of their data; none by default. A request is at `/approvals/ID` below
    /// this address, and a run at `/runs/ID`.
    #[must_use]
    pub fn links_to(mut self, base: impl Into<String>) -> Self {
        let base: String = base.into();
        self.base = Some(base.trim_end_matches('/').to_owned());
        self
    }

    /// Sets the times between the tries. When they are used up, the event is given up. By default, there are eight of
    /// them, from 5 seconds to 20 hours: two days in all.
    #[must_use]
    pub fn retry_after(mut self, times: impl IntoIterator<Item = Duration>) -> Self {
        self.retries = times.into_iter().collect();
        self
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Debug for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhook")
            .field("name", &self.name)
            .field("tenant", &self.tenant)
            .finish_non_exhaustive()
    }
}
