//! Values as the columns of tables have them.

use crate::AuditKind;
use agents_core::tool::Risk;
use std::{collections::BTreeMap, time::Duration};

/// Returns a duration in milliseconds, as columns have it: a thousand years at most.
pub(crate) fn millis(time: Duration) -> u64 {
    // Integers of databases have a sign; a thousand years are as good as for ever.
    const AGES: u64 = 1000 * 60 * 60 * 24 * 365 * 1000;
    u64::try_from(time.as_millis()).unwrap_or(AGES).min(AGES)
}

/// Returns the maximum number of rows of a list: the one that was asked for, or 100 for 0.
pub(crate) fn limit(asked: u32) -> u32 {
    match asked {
        0 => 100,
        asked => asked,
    }
}

/// SQL condition of an execution whose effect is not known, and whose call has a later attempt that has succeeded.
macro_rules! superseded {
    () => {
        "effect_unknown AND EXISTS (
            SELECT 1 FROM agent_tool_executions AS later
            WHERE later.run = agent_tool_executions.run AND later.call_id = agent_tool_executions.call_id
              AND later.attempt > agent_tool_executions.attempt AND later.output IS NOT NULL)"
    };
}

/// Columns of an execution.
pub(crate) const OF_EXECUTION: &str = concat!(
    "id, tenant_id, run_id, call_id, attempt, agent_name, tool_name, version, input, output, approved, \
     approved_by, risk_level, executed_at, duration_ms, error, effect_unknown, had_effect, settled_by, \
     settled_at, settled_proof, rolled_back, rolled_back_at, (",
    superseded!(),
    ") AS superseded"
);

/// SQL condition of an execution in doubt, which is that of [`Execution::is_in_doubt`](crate::Execution::is_in_doubt). A
/// later attempt of the call that has succeeded settles the earlier ones, and nobody can find out about erased ones.
pub(crate) const IN_DOUBT: &str = concat!(
    "(effect_unknown AND had_effect IS NULL AND length(input) > 0 AND NOT (",
    superseded!(),
    "))"
);

/// Returns the words that stand for kinds of events in the tables.
pub(crate) fn words_of(kinds: &[AuditKind]) -> Vec<&'static str> {
    kinds.iter().map(|kind| kind.as_str()).collect()
}

/// Returns the labels of a run as JSON text, for a column.
pub(crate) fn labels(labels: &BTreeMap<String, String>) -> String {
    serde_json::json!(labels).to_string()
}

/// Reads labels from the JSON text of a column. A column with anything else has no labels.
pub(crate) fn read_labels(json: &str) -> BTreeMap<String, String> {
    serde_json::from_str(json).unwrap_or_default()
}

/// Returns the word that stands for a risk in the tables.
pub(crate) fn risk(risk: Risk) -> &'static str {
    match risk {
        Risk::Low => "low",
        Risk::Medium => "medium",
        Risk::High => "high",
    }
}

/// Reads the word that stands for a risk in the tables; `None` for another word.
pub(crate) fn read_risk(word: &str) -> Option<Risk> {
    [Risk::Low, Risk::Medium, Risk::High]
        .into_iter()
        .find(|one| risk(*one) == word)
}
