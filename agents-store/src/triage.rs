//! Triage: what people have said of clusters of failures.

use crate::run::words;
use agents_core::run::Timestamp;
use serde::{Deserialize, Serialize};

/// Status of a cluster of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TriageStatus {
    /// The failures are of no interest.
    Dismissed,
    /// Another person has to look at the failures.
    Escalate,
    /// The failures are watched for a while.
    Wait,
}

words!(TriageStatus { Dismissed = "dismissed", Escalate = "escalate", Wait = "wait" });

/// Status of a cluster that is about to be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTriage {
    /// Id of the cluster.
    pub cluster: String,
    /// Tenant of the cluster.
    pub tenant: String,
    /// Status of the cluster.
    pub status: TriageStatus,
    /// Principal who sets it.
    pub by: String,
    /// Notes, encrypted. They are in the audit trail as well.
    pub notes: Vec<u8>,
}

/// Status of a cluster that was set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Triage {
    /// Id of the cluster.
    pub cluster: String,
    /// Tenant of the cluster.
    pub tenant: String,
    /// Status of the cluster.
    pub status: TriageStatus,
    /// Principal who has set it.
    pub by: String,
    /// Time at which it was set.
    pub at: Timestamp,
    /// Notes, encrypted.
    pub notes: Vec<u8>,
}
