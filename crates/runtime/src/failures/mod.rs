//! Failures of many runs, in clusters: by error code, tool and agent.

mod clusters;
mod wording;

pub use clusters::{ClusterStatus, FailureCluster, LinkedFailure};

use crate::{
    Action, Client, Principal, RuntimeError,
    audit::{opened_reason, sealed_reason},
    notifications::{Failures as LetterFailures, key_of_letter},
};
use agents_core::{Severity, run::EventKind};
use agents_store::{LetterFilter, NewTriage, RunFilter, Triage, TriageStatus};
use clusters::{Failed, clusters};
use serde::{Deserialize, Serialize};

/// Number of runs, the newest ones, whose failures are looked at.
const RUNS: u32 = 200;
/// Number of dead letters, the newest ones, that are looked at.
const LETTERS: u32 = 1000;

/// Failures of a store in clusters: lists, shows and triages them. [`Client::failures`] returns them.
///
/// A cluster has the failed calls of one tenant with the same error code, tool and agent. Dead letters of one tenant
/// are a cluster if they have the same kind of failure, kind of notification and subscriber. Clusters are made of the
/// receipts of the newest 200 runs and of the newest 1000 dead letters, whenever somebody asks. What a principal says
/// of a cluster is stored.
///
/// ```
/// use agents_runtime::{Client, FailureQuery, Principal, RuntimeError, TriageStatus};
///
/// /// Dismisses refusals.
/// async fn tidy(client: &Client, grace: &Principal) -> Result<(), RuntimeError> {
///     for cluster in client.failures().list(&FailureQuery::default(), grace).await? {
///         if cluster.code == "POLICY_DENIED" {
///             let notes = "the rules do what they should";
///             client.failures().triage(&cluster.cluster_id, TriageStatus::Dismissed, notes, grace).await?;
///         }
///     }
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Failures {
    client: Client,
}

/// Choice of clusters. The default chooses all of them. A cluster is chosen if it fits each field that is set.
///
/// ```
/// use agents_core::Severity;
/// use agents_runtime::{FailureQuery, Principal, Runtime, SqliteStore};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let client = Runtime::client(SqliteStore::in_memory().await?);
/// let severe = FailureQuery { severity: Some(Severity::High), ..FailureQuery::default() };
/// assert!(client.failures().list(&severe, &Principal::operator()).await?.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailureQuery {
    /// Chooses clusters of this tenant, if set. A principal of a tenant has no others.
    pub tenant: Option<String>,
    /// Chooses clusters of this severity, if set.
    pub severity: Option<Severity>,
    /// Chooses clusters with this status, if set.
    pub status: Option<ClusterStatus>,
}

/// Cluster of failures with some of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FailureClusterDetail {
    /// The cluster of failures, in the same form as in lists.
    #[serde(flatten)]
    pub cluster: FailureCluster,
    /// Notes of the principal who has set the status; `None` if nobody has set it, or if they cannot be decrypted any
    /// more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
    /// Failures of the cluster, the newest first, at most 50.
    pub failures: Vec<LinkedFailure>,
}

impl Client {
    /// Returns the clusters of failures of the store, for listing, showing and triaging them.
    pub fn failures(&self) -> Failures {
        Failures {
            client: self.clone(),
        }
    }
}

impl Failures {
    /// Returns clusters, the most severe first; among equally severe ones, the most numerous first.
    ///
    /// # Errors
    /// When the keyring cannot be opened, or the store fails.
    pub async fn list(
        &self,
        query: &FailureQuery,
        by: &Principal,
    ) -> Result<Vec<FailureCluster>, RuntimeError> {
        let found = self.found(query.tenant.as_deref(), by).await?;
        let all = found.into_iter().map(|(detail, _)| detail.cluster);
        let all = all.filter(|cluster| {
            query
                .severity
                .is_none_or(|severity| severity == cluster.severity)
                && query.status.is_none_or(|status| status == cluster.status)
        });
        Ok(all.collect())
    }

    /// Returns a cluster with some of its failures.
    ///
    /// # Errors
    /// When there is no such cluster for this principal, the keyring cannot be opened, or the store fails.
    pub async fn get(
        &self,
        id: &str,
        by: &Principal,
    ) -> Result<FailureClusterDetail, RuntimeError> {
        let (mut detail, triage) = self.one(id, by).await?;
        let keys = self.client.keys()?;
        detail.notes =
            triage.and_then(|triage| opened_reason(&*keys, &triage.tenant, &triage.notes));
        Ok(detail)
    }

    /// Sets the status of a cluster, with notes. Both are in the audit trail.
    ///
    /// # Errors
    /// When there is no such cluster for this principal, the [roles](crate::Roles) forbid it, or the store fails.
    pub async fn triage(
        &self,
        id: &str,
        status: TriageStatus,
        notes: &str,
        by: &Principal,
    ) -> Result<(), RuntimeError> {
        let (detail, _) = self.one(id, by).await?;
        let tenant = detail.cluster.tenant_id;
        self.client
            .allowed(Action::Triage, Some(&tenant), by)
            .await?;
        let new = NewTriage {
            cluster: id.to_owned(),
            status,
            by: by.id().to_owned(),
            notes: sealed_reason(&*self.client.keys()?, &tenant, notes)?,
            tenant,
        };
        Ok(self.client.store().await?.triage(&new).await?)
    }

    async fn one(
        &self,
        id: &str,
        by: &Principal,
    ) -> Result<(FailureClusterDetail, Option<Triage>), RuntimeError> {
        let mut found = self.found(None, by).await?.into_iter();
        let found = found.find(|(detail, _)| detail.cluster.cluster_id == id);
        found.ok_or_else(|| wording::no_cluster(id))
    }

    /// Returns all clusters that a principal may see, with the status that people have set.
    async fn found(
        &self,
        tenant: Option<&str>,
        by: &Principal,
    ) -> Result<Vec<(FailureClusterDetail, Option<Triage>)>, RuntimeError> {
        let Ok(tenant) = by.narrows(tenant) else {
            return Ok(Vec::new());
        };
        let mut failed = self.of_runs(tenant.as_deref()).await?;
        failed.extend(self.of_letters(tenant.as_deref()).await?);
        let mut found = clusters(failed);
        let ids: Vec<_> = found
            .iter()
            .map(|(one, _)| one.cluster_id.clone())
            .collect();
        let triages = self.client.bare_store().triages(tenant.as_deref(), &ids);
        let triages = triages.await?;
        let with = found.drain(..).map(|(mut cluster, failures)| {
            let own = |triage: &&Triage| {
                triage.cluster == cluster.cluster_id && triage.tenant == cluster.tenant_id
            };
            let triage = triages.iter().find(own).cloned();
            if let Some(triage) = &triage {
                cluster.is_triaged(triage, &failures);
            }
            let failures = failures.into_iter().take(clusters::SHOWN).collect();
            let detail = FailureClusterDetail {
                cluster,
                notes: None,
                failures,
            };
            (detail, triage)
        });
        Ok(with.collect())
    }

    /// Returns the failed calls of the newest runs. A run whose journal cannot be read has none.
    async fn of_runs(&self, tenant: Option<&str>) -> Result<Vec<Failed>, RuntimeError> {
        let filter = RunFilter {
            tenant: tenant.map(str::to_owned),
            limit: RUNS,
            ..RunFilter::default()
        };
        let mut all = Vec::new();
        for run in self.client.bare_store().runs(&filter).await? {
            match self.client.recorded_of(&run).await {
                Ok(Some(recorded)) => all.extend(recorded.events().iter().filter_map(|event| {
                    let EventKind::CallEnded(receipt) = &event.kind else {
                        return None;
                    };
                    Failed::of_call(&run, &event.agent, receipt)
                })),
                Ok(None) => {}
                Err(error) if error.may_pass() => return Err(error),
                Err(error) => {
                    tracing::debug!(run = run.id, %error, "failures of a run are not read")
                }
            }
        }
        Ok(all)
    }

    async fn of_letters(&self, tenant: Option<&str>) -> Result<Vec<Failed>, RuntimeError> {
        let filter = LetterFilter {
            tenant: tenant.map(str::to_owned),
            dead: Some(true),
            limit: LETTERS,
            ..LetterFilter::default()
        };
        let letters = self.client.bare_store().letters(&filter).await?;
        let keys = self.client.keys()?;
        let failed = letters.iter().filter_map(|letter| {
            let key = key_of_letter(letter, &*keys);
            let failures = key.map(|key| LetterFailures::of(letter, &key).0);
            let last = failures.unwrap_or_default().pop();
            Failed::of_letter(letter, last.map(|last| last.error))
        });
        Ok(failed.collect())
    }
}
