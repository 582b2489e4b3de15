//! Messages of webhooks: an event as JSON.

use super::Webhook;
use crate::{Client, Request, RuntimeError};
use agents_core::run::Timestamp;
use agents_store::{AuditEvent, AuditKind, Run};
use serde_json::{Value, json};

/// Message that a webhook sends. Its parts follow the Standard Webhooks specification.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WebhookMessage {
    /// Id of the message, which is the same for each try to send it.
    pub id: String,
    /// Type of the message, such as `approval.requested`.
    pub kind: String,
    /// Time at which this try to send the message is made.
    pub timestamp: Timestamp,
    /// Body: a JSON object with `type`, `timestamp` (the time of the event) and `data`.
    pub body: String,
}

/// Returns the type of the message that tells of an event of this kind, such as `approval.requested`.
fn kind_of(kind: AuditKind) -> &'static str {
    match kind {
        AuditKind::Requested => "approval.requested",
        AuditKind::Approved => "approval.approved",
        AuditKind::Denied => "approval.denied",
        AuditKind::RevisionRequested => "approval.revision_requested",
        AuditKind::Expired => "approval.expired",
        AuditKind::Withdrawn => "approval.withdrawn",
        AuditKind::InDoubt => "execution.in_doubt",
        AuditKind::Held => "run.held",
        _ => "run.ended",
    }
}

impl WebhookMessage {
    /// Creates the message about an event of the audit trail. Its data describe the run or the request that the event
    /// is about. They are as the store has them now, which may be later than the event.
    pub(super) async fn of(
        client: &Client,
        webhook: &Webhook,
        event: &AuditEvent,
    ) -> Result<Self, RuntimeError> {
        let subject = event.subject.as_deref().unwrap_or_default();
        let mut data = match event.kind {
            AuditKind::Held | AuditKind::Finished => run(&client.known(&event.run).await?),
            AuditKind::InDoubt => json!({
                "execution_id": subject,
                "run_id": event.run,
                "tool_name": event.tool_name,
                "tenant_id": event.tenant_id,
            }),
            _ => match client.bare_store().approval(subject).await? {
                Some(stored) => {
                    serde_json::to_value(Request::from(stored)).map_err(RuntimeError::unreadable)?
                }
                None => json!({ "id": subject, "run_id": event.run }),
            },
        };
        if let (Some(base), Value::Object(fields)) = (&webhook.base, &mut data) {
            let page = match kind_of(event.kind).split_once('.') {
                Some(("approval", _)) => format!("approvals/{subject}"),
                _ => format!("runs/{}", event.run),
            };
            fields.insert("url".to_owned(), format!("{base}/{page}").into());
        }
        let kind = kind_of(event.kind);
        let body = json!({ "type": kind, "timestamp": event.at, "data": data });
        Ok(WebhookMessage {
            id: format!("{}-{}", event.run, event.seq),
            kind: kind.to_owned(),
            timestamp: Timestamp::now(),
            body: body.to_string(),
        })
    }
}

fn run(run: &Run) -> Value {
    let mut data = json!({
        "run_id": run.id,
        "agent_name": run.agent,
        "tenant_id": run.tenant,
        "status": run.status,
        "labels": run.labels,
    });
    let held = run.held.as_ref();
    if let Value::Object(fields) = &mut data {
        let texts = [
            ("key", run.key.clone()),
            ("end", run.end.map(|end| end.to_string())),
            ("held", held.map(|held| held.why.clone())),
            ("held_kind", held.map(|held| held.kind.to_string())),
            ("held_by", held.and_then(|held| held.by.clone())),
            ("paused_by", run.paused_by.clone()),
        ];
        for (name, value) in texts {
            fields.extend(value.map(|value| (name.to_owned(), value.into())));
        }
    }
    data
}
