//! Deliveries: events of the audit trail that a webhook has to be told of.

use crate::{AuditEvent, AuditKind};
use agents_core::run::Timestamp;
use std::time::Duration;

/// Maximum number of events of the audit trail that one claim looks at for a webhook.
#[cfg_attr(
    not(any(feature = "sqlite", feature = "postgres")),
    allow(dead_code, reason = "the stores see events")
)]
pub(crate) const MOST_AT_ONCE: u32 = 1000;

/// Request of a worker for events that a webhook has to be told of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryClaim {
    /// Name of the webhook. A webhook that the store does not know yet is told of later events only.
    pub webhook: String,
    /// Tenant (organisation) whose events the webhook is told of; `None` for all.
    pub tenant: Option<String>,
    /// Kinds of the events that the webhook is told of. Events that belong to no run are not delivered.
    pub kinds: Vec<AuditKind>,
    /// Time after which another worker may deliver the same events, unless this worker has reported the end of its
    /// tries.
    pub time: Duration,
    /// Maximum number of deliveries that the worker gets with this request; 0 for 100.
    pub limit: u32,
}

/// Event that a webhook has to be told of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Name of the webhook that has to be told.
    pub webhook: String,
    /// Event that the webhook has to be told of.
    pub event: AuditEvent,
    /// Number of tries since the event happened, or since it was last made due again, the one under way included.
    pub attempts: u32,
    /// Time of the next try; `None` if the event was given up.
    pub next_at: Option<Timestamp>,
    /// Reason why the last try has failed; `None` if none has failed so far.
    pub error: Option<String>,
}

/// End of a try to tell a webhook of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryEnd {
    /// The webhook has taken the event.
    Delivered,
    /// The try has failed, and the next try comes after this time.
    Again {
        /// Time until the next try to tell the webhook of the event, from the moment at which the failure is stored.
        after: Duration,
        /// Reason why the try to tell the webhook of the event has failed.
        error: String,
    },
    /// The try has failed, and there is no further one.
    GivenUp {
        /// Reason why the last try to tell the webhook of the event has failed.
        error: String,
    },
}

/// Choice of deliveries, for [`Store::deliveries`](crate::Store::deliveries). The default chooses all of them. A
/// delivery is chosen if it fits each field that is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliveryFilter {
    /// Name of the webhook whose deliveries are chosen; `None` for all.
    pub webhook: Option<String>,
    /// `Some(true)` for deliveries that were given up, `Some(false)` for deliveries that are still tried; `None` for
    /// both.
    pub given_up: Option<bool>,
    /// Chooses deliveries of events with greater numbers than this one, the oldest first; 0 for all.
    pub after: u64,
    /// Maximum number of deliveries that are returned; 0 for 100.
    pub limit: u32,
}
