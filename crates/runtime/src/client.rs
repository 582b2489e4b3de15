//! The client: what any process may do with the runs of a store, without their agents.

use crate::{
    Action, AgentRef, Approvals, Audit, Events, Keyring, Modes, Principal, Roles, RunRef, Runtime,
    RuntimeError,
    data::{RunData, entries, key_of},
    error::RuntimeErrorKind,
    keys::{default_keyring, of_this_process},
};
use agents_core::{Json, journal::Recorded, tool::Scope};
use agents_store::{AuditKey, NewRun, Run, RunFilter, Store};
use std::sync::{Arc, OnceLock};
use tokio::sync::OnceCell;

/// Runs of a store, seen from any process: no agent, model or tool is needed.
///
/// ```
/// use agents_runtime::{Principal, Runtime, SqliteStore};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let client = Runtime::client(SqliteStore::in_memory().await?);
/// for request in client.approvals().pending(&Principal::operator()).await? {
///     println!("{} wants to run {}", request.agent_name, request.tool_name);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client {
    store: Arc<dyn Store>,
    keyring: Arc<OnceLock<Arc<dyn Keyring>>>,
    pub(crate) roles: Arc<Roles>,
    /// Cell that is set once the store is tied to the audit key of the keyring.
    is_tied: Arc<OnceCell<()>>,
}

impl Client {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Client {
            store,
            keyring: Arc::default(),
            roles: Arc::default(),
            is_tied: Arc::default(),
        }
    }

    /// Sets the keyring with which contents are encrypted and decrypted. By default, it is a file beside the file of
    /// the store; for a store in memory, it is in memory as well. PostgreSQL has none: without a keyring, whatever
    /// needs keys is an error of the kind [`Sealed`](RuntimeErrorKind::Sealed).
    #[must_use]
    pub fn keyring(mut self, keyring: impl Keyring) -> Self {
        let keyring: Arc<dyn Keyring> = Arc::new(keyring);
        self.keyring = Arc::new(OnceLock::from(keyring));
        self.is_tied = Arc::default();
        self
    }

    /// Returns the store without giving it the audit key first: for reading, and for work after [`store`](Self::store).
    pub(crate) fn bare_store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Returns the store, for what a client has no method for. From then on, the store belongs to the keyring, and
    /// refuses any other one. Any write of the client has the same effect. A store that was written to without a client
    /// before that refuses every keyring, unless a control plane alone has written.
    ///
    /// # Errors
    /// When the keyring cannot be read or written, the store belongs to another one, or the store fails.
    pub async fn store(&self) -> Result<&Arc<dyn Store>, RuntimeError> {
        let tied = self.is_tied.get_or_try_init(async || {
            let key = self.audit_key()?;
            Ok::<_, RuntimeError>(self.store.audit_with(&key).await?)
        });
        tied.await?;
        Ok(&self.store)
    }

    /// Returns a secret key for a purpose of the application, such as to sign its forms. All processes that have the
    /// keyring of the store get the same key, today and after a restart. For a store in memory, the key is one of this
    /// process.
    ///
    /// ```
    /// use agents_runtime::{Runtime, SqliteStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let client = Runtime::client(SqliteStore::in_memory().await?);
    /// let forms = client.key_for("forms")?;
    /// assert_eq!(client.key_for("forms")?, forms);
    /// assert_ne!(client.key_for("sessions")?, forms);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is no keyring, or it cannot be read or written.
    pub fn key_for(&self, purpose: &str) -> Result<[u8; 32], RuntimeError> {
        let key = match self.store.is_in_memory() {
            // The keyring of a store in memory holds no secrets.
            true => AuditKey::new(of_this_process().map_err(RuntimeError::sealed)?),
            false => self.audit_key()?,
        };
        Ok(key.key_for(purpose))
    }

    /// Returns the key of the keyring with which the audit trail is made.
    pub(crate) fn audit_key(&self) -> Result<AuditKey, RuntimeError> {
        let key = self.keys()?.audit_key();
        key.map_err(|error| RuntimeError::new(RuntimeErrorKind::Sealed, error.to_string()))
    }

    /// Returns the keyring; the first use opens it.
    pub(crate) fn keys(&self) -> Result<Arc<dyn Keyring>, RuntimeError> {
        if let Some(keyring) = self.keyring.get() {
            return Ok(keyring.clone());
        }
        let opened = default_keyring(&*self.store)?.into();
        Ok(self.keyring.get_or_init(|| opened).clone())
    }

    /// Returns the requests for approval, and decides about them.
    pub fn approvals(&self) -> Approvals {
        Approvals::of(self.clone())
    }

    /// Returns the modes of the store, which say when people are asked about calls.
    pub fn modes(&self) -> Modes {
        Modes::of(self.clone())
    }

    /// Returns the audit trail of the store: who did what to which run, and when.
    pub fn audit(&self) -> Audit {
        Audit::of(self.clone())
    }

    /// Returns the handle of the run with this id, whose answer is an `Out`. The store is not asked whether there is
    /// such a run.
    pub fn run<Out>(&self, id: impl Into<String>) -> RunRef<Out> {
        RunRef::new(self.clone(), id.into())
    }

    /// Returns the handle of an agent that other processes have. Its input and its answer are JSON here. A run that is
    /// awaited is worked in those processes, and not in this one.
    ///
    /// Nobody knows the agent's types before a worker has the run. If the input does not fit them, the run fails there, as
    /// [`InvalidInput`](agents_core::ErrorKind::InvalidInput).
    ///
    /// ```
    /// use agents_core::Json;
    /// use agents_runtime::{Principal, Runtime, SqliteStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let store = SqliteStore::in_memory().await?;
    /// let client = Runtime::client(store); // of `SqliteStore::open("agents.db").await?`, for example
    /// let ada = Principal::new("ada", "acme");
    /// let chat = client.agent("crm").chat("support-42").scope("acme");
    /// let message = chat.send(Json::of("Who is ACME?")?).by(&ada).streamed().start().await?;
    /// // A worker that has the agent answers.
    /// assert_eq!(client.stored(message.id(), &ada).await?.agent, "crm");
    /// # Ok(())
    /// # }
    /// ```
    pub fn agent(&self, name: impl Into<String>) -> AgentRef<Json, Json> {
        AgentRef::new(Runtime::of(self.clone()), name.into())
    }

    /// Returns runs of all tenants, unless the filter names one: the newest first, or the oldest first if the filter
    /// says so.
    ///
    /// # Errors
    /// When `filter.before` or `filter.after` is no run, or the store fails.
    pub async fn runs(&self, filter: &RunFilter) -> Result<Vec<Run>, RuntimeError> {
        Ok(self.store.runs(filter).await?)
    }

    /// Returns the stored run with this id.
    ///
    /// # Errors
    /// When there is no such run for this principal, or the store fails.
    pub async fn stored(&self, run: &str, by: &Principal) -> Result<Run, RuntimeError> {
        self.visible(run, by).await
    }

    /// Returns the scope that a run works for.
    ///
    /// # Errors
    /// When there is no such run for this principal, its keys are gone, its contents were altered, or the store fails.
    pub async fn scope(&self, run: &str, by: &Principal) -> Result<Scope, RuntimeError> {
        let run = self.visible(run, by).await?;
        Ok(self.data_of(&run)?.scope)
    }

    /// Returns the input of a run, as JSON. [Roles] are not asked: whoever shows the input to people checks that
    /// they [may see it](Client::may_see_contents).
    ///
    /// # Errors
    /// When there is no such run for this principal, its keys are gone, its contents were altered, or the store fails.
    pub async fn input(&self, run: &str, by: &Principal) -> Result<Json, RuntimeError> {
        let run = self.visible(run, by).await?;
        Ok(self.data_of(&run)?.input)
    }

    /// Decrypts the input and the settings of a stored run.
    pub(crate) fn data_of(&self, run: &Run) -> Result<RunData, RuntimeError> {
        RunData::of(run, &key_of(run, &*self.keys()?)?)
    }

    /// Stores a new run, and returns it. If its key stands for another run with the same task, that run is returned
    /// instead; a run with another task is an error.
    pub(crate) async fn created(&self, new: &NewRun, data: &RunData) -> Result<Run, RuntimeError> {
        let stored = self.store().await?.create(new).await?;
        if stored.id != new.id {
            let before = self.data_of(&stored)?;
            if !before.has_task_of(data) {
                let key = stored.key.unwrap_or_default();
                return Err(crate::wording::key_of_other_work(&key, &stored.agent));
            }
        }
        Ok(stored)
    }

    /// Cancels a run: a worker ends it. A run that is over stays as it is.
    ///
    /// # Errors
    /// When there is no such run for this principal, the [roles](Roles) forbid it, or the store fails.
    pub async fn cancel(&self, run: &str, by: &Principal) -> Result<(), RuntimeError> {
        self.steered(Action::Cancel, run, by).await?;
        self.store().await?.cancel(run, by.id()).await?;
        Ok(())
    }

    /// Pauses a run until somebody [releases](Client::release) or cancels it.
    ///
    /// A run that nobody works on is held at once. A worker that has the run puts it down at the next moment at which
    /// none of its tools that write is running, so that no such tool is interrupted. Once the worker has seen the pause, no
    /// further one begins, except within one that is running. A delegate is put down between two of its calls, unless its
    /// own call was approved: then it ends first. A call of a tool that only reads and a request to a model are
    /// interrupted, and are made again after the release.
    ///
    /// # Errors
    /// When there is no such run for this principal, it is over, the [roles](Roles) forbid it, or the store fails.
    pub async fn pause(&self, run: &str, by: &Principal) -> Result<(), RuntimeError> {
        self.steered(Action::Pause, run, by).await?;
        self.store().await?.pause(run, by.id()).await?;
        Ok(())
    }

    /// Releases a run that is held or was paused, so that it goes on. Any other run stays as it is.
    ///
    /// # Errors
    /// When there is no such run for this principal, the [roles](Roles) forbid it, or the store fails.
    pub async fn release(&self, run: &str, by: &Principal) -> Result<(), RuntimeError> {
        self.released(run, None, by).await
    }

    /// Releases a run that is held because an agent has another model than the one that has driven it. From then on, all
    /// agents of the run may go on with this model, which is named as in the reason for which the run is held. A change to
    /// yet another model holds the run again.
    ///
    /// # Errors
    /// When there is no such run for this principal, the [roles](Roles) forbid it, or the store fails.
    pub async fn release_with_model(
        &self,
        run: &str,
        model: &str,
        by: &Principal,
    ) -> Result<(), RuntimeError> {
        self.released(run, Some(model), by).await
    }

    async fn released(
        &self,
        run: &str,
        model: Option<&str>,
        by: &Principal,
    ) -> Result<(), RuntimeError> {
        self.steered(Action::Release, run, by).await?;
        self.store().await?.unhold(run, by.id(), model).await?;
        Ok(())
    }

    /// Returns the events of a run: the ones that are stored, then each new one as it comes.
    pub fn events(&self, run: impl Into<String>) -> Events {
        Events::new(self.clone(), run.into())
    }

    /// Returns the journal of a run, for inspection; `None` if the run has not begun.
    ///
    /// # Errors
    /// When there is no such run, its keys are gone, its contents were altered, or the store fails.
    pub async fn recorded(&self, run: &str) -> Result<Option<Recorded>, RuntimeError> {
        self.recorded_of(&self.known(run).await?).await
    }

    /// Returns the journal of a run, for inspection; `None` if the run has not begun.
    pub(crate) async fn recorded_of(&self, run: &Run) -> Result<Option<Recorded>, RuntimeError> {
        let key = key_of(run, &*self.keys()?)?;
        let commits = self.store.commits(&run.id, 0).await?;
        let entries = entries(&key, 0, &commits)?;
        if entries.is_empty() {
            return Ok(None);
        }
        Recorded::of(entries)
            .map(Some)
            .map_err(RuntimeError::unreadable)
    }

    /// Returns the run with this id; an error if there is none that this principal may see.
    pub(crate) async fn visible(&self, run: &str, by: &Principal) -> Result<Run, RuntimeError> {
        let found = self.store.run(run).await?;
        let own = found.filter(|found| by.tenant().is_none_or(|own| own == found.tenant));
        own.ok_or_else(|| crate::wording::no_run(run))
    }

    /// Returns the run with this id, of whatever tenant; an error if there is none.
    pub(crate) async fn known(&self, run: &str) -> Result<Run, RuntimeError> {
        let found = self.store.run(run).await?;
        found.ok_or_else(|| crate::wording::no_run(run))
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}
