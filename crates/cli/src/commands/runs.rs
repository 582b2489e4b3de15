//! `agents runs`: the runs of a store.

use super::seconds;
use crate::{args::RunsArgs, failure::Failure, out::Out, session::Session, table::Table};
use agents_core::run::Timestamp;
use agents_store::{End, HeldKind, Run, RunFilter, RunStatus};
use serde::Serialize;
use std::collections::BTreeMap;

/// Run as JSON, which programs read.
#[derive(Serialize)]
pub(super) struct RunObject<'a> {
    run_id: &'a str,
    agent_name: &'a str,
    tenant_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation: Option<&'a str>,
    status: RunStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<End>,
    #[serde(skip_serializing_if = "Option::is_none")]
    held: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    held_kind: Option<HeldKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    held_by: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cancelled_by: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    paused_by: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    started_by: Option<&'a str>,
    priority: i32,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    labels: &'a BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wake_at: Option<Timestamp>,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl<'a> From<&'a Run> for RunObject<'a> {
    fn from(run: &'a Run) -> Self {
        RunObject {
            run_id: &run.id,
            agent_name: &run.agent,
            tenant_id: &run.tenant,
            key: run.key.as_deref(),
            conversation: run.conversation.as_deref(),
            status: run.status,
            end: run.end,
            held: run.held.as_ref().map(|held| &*held.why),
            held_kind: run.held.as_ref().map(|held| held.kind),
            held_by: run.held.as_ref().and_then(|held| held.by.as_deref()),
            cancelled_by: run.cancelled_by.as_deref(),
            paused_by: run.paused_by.as_deref(),
            started_by: run.started_by.as_deref(),
            priority: run.priority,
            labels: &run.labels,
            wake_at: run.wake_at,
            created_at: run.created_at,
            updated_at: run.updated_at,
        }
    }
}

/// Returns the state of a run in words.
pub(super) fn state(run: &Run) -> String {
    match run.end {
        Some(end) => format!("{} ({end})", run.status),
        None if run.paused_by.is_some() && run.status != RunStatus::Held => {
            format!("{} (pausing)", run.status)
        }
        None => run.status.to_string(),
    }
}

pub(crate) async fn list(
    session: &Session,
    asked: &RunsArgs,
    out: &mut Out,
) -> Result<(), Failure> {
    if let Some(before) = &asked.before {
        session.run(before).await?;
    }
    let filter = RunFilter {
        tenant: session.tenant.clone(),
        agent: asked.agent.clone(),
        status: asked.status.map(RunStatus::from),
        key: asked.key.clone(),
        labels: asked.labels.iter().cloned().collect(),
        since: asked.since,
        until: asked.until,
        before: asked.before.clone(),
        limit: asked.limit,
        ..RunFilter::default()
    };
    let runs = session.client().runs(&filter).await?;
    if out.is_json() {
        return runs
            .iter()
            .try_for_each(|run| out.object(&RunObject::from(run)));
    }
    let mut table = Table::new(&["RUN", "STATE", "AGENT", "TENANT", "KEY", "CHANGED", "HELD"]);
    for run in &runs {
        table.row([
            &run.id,
            &state(run),
            &run.agent,
            &run.tenant,
            run.key.as_deref().unwrap_or_default(),
            &seconds(run.updated_at),
            run.held.as_ref().map_or("", |held| &held.why),
        ]);
    }
    table.print(out)
}
