//! Figures about the work of a store.

use super::Tx;
use crate::{RunStatus, StoreError, StoreMetrics, columns::IN_DOUBT};
use rusqlite::named_params;
use std::time::Duration;

pub(super) fn metrics(tx: &Tx<'_>, tenant: Option<&str>) -> Result<StoreMetrics, StoreError> {
    let age =
        |since: Option<u64>| since.map(|since| Duration::from_millis(tx.now.saturating_sub(since)));
    let mut found = StoreMetrics::default();
    let mut runs = tx.prepare_cached(
        "SELECT status, count(*), count(paused_by) FROM agent_runs
         WHERE status IN ('ready', 'running', 'waiting', 'held') AND (?1 IS NULL OR tenant_id = ?1)
         GROUP BY status",
    )?;
    let rows = runs.query_map([tenant], |row| {
        Ok((row.get::<_, String>(0)?, row.get(1)?, row.get::<_, u64>(2)?))
    })?;
    for row in rows {
        let (status, count, paused) = row?;
        found.paused += paused;
        found
            .runs
            .extend(RunStatus::read(&status).map(|status| (status, count)));
    }
    let mut claimable = tx.prepare_cached(
        "SELECT min(CASE status WHEN 'ready' THEN updated_at WHEN 'waiting' THEN wake_at ELSE lease_until END)
         FROM agent_runs
         WHERE (status = 'ready' OR status = 'waiting' AND wake_at <= :now OR status = 'running' AND lease_until <= :now)
           AND (:tenant IS NULL OR tenant_id = :tenant)",
    )?;
    let now = named_params! { ":now": tx.now, ":tenant": tenant };
    found.oldest_claimable = age(claimable.query_row(now, |row| row.get(0))?);
    let mut pending = tx.prepare_cached(
        "SELECT count(*), min(requested_at) FROM agent_approvals
         WHERE status = 'pending' AND (?1 IS NULL OR tenant_id = ?1)",
    )?;
    let (count, oldest) = pending.query_row([tenant], |row| Ok((row.get(0)?, row.get(1)?)))?;
    (found.pending, found.oldest_pending) = (count, age(oldest));
    let sql = format!(
        "SELECT count(*) FROM agent_tool_executions WHERE {IN_DOUBT} AND (?1 IS NULL OR tenant_id = ?1)"
    );
    let mut doubts = tx.prepare_cached(&sql)?;
    found.in_doubt = doubts.query_row([tenant], |row| row.get(0))?;
    let mut deliveries = tx.prepare_cached(
        "SELECT count(next_at), count(*) - count(next_at) FROM agent_deliveries
         WHERE ?1 IS NULL
            OR EXISTS (SELECT 1 FROM agent_audit_events WHERE number = event AND tenant_id = ?1)",
    )?;
    (found.undelivered, found.given_up) =
        deliveries.query_row([tenant], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(found)
}
