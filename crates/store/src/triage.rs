//! Triage: what people have said of clusters of failures.

use crate::run::words;
use agents_core::run::Timestamp;
use serde::{Deserialize, Serialize};

/// Status of a cluster of failures: what a person has said of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TriageStatus {
    /// The failures are of no interest, as a person has said.
    Dismissed,
    /// Another person has to look at the failures, as the first has said.
    Escalate,
    /// The failures are watched for a while, as a person has said.
    Wait,
}

words!(TriageStatus { Dismissed = "dismissed", Escalate = "escalate", Wait = "wait" });

/// Status of a cluster that is about to be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTriage {
    /// Id of the cluster whose status is set.
    pub cluster: String,
    /// Tenant whose failures are in the cluster.
    pub tenant: String,
    /// Status that the cluster gets.
    pub status: TriageStatus,
    /// Principal who sets the status.
    pub by: String,
    /// Notes about the cluster, encrypted. They are in the audit trail as well.
    pub notes: Vec<u8>,
}

/// Status of a cluster of failures that a person has set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Triage {
    /// Id of the cluster that has the status.
    pub cluster: String,
    /// Tenant whose failures are in the cluster.
    pub tenant: String,
    /// Status that the cluster has.
    pub status: TriageStatus,
    /// Principal who has set the status.
    pub by: String,
    /// Time at which the status of the cluster was set.
    pub at: Timestamp,
    /// Notes about the cluster, encrypted.
    pub notes: Vec<u8>,
}
