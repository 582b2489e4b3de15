//! Deferred tools that a conversation has loaded.

use super::SEARCH;
use serde::{Deserialize, Serialize};

/// Result of a search, as the model reads it.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Found {
    /// Tools that the search has loaded, the best match first.
    pub(super) loaded: Vec<FoundTool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) note: Option<String>,
}

/// Tool that a search has loaded.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct FoundTool {
    pub(super) name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) description: String,
}

/// Returns the names of the tools that these results of calls have loaded, in the order of loading, as far as the agent
/// defers them: the tools that searches have found, and those that were called without a search. A result is the name of
/// a tool and what the model was told.
pub(super) fn names<'r>(
    results: impl Iterator<Item = (&'r str, &'r str)>,
    defers: impl Fn(&str) -> bool,
) -> Vec<Box<str>> {
    let mut loaded: Vec<Box<str>> = Vec::new();
    let mut load = |name: &str| {
        if defers(name) && !loaded.iter().any(|one| **one == *name) {
            loaded.push(name.into());
        }
    };
    for (name, told) in results {
        if name != SEARCH {
            load(name);
            continue;
        }
        // The result of a search that failed is a text.
        let found = serde_json::from_str::<Found>(told);
        let found = found.map(|found| found.loaded).unwrap_or_default();
        found.iter().for_each(|tool| load(&tool.name));
    }
    loaded
}
