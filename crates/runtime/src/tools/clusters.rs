//! Tools on clusters of failures.

use super::principal;
use crate::{
    Client, ClusterStatus, FailureCluster, FailureClusterDetail, FailureQuery, RuntimeError,
    TriageStatus,
};
use agents_core::{Severity, ToolContext};
use agents_macros::tool_attribute as tool;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Severity of a cluster, as models write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClusterSeverity {
    /// Other arguments would help, or the rules refuse the call.
    Low,
    /// A later call may succeed.
    Medium,
    /// The failure is final.
    High,
    /// A call may have taken effect or not, or many failures are final.
    Critical,
}

/// Status of a cluster, as models write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KnownStatus {
    /// No person has said anything of the cluster.
    Open,
    /// The failures are of no interest.
    Dismissed,
    /// Another person has to look at the failures.
    Escalate,
    /// The failures are watched for a while.
    Wait,
}

/// Status that a cluster is given, as models write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClusterVerdict {
    /// The failures are of no interest.
    Dismissed,
    /// Another person has to look at the failures.
    Escalate,
    /// The failures are watched for a while.
    Wait,
}

impl From<ClusterSeverity> for Severity {
    fn from(severity: ClusterSeverity) -> Severity {
        match severity {
            ClusterSeverity::Low => Severity::Low,
            ClusterSeverity::Medium => Severity::Medium,
            ClusterSeverity::High => Severity::High,
            ClusterSeverity::Critical => Severity::Critical,
        }
    }
}

impl From<KnownStatus> for ClusterStatus {
    fn from(status: KnownStatus) -> ClusterStatus {
        match status {
            KnownStatus::Open => ClusterStatus::Open,
            KnownStatus::Dismissed => ClusterStatus::Dismissed,
            KnownStatus::Escalate => ClusterStatus::Escalate,
            KnownStatus::Wait => ClusterStatus::Wait,
        }
    }
}

impl From<ClusterVerdict> for TriageStatus {
    fn from(verdict: ClusterVerdict) -> TriageStatus {
        match verdict {
            ClusterVerdict::Dismissed => TriageStatus::Dismissed,
            ClusterVerdict::Escalate => TriageStatus::Escalate,
            ClusterVerdict::Wait => TriageStatus::Wait,
        }
    }
}

/// Lists failures in clusters: calls that failed with the same error code, tool and agent. The most severe come first.
#[tool(reads, version = "1.0.0")]
pub async fn list_failure_clusters(
    /// Severity of the clusters; of all severities by default.
    severity: Option<ClusterSeverity>,
    /// Status of the clusters; with any status by default.
    status: Option<KnownStatus>,
    #[inject] client: Client,
    cx: &ToolContext,
) -> Result<Vec<FailureCluster>, RuntimeError> {
    let query = FailureQuery {
        tenant: Some(cx.tenant_id().to_owned()),
        severity: severity.map(Severity::from),
        status: status.map(ClusterStatus::from),
    };
    let by = principal(&client, cx).await?;
    client.failures().list(&query, &by).await
}

/// Shows a cluster of failures, with the failures in it and the notes of whoever has set its status.
#[tool(reads, version = "1.0.0")]
pub async fn get_cluster_detail(
    /// Id of the cluster, from the list.
    cluster_id: String,
    #[inject] client: Client,
    cx: &ToolContext,
) -> Result<FailureClusterDetail, RuntimeError> {
    let by = principal(&client, cx).await?;
    client.failures().get(&cluster_id, &by).await
}

/// Sets the status of a cluster of failures.
#[tool(
    writes,
    idempotent,
    version = "1.0.0",
    approval = always,
    effect_description = "set the status of cluster {cluster_id} to {status}: {notes}"
)]
pub async fn triage_cluster(
    /// Id of the cluster, from the list.
    cluster_id: String,
    /// Status that the cluster is given.
    status: ClusterVerdict,
    /// Why, for whoever looks at the cluster next.
    notes: String,
    #[inject] client: Client,
    cx: &ToolContext,
) -> Result<String, RuntimeError> {
    let by = principal(&client, cx).await?;
    let given = TriageStatus::from(status);
    client
        .failures()
        .triage(&cluster_id, given, &notes, &by)
        .await?;
    Ok(format!("{cluster_id} has the status {given}"))
}
