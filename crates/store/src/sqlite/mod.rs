//! A store in one SQLite file, or in memory.

mod approvals;
mod audit;
mod commits;
mod control;
mod conversations;
mod deliveries;
mod erase;
mod executions;
mod leases;
mod letters;
mod manifests;
mod metrics;
mod modes;
mod open;
mod record;
mod row;
mod runs;
mod texts;
mod thread;
mod triages;
mod wording;

use crate::{
    Approval, ApprovalFilter, AuditEvent, AuditFilter, AuditKey, Claim, Commit, Committed,
    Conversation, Decision, Delivery, DeliveryClaim, DeliveryEnd, DeliveryFilter, Execution,
    ExecutionFilter, Lease, Letter, LetterClaim, LetterEnd, LetterFilter, ModeChange, NewEvent,
    NewManifest, NewNotification, NewRun, NewText, NewTriage, Platform, Renewed, Replay, Rest, Run,
    RunFilter, Settle, Store, StoreError, StoreMetrics, StoredManifest, Subscription, Text, Triage,
};
use agents_core::run::Timestamp;
use async_trait::async_trait;
use open::{connection, create, identity, is_there, joined, patiently, prepared};
use rusqlite::Connection;
use std::{
    ops::Deref,
    path::{Path, PathBuf},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use thread::Thread;

/// Store in one SQLite file, or in memory. Clones share its connections.
///
/// Any number of processes of one machine may open the same file. Commits of several runs that come to one process at
/// once share one transaction. A commit is on the disk when it returns (`synchronous=FULL`). On Unix, a file that the
/// store creates is readable by its owner alone.
///
/// ```
/// use agents_store::{NewRun, SqliteStore, Store};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents_store::StoreError> {
/// let store = SqliteStore::in_memory().await?; // or `SqliteStore::open("agents.db").await?`
/// let run = NewRun { id: "1".into(), agent: "payer".into(), key: Some("october".into()), ..NewRun::default() };
/// let stored = store.create(&run).await?;
/// let again = store.create(&NewRun { id: "2".into(), ..run }).await?;
/// assert_eq!(again, stored, "the key stands for one run");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct SqliteStore {
    writer: Thread,
    /// Thread with a connection of its own for reads; `None` for a store in memory, which has only one connection.
    reader: Option<Thread>,
    clock: Clock,
    key: Arc<OnceLock<AuditKey>>,
    path: Option<Arc<PathBuf>>,
    /// Identity of the file (device and number), by which a replaced file is noticed; `None` where files have none.
    file: Option<(u64, u64)>,
}

/// Connection on which work is done, with the time and the key of the audit trail. The writer's thread does the work in
/// a transaction, the reader's without one.
struct Tx<'a> {
    connection: &'a Connection,
    now: u64,
    key: AuditKey,
}

impl Deref for Tx<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection
    }
}

/// Clock of the store, which never goes back.
#[derive(Clone)]
struct Clock {
    last: Arc<AtomicU64>,
    now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
}

impl Clock {
    fn now(&self) -> u64 {
        let now = (self.now)().as_millis();
        self.last.fetch_max(now, SeqCst).max(now)
    }
}

fn system_time() -> Timestamp {
    let passed = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Timestamp::from_millis(u64::try_from(passed.as_millis()).unwrap_or(u64::MAX))
}

impl SqliteStore {
    /// Opens a store; a missing file is created.
    ///
    /// # Errors
    /// When the file cannot be opened or written, is no database, or was written by a later version.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let path = path.as_ref().to_owned();
        let opened = tokio::task::spawn_blocking(move || {
            create(&path)?;
            let writer = patiently(|| prepared(connection(&path, false)?))?;
            let reader = connection(&path, true)?;
            Self::of(writer, Some(reader), Some(path))
        });
        joined(opened.await)
    }

    /// Opens a store that is there: no file is created, and a file without a store is left as it is.
    ///
    /// # Errors
    /// When there is no store at this path, or it cannot be opened or written, or was written by a later version.
    pub async fn open_existing(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let path = path.as_ref().to_owned();
        let found = tokio::task::spawn_blocking({
            let path = path.clone();
            move || patiently(|| is_there(&path))
        });
        joined(found.await)?;
        Self::open(path).await
    }

    /// Creates an empty store in memory, which is gone with its last clone.
    ///
    /// # Errors
    /// When SQLite has no memory left.
    pub async fn in_memory() -> Result<Self, StoreError> {
        let opened = tokio::task::spawn_blocking(|| {
            let writer = prepared(Connection::open_in_memory()?)?;
            Self::of(writer, None, None)
        });
        joined(opened.await)
    }

    fn of(
        writer: Connection,
        reader: Option<Connection>,
        path: Option<PathBuf>,
    ) -> Result<Self, StoreError> {
        let failed = |error: std::io::Error| crate::wording::no_thread(&error);
        let file = path.as_deref().and_then(identity);
        Ok(SqliteStore {
            file,
            writer: Thread::of_writer(writer).map_err(failed)?,
            reader: reader.map(Thread::of_reader).transpose().map_err(failed)?,
            clock: Clock {
                last: Arc::default(),
                now: Arc::new(system_time),
            },
            key: Arc::default(),
            path: path.map(Arc::new),
        })
    }

    /// Sets the clock, for tests. By default the store goes by the system's clock; in any case its time never goes back.
    #[must_use]
    pub fn clock(mut self, now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.clock = Clock {
            last: Arc::default(),
            now: Arc::new(now),
        };
        self
    }

    /// Returns the path of the file; `None` for a store in memory.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_ref().map(|path| path.as_path())
    }

    async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let is_tied = self.key.get().is_some();
        let work = move |tx: &Tx<'_>| {
            if !is_tied {
                audit::tie(tx, &tx.key)?;
            }
            work(tx)
        };
        self.write_apart(work).await
    }

    /// Carries out work that adds no event to the audit trail. Such work needs no audit key: unlike `write`, this
    /// method does not tie the store to a key.
    async fn write_apart<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.check_place()?;
        self.writer.run(self.in_tx(work)).await
    }

    /// Returns an error if the file is no longer where it was opened: nobody would find what is written.
    fn check_place(&self) -> Result<(), StoreError> {
        let (Some(path), Some(file)) = (self.path(), self.file) else {
            return Ok(());
        };
        if identity(path) == Some(file) {
            return Ok(());
        }
        Err(wording::file_gone(path))
    }

    /// Wraps work in a function for the thread of a connection, and gives the work the time and the key.
    fn in_tx<T>(
        &self,
        work: impl FnOnce(&Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static {
        let (clock, key) = (self.clock.clone(), self.key.clone());
        move |connection| {
            work(&Tx {
                connection,
                now: clock.now(),
                key: key.get().copied().unwrap_or(AuditKey::new([0; 32])),
            })
        }
    }

    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.reader.as_ref().unwrap_or(&self.writer).run(work).await
    }
}

impl std::fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteStore")
            .field("path", &self.path())
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Store for SqliteStore {
    fn keys_beside(&self) -> Option<PathBuf> {
        let mut path = self.path()?.as_os_str().to_owned();
        path.push(".keys");
        Some(path.into())
    }

    fn is_in_memory(&self) -> bool {
        self.path.is_none()
    }

    async fn audit_with(&self, key: &AuditKey) -> Result<(), StoreError> {
        let own = *key;
        self.writer
            .run(self.in_tx(move |tx| audit::tie(tx, &own)))
            .await?;
        // The store belongs to one key, so it is the same if there is one.
        let _ = self.key.set(own);
        Ok(())
    }

    async fn now(&self) -> Result<Timestamp, StoreError> {
        Ok(Timestamp::from_millis(self.clock.now()))
    }

    async fn create(&self, run: &NewRun) -> Result<Run, StoreError> {
        let run = run.clone();
        self.write(move |tx| runs::create(tx, &run)).await
    }

    async fn run(&self, id: &str) -> Result<Option<Run>, StoreError> {
        let id = id.to_owned();
        self.read(move |db| runs::find(db, &id)).await
    }

    async fn runs(&self, filter: &RunFilter) -> Result<Vec<Run>, StoreError> {
        let filter = filter.clone();
        self.read(move |db| runs::list(db, &filter)).await
    }

    async fn claim(&self, claim: &Claim) -> Result<Option<Lease>, StoreError> {
        let claim = claim.clone();
        // Mostly there is nothing to claim, and a transaction that writes would keep others waiting.
        let wanted = claim.clone();
        if !self
            .read(self.in_tx(move |tx| leases::any(tx, &wanted)))
            .await?
        {
            return Ok(None);
        }
        self.write(move |tx| leases::claim(tx, &claim)).await
    }

    async fn renew(&self, lease: &Lease, time: Duration) -> Result<Renewed, StoreError> {
        let lease = lease.clone();
        self.write(move |tx| leases::renew(tx, &lease, time)).await
    }

    async fn commit(&self, lease: &Lease, commit: &Commit) -> Result<(), StoreError> {
        let (lease, commit) = (lease.clone(), commit.clone());
        self.write(move |tx| commits::commit(tx, &lease, &commit))
            .await
    }

    async fn release(&self, lease: &Lease, rest: &Rest) -> Result<(), StoreError> {
        let (lease, rest) = (lease.clone(), rest.clone());
        self.write(move |tx| leases::release(tx, &lease, &rest))
            .await
    }

    async fn commits(&self, run: &str, after: u64) -> Result<Vec<Committed>, StoreError> {
        let run = run.to_owned();
        self.read(move |db| commits::list(db, &run, after)).await
    }

    async fn conversation(
        &self,
        tenant: &str,
        id: &str,
    ) -> Result<Option<Conversation>, StoreError> {
        let (tenant, id) = (tenant.to_owned(), id.to_owned());
        self.read(move |db| conversations::find(db, &tenant, &id))
            .await
    }

    async fn add_texts(&self, lease: &Lease, texts: &[NewText]) -> Result<(), StoreError> {
        let (lease, texts) = (lease.clone(), texts.to_vec());
        self.write(move |tx| texts::add(tx, &lease, &texts)).await
    }

    async fn texts(&self, run: &str, after: u64) -> Result<Vec<Text>, StoreError> {
        let run = run.to_owned();
        self.read(self.in_tx(move |tx| texts::list(tx, &run, after)))
            .await
    }

    async fn cancel(&self, run: &str, by: &str) -> Result<Run, StoreError> {
        let (run, by) = (run.to_owned(), by.to_owned());
        self.write(move |tx| runs::cancel(tx, &run, &by)).await
    }

    async fn pause(&self, run: &str, by: &str) -> Result<Run, StoreError> {
        let (run, by) = (run.to_owned(), by.to_owned());
        self.write(move |tx| runs::pause(tx, &run, &by)).await
    }

    async fn instruct(&self, run: &str, by: &str, text: &[u8]) -> Result<Run, StoreError> {
        let (run, by, text) = (run.to_owned(), by.to_owned(), text.to_vec());
        self.write(move |tx| runs::instruct(tx, &run, &by, &text))
            .await
    }

    async fn unhold(&self, run: &str, by: &str, model: Option<&str>) -> Result<Run, StoreError> {
        let (run, by, model) = (run.to_owned(), by.to_owned(), model.map(str::to_owned));
        self.write(move |tx| runs::unhold(tx, &run, &by, model.as_deref()))
            .await
    }

    async fn hold_all(&self, why: &str, by: &str) -> Result<u64, StoreError> {
        let (why, by) = (why.to_owned(), by.to_owned());
        self.write(move |tx| leases::hold_all(tx, &why, &by)).await
    }

    async fn rewrap(&self, run: &str, before: &[u8], after: &[u8]) -> Result<bool, StoreError> {
        let (run, before, after) = (run.to_owned(), before.to_vec(), after.to_vec());
        self.write(move |tx| runs::rewrap(tx, &run, &before, &after))
            .await
    }

    async fn erase(&self, run: &str, by: &str) -> Result<(), StoreError> {
        let (run, by) = (run.to_owned(), by.to_owned());
        self.write(move |tx| erase::erase(tx, &run, &by)).await
    }

    async fn erase_tenant(&self, tenant: &str, by: &str) -> Result<(), StoreError> {
        let (tenant, by) = (tenant.to_owned(), by.to_owned());
        self.write(move |tx| erase::erase_tenant(tx, &tenant, &by))
            .await
    }

    async fn decide(&self, decision: &Decision) -> Result<Approval, StoreError> {
        let decision = decision.clone();
        self.write(move |tx| approvals::decide(tx, &decision))
            .await?
    }

    async fn approval(&self, id: &str) -> Result<Option<Approval>, StoreError> {
        let id = id.to_owned();
        self.read(move |db| approvals::find(db, &id)).await
    }

    async fn approvals(&self, filter: &ApprovalFilter) -> Result<Vec<Approval>, StoreError> {
        let filter = filter.clone();
        let is_due = self.read(self.in_tx(approvals::any_due)).await?;
        if is_due {
            // A process without the store's audit key lists them as they are.
            let is_tied = self.key.get().is_some();
            let expire = self.in_tx(move |tx| match is_tied || audit::is_tied_to(tx, &tx.key)? {
                true => approvals::expire(tx),
                false => Ok(()),
            });
            self.writer.run(expire).await?;
        }
        self.read(move |db| approvals::list(db, &filter)).await
    }

    async fn executions(&self, filter: &ExecutionFilter) -> Result<Vec<Execution>, StoreError> {
        let filter = filter.clone();
        self.read(move |db| executions::list(db, &filter)).await
    }

    async fn execution(&self, id: &str) -> Result<Option<Execution>, StoreError> {
        let id = id.to_owned();
        self.read(move |db| executions::find(db, &id)).await
    }

    async fn set_mode(&self, change: &ModeChange) -> Result<(), StoreError> {
        let change = change.clone();
        self.write(move |tx| modes::set(tx, &change)).await
    }

    async fn platform(&self) -> Result<Platform, StoreError> {
        self.read(modes::platform).await
    }

    async fn put_manifests(&self, manifests: &[NewManifest]) -> Result<(), StoreError> {
        let given = manifests.to_vec();
        self.write(move |tx| manifests::put(tx, &given)).await
    }

    async fn manifests(&self) -> Result<Vec<StoredManifest>, StoreError> {
        self.read(manifests::list).await
    }

    async fn settle(&self, settle: &Settle) -> Result<Execution, StoreError> {
        let settle = settle.clone();
        self.write(move |tx| executions::settle(tx, &settle)).await
    }

    async fn metrics(&self, tenant: Option<&str>) -> Result<StoreMetrics, StoreError> {
        let tenant = tenant.map(str::to_owned);
        self.read(self.in_tx(move |tx| metrics::metrics(tx, tenant.as_deref())))
            .await
    }

    async fn claim_deliveries(&self, claim: &DeliveryClaim) -> Result<Vec<Delivery>, StoreError> {
        let claim = claim.clone();
        // Mostly there is nothing to deliver, and a transaction that writes would keep others waiting.
        let wanted = claim.clone();
        let any = self.in_tx(move |tx| deliveries::any(tx, &wanted));
        if !self.read(any).await? {
            return Ok(Vec::new());
        }
        self.write(move |tx| deliveries::claim(tx, &claim)).await
    }

    async fn end_delivery(&self, delivery: &Delivery, end: &DeliveryEnd) -> Result<(), StoreError> {
        let (delivery, end) = (delivery.clone(), end.clone());
        self.write(move |tx| deliveries::end(tx, &delivery, &end))
            .await
    }

    async fn deliveries(&self, filter: &DeliveryFilter) -> Result<Vec<Delivery>, StoreError> {
        let filter = filter.clone();
        self.read(move |db| deliveries::list(db, &filter)).await
    }

    async fn redeliver(&self, webhook: &str, event: u64) -> Result<(), StoreError> {
        let webhook = webhook.to_owned();
        self.write(move |tx| deliveries::redeliver(tx, &webhook, event))
            .await
    }

    async fn subscribe(&self, subscriptions: &[Subscription]) -> Result<(), StoreError> {
        let all = subscriptions.to_vec();
        self.write(move |tx| letters::subscribe(tx, &all)).await
    }

    async fn unsubscribe(&self, subscriber: &str) -> Result<(), StoreError> {
        let subscriber = subscriber.to_owned();
        self.write(move |tx| letters::unsubscribe(tx, &subscriber))
            .await
    }

    async fn publish(&self, notification: &NewNotification) -> Result<String, StoreError> {
        let new = notification.clone();
        self.write(move |tx| letters::publish(tx, &new)).await
    }

    async fn claim_letters(&self, claim: &LetterClaim) -> Result<Vec<Letter>, StoreError> {
        let claim = claim.clone();
        // Mostly there is nothing to claim, and a transaction that writes would keep others waiting.
        let wanted = claim.clone();
        let any = self.in_tx(move |tx| letters::any(tx, &wanted));
        if !self.read(any).await? {
            return Ok(Vec::new());
        }
        self.write(move |tx| letters::claim(tx, &claim)).await
    }

    async fn end_letter(&self, letter: &Letter, end: &LetterEnd) -> Result<(), StoreError> {
        let (letter, end) = (letter.clone(), end.clone());
        self.write(move |tx| letters::end(tx, &letter, &end)).await
    }

    async fn letters(&self, filter: &LetterFilter) -> Result<Vec<Letter>, StoreError> {
        let filter = filter.clone();
        self.read(move |db| letters::list(db, &filter)).await
    }

    async fn letter(&self, id: &str) -> Result<Option<Letter>, StoreError> {
        let id = id.to_owned();
        self.read(move |db| letters::find(db, &id)).await
    }

    async fn replay(&self, replay: &Replay) -> Result<(), StoreError> {
        let replay = replay.clone();
        self.write(move |tx| letters::replay(tx, &replay)).await
    }

    async fn triage(&self, triage: &NewTriage) -> Result<(), StoreError> {
        let triage = triage.clone();
        self.write(move |tx| triages::set(tx, &triage)).await
    }

    async fn triages(
        &self,
        tenant: Option<&str>,
        clusters: &[String],
    ) -> Result<Vec<Triage>, StoreError> {
        let (tenant, clusters) = (tenant.map(str::to_owned), clusters.to_vec());
        self.read(move |db| triages::list(db, tenant.as_deref(), &clusters))
            .await
    }

    async fn record(&self, event: &NewEvent) -> Result<(), StoreError> {
        let event = event.clone();
        self.write(move |tx| record::record(tx, &event)).await
    }

    async fn audit(&self, filter: &AuditFilter) -> Result<Vec<AuditEvent>, StoreError> {
        let filter = filter.clone();
        self.read(move |db| audit::list(db, &filter)).await
    }
}
