//! Data of a control plane in PostgreSQL.

mod budgets;
mod circuits;
mod credentials;
mod profiles;
mod retries;
mod usage;

use super::{PostgresStore, connections};
use crate::{
    Budget, BudgetKey, ControlStore, CredentialAnswer, CredentialKey, CredentialLease, Hold,
    HoldAnswer, NewProfile, ProfileChange, RetryChange, Settlement, StoreError, StoredCredential,
    StoredProfile, UsageBy, UsageDay, UsageFilter, UsageRow, UsageSum,
};
use async_trait::async_trait;
use std::time::Duration;

impl PostgresStore {
    /// Carries out work that adds no event to the audit trail. Such work needs no audit key: unlike `write`, this
    /// method does not tie the store to a key.
    async fn write_apart<T: Send + 'static>(
        &self,
        work: impl for<'a> FnOnce(&'a connections::Transaction<'a>) -> connections::Work<'a, T>
        + Send
        + 'static,
    ) -> Result<T, StoreError> {
        let key = self.audit_key();
        self.connections.write(&self.clock, key, work).await
    }
}

#[async_trait]
impl ControlStore for PostgresStore {
    async fn profiles_changed(&self) -> Result<u64, StoreError> {
        self.connections
            .read(|db| Box::pin(async move { profiles::changed(db).await }))
            .await
    }

    async fn active_profiles(&self) -> Result<(u64, Vec<StoredProfile>), StoreError> {
        self.connections
            .read(|db| {
                Box::pin(async move {
                    // A change in between makes the profiles newer than the number, so that they are read again.
                    let number = profiles::changed(db).await?;
                    Ok((number, profiles::active(db).await?))
                })
            })
            .await
    }

    async fn profile_versions(&self, purpose: &str) -> Result<Vec<StoredProfile>, StoreError> {
        let purpose = purpose.to_owned();
        self.connections
            .read(move |db| Box::pin(async move { profiles::versions(db, &purpose).await }))
            .await
    }

    async fn profile(&self, version: u64) -> Result<Option<StoredProfile>, StoreError> {
        self.connections
            .read(move |db| Box::pin(async move { profiles::find(db, version).await }))
            .await
    }

    async fn activate_profile(&self, new: &NewProfile) -> Result<StoredProfile, StoreError> {
        let new = new.clone();
        self.write_apart(move |db| Box::pin(async move { profiles::activate(db, &new).await }))
            .await
    }

    async fn reactivate_profile(
        &self,
        version: u64,
        by: &str,
        replaces: Option<u64>,
    ) -> Result<StoredProfile, StoreError> {
        let by = by.to_owned();
        self.write_apart(move |db| {
            Box::pin(async move { profiles::reactivate(db, version, &by, replaces).await })
        })
        .await
    }

    async fn deactivate_profile(
        &self,
        version: u64,
        by: &str,
        replaces: Option<u64>,
    ) -> Result<StoredProfile, StoreError> {
        let by = by.to_owned();
        self.write_apart(move |db| {
            Box::pin(async move { profiles::deactivate(db, version, &by, replaces).await })
        })
        .await
    }

    async fn refuse_profile(&self, new: &NewProfile, why: &str) -> Result<(), StoreError> {
        let (new, why) = (new.clone(), why.to_owned());
        self.write_apart(move |db| Box::pin(async move { profiles::refuse(db, &new, &why).await }))
            .await
    }

    async fn profile_changes(&self, after: u64) -> Result<Vec<ProfileChange>, StoreError> {
        self.connections
            .read(move |db| Box::pin(async move { profiles::changes(db, after).await }))
            .await
    }

    async fn circuits(&self) -> Result<Vec<(String, Duration)>, StoreError> {
        let clock = self.clock.clone();
        self.connections
            .read(move |db| Box::pin(async move { circuits::list(db, &clock).await }))
            .await
    }

    async fn fail_circuit(
        &self,
        name: &str,
        failures: u32,
        time: Duration,
    ) -> Result<bool, StoreError> {
        let name = name.to_owned();
        self.write_apart(move |db| {
            Box::pin(async move { circuits::fail(db, &name, failures, time).await })
        })
        .await
    }

    async fn open_circuit(&self, name: &str, time: Duration) -> Result<bool, StoreError> {
        let name = name.to_owned();
        self.write_apart(move |db| Box::pin(async move { circuits::open(db, &name, time).await }))
            .await
    }

    async fn probe_circuit(&self, name: &str, time: Duration) -> Result<bool, StoreError> {
        let name = name.to_owned();
        self.write_apart(move |db| Box::pin(async move { circuits::probe(db, &name, time).await }))
            .await
    }

    async fn close_circuit(&self, name: &str) -> Result<bool, StoreError> {
        let name = name.to_owned();
        self.write_apart(move |db| Box::pin(async move { circuits::close(db, &name).await }))
            .await
    }

    async fn credential(
        &self,
        key: &CredentialKey,
    ) -> Result<Option<StoredCredential>, StoreError> {
        let key = key.clone();
        self.connections
            .read(move |db| Box::pin(async move { credentials::find(db, &key).await }))
            .await
    }

    async fn put_credential(
        &self,
        key: &CredentialKey,
        new: &StoredCredential,
    ) -> Result<(), StoreError> {
        let (key, new) = (key.clone(), new.clone());
        self.write_apart(move |db| Box::pin(async move { credentials::put(db, &key, &new).await }))
            .await
    }

    async fn remove_credential(&self, key: &CredentialKey) -> Result<bool, StoreError> {
        let key = key.clone();
        self.write_apart(move |db| Box::pin(async move { credentials::remove(db, &key).await }))
            .await
    }

    async fn lease_credential(
        &self,
        key: &CredentialKey,
        lease: &CredentialLease,
    ) -> Result<CredentialAnswer, StoreError> {
        let (key, lease) = (key.clone(), lease.clone());
        self.write_apart(move |db| {
            Box::pin(async move { credentials::lease(db, &key, &lease).await })
        })
        .await
    }

    async fn renew_credential(
        &self,
        key: &CredentialKey,
        before: &str,
        new: &StoredCredential,
    ) -> Result<bool, StoreError> {
        let (key, before, new) = (key.clone(), before.to_owned(), new.clone());
        self.write_apart(move |db| {
            Box::pin(async move { credentials::renew(db, &key, &before, &new).await })
        })
        .await
    }

    async fn release_credential(
        &self,
        key: &CredentialKey,
        holder: &str,
    ) -> Result<(), StoreError> {
        let (key, holder) = (key.clone(), holder.to_owned());
        self.write_apart(move |db| {
            Box::pin(async move { credentials::release(db, &key, &holder).await })
        })
        .await
    }

    async fn change_retries(
        &self,
        org_id: &str,
        change: RetryChange,
    ) -> Result<Option<u32>, StoreError> {
        let org_id = org_id.to_owned();
        self.write_apart(move |db| {
            Box::pin(async move { retries::change(db, &org_id, change).await })
        })
        .await
    }

    async fn hold(&self, hold: &Hold) -> Result<HoldAnswer, StoreError> {
        let hold = hold.clone();
        self.write_apart(move |db| Box::pin(async move { budgets::hold(db, &hold).await }))
            .await
    }

    async fn settle_hold(&self, settlement: &Settlement) -> Result<bool, StoreError> {
        let settlement = settlement.clone();
        self.write_apart(move |db| Box::pin(async move { budgets::settle(db, &settlement).await }))
            .await
    }

    async fn budget(&self, key: &BudgetKey) -> Result<Budget, StoreError> {
        let (key, clock) = (key.clone(), self.clock.clone());
        self.connections
            .read(move |db| Box::pin(async move { budgets::today(db, &clock, &key).await }))
            .await
    }

    async fn budgets(&self, org: Option<&str>) -> Result<Vec<(BudgetKey, Budget)>, StoreError> {
        let (org, clock) = (org.map(str::to_owned), self.clock.clone());
        self.connections
            .read(move |db| {
                Box::pin(async move { budgets::all_of_today(db, &clock, org.as_deref()).await })
            })
            .await
    }

    async fn rebuild_budgets(&self) -> Result<(), StoreError> {
        self.write_apart(|db| Box::pin(budgets::rebuild(db))).await
    }

    async fn usage(&self, filter: &UsageFilter) -> Result<Vec<UsageRow>, StoreError> {
        let filter = filter.clone();
        self.connections
            .read(move |db| Box::pin(async move { usage::listed(db, &filter).await }))
            .await
    }

    async fn usage_sums(
        &self,
        filter: &UsageFilter,
        by: UsageBy,
    ) -> Result<Vec<UsageSum>, StoreError> {
        let filter = filter.clone();
        self.connections
            .read(move |db| Box::pin(async move { usage::sums(db, &filter, by).await }))
            .await
    }

    async fn usage_daily(&self, filter: &UsageFilter) -> Result<Vec<UsageDay>, StoreError> {
        let filter = filter.clone();
        self.connections
            .read(move |db| Box::pin(async move { usage::daily(db, &filter).await }))
            .await
    }
}
