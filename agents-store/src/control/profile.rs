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
    /// Principal who stores it.
    pub by: String,
    /// Version that has to be active; any or none if it is `None`.
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
    /// Principal who stored it.
    pub created_by: String,
    /// Time of the last activation.
    pub activated_at: Timestamp,
    /// Time from which it is active no more.
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

/// Refuses a change that was meant to take the place of another version than the one that is active.
pub(crate) fn check_replaced(expected: Option<u64>, active: Option<u64>) -> Result<(), StoreError> {
    match expected {
        Some(expected) if active != Some(expected) => Err(wording::other_profile(expected, active)),
        _ => Ok(()),
    }
}

/// Change of a profile: a row that is never changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileChange {
    /// Number of the change.
    pub number: u64,
    /// Time.
    pub at: Timestamp,
    /// Action.
    pub action: ProfileAction,
    /// Version; 0 if it was refused.
    pub version: u64,
    /// Purpose.
    pub purpose: String,
    /// Id of the organisation; empty for all.
    pub org_id: String,
    /// Id of the workspace; empty for the organisation itself.
    pub domain_id: String,
    /// Principal who did it.
    pub by: String,
    /// The profile, or why it was refused.
    pub detail: String,
}
