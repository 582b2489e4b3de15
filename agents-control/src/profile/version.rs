//! Versions of profiles, as they are stored.

use super::ModelProfile;
use crate::{ControlError, wording};
use agents_store::StoredProfile;

/// Version of a profile, with who made it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProfileVersion {
    /// Number of the version.
    pub version: u64,
    /// The profile.
    pub profile: ModelProfile,
    /// Principal who stored this version.
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
