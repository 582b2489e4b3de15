//! Rows of subscriptions, notifications and letters.

use super::{
    Tx,
    audit::{append, append_to_platform},
    row::{time, time_if_any},
    runs,
};
use crate::{
    AuditKind, Letter, LetterClaim, LetterEnd, LetterFailure, LetterFilter, NewNotification,
    Replay, ReplayOf, RunStatus, StoreError, Subscription,
    columns::{limit, millis},
    letter::{letter_id, parts_of},
    trail::About,
    wording,
};
use agents_core::run::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, named_params, params};

/// SQL that selects letters with their notifications.
const SELECT: &str = "SELECT number, notification, name, subscriber, letter.tenant_id, published_by, published_at, attempts, fence,
         next_at, died_at, failure, failures, contents, data_key, replays
         FROM agent_letters AS letter JOIN agent_notifications AS told ON told.id = letter.notification";

fn read(row: &Row<'_>) -> rusqlite::Result<Letter> {
    let (notification, subscriber): (String, String) =
        (row.get("notification")?, row.get("subscriber")?);
    let failure: Option<String> = row.get("failure")?;
    Ok(Letter {
        id: letter_id(&notification, &subscriber),
        number: row.get("number")?,
        notification,
        name: row.get("name")?,
        subscriber,
        tenant: row.get("tenant_id")?,
        published_by: row.get("published_by")?,
        published_at: time(row, "published_at")?,
        attempts: row.get("attempts")?,
        fence: row.get("fence")?,
        next_at: time_if_any(row, "next_at")?,
        died_at: time_if_any(row, "died_at")?,
        failure: failure.and_then(|word| LetterFailure::read(&word)),
        failures: row.get("failures")?,
        contents: row.get("contents")?,
        data_key: row.get("data_key")?,
        replays: row.get("replays")?,
    })
}

/// Stores subscriptions, each to the notifications of one name. A new one also gets the earlier notifications of that
/// name that have no letter to any subscriber.
pub(super) fn subscribe(tx: &Tx<'_>, subscriptions: &[Subscription]) -> Result<(), StoreError> {
    let mut new = Vec::new();
    for one in subscriptions {
        let mut known = tx.prepare_cached(
            "SELECT 1 FROM agent_subscriptions WHERE subscriber = ?1 AND notification = ?2",
        )?;
        if !known.exists([&one.subscriber, &one.notification])? {
            let mut insert = tx.prepare_cached(
                "INSERT OR REPLACE INTO agent_subscriptions (subscriber, notification) VALUES (?1, ?2)",
            )?;
            insert.execute([&one.subscriber, &one.notification])?;
            new.push(&*one.subscriber);
        }
    }
    if new.is_empty() {
        return Ok(());
    }
    let mut waiting = tx.prepare_cached(
        "INSERT INTO agent_letters (notification, subscriber, tenant_id, next_at)
         SELECT told.id, subscriber, tenant_id, ?1
         FROM agent_notifications AS told JOIN agent_subscriptions ON notification = name
         WHERE length(data_key) > 0 AND subscriber IN (SELECT value FROM json_each(?2))
           AND NOT EXISTS (SELECT 1 FROM agent_letters AS known WHERE known.notification = told.id)
         ORDER BY published_at, told.id, subscriber",
    )?;
    waiting.execute(params![tx.now, serde_json::json!(new).to_string()])?;
    Ok(())
}

pub(super) fn unsubscribe(tx: &Tx<'_>, subscriber: &str) -> Result<(), StoreError> {
    let mut delete = tx.prepare_cached("DELETE FROM agent_subscriptions WHERE subscriber = ?1")?;
    delete.execute([subscriber])?;
    let mut letters = tx.prepare_cached(
        "DELETE FROM agent_letters WHERE subscriber = ?1 AND died_at IS NULL RETURNING notification",
    )?;
    let letters = letters.query_map([subscriber], |row| row.get(0))?;
    let letters: Vec<String> = letters.collect::<Result<_, _>>()?;
    letters.iter().try_for_each(|one| tidy(tx, one))
}

pub(super) fn publish(tx: &Tx<'_>, new: &NewNotification) -> Result<String, StoreError> {
    if let Some(key) = &new.key {
        let mut known = tx.prepare_cached(
            "SELECT id FROM agent_notifications WHERE tenant_id = ?1 AND name = ?2 AND key = ?3",
        )?;
        let known = known.query_row([&new.tenant, &new.name, key], |row| row.get(0));
        if let Some(known) = known.optional()? {
            return Ok(known);
        }
    }
    let mut insert = tx.prepare_cached(
        "INSERT INTO agent_notifications (id, tenant_id, name, key, published_by, contents, data_key, published_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    insert.execute(params![
        new.id,
        new.tenant,
        new.name,
        new.key,
        new.published_by,
        new.contents,
        new.data_key,
        tx.now
    ])?;
    let mut letters = tx.prepare_cached(
        "INSERT INTO agent_letters (notification, subscriber, tenant_id, next_at)
         SELECT ?1, subscriber, ?2, ?3 FROM agent_subscriptions WHERE notification = ?4 ORDER BY subscriber",
    )?;
    letters.execute(params![new.id, new.tenant, tx.now, new.name])?;
    Ok(new.id.clone())
}

/// Returns `true` if there is a letter that the worker can claim.
pub(super) fn any(tx: &Tx<'_>, claim: &LetterClaim) -> Result<bool, StoreError> {
    let mut found = tx.prepare_cached(
        "SELECT 1 FROM agent_letters WHERE subscriber IN (SELECT value FROM json_each(?1)) AND next_at <= ?2",
    )?;
    Ok(found.exists(params![
        serde_json::json!(claim.subscribers).to_string(),
        tx.now
    ])?)
}

pub(super) fn claim(tx: &Tx<'_>, claim: &LetterClaim) -> Result<Vec<Letter>, StoreError> {
    let mut due = tx.prepare_cached(
        "UPDATE agent_letters SET attempts = attempts + 1, fence = fence + 1, next_at = :until
         WHERE number IN (
             SELECT number FROM agent_letters
             WHERE subscriber IN (SELECT value FROM json_each(:subscribers)) AND next_at <= :now
             ORDER BY next_at, number LIMIT :limit)
         RETURNING number",
    )?;
    let due = due.query_map(
        named_params! {
            ":subscribers": serde_json::json!(claim.subscribers).to_string(),
            ":now": tx.now,
            ":until": tx.now + millis(claim.time),
            ":limit": limit(claim.limit),
        },
        |row| row.get(0),
    )?;
    let mut due: Vec<u64> = due.collect::<Result<_, _>>()?;
    due.sort_unstable();
    let sql = format!("{SELECT} WHERE number = ?1");
    let mut found = tx.prepare_cached(&sql)?;
    due.iter()
        .map(|number| Ok(found.query_row([number], read)?))
        .collect()
}

pub(super) fn end(tx: &Tx<'_>, letter: &Letter, end: &LetterEnd) -> Result<(), StoreError> {
    let (next_at, died_at, failure, failures) = match end {
        LetterEnd::Taken => {
            let mut taken = tx.prepare_cached(
                "DELETE FROM agent_letters WHERE notification = ?1 AND subscriber = ?2",
            )?;
            taken.execute([&letter.notification, &letter.subscriber])?;
            return tidy(tx, &letter.notification);
        }
        LetterEnd::Again {
            after,
            failure,
            failures,
        } => (Some(tx.now + millis(*after)), None, failure, failures),
        LetterEnd::Dead { failure, failures } => (None, Some(tx.now), failure, failures),
    };
    let mut failed = tx.prepare_cached(
        "UPDATE agent_letters SET next_at = ?4, died_at = ?5, failure = ?6, failures = ?7
         WHERE notification = ?1 AND subscriber = ?2 AND fence = ?3 AND died_at IS NULL",
    )?;
    failed.execute(params![
        letter.notification,
        letter.subscriber,
        letter.fence,
        next_at,
        died_at,
        failure.as_str(),
        failures
    ])?;
    Ok(())
}

/// Removes a notification that has no letters any more; one with a key stays, without its contents.
fn tidy(tx: &Tx<'_>, notification: &str) -> Result<(), StoreError> {
    for done in [
        "DELETE FROM agent_notifications WHERE id = ?1 AND key IS NULL
             AND NOT EXISTS (SELECT 1 FROM agent_letters WHERE notification = ?1)",
        "UPDATE agent_notifications SET contents = x'', data_key = x'' WHERE id = ?1
             AND NOT EXISTS (SELECT 1 FROM agent_letters WHERE notification = ?1)",
    ] {
        tx.prepare_cached(done)?.execute([notification])?;
    }
    Ok(())
}

pub(super) fn find(db: &Connection, id: &str) -> Result<Option<Letter>, StoreError> {
    let Some((notification, subscriber)) = parts_of(id) else {
        return Ok(None);
    };
    let sql = format!("{SELECT} WHERE notification = ?1 AND subscriber = ?2");
    let mut found = db.prepare_cached(&sql)?;
    Ok(found
        .query_row([notification, subscriber], read)
        .optional()?)
}

pub(super) fn list(db: &Connection, filter: &LetterFilter) -> Result<Vec<Letter>, StoreError> {
    let sql = format!(
        "{SELECT}
         WHERE (:tenant IS NULL OR letter.tenant_id = :tenant)
           AND (:subscriber IS NULL OR subscriber = :subscriber)
           AND (:dead IS NULL OR (died_at IS NOT NULL) = :dead)
           AND (:since IS NULL OR died_at >= :since)
           AND (:until IS NULL OR died_at < :until)
           AND (:before IS NULL OR number < :before)
         ORDER BY number DESC LIMIT :limit"
    );
    let mut found = db.prepare_cached(&sql)?;
    let rows = found.query_map(
        named_params! {
            ":tenant": filter.tenant,
            ":subscriber": filter.subscriber,
            ":dead": filter.dead,
            ":since": filter.died_since.map(Timestamp::as_millis),
            ":until": filter.died_until.map(Timestamp::as_millis),
            ":before": filter.before,
            ":limit": limit(filter.limit),
        },
        read,
    )?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn replay(tx: &Tx<'_>, replay: &Replay) -> Result<(), StoreError> {
    let is_own = |tenant: &str| replay.tenant.as_deref().is_none_or(|own| own == tenant);
    let about = |subject| About {
        actor: Some(&replay.by),
        subject,
        detail: replay.detail.as_deref(),
        ..About::default()
    };
    match &replay.of {
        ReplayOf::Letter(id) => {
            let letter = find(tx, id)?.filter(|letter| is_own(&letter.tenant));
            let letter = letter.ok_or_else(|| wording::no_letter(id))?;
            if letter.died_at.is_none() {
                return Err(wording::letter_alive(&letter));
            }
            let mut again = tx.prepare_cached(
                "UPDATE agent_letters SET attempts = 0, next_at = ?2, died_at = NULL, replays = replays + 1
                 WHERE number = ?1",
            )?;
            again.execute(params![letter.number, tx.now])?;
            let about = about(Some(id));
            append_to_platform(tx, Some(&letter.tenant), AuditKind::Replayed, about)
        }
        ReplayOf::Run(id) => {
            let run = runs::find(tx, id)?.filter(|run| is_own(&run.tenant));
            let run = run.ok_or_else(|| wording::no_run(id))?;
            if run.status != RunStatus::Held {
                return Err(wording::run_not_held(id, run.status));
            }
            append(tx, id, AuditKind::Replayed, about(None))?;
            runs::unhold(tx, id, &replay.by, None).map(drop)
        }
    }
}

/// Removes the notifications of a tenant with their letters, when the tenant is erased.
pub(super) fn erase_tenant(tx: &Tx<'_>, tenant: &str) -> Result<(), StoreError> {
    for text in [
        "DELETE FROM agent_letters WHERE tenant_id = ?1",
        "DELETE FROM agent_notifications WHERE tenant_id = ?1",
    ] {
        tx.execute(text, [tenant])?;
    }
    Ok(())
}
