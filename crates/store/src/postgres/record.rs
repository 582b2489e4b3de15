//! Events of the audit trail that a runtime has seen.

use super::{
    audit::{append, append_to_platform},
    connections::Transaction,
    executions::undone,
    row::lock,
};
use crate::{AuditKind, NewEvent, PLATFORM, StoreError, trail::About};

/// Adds an event that a runtime reports, such as a refusal, to the audit trail.
pub(super) async fn record(db: &Transaction<'_>, event: &NewEvent) -> Result<(), StoreError> {
    if event.run == PLATFORM {
        let about = About {
            actor: event.actor.as_deref(),
            subject: event.subject.as_deref(),
            tool_name: event.tool_name.as_deref(),
            detail: event.detail.as_deref(),
            row_digest: None,
        };
        let now = db.now().await?;
        return append_to_platform(db, now, event.tenant.as_deref(), event.kind, about).await;
    }
    lock(db, &event.run).await?;
    let now = db.now().await?;
    let row_digest = match (event.kind, &event.subject) {
        (AuditKind::Undone, Some(execution)) => Some(undone(db, now, execution).await?),
        _ => None,
    };
    let about = About {
        actor: event.actor.as_deref(),
        subject: event.subject.as_deref(),
        tool_name: event.tool_name.as_deref(),
        detail: event.detail.as_deref(),
        row_digest,
    };
    append(db, now, &event.run, event.kind, about).await
}
