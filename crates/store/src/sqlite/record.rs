//! Events of the audit trail that a runtime has seen.

use super::{
    Tx,
    audit::{append, append_to_platform},
    executions::undone,
};
use crate::{AuditKind, NewEvent, PLATFORM, StoreError, trail::About};

/// Adds an event that a runtime reports, such as a refusal, to the audit trail.
pub(super) fn record(tx: &Tx<'_>, event: &NewEvent) -> Result<(), StoreError> {
    if event.run == PLATFORM {
        let about = About {
            actor: event.actor.as_deref(),
            subject: event.subject.as_deref(),
            tool_name: event.tool_name.as_deref(),
            detail: event.detail.as_deref(),
            row_digest: None,
        };
        return append_to_platform(tx, event.tenant.as_deref(), event.kind, about);
    }
    let row_digest = match (event.kind, &event.subject) {
        (AuditKind::Undone, Some(execution)) => undone(tx, execution)?,
        _ => None,
    };
    append(
        tx,
        &event.run,
        event.kind,
        About {
            actor: event.actor.as_deref(),
            subject: event.subject.as_deref(),
            tool_name: event.tool_name.as_deref(),
            detail: event.detail.as_deref(),
            row_digest,
        },
    )
}
