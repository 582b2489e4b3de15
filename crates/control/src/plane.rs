//! The control plane: a store, providers, and the profiles that are active.

use crate::{
    ActiveProfiles, Candidate, ControlError, ControlErrorKind, ControlEvent, Controlled,
    ModelCircuit, Prices, ProfileVersion, ResolvedProfile, Target, circuit::Circuits,
    degradation::Failures, owner::circuit_of, provider::Providers, resolve_active_profile,
    retries::RetryBudgets, wording,
};
use agents_core::{
    Model, PurposeKey,
    model::Purposes,
    secret::Secrets,
    tool::{Pattern, Scope},
};
use agents_runtime::Roles;
use agents_store::{
    Budget, BudgetKey, ControlStore, ProfileChange, UsageBy, UsageDay, UsageFilter, UsageRow,
    UsageSum,
};
use std::{collections::BTreeSet, fmt, sync::Arc, time::Duration};
use tokio::{sync::Mutex, time::Instant};

/// Time for which a process uses the profiles that it has read. After it, the process reads them again. So no
/// notification is needed, and none can be lost.
const FRESH: Duration = Duration::from_millis(500);

/// Control plane of a store: providers, prices, and the profiles that say which model answers for a purpose.
///
/// A control plane is set up first, by the methods that take it by value, and is cloned and used afterwards. Clones
/// share their state. The [crate's page](crate) has an example with agents, and describes the path of a call.
///
/// ```
/// use agents_control::{ControlPlane, ModelProfile, Principal, Prices, PurposeKey::Reasoning, SqliteStore, usd};
/// # use agents_core::testing::{Script, ScriptedModel};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (model, _) = ScriptedModel::always(Script::text("Oslo"));
/// let control = ControlPlane::open(&SqliteStore::in_memory().await?)
///     .provider("mine", move |_| model.clone()) // for example `openai(target.model)`
///     .prices(Prices::default().model("mine/*", 2.0, 8.0));
/// let first = control.activate(ModelProfile::global(Reasoning).model("mine", "large").daily_cap(usd(50)));
/// let first = first.by(&Principal::operator()).await?;
///
/// // A look at what applies to an organisation, and at what it has spent today.
/// let resolved = control.resolve(&Reasoning, "acme").await?.expect("there is a global profile");
/// assert_eq!(resolved.version, first.version);
/// assert_eq!(control.budget(&Reasoning, "acme").await?.spent_nanos, 0);
///
/// // A second version takes the place of the first, and a rollback takes it back.
/// control.activate(ModelProfile::global(Reasoning).model("mine", "small")).by(&Principal::operator()).await?;
/// control.rollback(first.version).by(&Principal::operator()).await?;
/// assert_eq!(control.active().await?[0].profile.model, "large");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ControlPlane {
    pub(crate) plane: Arc<Plane>,
}

/// State that the clones of a control plane share.
pub(crate) struct Plane {
    pub(crate) store: Arc<dyn ControlStore>,
    pub(crate) providers: Providers,
    pub(crate) prices: Prices,
    pub(crate) secrets: Option<Arc<dyn Secrets>>,
    pub(crate) circuits: Arc<Circuits>,
    pub(crate) retries: RetryBudgets,
    pub(crate) failures: Failures,
    pub(crate) roles: Roles,
    extras: BTreeSet<PurposeKey>,
    admitted: Vec<Pattern>,
    read: Mutex<Read>,
}

/// Profiles as the store had them, the number of their last change, and the time at which the store was last asked for
/// that number. The time is `None` if the store is to be asked again.
#[derive(Default)]
struct Read {
    profiles: Arc<ActiveProfiles>,
    number: u64,
    at: Option<Instant>,
}

impl ControlPlane {
    /// Opens the control plane of a store. Processes with the same store share their profiles and their limits.
    pub fn open(store: &(impl ControlStore + Clone)) -> Self {
        let store: Arc<dyn ControlStore> = Arc::new(store.clone());
        ControlPlane {
            plane: Arc::new(Plane {
                store: store.clone(),
                providers: Providers::default(),
                prices: Prices::default(),
                secrets: None,
                circuits: Arc::new(Circuits::new(store.clone())),
                retries: RetryBudgets::new(store.clone()),
                failures: Failures::default(),
                roles: Roles::new(),
                extras: BTreeSet::new(),
                admitted: Vec::new(),
                read: Mutex::default(),
            }),
        }
    }

    /// Changes the control plane by a builder method, while it is set up.
    fn set(mut self, set: impl FnOnce(&mut Plane)) -> Self {
        let plane = Arc::get_mut(&mut self.plane);
        set(plane.expect("a control plane is set up before it is cloned or used"));
        self
    }

    /// Adds a provider, by the name that profiles use for it: code that makes the client of a model, with the key of
    /// the profile.
    ///
    /// ```no_run
    /// # mod agents { pub use agents_openai::openai; }
    /// # async fn open() -> Result<(), Box<dyn std::error::Error>> {
    /// use agents::openai;
    /// use agents_control::{ControlPlane, SqliteStore, Target};
    ///
    /// let store = SqliteStore::open("agents.db").await?;
    /// let control = ControlPlane::open(&store).provider("local", |target: &Target<'_>| {
    ///     let model = openai(target.model).base_url("http://gpu-1:8000/v1");
    ///     match target.max_tokens {
    ///         Some(tokens) => model.max_tokens(tokens),
    ///         None => model,
    ///     }
    /// });
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    /// When the control plane was cloned or used before.
    #[must_use]
    pub fn provider<M: Model>(
        self,
        name: impl Into<String>,
        make: impl Fn(&Target<'_>) -> M + Send + Sync + 'static,
    ) -> Self {
        self.set(|plane| plane.providers.add(name.into(), make))
    }

    /// Sets the prices of models; by default, the prices of the table that comes with [`Prices`].
    ///
    /// # Panics
    /// When the control plane was cloned or used before.
    #[must_use]
    pub fn prices(self, prices: Prices) -> Self {
        self.set(|plane| plane.prices = prices)
    }

    /// Sets the source of credentials, such as [`Credentials`](crate::Credentials). Credentials of the platform belong
    /// to the organisation with the empty id. Without a source, a model whose profile names a credential is not asked.
    ///
    /// # Panics
    /// When the control plane was cloned or used before.
    #[must_use]
    pub fn secrets(self, secrets: impl Secrets) -> Self {
        self.set(|plane| plane.secrets = Some(Arc::new(secrets)))
    }

    /// Registers a purpose of the application, beside [`PurposeKey::ALL`].
    ///
    /// # Panics
    /// When the control plane was cloned or used before.
    #[must_use]
    pub fn purpose(self, purpose: impl Into<PurposeKey>) -> Self {
        self.set(|plane| {
            plane.extras.insert(purpose.into());
        })
    }

    /// Sets who of an organisation may change its profiles: with a role for
    /// [`Action::Profiles`](crate::Action::Profiles), the principals who have the role; without one, every principal of
    /// the organisation. The operator needs no role.
    ///
    /// ```
    /// use agents_control::{Action, ControlPlane, Roles, SqliteStore};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let roles = Roles::new().for_action(Action::Profiles, "finance"); // the same as the runtime's
    /// let control = ControlPlane::open(&SqliteStore::in_memory().await?).roles(roles);
    /// # let _ = control;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    /// When the control plane was cloned or used before.
    #[must_use]
    pub fn roles(self, roles: Roles) -> Self {
        self.set(|plane| plane.roles = roles)
    }

    /// Admits models of this name that agents bring themselves, such as `ollama/*`. The control plane does not limit
    /// the calls of these models.
    ///
    /// # Panics
    /// When the control plane was cloned or used before.
    #[must_use]
    pub fn admit(self, models: impl Into<Pattern>) -> Self {
        self.set(|plane| plane.admitted.push(models.into()))
    }

    /// Adds a subscriber for events of this process. The subscriber is called while a request waits, so it should
    /// return soon.
    ///
    /// # Panics
    /// When the control plane was cloned or used before.
    #[must_use]
    pub fn on_event(self, subscriber: impl Fn(&ControlEvent) + Send + Sync + 'static) -> Self {
        self.set(|plane| {
            let circuits = Arc::get_mut(&mut plane.circuits);
            let circuits = circuits.expect("no request is under way");
            circuits.subscribers.add(subscriber);
        })
    }

    /// Returns the purposes that profiles can be activated for: [`PurposeKey::ALL`], then the purposes of the
    /// application.
    pub fn purposes(&self) -> Vec<PurposeKey> {
        let extras = self.plane.extras.iter().cloned();
        PurposeKey::ALL.into_iter().chain(extras).collect()
    }

    /// Returns the profiles that are active, by purpose and tier.
    ///
    /// # Errors
    /// When the store fails, or one of the profiles cannot be read.
    pub async fn active(&self) -> Result<Vec<ProfileVersion>, ControlError> {
        let (_, stored) = self.plane.store.active_profiles().await?;
        let active: Result<Vec<_>, _> = stored.into_iter().map(ProfileVersion::of).collect();
        let mut active = active?;
        active.sort_by_cached_key(|one| (one.profile.purpose.clone(), one.profile.tier.clone()));
        Ok(active)
    }

    /// Returns the models that are asked for a purpose in a scope, and their limits; `None` if no profile applies to
    /// the scope.
    ///
    /// # Errors
    /// When the store fails, or one of the profiles cannot be read.
    pub async fn resolve(
        &self,
        purpose: &PurposeKey,
        scope: impl Into<Scope>,
    ) -> Result<Option<ResolvedProfile>, ControlError> {
        let (active, scope) = (self.plane.active().await?, scope.into());
        let domain = scope.domain_id.as_deref();
        Ok(resolve_active_profile(
            &active,
            domain,
            scope.tenant_id(),
            purpose,
        ))
    }

    /// Returns the circuits of the models of a profile that is [resolved](ControlPlane::resolve) for a scope, in the order
    /// in which the models are asked.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn circuits(
        &self,
        profile: &ResolvedProfile,
        scope: impl Into<Scope>,
    ) -> Result<Vec<ModelCircuit>, ControlError> {
        let (open, scope) = (self.plane.store.circuits().await?, scope.into());
        let circuit = |one: &Candidate| {
            let name = circuit_of(profile, &scope, one).name();
            let found = open.iter().find(|(open, _)| *open == name);
            ModelCircuit {
                provider: one.provider.clone(),
                model: one.model.clone(),
                open_for: found.map(|(_, left)| *left),
            }
        };
        Ok(profile.chain.iter().map(circuit).collect())
    }

    /// Returns all versions of the profiles of a purpose, the oldest first.
    ///
    /// # Errors
    /// When the store fails, or one of the versions cannot be read.
    pub async fn versions(
        &self,
        purpose: &PurposeKey,
    ) -> Result<Vec<ProfileVersion>, ControlError> {
        let stored = self.plane.store.profile_versions(purpose.as_str()).await?;
        stored.into_iter().map(ProfileVersion::of).collect()
    }

    /// Returns the changes of profiles with greater numbers than `after`, refusals included, the oldest first.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn changes(&self, after: u64) -> Result<Vec<ProfileChange>, ControlError> {
        Ok(self.plane.store.profile_changes(after).await?)
    }

    /// Returns the amounts that a scope has spent for a purpose today, in UTC, and that are held for its requests under
    /// way. Each workspace of an organisation has amounts of its own, and so has the organisation without a workspace.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn budget(
        &self,
        purpose: &PurposeKey,
        scope: impl Into<Scope>,
    ) -> Result<Budget, ControlError> {
        let key = key(purpose, &scope.into());
        Ok(self.plane.store.budget(&key).await?)
    }

    /// Returns the amounts that are spent and held today, in UTC, for each organisation, workspace and purpose. With
    /// `org`, it returns those of this organisation alone.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn budgets(
        &self,
        org: Option<&str>,
    ) -> Result<Vec<(BudgetKey, Budget)>, ControlError> {
        Ok(self.plane.store.budgets(org).await?)
    }

    /// Computes the sums of all days anew, from the log of usage and the holds.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn rebuild_budgets(&self) -> Result<(), ControlError> {
        Ok(self.plane.store.rebuild_budgets().await?)
    }

    /// Returns the rows of the log of usage that a filter chooses, of requests that have ended, the newest first.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn usage(&self, filter: &UsageFilter) -> Result<Vec<UsageRow>, ControlError> {
        Ok(self.plane.store.usage(filter).await?)
    }

    /// Returns sums of the log of usage: one for each organisation, model or day, as `by` says. The sum with the
    /// greatest cost comes first.
    ///
    /// ```
    /// use agents_control::{ControlPlane, ModelProfile, Principal, PurposeKey::Reasoning, SqliteStore, UsageBy, UsageFilter};
    /// # use agents_core::{model::{History, Message, Request}, testing::{Script, ScriptedModel}};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (model, _) = ScriptedModel::always(Script::text("Oslo"));
    /// # let control = ControlPlane::open(&SqliteStore::in_memory().await?).provider("mine", move |_| model.clone());
    /// # control.activate(ModelProfile::global(Reasoning).model("mine", "large")).by(&Principal::operator()).await?;
    /// # let mut history = History::new();
    /// # history.push(Message::User { content: "Norway?".into() });
    /// # control.model(Reasoning, "acme").answer(Request::new(&history)).await.result?;
    /// // After a request of acme:
    /// let of_acme = UsageFilter { org_id: Some("acme".into()), ..UsageFilter::default() };
    /// let sums = control.usage_sums(&of_acme, UsageBy::Model).await?;
    /// assert_eq!((&*sums[0].of, sums[0].call_count), ("large", 1));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the store fails.
    pub async fn usage_sums(
        &self,
        filter: &UsageFilter,
        by: UsageBy,
    ) -> Result<Vec<UsageSum>, ControlError> {
        Ok(self.plane.store.usage_sums(filter, by).await?)
    }

    /// Returns the daily sums of usage that a filter chooses, the newest day first.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn usage_daily(&self, filter: &UsageFilter) -> Result<Vec<UsageDay>, ControlError> {
        Ok(self.plane.store.usage_daily(filter).await?)
    }

    /// Returns the model that stands for a purpose in a scope. It asks the models of the profile that is active at that
    /// time.
    pub fn model(&self, purpose: impl Into<PurposeKey>, scope: impl Into<Scope>) -> Controlled {
        let purpose = purpose.into();
        Controlled {
            plane: self.plane.clone(),
            id: format!("{PURPOSE}{purpose}"),
            purpose,
            scope: scope.into(),
        }
    }
}

/// Prefix of the names of models that stand for a purpose.
const PURPOSE: &str = "purpose/";

impl Purposes for ControlPlane {
    fn model(&self, purpose: &PurposeKey, scope: &Scope) -> Arc<dyn Model> {
        Arc::new(ControlPlane::model(self, purpose.clone(), scope.clone()))
    }

    fn judged(&self, run_id: &str, purpose: &PurposeKey, fits: bool) {
        self.plane.failures.judge(run_id, purpose, fits);
    }

    fn admits(&self, model: &str) -> bool {
        model.starts_with(PURPOSE) || self.plane.admitted.iter().any(|known| known.matches(model))
    }
}

/// Returns the key of the limits for a purpose in a scope: organisation, workspace and purpose.
pub(crate) fn key(purpose: &PurposeKey, scope: &Scope) -> BudgetKey {
    BudgetKey {
        org_id: scope.org_id.clone(),
        domain_id: scope.domain_id.clone().unwrap_or_default(),
        purpose: purpose.to_string(),
    }
}

impl Plane {
    /// Returns the profiles that are active, as this process has read them half a second ago at most.
    pub(crate) async fn active(&self) -> Result<Arc<ActiveProfiles>, ControlError> {
        let mut read = self.read.lock().await;
        if read.at.is_some_and(|at| at.elapsed() < FRESH) {
            return Ok(read.profiles.clone());
        }
        let is_first = read.at.is_none() && read.number == 0;
        if is_first || self.store.profiles_changed().await? != read.number {
            let (number, stored) = self.store.active_profiles().await?;
            let mut profiles = ActiveProfiles::default();
            for row in stored {
                let version = ProfileVersion::of(row)?;
                profiles.insert(version.profile, version.version);
            }
            (read.number, read.profiles) = (number, Arc::new(profiles));
        }
        self.circuits.sync(self.store.circuits().await?);
        read.at = Some(Instant::now());
        Ok(read.profiles.clone())
    }

    /// Has the profiles read from the store again before the next request, for instance after a change.
    pub(crate) async fn forget(&self) {
        self.read.lock().await.at = None;
    }

    pub(crate) fn is_registered(&self, purpose: &PurposeKey) -> Result<(), ControlError> {
        let is_known = PurposeKey::ALL.contains(purpose) || self.extras.contains(purpose);
        match is_known {
            true => Ok(()),
            false => Err(ControlError::new(
                ControlErrorKind::Invalid,
                wording::unregistered(purpose),
            )),
        }
    }
}

impl fmt::Debug for Plane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plane")
            .field("providers", &self.providers)
            .finish_non_exhaustive()
    }
}
