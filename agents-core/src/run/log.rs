//! Events as lines of the log.

use super::{Event, EventKind};
use tracing::Level;

/// Returns `true` if `tracing` records lines of the level `INFO`, at which events are logged.
pub(crate) fn logs() -> bool {
    tracing::enabled!(Level::INFO)
}

/// Writes a log line for an event. Events of some kinds have none.
pub(crate) fn log(event: &Event) {
    let Event { agent, kind, .. } = event;
    match kind {
        EventKind::CallFailed { tool, error, .. } => {
            let given_by = error.given_by();
            tracing::info!(%tool, given_by, code = %error.code, error = %error.message, "call failed");
        }
        EventKind::CallRepaired { tool, repairs, .. } => {
            tracing::info!(%tool, %repairs, "arguments repaired");
        }
        EventKind::BackingOff { tool, wait } => tracing::info!(%tool, ?wait, "backing off"),
        EventKind::FixerRequested {
            tool,
            fixer,
            attempt,
        } => tracing::info!(%tool, %fixer, attempt, "asking a repair agent"),
        EventKind::FixerReplied {
            tool,
            fixer,
            answer,
            tokens,
            ..
        } => {
            tracing::info!(%tool, %fixer, tokens, ok = answer.is_ok(), "the repair agent answered");
        }
        EventKind::AnswerRepaired { repairs, .. } => {
            tracing::info!(%agent, %repairs, "answer repaired");
        }
        EventKind::AnswerFailed { reason, .. } => {
            tracing::info!(%agent, error = %reason, "answer failed");
        }
        EventKind::AnswerRefused { reason } => tracing::info!(%agent, %reason, "answer refused"),
        EventKind::EscalationSettled(receipt) => {
            let (source, settled) = (&receipt.escalation.source, &receipt.settled);
            tracing::info!(%source, %settled, "escalation settled");
        }
        _ => {}
    }
}
