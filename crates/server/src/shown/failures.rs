//! Clusters of failures: what a visitor looks for among them.

use crate::{
    failure::Failure,
    room::{Room, Visitor},
    wording,
};
use agents_runtime::{FailureCluster, FailureQuery};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

/// Words for the severities of failures, by which a visitor searches.
pub(crate) const SEVERITIES: [&str; 4] = ["CRITICAL", "HIGH", "MEDIUM", "LOW"];

/// Words for the status of a cluster of failures, by which a visitor searches.
pub(crate) const STATES: [&str; 4] = ["open", "dismissed", "escalate", "wait"];

/// Search of a visitor for clusters of failures. An empty field finds all.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Search {
    #[serde(default)]
    pub(crate) severity: String,
    #[serde(default)]
    pub(crate) status: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct Clusters {
    pub(crate) clusters: Vec<FailureCluster>,
}

/// Returns the clusters of failures that the search is for, the most severe first.
pub(crate) async fn clusters(
    room: &Room,
    visitor: &Visitor,
    search: &Search,
) -> Result<Clusters, Failure> {
    let query = FailureQuery {
        tenant: None,
        severity: known("severity", &search.severity, &SEVERITIES)?,
        status: known("status", &search.status, &STATES)?,
    };
    let failures = room.client.failures();
    let clusters = failures.list(&query, &visitor.principal).await?;
    Ok(Clusters { clusters })
}

/// Reads the word in a field of a search, which has to be one of these; `None` for an empty field.
pub(crate) fn known<T: DeserializeOwned>(
    field: &str,
    given: &str,
    words: &[&str],
) -> Result<Option<T>, Failure> {
    if given.is_empty() {
        return Ok(None);
    }
    let is_known = words.contains(&given);
    let read = serde_json::from_value(Value::from(given)).ok();
    let unknown = || Failure::invalid(wording::unknown_word(field, given, words));
    read.filter(|_| is_known).map(Some).ok_or_else(unknown)
}
