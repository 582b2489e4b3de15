//! The runtime: a store, agents, and what they need.

use crate::{
    AgentManifest, AgentRef, Approvals, Audit, Client, Events, Keyring, Modes, Roles, RuntimeError,
    lease::Keeper,
    metrics::Counters,
    registered::{MadeFor, Registered},
    settings::Settings,
    trail::CheckedTrail,
    webhook::Webhook,
};
use agents_core::{
    Agent, Model, agent::Shorten, model::Purposes, policy::Policy, secret::Secrets, tool::Scope,
};
use agents_store::{AuditKey, Store};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};
use tokio::sync::Notify;
use uuid::Uuid;

/// Runtime of durable runs: see the [crate's page](crate). Clones share their agents and their store.
///
/// Code belongs to the runtime: models, policies, secrets. Data belongs to the run: its input, its scope, its budget.
///
/// ```
/// use agents::{policy::{named, read_only}, prelude::*};
/// use agents_runtime::{Runtime, SqliteStore};
/// # use agents::testing::{Script, ScriptedModel};
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (model, _) = ScriptedModel::always(Script::text("Good morning, Ada."));
/// let runtime = Runtime::open(SqliteStore::in_memory().await?)
///     .model(model)
///     .policy(named("read only", read_only()))
///     .worker("desk-1")
///     .at_once(16) // runs in this process
///     .per_tenant(4) // runs of a tenant, in all processes
///     .requests_expire_after(Duration::from_secs(8 * 60 * 60));
/// let greeter = runtime.agent(AgentBuilder::<String, String>::new("greeter").build());
/// assert_eq!(greeter.run("Ada").await?, "Good morning, Ada.");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Runtime {
    pub(crate) client: Client,
    pub(crate) settings: Arc<Settings>,
    pub(crate) shared: Arc<Shared>,
}

/// State that the clones of a runtime share.
#[derive(Default)]
pub(crate) struct Shared {
    agents: Mutex<BTreeMap<String, Arc<dyn Registered>>>,
    /// Policies that shorten the conversations of agents, by the agents' names.
    shorten: Mutex<BTreeMap<String, Arc<dyn Shorten>>>,
    keeper: OnceLock<Arc<Keeper>>,
    /// Signal that this process has stored something for its workers to do.
    pub(crate) news: Notify,
    /// Signal that this process has published a notification.
    pub(crate) letters: Notify,
    /// Names of the subscribers that this process has stored.
    pub(crate) subscribed: tokio::sync::Mutex<BTreeSet<String>>,
    /// Signal that an agent was registered.
    pub(crate) registered: Notify,
    pub(crate) counters: Arc<Counters>,
    platform: OnceLock<Arc<tokio::sync::Mutex<CheckedTrail>>>,
}

impl Shared {
    /// Returns the audit trail of the platform, as far as this process has read it.
    pub(crate) fn platform(&self, key: AuditKey) -> Arc<tokio::sync::Mutex<CheckedTrail>> {
        let trail = || Arc::new(tokio::sync::Mutex::new(CheckedTrail::of_platform(key)));
        self.platform.get_or_init(trail).clone()
    }

    pub(crate) fn agent(&self, name: &str) -> Option<Arc<dyn Registered>> {
        let agents = self.agents.lock().unwrap_or_else(PoisonError::into_inner);
        agents.get(name).cloned()
    }

    pub(crate) fn agents(&self) -> Vec<String> {
        let agents = self.agents.lock().unwrap_or_else(PoisonError::into_inner);
        agents.keys().cloned().collect()
    }

    pub(crate) fn shorten_with(&self, agent: &str, policy: impl Shorten + 'static) {
        let mut policies = self.shorten.lock().unwrap_or_else(PoisonError::into_inner);
        policies.insert(agent.to_owned(), Arc::new(policy));
    }

    /// Returns the policy that shortens the conversations of this agent; `None` if it has none.
    pub(crate) fn shorten(&self, agent: &str) -> Option<Arc<dyn Shorten>> {
        let policies = self.shorten.lock().unwrap_or_else(PoisonError::into_inner);
        policies.get(agent).cloned()
    }

    pub(crate) fn manifests(&self) -> BTreeMap<String, AgentManifest> {
        let agents = self.agents.lock().unwrap_or_else(PoisonError::into_inner);
        let agents = agents.clone();
        let manifest = |(name, agent): (String, Arc<dyn Registered>)| (name, agent.manifest());
        agents.into_iter().map(manifest).collect()
    }
}

impl Runtime {
    /// Creates a runtime on a store.
    pub fn open(store: impl Store) -> Self {
        Runtime::of(Runtime::client(store))
    }

    /// Creates a runtime on the store of a client.
    pub(crate) fn of(client: Client) -> Self {
        let settings = Settings {
            model: None,
            purposes: None,
            known_models: Vec::new(),
            model_changes: Vec::new(),
            policies: Vec::new(),
            secrets: None,
            worker: format!("{}-{}", std::process::id(), Uuid::now_v7().simple()),
            lease: Duration::from_secs(30),
            at_once: 64,
            per_tenant: 0,
            expires_after: Duration::from_secs(24 * 60 * 60),
            grace: Duration::from_secs(30),
            webhooks: Vec::new(),
            subscribers: Vec::new(),
            keep_contents: None,
        };
        Runtime {
            client,
            settings: Arc::new(settings),
            shared: Arc::default(),
        }
    }

    /// Creates a client of a store: it lists runs and decides about requests, and needs no agents.
    pub fn client(store: impl Store) -> Client {
        Client::new(Arc::new(store))
    }

    pub(crate) fn set(mut self, set: impl FnOnce(&mut Settings)) -> Self {
        set(Arc::make_mut(&mut self.settings));
        self
    }

    /// Sets the keyring with which contents are encrypted. By default, it is a file beside the file of the store; for
    /// a store in memory, it is in memory as well. PostgreSQL has none: there, no run starts without a keyring.
    #[must_use]
    pub fn keyring(mut self, keyring: impl Keyring) -> Self {
        self.client = self.client.keyring(keyring);
        self
    }

    /// Sets the rules about who may decide and steer: see [`Roles`], which also says what applies without them.
    #[must_use]
    pub fn roles(mut self, roles: Roles) -> Self {
        self.client = self.client.roles(roles);
        self
    }

    /// Sets the model for agents that bring none of their own.
    #[must_use]
    pub fn model(self, model: impl Model) -> Self {
        self.set(|settings| settings.model = Some(Arc::new(model)))
    }

    /// Sets the control plane, which has the models of agents that name a purpose. A model that an agent brings itself is
    /// refused, unless the control plane admits it by its name.
    #[must_use]
    pub fn control(self, control: &(impl Purposes + Clone)) -> Self {
        let purposes: Arc<dyn Purposes> = Arc::new(control.clone());
        self.set(|settings| settings.purposes = Some(purposes))
    }

    /// Adds a model that runs find by its name: see [`Run::known_model`](agents_core::agent::Run::known_model).
    #[must_use]
    pub fn known_model(self, model: impl Model) -> Self {
        self.set(|settings| settings.known_models.push(Arc::new(model)))
    }

    /// Allows agents of stored runs to go on with another model than the one that has driven them, if the rule returns
    /// `true`. The rule gets the name of the model before and the name of the model now, each without its fallbacks. A run
    /// with another change is held before its next call is carried out, and
    /// [`release_with_model`](Client::release_with_model) lets that run alone go on.
    ///
    /// ```
    /// # use agents_runtime::{Runtime, RuntimeError, SqliteStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), RuntimeError> {
    /// # let store = SqliteStore::in_memory().await?;
    /// // `qwen3:4b` was taken out of service while runs waited.
    /// let runtime = Runtime::open(store)
    ///     .allow_model_change(|before, now| (before, now) == ("ollama/qwen3:4b", "ollama/qwen3:8b"));
    /// # let _ = runtime;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn allow_model_change(
        self,
        rule: impl Fn(&str, &str) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.set(|settings| settings.model_changes.push(Arc::new(rule)))
    }

    /// Adds a policy for all runs, which needs a name: see [`named`](agents_core::policy::named).
    #[must_use]
    pub fn policy(self, policy: impl Policy) -> Self {
        self.set(|settings| settings.policies.push(Arc::new(policy)))
    }

    /// Sets the store of secrets, from which tools get the secrets that they ask for; none by default.
    #[must_use]
    pub fn secrets(self, secrets: impl Secrets) -> Self {
        self.set(|settings| settings.secrets = Some(Arc::new(secrets)))
    }

    /// Sets the name of this process as a worker; by default, its process id and a random part.
    #[must_use]
    pub fn worker(self, name: impl Into<String>) -> Self {
        self.set(|settings| settings.worker = name.into())
    }

    /// Sets the time for which a worker holds a run without renewing its lease; 30 seconds by default. If the worker's
    /// process ends, another worker goes on with its runs after this time.
    #[must_use]
    pub fn lease(self, time: Duration) -> Self {
        self.set(|settings| settings.lease = time)
    }

    /// Sets the maximum number of runs that [`work`](Runtime::work) goes on with at the same time: at least 1, and 64
    /// by default. The limit does not apply to runs that this process awaits or [advances](Runtime::advance).
    #[must_use]
    pub fn at_once(self, runs: usize) -> Self {
        self.set(|settings| settings.at_once = runs.max(1))
    }

    /// Returns the maximum number of runs that [`work`](Runtime::work) goes on with at the same time.
    pub fn runs_at_once(&self) -> usize {
        self.settings.at_once
    }

    /// Sets the maximum number of runs of one tenant that all workers together work on at the same time; 0, the
    /// default, is no limit. Each worker claims runs by its own setting, so give all workers the same.
    #[must_use]
    pub fn per_tenant(self, runs: u32) -> Self {
        self.set(|settings| settings.per_tenant = runs)
    }

    /// Sets the time after which requests for approval expire if nobody decides; 24 hours by default. A question whose
    /// form sets a time expires after that time.
    #[must_use]
    pub fn requests_expire_after(self, time: Duration) -> Self {
        self.set(|settings| settings.expires_after = time)
    }

    /// Sets the time within which a worker that is stopped returns; 30 seconds by default. In the first half of this
    /// time, runs may still end; in the second half, each run is put down as soon as none of its tools that write is
    /// running: see [`work`](Runtime::work). Another worker goes on with the runs that have not ended.
    #[must_use]
    pub fn grace(self, time: Duration) -> Self {
        self.set(|settings| settings.grace = time)
    }

    /// Adds a webhook, which this worker tells of events: see [`Webhook`].
    ///
    /// # Panics
    /// When there is a webhook of this name already.
    #[must_use]
    pub fn webhook(self, webhook: Webhook) -> Self {
        let mut others = self.settings.webhooks.iter();
        let name = webhook.name();
        assert!(
            others.all(|other| other.name() != name),
            "{}",
            crate::wording::two_webhooks(name)
        );
        self.set(|settings| settings.webhooks.push(webhook))
    }

    /// Sets the time for which the contents of runs that are over are kept; for ever by default. After it, this worker
    /// erases them: see [`Client::erase`](crate::Client::erase). The audit trail names `policy:retention` as the one
    /// who has erased them.
    #[must_use]
    pub fn keep_contents_for(self, time: Duration) -> Self {
        self.set(|settings| settings.keep_contents = Some(time))
    }

    /// Registers an agent, and returns the handle that starts its runs.
    ///
    /// # Panics
    /// When an agent of this name is registered already.
    pub fn agent<A: Agent + 'static>(&self, agent: A) -> AgentRef<A::In, A::Out> {
        let name = agent.name().to_owned();
        let agent = Arc::new(agent);
        self.agent_for(name, move |_| agent.clone())
    }

    /// Registers an agent that is made for the scope of each run, and returns the handle that starts its runs.
    ///
    /// ```
    /// use agents::prelude::*;
    /// use agents_runtime::{Runtime, SqliteStore};
    /// # use agents::testing::{Script, ScriptedModel};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (model, asked) = ScriptedModel::always(Script::text("Good morning."));
    /// # let runtime = Runtime::open(SqliteStore::in_memory().await?).model(model);
    /// let clerk = runtime.agent_for("clerk", |scope| {
    ///     let prompt = format!("You answer the customers of {}.", scope.tenant_id());
    ///     AgentBuilder::<String, String>::new("clerk").prompt(prompt).build()
    /// });
    /// clerk.run("Hello").scope("acme").await?;
    /// assert_eq!(asked.requests()[0].prompt(), "You answer the customers of acme.");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    /// When an agent of this name is registered already.
    pub fn agent_for<A: Agent + 'static>(
        &self,
        name: impl Into<String>,
        make: impl Fn(&Scope) -> A + Send + Sync + 'static,
    ) -> AgentRef<A::In, A::Out> {
        let name = name.into();
        let registered: Arc<dyn Registered> = Arc::new(MadeFor(make));
        let mut agents = self
            .shared
            .agents
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let before = agents.insert(name.clone(), registered);
        assert!(before.is_none(), "{}", crate::wording::two_agents(&name));
        drop(agents);
        self.shared.registered.notify_waiters();
        AgentRef::new(self.clone(), name)
    }

    /// Returns the keeper of this process's leases.
    pub(crate) fn keeper(&self) -> Result<Arc<Keeper>, RuntimeError> {
        if let Some(keeper) = self.shared.keeper.get() {
            return Ok(keeper.clone());
        }
        let store = self.client.bare_store().clone();
        let counters = self.shared.counters.clone();
        let started = Keeper::start(store, self.settings.lease, counters);
        let started = started.map_err(|error| crate::wording::no_lease_thread(&error))?;
        Ok(self.shared.keeper.get_or_init(|| started).clone())
    }

    /// Returns the requests for approval, and decides about them.
    pub fn approvals(&self) -> Approvals {
        self.client.approvals()
    }

    /// Returns the modes of the store, which say when people are asked about calls.
    pub fn modes(&self) -> Modes {
        self.client.modes()
    }

    /// Returns the audit trail of the store: who did what to which run, and when.
    pub fn audit(&self) -> Audit {
        self.client.audit()
    }

    /// Returns the events of a run: the ones that are stored, then each new one as it comes.
    pub fn events(&self, run: impl Into<String>) -> Events {
        self.client.events(run)
    }

    /// Returns the client of the store, for everything that needs no agents.
    pub fn as_client(&self) -> &Client {
        &self.client
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime")
            .field("worker", &self.settings.worker)
            .field("agents", &self.shared.agents())
            .finish_non_exhaustive()
    }
}
