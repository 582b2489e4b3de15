//! Profiles as rows.

use crate::{StoreError, run::words, wording};
use agents_core::run::Timestamp;

/// Profile that is to be stored. An empty id of an organisation stands for all, an empty id of a workspace for the
/// organisation itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewProfile {
    /// Purpose.
    pub purpose: String,
    /// Id of the organisation.
    pub org_id: String,
    /// Id of the workspace.
    pub domain_id: String,
    /// The profile, as the control plane encodes it.
    pub profile: String,
    /// Principal who stores the profile.
    pub by: String,
    /// Version that has to be active until now; `None` if any version or none may be.
    pub replaces: Option<u64>,
}

/// Version of a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredProfile {
    /// Number of the version in the store.
    pub version: u64,
    /// Purpose.
    pub purpose: String,
    /// Id of the organisation; empty for all.
    pub org_id: String,
    /// Id of the workspace; empty for the organisation itself.
    pub domain_id: String,
    /// The profile, as the control plane encodes it.
    pub profile: String,
    /// Principal who stored the version.
    pub created_by: String,
    /// Time at which the version was last activated.
    pub activated_at: Timestamp,
    /// Time at which the version was deactivated; `None` while it is active.
    pub deactivated_at: Option<Timestamp>,
}

/// Action on a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProfileAction {
    /// Stored and activated.
    Activated,
    /// Activated again.
    RolledBack,
    /// Made inactive.
    Deactivated,
    /// Refused to whoever wanted to activate it.
    Refused,
}

words!(ProfileAction {
    Activated = "activated",
    RolledBack = "rolled_back",
    Deactivated = "deactivated",
    Refused = "refused",
});

/// Refuses a change if `expected` is set and another version than that one is active.
pub(crate) fn check_replaced(expected: Option<u64>, active: Option<u64>) -> Result<(), StoreError> {
    match expected {
        Some(expected) if active != Some(expected) => Err(wording::other_profile(expected, active)),
        _ => Ok(()),
    }
}

/// Change of a profile: a row that is never changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileChange {
    /// Number of the change in the store. Later changes have greater numbers.
    pub number: u64,
    /// Time of the change, by the clock of the store.
    pub at: Timestamp,
    /// Kind of the change.
    pub action: ProfileAction,
    /// Version that the change is about; 0 if the change was refused.
    pub version: u64,
    /// Purpose.
    pub purpose: String,
    /// Id of the organisation; empty for all.
    pub org_id: String,
    /// Id of the workspace; empty for the organisation itself.
    pub domain_id: String,
    /// Principal who made the change, or wanted to.
    pub by: String,
    /// Profile, as the control plane encodes it; for a refusal, the reason.
    pub detail: String,
}
