//! Leases of the runs that this process works on. A thread of its own renews them, so that a tool which keeps the
//! runtime's threads busy loses no lease.

use crate::metrics::{Counters, count};
use agents_store::{ErrorKind, Lease, Store};
use futures_util::future::join_all;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    thread,
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

/// Divisor for the time of a lease: an effect may only begin if more than this part, a quarter, is left.
const MARGIN: u32 = 4;

/// Keeper of the leases that this process holds: it renews them.
pub(crate) struct Keeper {
    store: Arc<dyn Store>,
    time: Duration,
    held: Mutex<HashMap<String, Arc<Held>>>,
    counters: Arc<Counters>,
}

/// Lease that this process holds, with its time by the monotonic clock.
pub(crate) struct Held {
    pub(crate) lease: Lease,
    time: Duration,
    until: Mutex<Instant>,
    /// Token that is cancelled when the lease is lost, so that all work under it ends.
    pub(crate) lost: CancellationToken,
    pub(crate) counters: Arc<Counters>,
}

impl Held {
    fn until(&self) -> MutexGuard<'_, Instant> {
        self.until.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks the lease as lost, and cancels all work under it.
    fn lose(&self) {
        if !self.lost.is_cancelled() {
            count(&self.counters.leases_lost);
        }
        self.lost.cancel();
    }

    /// Returns `true` if the lease still lasts long enough for an effect to begin.
    pub(crate) fn holds(&self) -> bool {
        let left = self.until().saturating_duration_since(Instant::now());
        left > self.time / MARGIN && !self.lost.is_cancelled()
    }
}

/// Guard of a lease: the keeper renews it until the guard is dropped.
pub(crate) struct Keeping {
    keeper: Arc<Keeper>,
    pub(crate) held: Arc<Held>,
}

impl Drop for Keeping {
    fn drop(&mut self) {
        self.keeper.held().remove(&self.held.lease.run.id);
    }
}

impl Keeper {
    /// Starts the thread that renews leases of this length.
    pub(crate) fn start(
        store: Arc<dyn Store>,
        time: Duration,
        counters: Arc<Counters>,
    ) -> std::io::Result<Arc<Keeper>> {
        let keeper = Arc::new(Keeper {
            store,
            time,
            held: Mutex::default(),
            counters,
        });
        let (weak, pause) = (Arc::downgrade(&keeper), time / 5);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()?;
        thread::Builder::new()
            .name("agents-leases".to_owned())
            .spawn(move || runtime.block_on(renew(weak, pause)))?;
        Ok(keeper)
    }

    fn held(&self) -> MutexGuard<'_, HashMap<String, Arc<Held>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Renews a lease that was claimed at this time, until the returned guard is dropped.
    pub(crate) fn keep(self: &Arc<Self>, lease: Lease, claimed: Instant) -> Keeping {
        let held = Arc::new(Held {
            time: self.time,
            until: Mutex::new(claimed + self.time),
            lost: CancellationToken::new(),
            counters: self.counters.clone(),
            lease,
        });
        self.held().insert(held.lease.run.id.clone(), held.clone());
        Keeping {
            keeper: self.clone(),
            held,
        }
    }

    async fn renew(&self, held: Arc<Held>) {
        let asked = Instant::now();
        let renewed = tokio::time::timeout(self.time, self.store.renew(&held.lease, self.time));
        match renewed.await {
            Ok(Ok(_)) => *held.until() = asked + self.time,
            Ok(Err(error)) if error.kind() == ErrorKind::LeaseLost => {
                tracing::warn!(run = %held.lease.run.id, %error, "the lease of a run is lost");
                held.lose();
            }
            failed => {
                let is_over = *held.until() <= Instant::now();
                let why = match failed {
                    Ok(Err(error)) => error.to_string(),
                    _ => "the store does not answer".to_owned(),
                };
                tracing::warn!(run = %held.lease.run.id, why, is_over, "a lease cannot be renewed");
                if is_over {
                    held.lose();
                }
            }
        }
    }
}

/// Renews all leases again and again, until the keeper is dropped.
async fn renew(keeper: Weak<Keeper>, pause: Duration) {
    loop {
        tokio::time::sleep(pause).await;
        let Some(keeper) = keeper.upgrade() else {
            return;
        };
        let held: Vec<_> = keeper.held().values().cloned().collect();
        join_all(held.into_iter().map(|held| keeper.renew(held))).await;
    }
}
