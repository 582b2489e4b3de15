//! Versions of profiles, as they are stored.

use super::ModelProfile;
use crate::{ControlError, wording};
use agents_store::StoredProfile;

/// Stored version of a profile, with who made it and when it was active.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProfileVersion {
    /// Number of this version of the profile in the store.
    pub version: u64,
    /// Profile, as it was stored with this version.
    pub profile: ModelProfile,
    /// Principal who stored this version: a person or a program, by its id.
    pub created_by: String,
    /// Time at which this version was last activated.
    pub activated_at: agents_core::run::Timestamp,
    /// Time at which this version was deactivated; `None` while it is active.
    pub deactivated_at: Option<agents_core::run::Timestamp>,
}

impl ProfileVersion {
    pub(crate) fn of(stored: StoredProfile) -> Result<Self, ControlError> {
        let profile = serde_json::from_str(&stored.profile)
            .map_err(|error| wording::unreadable(stored.version, &stored.purpose, &error))?;
        Ok(ProfileVersion {
            version: stored.version,
            profile,
            created_by: stored.created_by,
            activated_at: stored.activated_at,
            deactivated_at: stored.deactivated_at,
        })
    }
}
