//! Contents of runs in the hands of an operator, who gives them another key, erases them, holds them after a restore.

use crate::{Action, Client, Principal, RuntimeError, run_key::RunKey, what_if::WHAT_IF};
use agents_store::{Run, RunFilter, RunStatus, Timestamp};
use std::{collections::BTreeMap, time::Duration};

/// Name of the decider in the audit trail for a worker that erases contents after their time.
const RETENTION: &str = "policy:retention";

impl Client {
    /// Gives a tenant a new key, and wraps the keys of all of its runs with it, except for erased runs. Returns the
    /// number of runs whose keys were wrapped. The keys of other contents, such as notifications, stay wrapped with
    /// earlier versions.
    ///
    /// # Errors
    /// When the principal is of another tenant, the [roles](crate::Roles) forbid it, the keyring cannot be written, the
    /// key of a run cannot be unwrapped, or the store fails. Calling it again gives the tenant one more key, and wraps
    /// the keys of all runs with that one.
    pub async fn rotate(&self, tenant: &str, by: &Principal) -> Result<u64, RuntimeError> {
        self.allowed(Action::Rotate, Some(tenant), by).await?;
        let keys = self.keys()?;
        keys.rotate(tenant).map_err(RuntimeError::sealed)?;
        let mut wrapped = 0;
        for run in self.all_of(Some(tenant)).await? {
            if run.data_key.is_empty() {
                continue;
            }
            let key = RunKey::open(&*keys, tenant, &run.id, &run.data_key)?;
            let anew = key.wrap(&*keys, tenant)?;
            let store = self.store().await?;
            wrapped += u64::from(store.rewrap(&run.id, &run.data_key, &anew).await?);
        }
        Ok(wrapped)
    }

    /// Erases the contents of a run that is over: its input, its [key](crate::Start::key) and its labels, its journal,
    /// the arguments and outputs of its calls. The audit trail stays, with pseudonyms in place of names, and still
    /// verifies.
    ///
    /// Later runs of the same conversation hold what was said before:
    /// [`ConversationRef::erase`](crate::ConversationRef::erase) erases all of them. [Variations](Client::what_if) of the run
    /// tell its contents, and are erased with it.
    ///
    /// ```
    /// use agents::prelude::*;
    /// use agents_runtime::{Principal, Runtime, RuntimeErrorKind, SqliteStore};
    /// # use agents::testing::{Script, ScriptedModel};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (model, _) = ScriptedModel::always(Script::text("Paid."));
    /// # let runtime = Runtime::open(SqliteStore::in_memory().await?).model(model);
    /// # let payer = runtime.agent(AgentBuilder::<String, String>::new("payer").build());
    /// payer.run("Pay the bills of October.").key("bills-2026-10").await?;
    /// let run = payer.run("Pay the bills of October.").key("bills-2026-10").start().await?;
    ///
    /// let client = runtime.as_client();
    /// client.erase(run.id(), &Principal::operator()).await?;
    /// let erased = client.recorded(run.id()).await.unwrap_err();
    /// assert_eq!(erased.kind(), RuntimeErrorKind::Sealed);
    /// assert!(runtime.audit().verify().await?.is_intact());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is no such run for this principal, the [roles](crate::Roles) forbid it, the run or a variation of it
    /// is not over, or the store fails.
    pub async fn erase(&self, run: &str, by: &Principal) -> Result<(), RuntimeError> {
        let known = self.steered(Action::Erase, run, by).await?;
        let store = self.store().await?;
        for variation in self.variations_of(&known).await? {
            store.erase(&variation.id, by.id()).await?;
        }
        Ok(store.erase(run, by.id()).await?)
    }

    /// Returns the runs that tell outcomes of variations of a run.
    async fn variations_of(&self, run: &Run) -> Result<Vec<Run>, RuntimeError> {
        self.all(RunFilter {
            tenant: Some(run.tenant.clone()),
            labels: BTreeMap::from([(WHAT_IF.to_owned(), run.id.clone())]),
            ..RunFilter::default()
        })
        .await
    }

    /// Erases the contents of all runs of a tenant, removes its notifications and its credentials of a control plane,
    /// and destroys its keys: also the copies of the store are unreadable then. In the audit trail, pseudonyms take the
    /// place of names. Returns the number of runs that were not erased before.
    ///
    /// # Errors
    /// When the principal is of another tenant, the [roles](crate::Roles) forbid it, a run is not over, the keyring
    /// cannot be written, or the store fails. Calling it again goes on.
    pub async fn erase_tenant(&self, tenant: &str, by: &Principal) -> Result<u64, RuntimeError> {
        self.allowed(Action::Erase, Some(tenant), by).await?;
        let runs = self.all_of(Some(tenant)).await?;
        if let Some(open) = runs.iter().find(|run| run.status != RunStatus::Done) {
            return Err(crate::wording::tenant_at_work(
                &open.id,
                tenant,
                open.status,
            ));
        }
        self.keys()?.erase(tenant).map_err(RuntimeError::sealed)?;
        let erased = self.erase_all(runs, by).await?;
        self.store().await?.erase_tenant(tenant, by.id()).await?;
        Ok(erased)
    }

    /// Erases the contents of the runs that have been over for longer than this time, and of their
    /// [variations](Client::what_if). Returns their number. A principal of a tenant erases the contents of that tenant,
    /// an operator all. Call it regularly to keep contents no longer than needed.
    ///
    /// # Errors
    /// When the [roles](crate::Roles) forbid it, or the store fails.
    pub async fn erase_after(&self, time: Duration, by: &Principal) -> Result<u64, RuntimeError> {
        self.allowed(Action::Erase, None, by).await?;
        self.erase_those_over_for(time, by.tenant(), by.id()).await
    }

    /// Erases the contents of the runs that have been over for longer than this time, at intervals. Never returns.
    pub(crate) async fn erase_again_and_again(&self, time: Duration) {
        let pause = (time / 10).clamp(Duration::from_millis(100), Duration::from_secs(60 * 60));
        loop {
            if let Err(error) = self.erase_those_over_for(time, None, RETENTION).await {
                tracing::warn!(%error, "old contents cannot be erased");
            }
            tokio::time::sleep(pause).await;
        }
    }

    /// Erases the contents of the runs that have been over for longer than this time, once. Returns their number.
    pub(crate) async fn erase_those_over_for(
        &self,
        time: Duration,
        tenant: Option<&str>,
        by: &str,
    ) -> Result<u64, RuntimeError> {
        let store = self.store().await?;
        let now = store.now().await?.as_millis();
        let time = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let filter = RunFilter {
            tenant: tenant.map(str::to_owned),
            erasable: Some(Timestamp::from_millis(now.saturating_sub(time))),
            ..RunFilter::default()
        };
        let mut erased = 0;
        loop {
            let page = store.runs(&filter).await?;
            if page.is_empty() {
                return Ok(erased);
            }
            for run in page {
                // A variation tells the contents of its run. One that is not over yet is erased after its own time.
                let variations = self.variations_of(&run).await?.into_iter();
                for variation in variations.filter(|one| one.status == RunStatus::Done) {
                    store.erase(&variation.id, by).await?;
                    erased += 1;
                }
                store.erase(&run.id, by).await?;
                erased += 1;
            }
        }
    }

    /// Holds all runs that are neither over nor held already, so that none of them goes on before somebody
    /// [releases](Client::release) it. Returns the number of runs that were not held before.
    ///
    /// Call it after a store was restored from a copy, before a worker is started: what the runs have done since the copy
    /// was made is not in it.
    ///
    /// ```
    /// use agents::prelude::*;
    /// use agents_runtime::{Principal, Progress, Runtime, SqliteStore};
    /// # use agents::testing::{Script, ScriptedModel};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (model, _) = ScriptedModel::always(Script::text("Paid."));
    /// # let runtime = Runtime::open(SqliteStore::in_memory().await?).model(model);
    /// # let payer = runtime.agent(AgentBuilder::<String, String>::new("payer").build());
    /// let run = payer.run("Pay the bills of October.").start().await?;
    /// let operator = Principal::operator();
    /// let client = runtime.as_client();
    /// assert_eq!(client.hold_all("restored from the copy of Monday", &operator).await?, 1);
    /// assert!(matches!(run.progress().await?, Progress::Held(_)));
    ///
    /// // The bank says that nothing was paid since.
    /// client.release(run.id(), &operator).await?;
    /// assert!(matches!(run.progress().await?, Progress::Running));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the principal is no operator, or the store fails.
    pub async fn hold_all(&self, why: &str, by: &Principal) -> Result<u64, RuntimeError> {
        self.allowed(Action::HoldAll, None, by).await?;
        Ok(self.store().await?.hold_all(why, by.id()).await?)
    }

    pub(crate) async fn erase_all(
        &self,
        runs: Vec<Run>,
        by: &Principal,
    ) -> Result<u64, RuntimeError> {
        let mut erased = 0;
        for run in runs.iter().filter(|run| !run.data_key.is_empty()) {
            self.store().await?.erase(&run.id, by.id()).await?;
            erased += 1;
        }
        Ok(erased)
    }

    /// Returns all runs of a tenant; without one, those of all tenants.
    async fn all_of(&self, tenant: Option<&str>) -> Result<Vec<Run>, RuntimeError> {
        self.all(RunFilter {
            tenant: tenant.map(str::to_owned),
            ..RunFilter::default()
        })
        .await
    }

    /// Returns all runs that a filter finds, read page by page.
    async fn all(&self, mut filter: RunFilter) -> Result<Vec<Run>, RuntimeError> {
        let mut all = Vec::new();
        loop {
            let page = self.runs(&filter).await?;
            let Some(last) = page.last() else {
                return Ok(all);
            };
            filter.before = Some(last.id.clone());
            all.extend(page);
        }
    }
}
