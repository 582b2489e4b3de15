//! Subscriptions of hosts, and the changes that they are told of.

#![expect(deprecated)]

use rmcp::{
    RoleServer,
    model::{LoggingLevel, ResourceUpdatedNotificationParam},
    service::{Peer, ServiceError},
};
use std::{
    collections::BTreeSet,
    fmt,
    sync::{
        Arc, Mutex, OnceLock, PoisonError, Weak,
        atomic::{AtomicU8, Ordering::SeqCst},
    },
};
use tokio::{sync::broadcast, task::JoinSet};

/// Number of changes that may wait to be told to a slow host. A host that is further behind is told to read all lists
/// anew, and the resources that it has subscribed to.
const WAITING: usize = 64;

/// Sender by which a program tells hosts that something has changed: the content of a resource, or a list.
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
enum Change {
    Resource(String),
    Tools,
    Resources,
    Prompts,
}

impl Changes {
    /// Creates the sender, which [`Serve::changes`](super::Serve::changes) takes.
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

/// Session of one host: its subscriptions, and the level of its log.
pub(super) struct Session {
    subscriptions: Mutex<BTreeSet<String>>,
    level: AtomicU8,
    /// Task that tells the host of changes, once it was started. It ends with the session.
    told: OnceLock<JoinSet<()>>,
}

impl Session {
    pub(super) fn new() -> Self {
        Session {
            subscriptions: Mutex::default(),
            level: AtomicU8::new(LoggingLevel::Info as u8),
            told: OnceLock::new(),
        }
    }

    /// Returns the lowest level of messages in the log that the host wants to get.
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

    /// Starts the task that tells the host of changes until the host leaves. If the task was started before, nothing
    /// happens.
    pub(super) fn tell_of(self: &Arc<Self>, changes: &Changes, peer: Peer<RoleServer>) {
        self.told.get_or_init(|| {
            let mut told = JoinSet::new();
            told.spawn(tell(Arc::downgrade(self), peer, changes.0.subscribe()));
            told
        });
    }

    async fn tell(&self, change: Change, peer: &Peer<RoleServer>) -> Result<(), ServiceError> {
        match change {
            Change::Resource(uri) => {
                if !self.subscriptions().contains(&uri) {
                    return Ok(());
                }
                let updated = ResourceUpdatedNotificationParam::new(uri);
                peer.notify_resource_updated(updated).await
            }
            Change::Tools => peer.notify_tool_list_changed().await,
            Change::Resources => peer.notify_resource_list_changed().await,
            Change::Prompts => peer.notify_prompt_list_changed().await,
        }
    }

    /// Tells the host that all lists, and all resources that it has subscribed to, may have changed.
    async fn tell_all(&self, peer: &Peer<RoleServer>) -> Result<(), ServiceError> {
        for change in [Change::Tools, Change::Resources, Change::Prompts] {
            self.tell(change, peer).await?;
        }
        let subscriptions = self.subscriptions().clone();
        for uri in subscriptions {
            self.tell(Change::Resource(uri), peer).await?;
        }
        Ok(())
    }
}

/// Tells the host of changes until it closes the session.
async fn tell(
    session: Weak<Session>,
    peer: Peer<RoleServer>,
    mut changes: broadcast::Receiver<Change>,
) {
    use broadcast::error::RecvError;
    loop {
        let change = changes.recv().await;
        let Some(session) = session.upgrade() else {
            return;
        };
        let told = match change {
            Ok(change) => session.tell(change, &peer).await,
            Err(RecvError::Lagged(_)) => session.tell_all(&peer).await,
            Err(RecvError::Closed) => return,
        };
        if told.is_err() {
            return;
        }
    }
}
