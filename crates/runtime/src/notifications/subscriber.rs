//! Subscribers: code of a context that takes the notifications of others.

use super::{Notification, wording};
use crate::{DeliveryError, Runtime};
use agents_core::{Json, run::Timestamp, tool::Scope};
use futures_util::future::BoxFuture;
use std::{fmt, sync::Arc, time::Duration};

/// Default times between the tries to bring a letter: an hour and eleven minutes in all.
const RETRIES: [Duration; 5] = [
    Duration::from_secs(1),
    Duration::from_secs(10),
    Duration::from_secs(60),
    Duration::from_secs(10 * 60),
    Duration::from_secs(60 * 60),
];
/// Default time within which a subscriber has to handle a notification.
const TRY: Duration = Duration::from_secs(30);

type Take = dyn Fn(Json, Told) -> BoxFuture<'static, Result<(), DeliveryError>> + Send + Sync;

/// Subscriber: code that takes the notifications of one type. Give it to every worker: [`Runtime::subscriber`].
///
/// A subscriber is told of each notification at least once. A try that returns an error, panics or takes too long is
/// made again later, unless the error is [permanent](DeliveryError::permanent). After the last try the letter is dead:
/// it is [listed](crate::Client::letters), and can be replayed.
///
/// ```
/// # use agents_runtime::Notification;
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Serialize, Deserialize)]
/// # struct OrderShipped { order: u32 }
/// # impl Notification for OrderShipped { const NAME: &'static str = "shop.order_shipped"; }
/// use agents_runtime::{DeliveryError, Subscriber, Told};
/// use std::time::Duration;
///
/// let invoices = Subscriber::new("invoices", |shipped: OrderShipped, told: Told| async move {
///     match shipped.order {
///         // No try will ever succeed.
///         0 => Err(DeliveryError::permanent("there is no order 0")),
///         order => Ok(println!("an invoice for {order}, once for {}", told.id())),
///     }
/// })
/// .retry_after([Duration::from_secs(5), Duration::from_secs(60)]) // three tries in all
/// .time_limit(Duration::from_secs(10));
/// ```
#[derive(Clone)]
pub struct Subscriber {
    name: String,
    notification: &'static str,
    retries: Vec<Duration>,
    limit: Duration,
    take: Arc<Take>,
    /// Function that checks whether a payload fits the notification's type.
    reads: fn(&Json) -> Result<(), serde_json::Error>,
}

/// Circumstances in which a subscriber is told of a notification, such as the number of the try.
#[derive(Clone, Debug)]
pub struct Told {
    pub(super) id: String,
    pub(super) scope: Scope,
    pub(super) attempt: u32,
    pub(super) published_at: Timestamp,
    pub(super) published_by: Option<String>,
}

impl Told {
    /// Returns the id of the notification, which is the same for each try and each subscriber: the idempotency key.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the scope that the notification is about.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Returns the number of this try, from 1. After a replay, it begins anew.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Returns the time at which the notification was published.
    pub fn published_at(&self) -> Timestamp {
        self.published_at
    }

    /// Returns the principal who has published the notification; `None` if nobody was named.
    pub fn published_by(&self) -> Option<&str> {
        self.published_by.as_deref()
    }
}

impl Subscriber {
    /// Creates a subscriber. By its name, the store knows what the subscriber was told of.
    pub fn new<N: Notification, F: Future<Output = Result<(), DeliveryError>> + Send + 'static>(
        name: impl Into<String>,
        take: impl Fn(N, Told) -> F + Send + Sync + 'static,
    ) -> Self {
        let take = Arc::new(take);
        Subscriber {
            name: name.into(),
            notification: N::NAME,
            retries: RETRIES.to_vec(),
            limit: TRY,
            take: Arc::new(move |payload, told| {
                let take = take.clone();
                // The code that makes the future may panic as well.
                Box::pin(async move {
                    let notification = payload.to();
                    let notification = notification.map_err(|error| {
                        DeliveryError::permanent(wording::misfit(N::NAME, &error))
                    })?;
                    take(notification, told).await
                })
            }),
            reads: |payload| payload.to::<N>().map(drop),
        }
    }

    /// Sets the times between the tries. When they are used up, the letter is dead. By default, there are five of them,
    /// from one second to one hour.
    #[must_use]
    pub fn retry_after(mut self, times: impl IntoIterator<Item = Duration>) -> Self {
        self.retries = times.into_iter().collect();
        self
    }

    /// Sets the time that one try may take; 30 seconds by default. A try that takes longer is dropped, and has failed.
    /// A worker that does not end the try within twice the longest limit of its subscribers loses the letter to another
    /// worker.
    #[must_use]
    pub fn time_limit(mut self, time: Duration) -> Self {
        self.limit = time;
        self
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn notification(&self) -> &'static str {
        self.notification
    }

    pub(super) fn limit(&self) -> Duration {
        self.limit
    }

    /// Returns the time until the next try after this many tries; `None` if there is no further one.
    pub(super) fn next_after(&self, tries: u32) -> Option<Duration> {
        let tries = usize::try_from(tries).unwrap_or(usize::MAX);
        self.retries.get(tries.saturating_sub(1)).copied()
    }

    pub(super) fn reads(&self, payload: &Json) -> Result<(), serde_json::Error> {
        (self.reads)(payload)
    }

    pub(super) fn take(
        &self,
        payload: Json,
        told: Told,
    ) -> BoxFuture<'static, Result<(), DeliveryError>> {
        (self.take)(payload, told)
    }
}

impl Runtime {
    /// Adds a subscriber, which this worker tells of notifications: see [`Subscriber`].
    ///
    /// # Panics
    /// When there is a subscriber of this name already.
    #[must_use]
    pub fn subscriber(self, subscriber: Subscriber) -> Self {
        let mut others = self.settings.subscribers.iter();
        let name = subscriber.name();
        assert!(
            others.all(|other| other.name() != name),
            "{}",
            wording::two_subscribers(name)
        );
        self.set(|settings| settings.subscribers.push(subscriber))
    }
}

impl fmt::Debug for Subscriber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscriber")
            .field("name", &self.name)
            .field("notification", &self.notification)
            .finish_non_exhaustive()
    }
}
