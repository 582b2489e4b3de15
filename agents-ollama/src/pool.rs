//! The connections that are kept for the next request.

use crate::{
    connection::Connection,
    route::{Connector, Route},
    transport::Broken,
};
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};
use tokio::{
    runtime::{Handle, Id},
    time::{Instant, sleep},
};

/// A connection that nobody has used for so long is closed, within the same time again.
const IDLE: Duration = Duration::from_secs(90);

/// The connections of one way in one tokio runtime, which has to be there for them: handing them to
/// another runtime would tie two together that know nothing of each other.
pub(crate) struct Pool {
    runtime: Id,
    route: Route,
    connector: Connector,
    free: Mutex<Vec<Free>>,
}

struct Free {
    connection: Connection,
    since: Instant,
}

/// Each lives as long as its keeper, which ends with its runtime.
static POOLS: Mutex<Vec<Weak<Pool>>> = Mutex::new(Vec::new());

impl Pool {
    /// The pool of this way in the runtime we are on.
    pub(crate) fn of(route: &Route) -> Result<Arc<Pool>, Broken> {
        let runtime = Handle::try_current().map_err(|_| Broken::NoRuntime)?;
        let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
        let held = pools
            .iter()
            .filter_map(Weak::upgrade)
            .find(|pool| pool.runtime == runtime.id() && pool.route == *route);
        if let Some(pool) = held {
            return Ok(pool);
        }
        let pool = Arc::new(Pool {
            runtime: runtime.id(),
            route: route.clone(),
            connector: route.connector().map_err(Broken::Setup)?,
            free: Mutex::default(),
        });
        pools.retain(|pool| pool.strong_count() > 0);
        pools.push(Arc::downgrade(&pool));
        runtime.spawn(keep(pool.clone()));
        Ok(pool)
    }

    /// The connection that was used last; nothing is known of it but that it was open then.
    pub(crate) fn take(&self) -> Option<Connection> {
        self.free().pop().map(|free| free.connection)
    }

    /// Another connection.
    pub(crate) async fn open(&self) -> Result<Connection, Broken> {
        let stream = self.connector.open(self.route.server()).await;
        let stream = stream.map_err(|error| Broken::connect(&*error))?;
        Connection::on(stream)
            .await
            .map_err(|error| Broken::cut(&error))
    }

    /// Keeps a connection, if it can be used again.
    pub(crate) fn put(&self, connection: Connection) {
        if connection.is_free() {
            let since = Instant::now();
            self.free().push(Free { connection, since });
        }
    }

    /// Closes what nobody has used for long; whether anything is left.
    fn close_old(&self) -> bool {
        let mut free = self.free();
        free.retain(|free| free.since.elapsed() < IDLE);
        !free.is_empty()
    }

    fn free(&self) -> MutexGuard<'_, Vec<Free>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes old connections for as long as there are any, or anybody who may bring one.
async fn keep(pool: Arc<Pool>) {
    loop {
        sleep(IDLE).await;
        if !pool.close_old() && Arc::strong_count(&pool) == 1 {
            return;
        }
    }
}
