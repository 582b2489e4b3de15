//! A pool of connections that are kept for later requests.

use crate::{
    TransportError,
    connection::Connection,
    route::{Connector, Route},
};
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};
use tokio::{
    runtime::{Handle, Id},
    time::{Instant, sleep},
};

/// Time after which an unused connection may be closed. The check runs once in that time, so that a connection lasts at
/// most twice as long.
const IDLE_TIMEOUT: Duration = Duration::from_secs(90);

/// The open connections to one server by one route, in one tokio runtime. Connections are not shared between runtimes,
/// since each connection depends on the runtime that opened it.
pub(crate) struct Pool {
    runtime: Id,
    route: Route,
    connector: Connector,
    idle: Mutex<Vec<IdleConnection>>,
}

struct IdleConnection {
    connection: Connection,
    since: Instant,
}

/// All pools of the process. A pool lives as long as its task `close_idle_connections`, which ends with the runtime.
static POOLS: Mutex<Vec<Weak<Pool>>> = Mutex::new(Vec::new());

impl Pool {
    /// Returns the pool of this route in the current runtime.
    pub(crate) fn of(route: &Route) -> Result<Arc<Pool>, TransportError> {
        let runtime = Handle::try_current().map_err(|_| TransportError::NoRuntime)?;
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
            connector: route.connector().map_err(TransportError::Setup)?,
            idle: Mutex::default(),
        });
        pools.retain(|pool| pool.strong_count() > 0);
        pools.push(Arc::downgrade(&pool));
        runtime.spawn(close_idle_connections(pool.clone()));
        Ok(pool)
    }

    /// Takes the idle connection that was used last; `None` if none is idle. The server may have closed it meanwhile.
    pub(crate) fn take(&self) -> Option<Connection> {
        self.idle().pop().map(|idle| idle.connection)
    }

    /// Opens a new connection to the pool's server.
    pub(crate) async fn open(&self) -> Result<Connection, TransportError> {
        let stream = self.connector.open(self.route.server()).await;
        let stream = stream.map_err(|error| TransportError::connect(&*error))?;
        Connection::handshake(stream)
            .await
            .map_err(|error| TransportError::interrupted(&error))
    }

    /// Keeps a connection for later requests if it is reusable; drops it otherwise.
    pub(crate) fn put(&self, connection: Connection) {
        if connection.is_reusable() {
            let since = Instant::now();
            self.idle().push(IdleConnection { connection, since });
        }
    }

    /// Closes the connections that were unused for too long; returns `true` if others are left.
    fn close_expired(&self) -> bool {
        let mut idle = self.idle();
        idle.retain(|idle| idle.since.elapsed() < IDLE_TIMEOUT);
        !idle.is_empty()
    }

    fn idle(&self) -> MutexGuard<'_, Vec<IdleConnection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes idle connections until none is left and nobody but this task holds the pool.
async fn close_idle_connections(pool: Arc<Pool>) {
    loop {
        sleep(IDLE_TIMEOUT).await;
        if !pool.close_expired() && Arc::strong_count(&pool) == 1 {
            return;
        }
    }
}
