//! Profiles as rows.

use crate::{StoreError, run::words, wording};
use agents_core::run::Timestamp;

/// Profile that is to be stored. An empty id of an organisation stands for all, an empty id of a workspace for the
/// organisation itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewProfile {
    /// Purpose of the requests that the profile chooses models for.
    pub purpose: String,
    /// Id of the organisation (tenant) that the profile applies to; empty for all.
    pub org_id: String,
    /// Id of the workspace that the profile applies to; empty for the whole organisation.
    pub domain_id: String,
    /// Profile as text, in the encoding of the control plane.
    pub profile: String,
    /// Principal who stores the profile: a person or a program, by its id.
    pub by: String,
    /// Version that has to be the active one when this one is stored, and that this one replaces; `None` if any version
    /// or none may be.
    pub replaces: Option<u64>,
}

/// Stored version of a model profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredProfile {
    /// Number of the version, which no other version of any profile in the store has.
    pub version: u64,
    /// Purpose of the requests that the profile chooses models for.
    pub purpose: String,
    /// Id of the organisation (tenant) that the profile applies to; empty for all.
    pub org_id: String,
    /// Id of the workspace that the profile applies to; empty for the whole organisation.
    pub domain_id: String,
    /// Profile as text, in the encoding of the control plane.
    pub profile: String,
    /// Principal who stored the version: a person or a program, by its id.
    pub created_by: String,
    /// Time at which the version was last activated.
    pub activated_at: Timestamp,
    /// Time at which the version was deactivated; `None` while it is active.
    pub deactivated_at: Option<Timestamp>,
}

/// Action of a principal on a model profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProfileAction {
    /// A new version was stored and activated.
    Activated,
    /// An earlier version was activated again.
    RolledBack,
    /// The active version was made inactive, and none took its place.
    Deactivated,
    /// A principal wanted to activate the profile, and the control plane refused it.
    Refused,
}

words!(ProfileAction {
    Activated = "activated",
    RolledBack = "rolled_back",
    Deactivated = "deactivated",
    Refused = "refused",
});

/// Returns an error if a version is expected to be active and is not.
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
    /// Time at which the change was stored, by the clock of the store.
    pub at: Timestamp,
    /// Action that was done, or that was refused.
    pub action: ProfileAction,
    /// Version that the change is about; 0 if the change was refused.
    pub version: u64,
    /// Purpose of the requests that the profile chooses models for.
    pub purpose: String,
    /// Id of the organisation (tenant) that the profile applies to; empty for all.
    pub org_id: String,
    /// Id of the workspace that the profile applies to; empty for the whole organisation.
    pub domain_id: String,
    /// Principal who made the change, or wanted to.
    pub by: String,
    /// Profile, as the control plane encodes it; for a refusal, the reason.
    pub detail: String,
}
