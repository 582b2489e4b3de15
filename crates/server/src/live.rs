//! Live events: the audit trail of all processes, read by one task for all pages that are open.

use agents_runtime::{AuditRecord, Client, RuntimeError};
use agents_store::AuditFilter;
use std::{
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};
use tokio::sync::broadcast;

/// Time between two readings of the audit trail.
pub(crate) const PAUSE: Duration = Duration::from_millis(250);
/// Number of events that may wait for a slow reader. A reader that is further behind loses the oldest of them, and is
/// told so.
const BEHIND: usize = 1024;

/// Number of events that are read from the store at once.
const PAGE: usize = 100;

/// Source of the new events of a store's audit trail, for pages that show them as they come. Nothing is read while
/// nobody listens.
#[derive(Clone)]
pub(crate) struct Live {
    client: Client,
    tail: Arc<Mutex<Weak<Tail>>>,
}

struct Tail {
    events: broadcast::Sender<AuditRecord>,
}

/// Subscription of one reader to the events that are stored after the reader has subscribed. Some that were stored
/// shortly before may come as well.
pub(crate) struct Listening {
    events: broadcast::Receiver<AuditRecord>,
    /// Handle of the task that reads the audit trail: the task ends when no reader has one any more.
    _tail: Arc<Tail>,
}

impl Live {
    pub(crate) fn new(client: Client) -> Self {
        Live {
            client,
            tail: Arc::default(),
        }
    }

    /// Subscribes a reader to the events that are stored from now on. If others listen already, some that were stored
    /// shortly before may come as well.
    pub(crate) async fn listen(&self) -> Result<Listening, RuntimeError> {
        if let Some(tail) = self.running() {
            return Ok(tail.listen());
        }
        let begin = self.newest().await?;
        let mut running = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tail) = running.upgrade() {
            return Ok(tail.listen());
        }
        let tail = Arc::new(Tail {
            events: broadcast::Sender::new(BEHIND),
        });
        *running = Arc::downgrade(&tail);
        tokio::spawn(follow(self.client.clone(), begin, running.clone()));
        Ok(tail.listen())
    }

    /// Returns the number of the newest event of the audit trail; 0 if the trail is empty.
    pub(crate) async fn newest(&self) -> Result<u64, RuntimeError> {
        let filter = AuditFilter {
            before: Some(u64::MAX),
            limit: 1,
            ..AuditFilter::default()
        };
        let found = self.client.audit().events(&filter).await?;
        Ok(found.first().map_or(0, |event| event.number))
    }

    fn running(&self) -> Option<Arc<Tail>> {
        let running = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        running.upgrade()
    }
}

impl Tail {
    fn listen(self: Arc<Self>) -> Listening {
        Listening {
            events: self.events.subscribe(),
            _tail: self,
        }
    }
}

impl Listening {
    /// Waits for the next event; `None` after events that were lost, since the reader was too slow.
    pub(crate) async fn next(&mut self) -> Option<AuditRecord> {
        self.events.recv().await.ok()
    }
}

/// Reads the audit trail behind this event, and passes the events to all readers, until nobody listens any more.
async fn follow(client: Client, begin: u64, tail: Weak<Tail>) {
    let mut filter = AuditFilter {
        after: begin,
        limit: PAGE as u32,
        ..AuditFilter::default()
    };
    let mut is_behind = false;
    loop {
        if !is_behind {
            tokio::time::sleep(PAUSE).await;
        }
        let Some(tail) = tail.upgrade() else { return };
        is_behind = false;
        match client.audit().events(&filter).await {
            Ok(found) => {
                // A full page may have another one behind it.
                is_behind = found.len() >= PAGE;
                for event in found {
                    filter.after = event.number;
                    // Whoever has left hears nothing.
                    let _ = tail.events.send(event);
                }
            }
            Err(error) => tracing::warn!(%error, "the audit trail cannot be read"),
        }
    }
}
