//! Live events: the audit trail of all processes, read by one task for all pages that are open.

use agents_runtime::{AuditRecord, Client, RuntimeError};
use agents_store::AuditFilter;
use std::{
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};
use tokio::sync::broadcast;

/// Time between two looks at the trail.
pub(crate) const PAUSE: Duration = Duration::from_millis(250);
/// Number of events that a slow reader may be behind. A reader that is further behind loses some, and is told so.
const BEHIND: usize = 1024;

/// Number of events that are read at once.
const PAGE: usize = 100;

/// Source of the events of a store. Nothing is read while nobody listens.
#[derive(Clone)]
pub(crate) struct Live {
    client: Client,
    tail: Arc<Mutex<Weak<Tail>>>,
}

struct Tail {
    events: broadcast::Sender<AuditRecord>,
}

/// Events from now on, for one reader.
pub(crate) struct Listening {
    events: broadcast::Receiver<AuditRecord>,
    /// Handle that keeps the task alive which reads the trail.
    _tail: Arc<Tail>,
}

impl Live {
    pub(crate) fn new(client: Client) -> Self {
        Live {
            client,
            tail: Arc::default(),
        }
    }

    /// Listens to the events that are stored from now on.
    pub(crate) async fn listen(&self) -> Result<Listening, RuntimeError> {
        if let Some(tail) = self.running() {
            return Ok(tail.listen());
        }
        let begin = newest(&self.client).await?;
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
    /// Returns the next event; `None` after events that were lost, since the reader was too slow.
    pub(crate) async fn next(&mut self) -> Option<AuditRecord> {
        self.events.recv().await.ok()
    }
}

/// Returns the number of the newest event of the trail; 0 for an empty one.
async fn newest(client: &Client) -> Result<u64, RuntimeError> {
    let filter = AuditFilter {
        before: Some(u64::MAX),
        limit: 1,
        ..AuditFilter::default()
    };
    let found = client.audit().events(&filter).await?;
    Ok(found.first().map_or(0, |event| event.number))
}

/// Reads the trail behind this event until nobody listens any more.
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
