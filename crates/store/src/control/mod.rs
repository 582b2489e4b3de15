//! Data of a control plane in a store: profiles, limits, and the usage of models.

mod credential;
#[cfg_attr(
    not(any(feature = "sqlite", feature = "postgres")),
    allow(dead_code, reason = "the stores use it")
)]
mod day;
#[cfg_attr(
    not(any(feature = "sqlite", feature = "postgres")),
    allow(dead_code, reason = "the stores use it")
)]
mod profile;
mod retry;
#[cfg_attr(
    not(any(feature = "sqlite", feature = "postgres")),
    allow(dead_code, reason = "the stores use it")
)]
mod usage;

pub use credential::{CredentialAnswer, CredentialKey, CredentialLease, StoredCredential};
pub use profile::{NewProfile, ProfileAction, ProfileChange, StoredProfile};
pub use retry::RetryChange;
pub use usage::{
    Budget, BudgetKey, Hold, HoldAnswer, RateRule, Settlement, UsageBy, UsageDay, UsageFilter,
    UsageRow, UsageSum,
};
#[cfg_attr(
    not(any(feature = "sqlite", feature = "postgres")),
    allow(unused_imports, reason = "the stores use them")
)]
pub(crate) use {
    day::date,
    profile::check_replaced,
    usage::{MOST, UNSETTLED, after_refill, amount_of},
};

use crate::StoreError;
use async_trait::async_trait;
use std::{sync::Arc, time::Duration};

/// Store of a control plane. Every store of this crate is one.
///
/// A profile is a text that the control plane encodes. A store promises these things:
///
/// - **One profile of a purpose is active in a tier**, whoever activates profiles at once.
/// - **A hold is within the cap or refused**, in one statement: no number of processes spends more than the cap together.
/// - **A hold is settled once.** One that nobody settles in time counts as spent.
/// - **A retry is taken once**, in one statement: no number of processes makes more retries than an organisation has left.
/// - **A circuit opens once**, by what the log says of the requests of all processes.
/// - **One holder has the lease on a credential**, and contents are renewed only if they are those that were read: a token
///   that can be used once is used once.
/// - **The log is the truth.** The sums of a day can be made anew from it.
///
/// ```
/// use agents_store::{BudgetKey, ControlStore, Hold, HoldAnswer, Settlement, SqliteStore};
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents_store::StoreError> {
/// let store = SqliteStore::in_memory().await?;
/// let key = BudgetKey { org_id: "acme".into(), purpose: "reasoning".into(), ..BudgetKey::default() };
/// let hold = |id: &str| Hold {
///     id: id.into(),
///     key: key.clone(),
///     cap_nanos: Some(1_000_000),
///     amount_nanos: Some(600_000), // the most that the request can cost
///     expires_in: Duration::from_secs(60),
///     ..Hold::default()
/// };
/// assert_eq!(store.hold(&hold("1")).await?, HoldAnswer::Held { warns: false });
/// assert!(matches!(store.hold(&hold("2")).await?, HoldAnswer::CapReached { .. }));
///
/// // The request has cost less, so another one has room.
/// store.settle_hold(&Settlement { id: "1".into(), cost_nanos: Some(100_000), ..Settlement::default() }).await?;
/// assert!(matches!(store.hold(&hold("3")).await?, HoldAnswer::Held { .. }));
/// assert_eq!(store.budget(&key).await?.spent_nanos, 100_000);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// A method fails with [`Unavailable`](crate::ErrorKind::Unavailable) if the store cannot be reached or is too busy,
/// and with [`Failed`](crate::ErrorKind::Failed) if it cannot be read or written for another reason. A method that
/// fails with other kinds as well names them.
#[async_trait]
pub trait ControlStore: Send + Sync + 'static {
    /// Returns the number of the last change of the profiles, refusals left out; 0 if there was no change.
    async fn profiles_changed(&self) -> Result<u64, StoreError>;

    /// Returns the number of the last change, as [`profiles_changed`](ControlStore::profiles_changed) does, and the
    /// profiles that are active.
    async fn active_profiles(&self) -> Result<(u64, Vec<StoredProfile>), StoreError>;

    /// Returns all versions of the profiles of a purpose, the oldest first.
    async fn profile_versions(&self, purpose: &str) -> Result<Vec<StoredProfile>, StoreError>;

    /// Returns this version of a profile; `None` if there is no such version.
    async fn profile(&self, version: u64) -> Result<Option<StoredProfile>, StoreError>;

    /// Stores a profile and activates it, in the place of the active one of its tier and purpose. Returns the profile
    /// with its version.
    ///
    /// # Errors
    /// With [`Conflict`](crate::ErrorKind::Conflict) if [`replaces`](NewProfile::replaces) is set and is not the active
    /// version of the tier and purpose.
    async fn activate_profile(&self, new: &NewProfile) -> Result<StoredProfile, StoreError>;

    /// Activates a version that was active before, in the place of the active one of its tier and purpose. Returns the
    /// profile.
    ///
    /// # Errors
    /// With [`NotFound`](crate::ErrorKind::NotFound) if there is no such version. With
    /// [`Conflict`](crate::ErrorKind::Conflict) if `replaces` is set and is not the active version of the tier and purpose.
    async fn reactivate_profile(
        &self,
        version: u64,
        by: &str,
        replaces: Option<u64>,
    ) -> Result<StoredProfile, StoreError>;

    /// Ends the activity of a version: the tier above applies from then on. A version that is not active stays as it is.
    ///
    /// # Errors
    /// With [`NotFound`](crate::ErrorKind::NotFound) if there is no such version. With
    /// [`Conflict`](crate::ErrorKind::Conflict) if `replaces` is set and is not the active version of the tier and purpose.
    async fn deactivate_profile(
        &self,
        version: u64,
        by: &str,
        replaces: Option<u64>,
    ) -> Result<StoredProfile, StoreError>;

    /// Records a refused profile among the changes of profiles, with the reason.
    async fn refuse_profile(&self, new: &NewProfile, why: &str) -> Result<(), StoreError>;

    /// Returns the changes of profiles with greater numbers than `after`, the oldest first, refusals included.
    async fn profile_changes(&self, after: u64) -> Result<Vec<ProfileChange>, StoreError>;

    /// Returns the circuits that are open, each with the time after which one request may find out whether the model
    /// answers again.
    async fn circuits(&self) -> Result<Vec<(String, Duration)>, StoreError>;

    /// Opens a circuit for `time` if the last `failures` requests that went through it have all failed. Returns `true`
    /// if the circuit was closed before and has opened; an open circuit stays as it is. The order of the requests is
    /// that of their holds in the log. Requests of which it is not known whether they failed are passed over.
    async fn fail_circuit(
        &self,
        name: &str,
        failures: u32,
        time: Duration,
    ) -> Result<bool, StoreError>;

    /// Opens a circuit for this time from now, also if it is open already. Returns `true` if it was closed before.
    async fn open_circuit(&self, name: &str, time: Duration) -> Result<bool, StoreError>;

    /// Lets one request pass an open circuit whose time is over, and no other request for this time. Returns `false` if
    /// the time of the circuit is not over, as after another request was let pass, or if the circuit is closed.
    async fn probe_circuit(&self, name: &str, time: Duration) -> Result<bool, StoreError>;

    /// Closes a circuit, so that requests go through it again. Returns `true` if it was open before.
    async fn close_circuit(&self, name: &str) -> Result<bool, StoreError>;

    /// Returns a credential with its encrypted contents; `None` if there is no such credential.
    async fn credential(&self, key: &CredentialKey)
    -> Result<Option<StoredCredential>, StoreError>;

    /// Stores a credential, in the place of an earlier one with the same key. A lease on the earlier one ends.
    async fn put_credential(
        &self,
        key: &CredentialKey,
        new: &StoredCredential,
    ) -> Result<(), StoreError>;

    /// Removes a credential. Returns `true` if it was there.
    async fn remove_credential(&self, key: &CredentialKey) -> Result<bool, StoreError>;

    /// Asks for the lease on a credential, with which its holder alone may refresh the credential.
    async fn lease_credential(
        &self,
        key: &CredentialKey,
        lease: &CredentialLease,
    ) -> Result<CredentialAnswer, StoreError>;

    /// Stores the next contents of a credential, and ends the lease on it. Returns `false`, and stores nothing, if the
    /// contents are not those of the version `before` any more.
    async fn renew_credential(
        &self,
        key: &CredentialKey,
        before: &str,
        new: &StoredCredential,
    ) -> Result<bool, StoreError>;

    /// Ends the lease of this holder, if it has one.
    async fn release_credential(&self, key: &CredentialKey, holder: &str)
    -> Result<(), StoreError>;

    /// Changes the number of retries that an organisation has left. Returns the number that is left then, in tenths of
    /// a retry. If there is not enough to be taken, returns `None` and changes nothing: what was earned is not added
    /// then.
    async fn change_retries(
        &self,
        org_id: &str,
        change: RetryChange,
    ) -> Result<Option<u32>, StoreError>;

    /// Holds money for a request that is about to be sent, if rate and cap permit it. A request that the cap refuses
    /// has counted for the rate limit all the same.
    async fn hold(&self, hold: &Hold) -> Result<HoldAnswer, StoreError>;

    /// Ends a hold with what the request has cost, and completes its row of the log. Returns `true` if the day's sum
    /// has just reached 80 % of the cap, for the first time on that day.
    ///
    /// A hold that was settled before stays as it is. A hold whose time was over counts as spent, and gets its true
    /// cost.
    ///
    /// # Errors
    /// With [`NotFound`](crate::ErrorKind::NotFound) if nothing is held for the request.
    async fn settle_hold(&self, settlement: &Settlement) -> Result<bool, StoreError>;

    /// Returns the amounts that are spent and held today, in UTC; zero for a key that has spent and held nothing.
    async fn budget(&self, key: &BudgetKey) -> Result<Budget, StoreError>;

    /// Returns the amounts that are spent and held today, in UTC, for each key that has held an amount today, be it 0.
    /// With `org`, it returns the keys of this organisation alone.
    async fn budgets(&self, org: Option<&str>) -> Result<Vec<(BudgetKey, Budget)>, StoreError>;

    /// Makes the sums of all days anew, from the log and the holds.
    async fn rebuild_budgets(&self) -> Result<(), StoreError>;

    /// Returns rows of the log whose requests have ended, the newest first.
    async fn usage(&self, filter: &UsageFilter) -> Result<Vec<UsageRow>, StoreError>;

    /// Returns sums of the log: one for each value of the column `by`, over the rows that the filter chooses. The sum
    /// with the greatest cost comes first; [`UsageFilter::limit`] limits the number of sums.
    async fn usage_sums(
        &self,
        filter: &UsageFilter,
        by: UsageBy,
    ) -> Result<Vec<UsageSum>, StoreError>;

    /// Returns the daily sums that the filter chooses, the newest day first. [`UsageFilter::run_id`] has no effect
    /// here.
    async fn usage_daily(&self, filter: &UsageFilter) -> Result<Vec<UsageDay>, StoreError>;
}

macro_rules! forward {
    ($($name:ident($($arg:ident: $type:ty),*) -> $out:ty;)+) => {
        #[async_trait]
        impl<S: ControlStore + ?Sized> ControlStore for Arc<S> {
            $(async fn $name(&self $(, $arg: $type)*) -> Result<$out, StoreError> {
                (**self).$name($($arg),*).await
            })+
        }
    };
}

forward! {
    profiles_changed() -> u64;
    active_profiles() -> (u64, Vec<StoredProfile>);
    profile_versions(purpose: &str) -> Vec<StoredProfile>;
    profile(version: u64) -> Option<StoredProfile>;
    activate_profile(new: &NewProfile) -> StoredProfile;
    reactivate_profile(version: u64, by: &str, replaces: Option<u64>) -> StoredProfile;
    deactivate_profile(version: u64, by: &str, replaces: Option<u64>) -> StoredProfile;
    refuse_profile(new: &NewProfile, why: &str) -> ();
    profile_changes(after: u64) -> Vec<ProfileChange>;
    circuits() -> Vec<(String, Duration)>;
    fail_circuit(name: &str, failures: u32, time: Duration) -> bool;
    open_circuit(name: &str, time: Duration) -> bool;
    probe_circuit(name: &str, time: Duration) -> bool;
    close_circuit(name: &str) -> bool;
    credential(key: &CredentialKey) -> Option<StoredCredential>;
    put_credential(key: &CredentialKey, new: &StoredCredential) -> ();
    remove_credential(key: &CredentialKey) -> bool;
    lease_credential(key: &CredentialKey, lease: &CredentialLease) -> CredentialAnswer;
    renew_credential(key: &CredentialKey, before: &str, new: &StoredCredential) -> bool;
    release_credential(key: &CredentialKey, holder: &str) -> ();
    change_retries(org_id: &str, change: RetryChange) -> Option<u32>;
    hold(hold: &Hold) -> HoldAnswer;
    settle_hold(settlement: &Settlement) -> bool;
    budget(key: &BudgetKey) -> Budget;
    budgets(org: Option<&str>) -> Vec<(BudgetKey, Budget)>;
    rebuild_budgets() -> ();
    usage(filter: &UsageFilter) -> Vec<UsageRow>;
    usage_sums(filter: &UsageFilter, by: UsageBy) -> Vec<UsageSum>;
    usage_daily(filter: &UsageFilter) -> Vec<UsageDay>;
}
