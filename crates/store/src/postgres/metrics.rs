//! Figures about the work of a store.

use super::connections::{number, row, rows, signed};
use crate::{RunStatus, StoreError, StoreMetrics, columns::IN_DOUBT};
use deadpool_postgres::{GenericClient, tokio_postgres::Row};
use std::time::Duration;

pub(super) async fn metrics(
    db: &impl GenericClient,
    now: u64,
    tenant: Option<&str>,
) -> Result<StoreMetrics, StoreError> {
    let mut found = StoreMetrics::default();
    let sql = "SELECT status, count(*), count(paused_by) FROM agent_runs
         WHERE status <> 'done' AND ($1::text IS NULL OR tenant_id = $1) GROUP BY status";
    for row in rows(db, sql, &[&tenant]).await? {
        found.paused += number(&row, 2)?;
        let status = RunStatus::read(row.try_get(0)?);
        let count = number(&row, 1)?;
        found.runs.extend(status.map(|status| (status, count)));
    }
    // Each kind of run has its index.
    let sql = "SELECT least(
             (SELECT min(updated_at) FROM agent_runs WHERE status = 'ready' AND ($2::text IS NULL OR tenant_id = $2)),
             (SELECT min(wake_at) FROM agent_runs
              WHERE status = 'waiting' AND wake_at <= $1 AND ($2::text IS NULL OR tenant_id = $2)),
             (SELECT min(lease_until) FROM agent_runs
              WHERE status = 'running' AND lease_until <= $1 AND ($2::text IS NULL OR tenant_id = $2)))";
    let claimable = row(db, sql, &[&signed(now), &tenant]).await?;
    found.oldest_claimable = claimable.map_or(Ok(None), |row| age(&row, 0, now))?;
    let sql = "SELECT count(*), min(requested_at) FROM agent_approvals
         WHERE status = 'pending' AND ($1::text IS NULL OR tenant_id = $1)";
    if let Some(row) = row(db, sql, &[&tenant]).await? {
        (found.pending, found.oldest_pending) = (number(&row, 0)?, age(&row, 1, now)?);
    }
    let sql = format!(
        "SELECT count(*) FROM agent_tool_executions WHERE {IN_DOUBT} AND ($1::text IS NULL OR tenant_id = $1)"
    );
    found.in_doubt = row(db, &sql, &[&tenant])
        .await?
        .map_or(Ok(0), |row| number(&row, 0))?;
    let sql = "SELECT count(next_at), count(*) - count(next_at) FROM agent_deliveries
         WHERE $1::text IS NULL
            OR EXISTS (SELECT 1 FROM agent_audit_events WHERE number = event AND tenant_id = $1)";
    if let Some(row) = row(db, sql, &[&tenant]).await? {
        (found.undelivered, found.given_up) = (number(&row, 0)?, number(&row, 1)?);
    }
    Ok(found)
}

fn age(row: &Row, column: usize, now: u64) -> Result<Option<Duration>, StoreError> {
    let since: Option<i64> = row.try_get(column)?;
    let age = |since: i64| Duration::from_millis(now.saturating_sub(since.cast_unsigned()));
    Ok(since.map(age))
}
