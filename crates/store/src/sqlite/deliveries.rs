//! Rows of webhooks and of deliveries.

use super::{Tx, audit, row::time_if_any};
use crate::{
    Delivery, DeliveryClaim, DeliveryEnd, DeliveryFilter, StoreError,
    columns::{limit, millis, words_of},
    delivery::MOST_AT_ONCE,
    wording,
};
use rusqlite::{Connection, OptionalExtension, Row, named_params, params};

/// SQL that selects deliveries with their events.
const SELECT: &str = "SELECT event.number, run.id AS run_id, seq, event.tenant_id, at, kind, actor, subject, tool_name,
         detail, row_digest, digest, webhook, attempts, next_at, error
         FROM agent_deliveries AS delivery
         JOIN agent_audit_events AS event ON event.number = delivery.event JOIN agent_runs AS run ON run.number = event.run";

fn read(row: &Row<'_>) -> rusqlite::Result<Delivery> {
    Ok(Delivery {
        event: audit::read(row)?,
        webhook: row.get("webhook")?,
        attempts: row.get("attempts")?,
        next_at: time_if_any(row, "next_at")?,
        error: row.get("error")?,
    })
}

/// Returns `true` if there may be an event to deliver.
pub(super) fn any(tx: &Tx<'_>, claim: &DeliveryClaim) -> Result<bool, StoreError> {
    let mut found = tx.prepare_cached(
        "SELECT NOT EXISTS (SELECT 1 FROM agent_webhooks WHERE name = ?1)
             OR EXISTS (SELECT 1 FROM agent_deliveries WHERE webhook = ?1 AND next_at <= ?2)
             OR (SELECT seen FROM agent_webhooks WHERE name = ?1)
                < (SELECT coalesce(max(number), 0) FROM agent_audit_events)",
    )?;
    Ok(found.query_row(params![claim.webhook, tx.now], |row| row.get(0))?)
}

pub(super) fn claim(tx: &Tx<'_>, claim: &DeliveryClaim) -> Result<Vec<Delivery>, StoreError> {
    see(tx, claim)?;
    let mut due = tx.prepare_cached(
        "UPDATE agent_deliveries SET attempts = attempts + 1, next_at = :until
         WHERE webhook = :webhook AND event IN (
             SELECT event FROM agent_deliveries WHERE webhook = :webhook AND next_at <= :now
             ORDER BY next_at, event LIMIT :limit)
         RETURNING event",
    )?;
    let due = due.query_map(
        named_params! {
            ":webhook": claim.webhook,
            ":now": tx.now,
            ":until": tx.now + millis(claim.time),
            ":limit": limit(claim.limit),
        },
        |row| row.get(0),
    )?;
    let mut due: Vec<u64> = due.collect::<Result<_, _>>()?;
    due.sort_unstable();
    let mut deliveries = Vec::with_capacity(due.len());
    for event in due {
        deliveries.extend(find(tx, &claim.webhook, event)?);
    }
    Ok(deliveries)
}

/// Stores deliveries for a webhook: of the events since the last look of which it is to be told. The first look at a
/// webhook stores none.
fn see(tx: &Tx<'_>, claim: &DeliveryClaim) -> Result<(), StoreError> {
    let mut begin = tx.prepare_cached(
        "INSERT INTO agent_webhooks (name, seen)
         SELECT ?1, coalesce(max(number), 0) FROM agent_audit_events WHERE true ON CONFLICT (name) DO NOTHING",
    )?;
    begin.execute([&claim.webhook])?;
    let mut last = tx.prepare_cached(
        "SELECT max(number) FROM (
             SELECT number FROM agent_audit_events
             WHERE number > (SELECT seen FROM agent_webhooks WHERE name = ?1) ORDER BY number LIMIT ?2)",
    )?;
    let last: Option<u64> =
        last.query_row(params![claim.webhook, MOST_AT_ONCE], |row| row.get(0))?;
    let Some(last) = last else { return Ok(()) };
    let mut add = tx.prepare_cached(
        "INSERT INTO agent_deliveries (webhook, event, next_at)
         SELECT :webhook, number, :now FROM agent_audit_events
         WHERE number > (SELECT seen FROM agent_webhooks WHERE name = :webhook) AND number <= :last
           AND kind IN (SELECT value FROM json_each(:kinds)) AND (:tenant IS NULL OR tenant_id = :tenant)",
    )?;
    add.execute(named_params! {
        ":webhook": claim.webhook,
        ":now": tx.now,
        ":last": last,
        ":kinds": serde_json::json!(words_of(&claim.kinds)).to_string(),
        ":tenant": claim.tenant,
    })?;
    let mut seen = tx.prepare_cached("UPDATE agent_webhooks SET seen = ?2 WHERE name = ?1")?;
    seen.execute(params![claim.webhook, last])?;
    Ok(())
}

pub(super) fn end(tx: &Tx<'_>, delivery: &Delivery, end: &DeliveryEnd) -> Result<(), StoreError> {
    let (next_at, error) = match end {
        DeliveryEnd::Delivered => {
            let mut done = tx
                .prepare_cached("DELETE FROM agent_deliveries WHERE webhook = ?1 AND event = ?2")?;
            done.execute(params![delivery.webhook, delivery.event.number])?;
            return Ok(());
        }
        DeliveryEnd::Again { after, error } => (Some(tx.now + millis(*after)), error),
        DeliveryEnd::GivenUp { error } => (None, error),
    };
    let mut failed = tx.prepare_cached(
        "UPDATE agent_deliveries SET next_at = ?4, error = ?5
         WHERE webhook = ?1 AND event = ?2 AND attempts = ?3",
    )?;
    failed.execute(params![
        delivery.webhook,
        delivery.event.number,
        delivery.attempts,
        next_at,
        error
    ])?;
    Ok(())
}

fn find(db: &Connection, webhook: &str, event: u64) -> Result<Option<Delivery>, StoreError> {
    let sql = format!("{SELECT} WHERE webhook = ?1 AND delivery.event = ?2");
    let mut found = db.prepare_cached(&sql)?;
    Ok(found.query_row(params![webhook, event], read).optional()?)
}

pub(super) fn list(db: &Connection, filter: &DeliveryFilter) -> Result<Vec<Delivery>, StoreError> {
    let sql = format!(
        "{SELECT}
         WHERE (:webhook IS NULL OR webhook = :webhook)
           AND (:given_up IS NULL OR (next_at IS NULL) = :given_up)
           AND delivery.event > :after
         ORDER BY delivery.event, webhook LIMIT :limit"
    );
    let mut found = db.prepare_cached(&sql)?;
    let rows = found.query_map(
        named_params! {
            ":webhook": filter.webhook,
            ":given_up": filter.given_up,
            ":after": filter.after,
            ":limit": limit(filter.limit),
        },
        read,
    )?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn redeliver(tx: &Tx<'_>, webhook: &str, event: u64) -> Result<(), StoreError> {
    let mut again = tx.prepare_cached(
        "UPDATE agent_deliveries SET attempts = 0, next_at = ?3 WHERE webhook = ?1 AND event = ?2 AND next_at IS NULL",
    )?;
    match again.execute(params![webhook, event, tx.now])? {
        0 => Err(wording::nothing_given_up(webhook, event)),
        _ => Ok(()),
    }
}
