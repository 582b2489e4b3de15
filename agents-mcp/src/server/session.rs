//! Subscriptions of hosts, and the changes that they are told of.

#![expect(deprecated)]

use rmcp::{
    RoleServer,
    model::{LoggingLevel, ResourceUpdatedNotificationParam},
    service::Peer,
};
use std::{
    collections::BTreeSet,
    fmt,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU8, Ordering::SeqCst},
    },
};
use tokio::sync::broadcast;

/// Number of changes that a slow host may be behind. A host that is further behind is told to read the lists anew.
const WAITING: usize = 64;

/// Tells hosts that something has changed: the content of a resource, or a list.
///
/// ```
/// use agents_mcp as mcp;
///
/// let changes = mcp::Changes::new();
/// let server = mcp::serve().changes(&changes);
/// // Later, from anywhere: hosts that have subscribed to the resource are told.
/// changes.resource("notes://today");
/// # let _ = server;
/// ```
#[derive(Clone)]
pub struct Changes(broadcast::Sender<Change>);

#[derive(Clone)]
pub(super) enum Change {
    Resource(String),
    Tools,
    Resources,
    Prompts,
}

impl Changes {
    /// Creates a way to tell of changes, for [`Serve::changes`](super::Serve::changes).
    pub fn new() -> Self {
        Changes(broadcast::channel(WAITING).0)
    }

    /// Tells the hosts that have subscribed to the resource at this URI that it has changed.
    pub fn resource(&self, uri: impl Into<String>) {
        self.tell(Change::Resource(uri.into()));
    }

    /// Tells all hosts that the list of tools has changed.
    pub fn tools(&self) {
        self.tell(Change::Tools);
    }

    /// Tells all hosts that the list of resources has changed.
    pub fn resources(&self) {
        self.tell(Change::Resources);
    }

    /// Tells all hosts that the list of prompts has changed.
    pub fn prompts(&self) {
        self.tell(Change::Prompts);
    }

    fn tell(&self, change: Change) {
        // Without a host there is nobody to be told.
        drop(self.0.send(change));
    }

    pub(super) fn listen(&self) -> broadcast::Receiver<Change> {
        self.0.subscribe()
    }
}

impl Default for Changes {
    fn default() -> Self {
        Changes::new()
    }
}

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Changes").finish_non_exhaustive()
    }
}

/// Subscriptions of one host.
pub(super) struct Session {
    subscriptions: Mutex<BTreeSet<String>>,
    level: AtomicU8,
}

impl Session {
    pub(super) fn new() -> Self {
        Session {
            subscriptions: Mutex::default(),
            level: AtomicU8::new(LoggingLevel::Info as u8),
        }
    }

    /// Returns the lowest level of the log that the host wants to hear of.
    pub(super) fn level(&self) -> u8 {
        self.level.load(SeqCst)
    }

    pub(super) fn set_level(&self, level: LoggingLevel) {
        self.level.store(level as u8, SeqCst);
    }

    pub(super) fn subscribe(&self, uri: String) {
        self.subscriptions().insert(uri);
    }

    pub(super) fn unsubscribe(&self, uri: &str) {
        self.subscriptions().remove(uri);
    }

    fn subscriptions(&self) -> std::sync::MutexGuard<'_, BTreeSet<String>> {
        self.subscriptions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the host of changes until it leaves.
    pub(super) async fn tell(
        &self,
        peer: &Peer<RoleServer>,
        mut changes: broadcast::Receiver<Change>,
    ) {
        loop {
            let told = match changes.recv().await {
                Ok(Change::Resource(uri)) => {
                    if !self.subscriptions().contains(&uri) {
                        continue;
                    }
                    let updated = ResourceUpdatedNotificationParam::new(uri);
                    peer.notify_resource_updated(updated).await
                }
                Ok(Change::Tools) => peer.notify_tool_list_changed().await,
                Ok(Change::Resources) => peer.notify_resource_list_changed().await,
                Ok(Change::Prompts) => peer.notify_prompt_list_changed().await,
                Err(broadcast::error::RecvError::Lagged(_)) => {
                    peer.notify_resource_list_changed().await
                }
                Err(broadcast::error::RecvError::Closed) => return,
            };
            if told.is_err() {
                return;
            }
        }
    }
}
