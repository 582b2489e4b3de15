//! A store in a PostgreSQL database.

mod approvals;
mod audit;
mod commits;
mod connections;
mod control;
mod conversations;
mod deliveries;
mod erase;
mod error;
mod executions;
mod leases;
mod letters;
mod manifests;
mod metrics;
mod modes;
mod numbers;
mod record;
mod row;
mod runs;
mod tables;
mod texts;
mod triages;
mod wording;

use crate::{
    Approval, ApprovalFilter, AuditEvent, AuditFilter, AuditKey, Claim, Commit, Committed,
    Conversation, Decision, Delivery, DeliveryClaim, DeliveryEnd, DeliveryFilter, ErrorKind,
    Execution, ExecutionFilter, Lease, Letter, LetterClaim, LetterEnd, LetterFilter, ModeChange,
    NewEvent, NewManifest, NewNotification, NewRun, NewText, NewTriage, Platform, Renewed, Replay,
    Rest, Run, RunFilter, Settle, Store, StoreError, StoreMetrics, StoredManifest, Subscription,
    Text, Triage,
};
use agents_core::run::Timestamp;
use async_trait::async_trait;
use connections::Connections;
use deadpool_postgres::{
    Manager, Pool, Runtime,
    tokio_postgres::{Config, NoTls},
};
use leases::Claimed;
use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

/// Maximum number of connections of the store's own pool.
const MOST: usize = 16;
/// Time for which a caller waits for a connection of the pool, and by default for the server to accept one.
const PATIENCE: Duration = Duration::from_secs(10);

/// Store in a PostgreSQL database (feature `postgres`), for any number of processes on any number of machines. Clones
/// share their connections.
///
/// ```no_run
/// # async fn open() -> Result<(), agents_store::StoreError> {
/// use agents_store::PostgresStore;
///
/// let store = PostgresStore::connect("postgres://agents:secret@localhost/agents").await?;
/// # Ok(())
/// # }
/// ```
///
/// The first process that connects creates the tables. A commit is on the server's disk when it returns, unless the
/// server runs with `fsync = off`. Times are those of the server's clock. Contents are encrypted, and the keys are not in
/// the database: give the runtime a keyring.
///
/// # Connections
///
/// [`connect`](PostgresStore::connect) opens up to 16 connections without TLS. An address that demands TLS
/// (`sslmode=require`) is refused rather than used without it. For TLS, or another number of connections, give the store
/// [a pool of your own](PostgresStore::of). A pooler such as PgBouncer has to be in session mode.
///
/// # Tenants
///
/// The owner of the tables sees the rows of all tenants, and workers need that. For every other role, policies for rows
/// hold: it has the rows of the tenant that its setting `agents.tenant` names, and none without it. Rows about all
/// tenants are shown to every such role: the manifests of agents, and the mode and the profiles of all tenants. An
/// operator makes such a role with
///
/// ```sql
/// CREATE ROLE acme LOGIN PASSWORD '..';
/// ALTER ROLE acme SET agents.tenant = 'acme';
/// GRANT SELECT ON agent_runs, agent_run_commits, agent_run_texts, agent_conversations, agent_approvals,
///     agent_tool_executions, agent_audit_events, agent_audit_key, agent_modes, agent_platform,
///     agent_manifests, agent_notifications, agent_letters, agent_triages, agent_schema_history TO acme;
/// -- If it may decide and cancel:
/// GRANT UPDATE ON agent_runs, agent_approvals TO acme;
/// GRANT INSERT ON agent_audit_events TO acme;
/// -- If it may read the profiles of a control plane, and the usage of models:
/// GRANT SELECT ON llm_profiles, llm_profile_changes, llm_budget_state, llm_usage, llm_usage_daily TO acme;
/// ```
///
/// The setting can be changed by whoever can run any statement, so it guards a program from its own mistakes. For
/// people who write statements themselves, replace it by a policy that names the role:
/// `CREATE POLICY .. TO acme USING (tenant_id = 'acme')`, with `agents_tenant` dropped.
#[derive(Clone)]
pub struct PostgresStore {
    connections: Connections,
    clock: Clock,
    key: Arc<OnceLock<AuditKey>>,
}

/// Clock of the store, which never goes back: the server's, or one that was set.
#[derive(Clone, Default)]
struct Clock {
    last: Arc<AtomicU64>,
    set: Option<Arc<dyn Fn() -> Timestamp + Send + Sync>>,
}

impl Clock {
    /// Returns the time by the clock that was set, in milliseconds since 1970; `None` if none was.
    fn set(&self) -> Option<u64> {
        self.set.as_ref().map(|now| now().as_millis())
    }

    fn not_back(&self, now: u64) -> u64 {
        self.last.fetch_max(now, SeqCst).max(now)
    }
}

impl PostgresStore {
    /// Connects to a database, and brings its tables up to date. The address is a URL or a list of `key=value`.
    ///
    /// # Errors
    /// When the address cannot be read, the server cannot be reached, or the tables were written by a later version or
    /// cannot be brought up to date.
    pub async fn connect(address: &str) -> Result<Self, StoreError> {
        // The error could quote the address, which may have a password.
        let mut config: Config = address.parse().map_err(|_| wording::not_an_address())?;
        if config.get_application_name().is_none() {
            config.application_name("agents");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(PATIENCE);
        }
        // A server that is gone without a word is noticed.
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(PATIENCE * 2);
        }
        let pool = Pool::builder(Manager::new(config, NoTls))
            .runtime(Runtime::Tokio1)
            .max_size(MOST)
            .wait_timeout(Some(PATIENCE))
            .create_timeout(Some(PATIENCE))
            .recycle_timeout(Some(PATIENCE))
            .build()
            .map_err(|error| StoreError::new(ErrorKind::Failed, error.to_string()))?;
        Self::of(pool).await
    }

    /// Takes a pool of connections, and brings the tables of its database up to date. Use the pool for nothing else:
    /// the store drives its connections on a thread of its own.
    ///
    /// ```no_run
    /// # async fn open() -> Result<(), Box<dyn std::error::Error>> {
    /// use agents_store::PostgresStore;
    /// use deadpool_postgres::{Manager, Pool, Runtime, tokio_postgres::{Config, NoTls}};
    ///
    /// let mut config: Config = "postgres://agents@db.example.com/agents".parse()?;
    /// config.password(std::fs::read_to_string("/run/secrets/agents")?.trim_end());
    /// let tls = NoTls; // for example `tokio_postgres_rustls::MakeRustlsConnect::new(..)`
    /// let pool = Pool::builder(Manager::new(config, tls)).max_size(40).runtime(Runtime::Tokio1).build()?;
    /// let store = PostgresStore::of(pool).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the server cannot be reached, or the tables were written by a later version or cannot be brought up to
    /// date.
    pub async fn of(pool: Pool) -> Result<Self, StoreError> {
        let connections = Connections::of(pool)?;
        tables::migrate(&connections).await?;
        Ok(PostgresStore {
            connections,
            clock: Clock::default(),
            key: Arc::default(),
        })
    }

    /// Sets the clock, for tests. By default the store goes by the server's clock; in any case its time never goes back.
    #[must_use]
    pub fn clock(mut self, now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.clock = Clock {
            last: Arc::default(),
            set: Some(Arc::new(now)),
        };
        self
    }

    fn audit_key(&self) -> AuditKey {
        let set = self.key.get().copied();
        set.unwrap_or(AuditKey::new([0; 32]))
    }

    /// Ties the store to the first audit key that it is given, and refuses any other key from then on.
    async fn tie(&self, key: AuditKey) -> Result<(), StoreError> {
        self.connections
            .write(&self.clock, key, move |db| {
                Box::pin(async move { audit::tie(db, &key).await })
            })
            .await
    }

    async fn write<T: Send + 'static>(
        &self,
        work: impl for<'a> FnOnce(&'a connections::Transaction<'a>) -> connections::Work<'a, T>
        + Send
        + 'static,
    ) -> Result<T, StoreError> {
        let key = self.audit_key();
        if self.key.get().is_none() {
            self.tie(key).await?;
            let _ = self.key.set(key);
        }
        self.connections.write(&self.clock, key, work).await
    }
}

impl std::fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The address may have a password.
        f.debug_struct("PostgresStore").finish_non_exhaustive()
    }
}

#[async_trait]
impl Store for PostgresStore {
    async fn audit_with(&self, key: &AuditKey) -> Result<(), StoreError> {
        self.tie(*key).await?;
        // The store belongs to one key, so it is the same if there is one.
        let _ = self.key.set(*key);
        Ok(())
    }

    async fn now(&self) -> Result<Timestamp, StoreError> {
        let clock = self.clock.clone();
        let now = self
            .connections
            .read(move |db| Box::pin(async move { connections::now(db, &clock).await }));
        now.await.map(Timestamp::from_millis)
    }

    async fn create(&self, run: &NewRun) -> Result<Run, StoreError> {
        let run = run.clone();
        self.write(move |db| Box::pin(async move { runs::create(db, &run).await }))
            .await
    }

    async fn run(&self, id: &str) -> Result<Option<Run>, StoreError> {
        let id = id.to_owned();
        self.connections
            .read(move |db| Box::pin(async move { runs::find(db, &id).await }))
            .await
    }

    async fn runs(&self, filter: &RunFilter) -> Result<Vec<Run>, StoreError> {
        let filter = filter.clone();
        self.connections
            .read(move |db| Box::pin(async move { runs::list(db, &filter).await }))
            .await
    }

    async fn claim(&self, claim: &Claim) -> Result<Option<Lease>, StoreError> {
        let mut full = Vec::new();
        loop {
            let (claim, but) = (claim.clone(), full.clone());
            let claimed = self
                .write(move |db| Box::pin(async move { leases::claim(db, &claim, &but).await }));
            match claimed.await? {
                Claimed::Lease(lease) => return Ok(Some(*lease)),
                Claimed::Nothing => return Ok(None),
                Claimed::Full(tenant) => full.push(tenant),
            }
        }
    }

    async fn renew(&self, lease: &Lease, time: Duration) -> Result<Renewed, StoreError> {
        let lease = lease.clone();
        self.write(move |db| Box::pin(async move { leases::renew(db, &lease, time).await }))
            .await
    }

    async fn commit(&self, lease: &Lease, commit: &Commit) -> Result<(), StoreError> {
        let (lease, commit) = (lease.clone(), commit.clone());
        self.write(move |db| Box::pin(async move { commits::commit(db, &lease, &commit).await }))
            .await
    }

    async fn release(&self, lease: &Lease, rest: &Rest) -> Result<(), StoreError> {
        let (lease, rest) = (lease.clone(), rest.clone());
        self.write(move |db| Box::pin(async move { leases::release(db, &lease, &rest).await }))
            .await
    }

    async fn commits(&self, run: &str, after: u64) -> Result<Vec<Committed>, StoreError> {
        let run = run.to_owned();
        self.connections
            .read(move |db| Box::pin(async move { commits::list(db, &run, after).await }))
            .await
    }

    async fn conversation(
        &self,
        tenant: &str,
        id: &str,
    ) -> Result<Option<Conversation>, StoreError> {
        let (tenant, id) = (tenant.to_owned(), id.to_owned());
        self.connections
            .read(move |db| Box::pin(async move { conversations::find(db, &tenant, &id).await }))
            .await
    }

    async fn add_texts(&self, lease: &Lease, texts: &[NewText]) -> Result<(), StoreError> {
        let (lease, texts) = (lease.clone(), texts.to_vec());
        self.write(move |db| Box::pin(async move { texts::add(db, &lease, &texts).await }))
            .await
    }

    async fn texts(&self, run: &str, after: u64) -> Result<Vec<Text>, StoreError> {
        let (run, clock) = (run.to_owned(), self.clock.clone());
        self.connections
            .read(move |db| {
                Box::pin(async move {
                    let now = connections::now(db, &clock).await?;
                    texts::list(db, now, &run, after).await
                })
            })
            .await
    }

    async fn cancel(&self, run: &str, by: &str) -> Result<Run, StoreError> {
        let (run, by) = (run.to_owned(), by.to_owned());
        self.write(move |db| Box::pin(async move { runs::cancel(db, &run, &by).await }))
            .await
    }

    async fn pause(&self, run: &str, by: &str) -> Result<Run, StoreError> {
        let (run, by) = (run.to_owned(), by.to_owned());
        self.write(move |db| Box::pin(async move { runs::pause(db, &run, &by).await }))
            .await
    }

    async fn instruct(&self, run: &str, by: &str, text: &[u8]) -> Result<Run, StoreError> {
        let (run, by, text) = (run.to_owned(), by.to_owned(), text.to_vec());
        self.write(move |db| Box::pin(async move { runs::instruct(db, &run, &by, &text).await }))
            .await
    }

    async fn unhold(&self, run: &str, by: &str, model: Option<&str>) -> Result<Run, StoreError> {
        let (run, by, model) = (run.to_owned(), by.to_owned(), model.map(str::to_owned));
        self.write(move |db| {
            Box::pin(async move { runs::unhold(db, &run, &by, model.as_deref()).await })
        })
        .await
    }

    async fn hold_all(&self, why: &str, by: &str) -> Result<u64, StoreError> {
        let (why, by) = (why.to_owned(), by.to_owned());
        self.write(move |db| Box::pin(async move { leases::hold_all(db, &why, &by).await }))
            .await
    }

    async fn rewrap(&self, run: &str, before: &[u8], after: &[u8]) -> Result<bool, StoreError> {
        let (run, before, after) = (run.to_owned(), before.to_vec(), after.to_vec());
        self.write(move |db| Box::pin(async move { runs::rewrap(db, &run, &before, &after).await }))
            .await
    }

    async fn erase(&self, run: &str, by: &str) -> Result<(), StoreError> {
        let (run, by) = (run.to_owned(), by.to_owned());
        self.write(move |db| Box::pin(async move { erase::erase(db, &run, &by).await }))
            .await
    }

    async fn erase_tenant(&self, tenant: &str, by: &str) -> Result<(), StoreError> {
        let (tenant, by) = (tenant.to_owned(), by.to_owned());
        self.write(move |db| Box::pin(async move { erase::erase_tenant(db, &tenant, &by).await }))
            .await
    }

    async fn decide(&self, decision: &Decision) -> Result<Approval, StoreError> {
        let decision = decision.clone();
        self.write(move |db| Box::pin(async move { approvals::decide(db, &decision).await }))
            .await?
    }

    async fn approval(&self, id: &str) -> Result<Option<Approval>, StoreError> {
        let id = id.to_owned();
        self.connections
            .read(move |db| Box::pin(async move { approvals::find(db, &id).await }))
            .await
    }

    async fn approvals(&self, filter: &ApprovalFilter) -> Result<Vec<Approval>, StoreError> {
        let (filter, clock) = (filter.clone(), self.clock.clone());
        let due = self.connections.read(move |db| {
            Box::pin(async move { approvals::due(db, connections::now(db, &clock).await?).await })
        });
        let due = due.await?;
        if !due.is_empty() {
            // A process without the store's audit key lists them as they are.
            let (is_tied, key) = (self.key.get().is_some(), self.audit_key());
            self.connections
                .write(&self.clock, key, move |db| {
                    Box::pin(async move {
                        match is_tied || audit::is_tied_to(db, &key).await? {
                            true => approvals::expire(db, &due).await,
                            false => Ok(()),
                        }
                    })
                })
                .await?;
        }
        let (clock, key) = (self.clock.clone(), self.audit_key());
        let is_polled = filter.run.is_none();
        let asked = filter.clone();
        let found = self
            .connections
            .read(move |db| Box::pin(async move { approvals::list(db, &filter).await }))
            .await?;
        // The requests of one run come one after the other.
        if found.is_empty() || !is_polled {
            return Ok(found);
        }
        self.connections
            .write(&clock, key, move |db| {
                Box::pin(async move { approvals::list_settled(db, &asked).await })
            })
            .await
    }

    async fn executions(&self, filter: &ExecutionFilter) -> Result<Vec<Execution>, StoreError> {
        let filter = filter.clone();
        self.connections
            .read(move |db| Box::pin(async move { executions::list(db, &filter).await }))
            .await
    }

    async fn execution(&self, id: &str) -> Result<Option<Execution>, StoreError> {
        let id = id.to_owned();
        self.connections
            .read(move |db| Box::pin(async move { executions::find(db, &id).await }))
            .await
    }

    async fn set_mode(&self, change: &ModeChange) -> Result<(), StoreError> {
        let change = change.clone();
        self.write(move |db| Box::pin(async move { modes::set(db, &change).await }))
            .await
    }

    async fn platform(&self) -> Result<Platform, StoreError> {
        self.connections
            .read(move |db| Box::pin(async move { modes::platform(db).await }))
            .await
    }

    async fn put_manifests(&self, manifests: &[NewManifest]) -> Result<(), StoreError> {
        let given = manifests.to_vec();
        self.write(move |db| Box::pin(async move { manifests::put(db, &given).await }))
            .await
    }

    async fn manifests(&self) -> Result<Vec<StoredManifest>, StoreError> {
        self.connections
            .read(move |db| Box::pin(async move { manifests::list(db).await }))
            .await
    }

    async fn settle(&self, settle: &Settle) -> Result<Execution, StoreError> {
        let settle = settle.clone();
        self.write(move |db| Box::pin(async move { executions::settle(db, &settle).await }))
            .await
    }

    async fn metrics(&self, tenant: Option<&str>) -> Result<StoreMetrics, StoreError> {
        let (tenant, clock) = (tenant.map(str::to_owned), self.clock.clone());
        self.connections
            .read(move |db| {
                Box::pin(async move {
                    let now = connections::now(db, &clock).await?;
                    metrics::metrics(db, now, tenant.as_deref()).await
                })
            })
            .await
    }

    async fn claim_deliveries(&self, claim: &DeliveryClaim) -> Result<Vec<Delivery>, StoreError> {
        let (claim, wanted, clock) = (claim.clone(), claim.clone(), self.clock.clone());
        // Mostly there is nothing to deliver, and the numbers of events have a lock.
        let any = self.connections.read(move |db| {
            Box::pin(async move {
                let now = connections::now(db, &clock).await?;
                deliveries::any(db, now, &wanted).await
            })
        });
        if !any.await? {
            return Ok(Vec::new());
        }
        self.write(move |db| Box::pin(async move { deliveries::claim(db, &claim).await }))
            .await
    }

    async fn end_delivery(&self, delivery: &Delivery, end: &DeliveryEnd) -> Result<(), StoreError> {
        let (delivery, end) = (delivery.clone(), end.clone());
        self.write(move |db| Box::pin(async move { deliveries::end(db, &delivery, &end).await }))
            .await
    }

    async fn deliveries(&self, filter: &DeliveryFilter) -> Result<Vec<Delivery>, StoreError> {
        let filter = filter.clone();
        self.connections
            .read(move |db| Box::pin(async move { deliveries::list(db, &filter).await }))
            .await
    }

    async fn redeliver(&self, webhook: &str, event: u64) -> Result<(), StoreError> {
        let webhook = webhook.to_owned();
        self.write(move |db| {
            Box::pin(async move { deliveries::redeliver(db, &webhook, event).await })
        })
        .await
    }

    async fn subscribe(&self, subscriptions: &[Subscription]) -> Result<(), StoreError> {
        let all = subscriptions.to_vec();
        self.write(move |db| Box::pin(async move { letters::subscribe(db, &all).await }))
            .await
    }

    async fn unsubscribe(&self, subscriber: &str) -> Result<(), StoreError> {
        let subscriber = subscriber.to_owned();
        self.write(move |db| Box::pin(async move { letters::unsubscribe(db, &subscriber).await }))
            .await
    }

    async fn publish(&self, notification: &NewNotification) -> Result<String, StoreError> {
        let new = notification.clone();
        self.write(move |db| Box::pin(async move { letters::publish(db, &new).await }))
            .await
    }

    async fn claim_letters(&self, claim: &LetterClaim) -> Result<Vec<Letter>, StoreError> {
        let (claim, wanted, clock) = (claim.clone(), claim.clone(), self.clock.clone());
        // Mostly there is nothing to claim.
        let any = self.connections.read(move |db| {
            Box::pin(async move {
                let now = connections::now(db, &clock).await?;
                letters::any(db, now, &wanted).await
            })
        });
        if !any.await? {
            return Ok(Vec::new());
        }
        self.write(move |db| Box::pin(async move { letters::claim(db, &claim).await }))
            .await
    }

    async fn end_letter(&self, letter: &Letter, end: &LetterEnd) -> Result<(), StoreError> {
        let (letter, end) = (letter.clone(), end.clone());
        self.write(move |db| Box::pin(async move { letters::end(db, &letter, &end).await }))
            .await
    }

    async fn letters(&self, filter: &LetterFilter) -> Result<Vec<Letter>, StoreError> {
        let filter = filter.clone();
        self.connections
            .read(move |db| Box::pin(async move { letters::list(db, &filter).await }))
            .await
    }

    async fn letter(&self, id: &str) -> Result<Option<Letter>, StoreError> {
        let id = id.to_owned();
        self.connections
            .read(move |db| Box::pin(async move { letters::find(db, &id).await }))
            .await
    }

    async fn replay(&self, replay: &Replay) -> Result<(), StoreError> {
        let replay = replay.clone();
        self.write(move |db| Box::pin(async move { letters::replay(db, &replay).await }))
            .await
    }

    async fn triage(&self, triage: &NewTriage) -> Result<(), StoreError> {
        let triage = triage.clone();
        self.write(move |db| Box::pin(async move { triages::set(db, &triage).await }))
            .await
    }

    async fn triages(
        &self,
        tenant: Option<&str>,
        clusters: &[String],
    ) -> Result<Vec<Triage>, StoreError> {
        let (tenant, clusters) = (tenant.map(str::to_owned), clusters.to_vec());
        self.connections
            .read(move |db| {
                Box::pin(async move { triages::list(db, tenant.as_deref(), &clusters).await })
            })
            .await
    }

    async fn record(&self, event: &NewEvent) -> Result<(), StoreError> {
        let event = event.clone();
        self.write(move |db| Box::pin(async move { record::record(db, &event).await }))
            .await
    }

    async fn audit(&self, filter: &AuditFilter) -> Result<Vec<AuditEvent>, StoreError> {
        let (filter, asked) = (filter.clone(), filter.clone());
        let is_polled = filter.run.is_none();
        let found = self
            .connections
            .read(move |db| Box::pin(async move { audit::list(db, &filter).await }))
            .await?;
        // The events of one run come one after the other.
        if found.is_empty() || !is_polled {
            return Ok(found);
        }
        self.connections
            .write(&self.clock, self.audit_key(), move |db| {
                Box::pin(async move { audit::list_settled(db, &asked).await })
            })
            .await
    }
}
