//! Connections to the server, on a thread of their own, and transactions.

use super::{Clock, wording};
use crate::{AuditKey, StoreError, trail::End};
use deadpool_postgres::{
    GenericClient, Object, Pool,
    tokio_postgres::{IsolationLevel, Row, types::ToSql},
};
use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
};
use tokio::{runtime, sync::oneshot};

/// Statements that a transaction begins with. Whoever waits for a lock is told so after a while, and whoever holds one and does
/// nothing loses it. A commit has to be on the disk when it returns, whatever the server's default is.
const BEGIN: &str = "SET LOCAL lock_timeout = '10s';
    SET LOCAL idle_in_transaction_session_timeout = '30s';
    SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'";

/// Statement for the time of the server's clock, in milliseconds since 1970.
const NOW: &str = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/// Parameters of an SQL statement, in their order.
pub(super) type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

/// Future of some work with a connection or in a transaction.
pub(super) type Work<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// Pool of connections, and the thread that drives them: a tool that keeps the program's threads busy keeps no lease
/// from being renewed. The thread ends with the last clone.
#[derive(Clone)]
pub(super) struct Connections {
    pool: Pool,
    runtime: runtime::Handle,
    _ends: Arc<oneshot::Sender<()>>,
}

impl Connections {
    pub(super) fn of(pool: Pool) -> Result<Self, StoreError> {
        let failed = |error: io::Error| crate::wording::no_thread(&error);
        let (ends, end) = oneshot::channel();
        let driver = runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(failed)?;
        let runtime = driver.handle().clone();
        thread::Builder::new()
            .name("agents-store".to_owned())
            .spawn(move || driver.block_on(end))
            .map_err(failed)?;
        Ok(Connections {
            pool,
            runtime,
            _ends: Arc::new(ends),
        })
    }

    /// Does work on the pool's thread. It is done to its end even if the caller no longer waits.
    async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, StoreError>> + Send + 'static,
    ) -> Result<T, StoreError> {
        let done = self.runtime.spawn(work).await;
        done.unwrap_or_else(|error| Err(wording::thread_failed(&error)))
    }

    /// Carries out work with a connection that is closed afterwards, so that the state of its session goes with it.
    pub(super) async fn once<T: Send + 'static>(
        &self,
        work: impl for<'a> FnOnce(&'a mut Object) -> Work<'a, T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let pool = self.pool.clone();
        self.run(async move {
            let mut connection = pool.get().await?;
            let done = work(&mut connection).await;
            drop(Object::take(connection));
            done
        })
        .await
    }

    /// Does work that only reads, on a connection of the pool and without a transaction: several statements may see
    /// several states.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl for<'a> FnOnce(&'a Object) -> Work<'a, T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let pool = self.pool.clone();
        self.run(async move {
            let connection = pool.get().await?;
            let done = work(&connection).await;
            given_back(connection, done)
        })
        .await
    }

    /// Carries out work in a transaction. If the work fails, the transaction is rolled back.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        clock: &Clock,
        key: AuditKey,
        work: impl for<'a> FnOnce(&'a Transaction<'a>) -> Work<'a, T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (pool, clock) = (self.pool.clone(), clock.clone());
        self.run(async move {
            let mut connection = pool.get().await?;
            let done = transact(&mut connection, clock, key, work).await;
            given_back(connection, done)
        })
        .await
    }
}

async fn transact<T>(
    connection: &mut Object,
    clock: Clock,
    key: AuditKey,
    work: impl for<'a> FnOnce(&'a Transaction<'a>) -> Work<'a, T>,
) -> Result<T, StoreError> {
    let begun = connection
        .build_transaction()
        .isolation_level(IsolationLevel::ReadCommitted)
        .start();
    let transaction = Transaction {
        db: begun.await?,
        clock,
        key,
        trail: Mutex::default(),
    };
    // Sent together with the first statement: each wait for an answer counts.
    let (set_up, done) = tokio::join!(transaction.db.batch_execute(BEGIN), work(&transaction));
    set_up?;
    let done = done?;
    transaction.db.commit().await?;
    Ok(done)
}

/// Gives a connection back to its pool, unless it may be broken.
fn given_back<T>(connection: Object, done: Result<T, StoreError>) -> Result<T, StoreError> {
    if done.as_ref().is_err_and(StoreError::may_pass) {
        drop(Object::take(connection));
    }
    done
}

/// Transaction that is under way on one connection, with the clock and the key of the store.
pub(super) struct Transaction<'a> {
    pub(super) db: deadpool_postgres::Transaction<'a>,
    clock: Clock,
    /// Key with which the digests of the audit trail are made in this transaction.
    pub(super) key: AuditKey,
    /// End of the trail of the run that this transaction has locked, if whoever locked the run stores the end as well;
    /// else `None`.
    trail: Mutex<Option<Ahead>>,
}

/// End of a trail that is stored later in the transaction, in the row of its run.
pub(super) struct Ahead {
    /// Number in the store of the run whose trail it is.
    pub(super) number: i64,
    pub(super) end: End,
}

impl Transaction<'_> {
    pub(super) fn trail(&self) -> MutexGuard<'_, Option<Ahead>> {
        self.trail.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the store's time in milliseconds since 1970. Ask for it when the rows are locked: the wait for them
    /// takes time.
    pub(super) async fn now(&self) -> Result<u64, StoreError> {
        now(&self.db, &self.clock).await
    }

    /// Returns the store's time in milliseconds since 1970, from a row whose column `now` has it by the clock of the
    /// server.
    pub(super) fn at(&self, row: &Row) -> Result<u64, StoreError> {
        let now = self.clock.set().map_or_else(|| number(row, "now"), Ok)?;
        Ok(self.clock.not_back(now))
    }

    pub(super) async fn rows(&self, sql: &str, params: Params<'_>) -> Result<Vec<Row>, StoreError> {
        rows(&self.db, sql, params).await
    }

    pub(super) async fn row(
        &self,
        sql: &str,
        params: Params<'_>,
    ) -> Result<Option<Row>, StoreError> {
        row(&self.db, sql, params).await
    }

    pub(super) async fn execute(&self, sql: &str, params: Params<'_>) -> Result<u64, StoreError> {
        let statement = self.db.prepare_cached(sql).await?;
        Ok(self.db.execute(&statement, params).await?)
    }
}

/// Returns the time in milliseconds since 1970: the server's, or that of a test's clock.
pub(super) async fn now(db: &impl GenericClient, clock: &Clock) -> Result<u64, StoreError> {
    if let Some(set) = clock.set() {
        return Ok(clock.not_back(set));
    }
    let row = db.query_one(&db.prepare_cached(NOW).await?, &[]).await?;
    Ok(clock.not_back(number(&row, 0)?))
}

pub(super) async fn rows(
    db: &impl GenericClient,
    sql: &str,
    params: Params<'_>,
) -> Result<Vec<Row>, StoreError> {
    let statement = db.prepare_cached(sql).await?;
    Ok(db.query(&statement, params).await?)
}

pub(super) async fn row(
    db: &impl GenericClient,
    sql: &str,
    params: Params<'_>,
) -> Result<Option<Row>, StoreError> {
    let statement = db.prepare_cached(sql).await?;
    Ok(db.query_opt(&statement, params).await?)
}

/// Returns a number in the form in which a column holds it: PostgreSQL's integers have a sign.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Reads a number without a sign from a column, given by its name or its index.
pub(super) fn number<I>(row: &Row, column: I) -> Result<u64, StoreError>
where
    I: deadpool_postgres::tokio_postgres::row::RowIndex + std::fmt::Display,
{
    let number: i64 = row.try_get(column)?;
    u64::try_from(number).map_err(|_| wording::not_a_number(number))
}
