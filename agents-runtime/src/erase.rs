//! What an operator does with the contents of runs: gives them another key, erases them, holds them after a restore.

use crate::{Client, Principal, RuntimeError, keys::RunKey};
use agents_store::{Run, RunFilter, RunStatus};
use std::time::Duration;

impl Client {
    /// Gives a tenant a new key, and wraps the keys of all of its runs with it. Returns the number of runs.
    ///
    /// # Errors
    /// When the principal is of another tenant, the keyring cannot be written, or the store fails. Calling it again goes
    /// on.
    pub async fn rotate(&self, tenant: &str, by: &Principal) -> Result<u64, RuntimeError> {
        of_tenant(tenant, by)?;
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

    /// Erases the contents of a run that is over: its input, its journal, the arguments and outputs of its calls. The audit
    /// trail stays, with pseudonyms in place of names, and still verifies.
    ///
    /// Later runs of the same conversation hold what was said before:
    /// [`ConversationRef::erase`](crate::ConversationRef::erase) erases all of them.
    ///
    /// # Errors
    /// When there is no such run for this principal, it is not over, or the store fails.
    pub async fn erase(&self, run: &str, by: &Principal) -> Result<(), RuntimeError> {
        self.visible(run, by).await?;
        Ok(self.store().await?.erase(run, by.id()).await?)
    }

    /// Erases the contents of all runs of a tenant, and destroys its keys: also the copies of the store are unreadable
    /// then. Returns the number of runs.
    ///
    /// # Errors
    /// When the principal is of another tenant, a run is not over, the keyring cannot be written, or the store fails.
    /// Calling it again goes on.
    pub async fn erase_tenant(&self, tenant: &str, by: &Principal) -> Result<u64, RuntimeError> {
        of_tenant(tenant, by)?;
        let runs = self.all_of(Some(tenant)).await?;
        if let Some(open) = runs.iter().find(|run| run.status != RunStatus::Done) {
            return Err(crate::wording::tenant_at_work(
                &open.id,
                tenant,
                open.status,
            ));
        }
        self.keys()?.erase(tenant).map_err(RuntimeError::sealed)?;
        self.erase_all(runs, by).await
    }

    /// Erases the contents of the runs that have been over for longer than this time; those of the principal's tenant, or
    /// of all tenants for an operator. Returns their number. Call it regularly to keep contents no longer than needed.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn erase_after(&self, time: Duration, by: &Principal) -> Result<u64, RuntimeError> {
        let now = self.store().await?.now().await?;
        let mut old = self.all_of(by.tenant()).await?;
        old.retain(|run| run.status == RunStatus::Done && now.since(run.updated_at) > time);
        self.erase_all(old, by).await
    }

    /// Holds all runs that are not over, so that none of them goes on before an operator [releases](Client::release) it.
    /// Returns their number.
    ///
    /// Call it after a store was restored from a copy, before a worker is started: what the runs have done since the copy
    /// was made is not in it.
    ///
    /// # Errors
    /// When the principal is no operator, or the store fails.
    pub async fn hold_all(&self, why: &str, by: &Principal) -> Result<u64, RuntimeError> {
        if !by.is_operator() {
            return Err(crate::wording::no_operator(by.id()));
        }
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

    /// Returns all runs of a tenant.
    async fn all_of(&self, tenant: Option<&str>) -> Result<Vec<Run>, RuntimeError> {
        let mut filter = RunFilter {
            tenant: tenant.map(str::to_owned),
            ..RunFilter::default()
        };
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

/// Refuses a principal of another tenant.
fn of_tenant(tenant: &str, by: &Principal) -> Result<(), RuntimeError> {
    if by.tenant().is_none_or(|own| own == tenant) {
        return Ok(());
    }
    Err(crate::wording::no_member(by.id(), tenant))
}
