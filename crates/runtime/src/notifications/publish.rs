//! Publishing: a notification is stored with its letters.

use super::{Notification, NotificationContents, wording};
use crate::{Client, Principal, Runtime, RuntimeError};
use agents_core::{Json, run::RunContext, tool::Scope};
use agents_store::{NewNotification, Subscription};
use futures_util::future::BoxFuture;
use std::{fmt, future::IntoFuture};
use uuid::Uuid;

/// Notification that is about to be published, made by [`Runtime::publish`] and [`Client::publish`]. Awaiting this
/// value stores the notification with a letter to each subscriber of its name, and returns the id of the notification.
///
/// ```
/// # use agents_runtime::{Client, Notification, RuntimeError};
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Serialize, Deserialize)]
/// # struct OrderShipped { order: u32 }
/// # impl Notification for OrderShipped { const NAME: &'static str = "shop.order_shipped"; }
/// /// Tells of an order in a tool that may run twice: its idempotency key makes one notification of both.
/// async fn tell(client: &Client, order: u32, cx: &agents_core::ToolContext) -> Result<(), RuntimeError> {
///     client.publish(&OrderShipped { order }).key(cx.idempotency_key()).await?;
///     Ok(())
/// }
/// ```
#[must_use = "nothing is published until it is awaited"]
pub struct Publish {
    client: Client,
    runtime: Option<Runtime>,
    name: &'static str,
    payload: Result<Json, String>,
    scope: Option<Scope>,
    by: Option<Principal>,
    key: Option<String>,
}

impl Client {
    /// Prepares a notification for the subscribers of all workers of the store.
    ///
    /// Once the returned [`Publish`] was awaited, the notification is stored, and each subscriber of its name is told
    /// of it at least once, or has a dead letter of it. If the store knows no such subscriber yet, the notification
    /// waits for the first one.
    pub fn publish<N: Notification>(&self, notification: &N) -> Publish {
        Publish {
            client: self.clone(),
            runtime: None,
            name: N::NAME,
            payload: Json::of(notification).map_err(|error| error.to_string()),
            scope: None,
            by: None,
            key: None,
        }
    }
}

impl Runtime {
    /// Prepares a notification for the subscribers of all workers of the store: see [`Client::publish`].
    pub fn publish<N: Notification>(&self, notification: &N) -> Publish {
        Publish {
            runtime: Some(self.clone()),
            ..self.client.publish(notification)
        }
    }

    /// Stores the subscribers of this runtime, unless this process has done so.
    pub(super) async fn subscribe(&self) -> Result<(), RuntimeError> {
        let mut known = self.shared.subscribed.lock().await;
        let all = self.settings.subscribers.iter();
        let new = all.filter(|one| !known.contains(one.name()));
        let new = new.map(|one| Subscription {
            subscriber: one.name().to_owned(),
            notification: one.notification().to_owned(),
        });
        let new: Vec<_> = new.collect();
        if !new.is_empty() {
            self.client.store().await?.subscribe(&new).await?;
            known.extend(new.into_iter().map(|one| one.subscriber));
        }
        Ok(())
    }
}

impl Publish {
    /// Sets the scope that the notification is about. By default, this is the scope of the run within which the
    /// notification is published, or the tenant `""` outside of a run.
    pub fn scope(mut self, scope: impl Into<Scope>) -> Self {
        self.scope = Some(scope.into());
        self
    }

    /// Names the principal who publishes the notification; nobody by default.
    pub fn by(mut self, by: &Principal) -> Self {
        self.by = Some(by.clone());
        self
    }

    /// Sets a key by which the caller knows the notification; none by default. Publishing a notification of the same
    /// name with the same key again, for the same tenant, stores nothing, and returns the id of the notification that
    /// is there.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Stores the notification with a letter to each subscriber, and returns its id.
    async fn store(self) -> Result<String, RuntimeError> {
        let payload = self
            .payload
            .map_err(|why| wording::not_stored(self.name, &why))?;
        if let Some(runtime) = &self.runtime {
            runtime.subscribe().await?;
        }
        let around = || RunContext::current().map(|cx| cx.scope().clone());
        let scope = self.scope.or_else(around).unwrap_or_default();
        let tenant = scope.tenant_id().to_owned();
        let id = Uuid::now_v7().to_string();
        let contents = NotificationContents { payload, scope };
        let (contents, data_key) = contents.seal(&*self.client.keys()?, &id)?;
        let new = NewNotification {
            id,
            tenant,
            name: self.name.to_owned(),
            key: self.key,
            published_by: self.by.map(|by| by.id().to_owned()),
            contents,
            data_key,
        };
        let stored = self.client.store().await?.publish(&new).await?;
        if let Some(runtime) = &self.runtime {
            runtime.shared.letters.notify_waiters();
        }
        Ok(stored)
    }
}

impl IntoFuture for Publish {
    type Output = Result<String, RuntimeError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    /// Publishes the notification, and returns its id.
    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.store())
    }
}

impl fmt::Debug for Publish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Publish")
            .field("name", &self.name)
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}
