//! Clusters of failures, made from receipts and letters by a pure function.

use crate::summary::masked;
use agents_core::{
    Class, Severity,
    run::{Timestamp, ToolEnvelope},
};
use agents_store::{Letter, LetterFailure, Run, Triage, TriageStatus};
use serde::{Deserialize, Serialize};
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

/// Maximum number of failures that a cluster shows one by one.
pub(super) const SHOWN: usize = 50;
/// Number of failures from which on a cluster is one level more severe.
const MANY: u64 = 10;

/// Cluster of failures of one tenant: calls with the same error code, tool and agent, or dead letters with the same
/// kind of failure, kind of notification and subscriber. Serialized, it has the fields that tools and pages use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FailureCluster {
    /// Id of the cluster, which is the same whenever the cluster is made.
    pub cluster_id: String,
    /// Tenant whose failures are in the cluster.
    pub tenant_id: String,
    /// Code of the error; for letters the kind of the failure, in capitals.
    pub code: String,
    /// Name of the tool; for letters the name of the kind of notification.
    pub tool_name: String,
    /// Name of the agent; for letters the name of the subscriber.
    pub agent_name: String,
    /// Severity of the cluster, by the class of the error, by whether an effect is in doubt, and by the number of
    /// failures.
    pub severity: Severity,
    /// Status of the cluster: what a person has said of it.
    pub status: ClusterStatus,
    /// Number of failures in the cluster.
    pub count: u64,
    /// Number of runs, or of letters, in which the failures are.
    pub runs: u64,
    /// Time of the first failure in the cluster.
    pub first_at: Timestamp,
    /// Time of the last failure in the cluster.
    pub last_at: Timestamp,
    /// Text of the last failure, without addresses, long numbers and keys.
    pub message: String,
    /// Principal who has set the status; `None` while it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub triaged_by: Option<String>,
    /// Time at which the status was set; `None` while it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub triaged_at: Option<Timestamp>,
    /// Number of failures since the status was set; all of them if it was not.
    pub since: u64,
}

/// Status of a [`FailureCluster`]: what a person has said of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ClusterStatus {
    /// No person has said anything of the cluster.
    #[default]
    Open,
    /// The failures are of no interest, as a person has said.
    Dismissed,
    /// Another person has to look at the failures, as the first has said.
    Escalate,
    /// The failures are watched for a while, as a person has said.
    Wait,
}

/// Failure of a cluster: a call in a run, or a dead letter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LinkedFailure {
    /// Id of the run in which the call failed, or of the letter.
    pub id: String,
    /// Id of the call's receipt; `None` for a letter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// Time at which the call or the letter failed.
    pub at: Timestamp,
    /// Error of the failure in words, without addresses, long numbers and keys.
    pub error: String,
}

/// Failure before it is sorted into a cluster.
pub(super) struct Failed {
    tenant: String,
    code: String,
    tool: String,
    agent: String,
    severity: Severity,
    failure: LinkedFailure,
}

impl Failed {
    /// Returns the failure of a call; `None` if the call succeeded.
    pub(super) fn of_call(run: &Run, agent: &str, receipt: &ToolEnvelope) -> Option<Self> {
        let error = receipt.error.as_deref()?;
        let is_in_doubt = receipt
            .attempts
            .last()
            .is_some_and(|last| last.effect_unknown);
        let severity = match error.class {
            _ if is_in_doubt => Severity::Critical,
            Class::User | Class::Policy => Severity::Low,
            Class::Transient => Severity::Medium,
            Class::Terminal => Severity::High,
        };
        Some(Failed {
            tenant: run.tenant.clone(),
            code: error.code.to_string(),
            tool: receipt.name.clone(),
            agent: agent.to_owned(),
            severity,
            failure: LinkedFailure {
                id: run.id.clone(),
                call_id: Some(receipt.call_id.to_string()),
                at: receipt.t_end,
                error: masked(&error.message),
            },
        })
    }

    /// Returns the failure of a dead letter; `None` for one that is still tried.
    pub(super) fn of_letter(letter: &Letter, error: Option<String>) -> Option<Self> {
        let kind = letter.failure.unwrap_or(LetterFailure::Failed);
        let severity = match kind {
            LetterFailure::Interrupted => Severity::Critical,
            _ => Severity::High,
        };
        Some(Failed {
            tenant: letter.tenant.clone(),
            code: kind.as_str().to_uppercase(),
            tool: letter.name.clone(),
            agent: letter.subscriber.clone(),
            severity,
            failure: LinkedFailure {
                id: letter.id.clone(),
                call_id: None,
                at: letter.died_at?,
                error: error.unwrap_or_default(),
            },
        })
    }
}

impl FailureCluster {
    /// Sets the status that a principal has given the cluster.
    pub(super) fn is_triaged(&mut self, triage: &Triage, failures: &[LinkedFailure]) {
        self.status = match triage.status {
            TriageStatus::Dismissed => ClusterStatus::Dismissed,
            TriageStatus::Escalate => ClusterStatus::Escalate,
            _ => ClusterStatus::Wait,
        };
        self.triaged_by = Some(triage.by.clone());
        self.triaged_at = Some(triage.at);
        self.since = failures.iter().filter(|one| one.at > triage.at).count() as u64;
    }
}

/// Makes clusters of failures, the most severe and then the most numerous first, each with its failures, the newest first.
pub(super) fn clusters(failed: Vec<Failed>) -> Vec<(FailureCluster, Vec<LinkedFailure>)> {
    let mut by_key: BTreeMap<[String; 4], (Severity, Vec<LinkedFailure>)> = BTreeMap::new();
    for one in failed {
        let key = [one.tenant, one.code, one.tool, one.agent];
        let (severity, failures) = by_key.entry(key).or_insert((one.severity, Vec::new()));
        *severity = (*severity).max(one.severity);
        failures.push(one.failure);
    }
    let mut all: Vec<_> = by_key
        .into_iter()
        .map(|(key, (severity, failures))| cluster(key, severity, failures))
        .collect();
    all.sort_by_key(|(one, _)| {
        (
            Reverse(one.severity),
            Reverse(one.count),
            one.cluster_id.clone(),
        )
    });
    all
}

fn cluster(
    key: [String; 4],
    severity: Severity,
    mut failures: Vec<LinkedFailure>,
) -> (FailureCluster, Vec<LinkedFailure>) {
    failures.sort_by_key(|one| Reverse(one.at));
    let count = failures.len() as u64;
    let runs: BTreeSet<_> = failures.iter().map(|one| &one.id).collect();
    let severity = match severity {
        Severity::Low if count >= MANY => Severity::Medium,
        Severity::Medium if count >= MANY => Severity::High,
        Severity::High if count >= MANY => Severity::Critical,
        severity => severity,
    };
    let id = id_of(&key);
    let [tenant_id, code, tool_name, agent_name] = key;
    let at = |failure: Option<&LinkedFailure>| {
        failure.map_or(Timestamp::from_millis(0), |failure| failure.at)
    };
    let cluster = FailureCluster {
        cluster_id: id,
        tenant_id,
        code,
        tool_name,
        agent_name,
        severity,
        status: ClusterStatus::Open,
        count,
        runs: runs.len() as u64,
        first_at: at(failures.last()),
        last_at: at(failures.first()),
        message: failures
            .first()
            .map(|one| one.error.clone())
            .unwrap_or_default(),
        triaged_by: None,
        triaged_at: None,
        since: count,
    };
    (cluster, failures)
}

/// Returns the id of a cluster, which is a digest of what its failures have in common.
fn id_of(key: &[String; 4]) -> String {
    let digest = hmac_sha256::Hash::hash(serde_json::json!(key).to_string().as_bytes());
    crate::keys::hex(&digest[..8])
}
