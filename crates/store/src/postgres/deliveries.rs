//! Rows of webhooks and of deliveries.

use super::{
    audit,
    connections::{Params, Transaction, number, row, rows, signed},
    numbers,
    row::{text, time_if_any},
};
use crate::{
    Delivery, DeliveryClaim, DeliveryEnd, DeliveryFilter, StoreError,
    columns::{limit, millis, words_of},
    delivery::MOST_AT_ONCE,
    wording,
};
use deadpool_postgres::{GenericClient, tokio_postgres::Row};

/// SQL that selects deliveries with their events.
const SELECT: &str = "SELECT event.number, run.id AS run_id, seq, event.tenant_id, at, kind, actor, subject, tool_name,
         detail, row_digest, digest, webhook, attempts, next_at, error
         FROM agent_deliveries AS delivery
         JOIN agent_audit_events AS event ON event.number = delivery.event JOIN agent_runs AS run ON run.number = event.run";

fn read(row: &Row) -> Result<Delivery, StoreError> {
    Ok(Delivery {
        event: audit::read(row)?,
        webhook: row.try_get("webhook")?,
        attempts: u32::try_from(number(row, "attempts")?).unwrap_or(u32::MAX),
        next_at: time_if_any(row, "next_at")?,
        error: row.try_get("error")?,
    })
}

/// Returns `true` if there may be an event to deliver; a quick look without a lock.
pub(super) async fn any(
    db: &impl GenericClient,
    now: u64,
    claim: &DeliveryClaim,
) -> Result<bool, StoreError> {
    let sql = "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM agent_webhooks WHERE name = $1)
             OR EXISTS (SELECT 1 FROM agent_deliveries WHERE webhook = $1 AND next_at <= $2)
             OR (SELECT seen FROM agent_webhooks WHERE name = $1)
                < (SELECT coalesce(max(number), 0) FROM agent_audit_events)";
    let found = row(db, sql, &[&claim.webhook, &signed(now)]).await?;
    Ok(found.is_some())
}

pub(super) async fn claim(
    db: &Transaction<'_>,
    claim: &DeliveryClaim,
) -> Result<Vec<Delivery>, StoreError> {
    let DeliveryClaim {
        webhook,
        time,
        limit: most,
        ..
    } = claim;
    see(db, claim).await?;
    let now = db.now().await?;
    let sql = "WITH due AS (
             SELECT event AS number FROM agent_deliveries WHERE webhook = $1 AND next_at <= $2
             ORDER BY next_at, event LIMIT $4 FOR UPDATE SKIP LOCKED)
         UPDATE agent_deliveries SET attempts = attempts + 1, next_at = $3
         FROM due WHERE webhook = $1 AND event = due.number RETURNING event";
    let (until, most) = (signed(now + millis(*time)), i64::from(limit(*most)));
    let due = db
        .rows(sql, &[webhook, &signed(now), &until, &most])
        .await?;
    let mut events = Vec::with_capacity(due.len());
    for row in &due {
        events.push(row.try_get::<_, i64>(0)?);
    }
    let sql =
        format!("{SELECT} WHERE webhook = $1 AND delivery.event = ANY($2) ORDER BY delivery.event");
    let found = db.rows(&sql, &[webhook, &events]).await?;
    found.iter().map(read).collect()
}

/// Stores deliveries for a webhook: of the events since the last look of which it is to be told. The first look at a
/// webhook stores none.
async fn see(db: &Transaction<'_>, claim: &DeliveryClaim) -> Result<(), StoreError> {
    let DeliveryClaim {
        webhook,
        tenant,
        kinds,
        ..
    } = claim;
    let sql = "SELECT seen FROM agent_webhooks WHERE name = $1 FOR UPDATE";
    let seen = match db.row(sql, &[webhook]).await? {
        Some(row) => row.try_get::<_, i64>(0)?,
        None => {
            numbers::settle(db).await?;
            let begin = "INSERT INTO agent_webhooks (name, seen)
                 SELECT $1, coalesce(max(number), 0) FROM agent_audit_events ON CONFLICT (name) DO NOTHING";
            db.execute(begin, &[webhook]).await?;
            return Ok(());
        }
    };
    let any = "SELECT 1 FROM agent_audit_events WHERE number > $1 LIMIT 1";
    if db.row(any, &[&seen]).await?.is_none() {
        return Ok(());
    }
    numbers::settle(db).await?;
    let last = "SELECT max(number) FROM (
             SELECT number FROM agent_audit_events WHERE number > $1 ORDER BY number LIMIT $2) AS next";
    let last = db.row(last, &[&seen, &i64::from(MOST_AT_ONCE)]).await?;
    let last = last.map_or(Ok(None), |row| row.try_get::<_, Option<i64>>(0))?;
    let Some(last) = last else { return Ok(()) };
    let now = signed(db.now().await?);
    let add = "INSERT INTO agent_deliveries (webhook, event, next_at)
         SELECT $1, number, $2 FROM agent_audit_events
         WHERE number > $3 AND number <= $4 AND kind = ANY($5) AND ($6::text IS NULL OR tenant_id = $6)";
    let added: Params<'_> = &[webhook, &now, &seen, &last, &words_of(kinds), tenant];
    db.execute(add, added).await?;
    let advance = "UPDATE agent_webhooks SET seen = $2 WHERE name = $1";
    db.execute(advance, &[webhook, &last]).await.map(drop)
}

pub(super) async fn end(
    db: &Transaction<'_>,
    delivery: &Delivery,
    end: &DeliveryEnd,
) -> Result<(), StoreError> {
    let Delivery {
        webhook,
        event,
        attempts,
        ..
    } = delivery;
    let event = signed(event.number);
    let (next_at, error) = match end {
        DeliveryEnd::Delivered => {
            let sql = "DELETE FROM agent_deliveries WHERE webhook = $1 AND event = $2";
            return db.execute(sql, &[webhook, &event]).await.map(drop);
        }
        DeliveryEnd::Again { after, error } => {
            (Some(signed(db.now().await? + millis(*after))), error)
        }
        DeliveryEnd::GivenUp { error } => (None, error),
    };
    let sql = "UPDATE agent_deliveries SET next_at = $4, error = $5
         WHERE webhook = $1 AND event = $2 AND attempts = $3";
    let values: Params<'_> = &[
        webhook,
        &event,
        &i64::from(*attempts),
        &next_at,
        &text(error),
    ];
    db.execute(sql, values).await.map(drop)
}

pub(super) async fn list(
    db: &impl GenericClient,
    filter: &DeliveryFilter,
) -> Result<Vec<Delivery>, StoreError> {
    let sql = format!(
        "{SELECT}
         WHERE ($1::text IS NULL OR webhook = $1)
           AND ($2::boolean IS NULL OR (next_at IS NULL) = $2)
           AND delivery.event > $3
         ORDER BY delivery.event, webhook LIMIT $4"
    );
    let DeliveryFilter {
        webhook,
        given_up,
        after,
        limit: asked,
    } = filter;
    let most = i64::from(limit(*asked));
    let found = rows(db, &sql, &[webhook, given_up, &signed(*after), &most]).await?;
    found.iter().map(read).collect()
}

pub(super) async fn redeliver(
    db: &Transaction<'_>,
    webhook: &str,
    event: u64,
) -> Result<(), StoreError> {
    let now = signed(db.now().await?);
    let sql = "UPDATE agent_deliveries SET attempts = 0, next_at = $3
         WHERE webhook = $1 AND event = $2 AND next_at IS NULL";
    match db.execute(sql, &[&webhook, &signed(event), &now]).await? {
        0 => Err(wording::nothing_given_up(webhook, event)),
        _ => Ok(()),
    }
}
