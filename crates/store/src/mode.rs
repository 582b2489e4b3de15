//! Modes: which calls run without a question.

use agents_core::run::Timestamp;
use std::time::Duration;

/// Name of the audit trail for events that belong to no run. No run has this id.
pub const PLATFORM: &str = "platform";

/// Name that stands for all tenants where events and tables name one. No tenant has this name.
pub const ALL_TENANTS: &str = "*";

/// Mode that is set for one tenant, or for all tenants without a mode of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredMode {
    /// Tenant that the mode is set for; `None` for all tenants without a mode of their own.
    pub tenant: Option<String>,
    /// Name of the approval mode, such as `ask`: it says which calls a person is asked about.
    pub mode: String,
    /// Principal (a person or a program) who has set the mode.
    pub set_by: String,
    /// Time at which the mode was set, by the clock of the store.
    pub set_at: Timestamp,
    /// Number of the event about the mode in the audit trail of the [`PLATFORM`].
    pub seq: u64,
    /// Proof that whoever has set the mode had the audit key: see [`AuditKey::of_mode`](crate::AuditKey::of_mode).
    pub proof: Vec<u8>,
}

/// Change of the approval mode of one tenant, or of all tenants without a mode of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModeChange {
    /// Tenant that the mode is set for; `None` for all tenants without a mode of their own.
    pub tenant: Option<String>,
    /// Name of the mode; `None` removes the mode that is set.
    pub mode: Option<String>,
    /// Principal (a person or a program) who sets or removes the mode.
    pub by: String,
}

/// State of a store that belongs to no run: the modes, and the end of the trail of the [`PLATFORM`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Platform {
    /// Modes that are set: that of all tenants, and those of tenants that have a mode of their own.
    pub modes: Vec<StoredMode>,
    /// End of the trail; `None` if the caller may not see the whole trail.
    pub trail: Option<TrailEnd>,
}

/// End of an audit trail: how many events it has, and the digest of the last one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrailEnd {
    /// Number of the last event in the audit trail; 0 if the trail has no events.
    pub seq: u64,
    /// Digest of the last event of the trail; empty if the trail has no events.
    pub digest: Vec<u8>,
}

/// Decision of a mode about a request. It takes effect only if the mode still applies when the request is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByMode {
    /// Number of the event about the mode: see [`StoredMode::seq`].
    pub seq: u64,
    /// Name of the decider that stands for the mode: `policy:` and the name of the mode.
    pub by: String,
    /// Time from the mode's decision within which the run has to use the approval.
    pub use_within: Duration,
    /// Proof of the decision, which only whoever has the keys of the run can make.
    pub proof: Vec<u8>,
}
