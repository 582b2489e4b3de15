//! Data of a control plane in SQLite.

mod budgets;
mod circuits;
mod credentials;
mod profiles;
mod retries;
mod usage;

use super::SqliteStore;
use crate::{
    Budget, BudgetKey, ControlStore, CredentialAnswer, CredentialKey, CredentialLease, Hold,
    HoldAnswer, NewProfile, ProfileChange, RetryChange, Settlement, StoreError, StoredCredential,
    StoredProfile, UsageBy, UsageDay, UsageFilter, UsageRow, UsageSum,
};
use async_trait::async_trait;
use std::time::Duration;

#[async_trait]
impl ControlStore for SqliteStore {
    async fn profiles_changed(&self) -> Result<u64, StoreError> {
        self.read(profiles::changed).await
    }

    async fn active_profiles(&self) -> Result<(u64, Vec<StoredProfile>), StoreError> {
        self.read(|db| {
            let number = profiles::changed(db)?;
            Ok((number, profiles::active(db)?))
        })
        .await
    }

    async fn profile_versions(&self, purpose: &str) -> Result<Vec<StoredProfile>, StoreError> {
        let purpose = purpose.to_owned();
        self.read(move |db| profiles::versions(db, &purpose)).await
    }

    async fn profile(&self, version: u64) -> Result<Option<StoredProfile>, StoreError> {
        self.read(move |db| profiles::find(db, version)).await
    }

    async fn activate_profile(&self, new: &NewProfile) -> Result<StoredProfile, StoreError> {
        let new = new.clone();
        self.write_apart(move |tx| profiles::activate(tx, &new))
            .await
    }

    async fn reactivate_profile(
        &self,
        version: u64,
        by: &str,
        replaces: Option<u64>,
    ) -> Result<StoredProfile, StoreError> {
        let by = by.to_owned();
        self.write_apart(move |tx| profiles::reactivate(tx, version, &by, replaces))
            .await
    }

    async fn deactivate_profile(
        &self,
        version: u64,
        by: &str,
        replaces: Option<u64>,
    ) -> Result<StoredProfile, StoreError> {
        let by = by.to_owned();
        self.write_apart(move |tx| profiles::deactivate(tx, version, &by, replaces))
            .await
    }

    async fn refuse_profile(&self, new: &NewProfile, why: &str) -> Result<(), StoreError> {
        let (new, why) = (new.clone(), why.to_owned());
        self.write_apart(move |tx| profiles::refuse(tx, &new, &why))
            .await
    }

    async fn profile_changes(&self, after: u64) -> Result<Vec<ProfileChange>, StoreError> {
        self.read(move |db| profiles::changes(db, after)).await
    }

    async fn circuits(&self) -> Result<Vec<(String, Duration)>, StoreError> {
        self.read(self.in_tx(circuits::list)).await
    }

    async fn fail_circuit(
        &self,
        name: &str,
        failures: u32,
        time: Duration,
    ) -> Result<bool, StoreError> {
        let name = name.to_owned();
        self.write_apart(move |tx| circuits::fail(tx, &name, failures, time))
            .await
    }

    async fn open_circuit(&self, name: &str, time: Duration) -> Result<bool, StoreError> {
        let name = name.to_owned();
        self.write_apart(move |tx| circuits::open(tx, &name, time))
            .await
    }

    async fn probe_circuit(&self, name: &str, time: Duration) -> Result<bool, StoreError> {
        let name = name.to_owned();
        self.write_apart(move |tx| circuits::probe(tx, &name, time))
            .await
    }

    async fn close_circuit(&self, name: &str) -> Result<bool, StoreError> {
        let name = name.to_owned();
        self.write_apart(move |tx| circuits::close(tx, &name)).await
    }

    async fn credential(
        &self,
        key: &CredentialKey,
    ) -> Result<Option<StoredCredential>, StoreError> {
        let key = key.clone();
        self.read(move |db| credentials::find(db, &key)).await
    }

    async fn put_credential(
        &self,
        key: &CredentialKey,
        new: &StoredCredential,
    ) -> Result<(), StoreError> {
        let (key, new) = (key.clone(), new.clone());
        self.write_apart(move |tx| credentials::put(tx, &key, &new))
            .await
    }

    async fn remove_credential(&self, key: &CredentialKey) -> Result<bool, StoreError> {
        let key = key.clone();
        self.write_apart(move |tx| credentials::remove(tx, &key))
            .await
    }

    async fn lease_credential(
        &self,
        key: &CredentialKey,
        lease: &CredentialLease,
    ) -> Result<CredentialAnswer, StoreError> {
        let (key, lease) = (key.clone(), lease.clone());
        self.write_apart(move |tx| credentials::lease(tx, &key, &lease))
            .await
    }

    async fn renew_credential(
        &self,
        key: &CredentialKey,
        before: &str,
        new: &StoredCredential,
    ) -> Result<bool, StoreError> {
        let (key, before, new) = (key.clone(), before.to_owned(), new.clone());
        self.write_apart(move |tx| credentials::renew(tx, &key, &before, &new))
            .await
    }

    async fn release_credential(
        &self,
        key: &CredentialKey,
        holder: &str,
    ) -> Result<(), StoreError> {
        let (key, holder) = (key.clone(), holder.to_owned());
        self.write_apart(move |tx| credentials::release(tx, &key, &holder))
            .await
    }

    async fn change_retries(
        &self,
        org_id: &str,
        change: RetryChange,
    ) -> Result<Option<u32>, StoreError> {
        let org_id = org_id.to_owned();
        self.write_apart(move |tx| retries::change(tx, &org_id, change))
            .await
    }

    async fn hold(&self, hold: &Hold) -> Result<HoldAnswer, StoreError> {
        let hold = hold.clone();
        self.write_apart(move |tx| budgets::hold(tx, &hold)).await
    }

    async fn settle_hold(&self, settlement: &Settlement) -> Result<bool, StoreError> {
        let settlement = settlement.clone();
        self.write_apart(move |tx| budgets::settle(tx, &settlement))
            .await
    }

    async fn budget(&self, key: &BudgetKey) -> Result<Budget, StoreError> {
        let key = key.clone();
        self.read(self.in_tx(move |tx| budgets::today(tx, &key)))
            .await
    }

    async fn budgets(&self, org: Option<&str>) -> Result<Vec<(BudgetKey, Budget)>, StoreError> {
        let org = org.map(str::to_owned);
        self.read(self.in_tx(move |tx| budgets::all_of_today(tx, org.as_deref())))
            .await
    }

    async fn rebuild_budgets(&self) -> Result<(), StoreError> {
        self.write_apart(budgets::rebuild).await
    }

    async fn usage(&self, filter: &UsageFilter) -> Result<Vec<UsageRow>, StoreError> {
        let filter = filter.clone();
        self.read(move |db| usage::rows(db, &filter)).await
    }

    async fn usage_sums(
        &self,
        filter: &UsageFilter,
        by: UsageBy,
    ) -> Result<Vec<UsageSum>, StoreError> {
        let filter = filter.clone();
        self.read(move |db| usage::sums(db, &filter, by)).await
    }

    async fn usage_daily(&self, filter: &UsageFilter) -> Result<Vec<UsageDay>, StoreError> {
        let filter = filter.clone();
        self.read(move |db| usage::daily(db, &filter)).await
    }
}
