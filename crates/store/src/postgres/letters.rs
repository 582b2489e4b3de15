//! Rows of subscriptions, notifications and letters.

use super::{
    audit::{append, append_to_platform},
    connections::{Params, Transaction, number, row, rows, signed},
    row::{lock, text, time, time_if_any},
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
use deadpool_postgres::{GenericClient, tokio_postgres::Row};

/// Key of the advisory lock between whoever publishes and whoever subscribes. Without it, a notification that is
/// published at the same time would be missed by both.
const SUBSCRIPTIONS: i64 = 0x6167_6e73_7562;

/// SQL that selects letters with their notifications.
const SELECT: &str = "SELECT number, notification, name, subscriber, letter.tenant_id, published_by, published_at, attempts, fence,
         next_at, died_at, failure, failures, contents, data_key, replays
         FROM agent_letters AS letter JOIN agent_notifications AS told ON told.id = letter.notification";

fn read(row: &Row) -> Result<Letter, StoreError> {
    let (notification, subscriber): (String, String) =
        (row.try_get("notification")?, row.try_get("subscriber")?);
    let count =
        |column| Ok::<_, StoreError>(u32::try_from(number(row, column)?).unwrap_or(u32::MAX));
    let failure: Option<&str> = row.try_get("failure")?;
    Ok(Letter {
        id: letter_id(&notification, &subscriber),
        number: number(row, "number")?,
        name: row.try_get("name")?,
        tenant: row.try_get("tenant_id")?,
        published_by: row.try_get("published_by")?,
        published_at: time(row, "published_at")?,
        attempts: count("attempts")?,
        fence: number(row, "fence")?,
        next_at: time_if_any(row, "next_at")?,
        died_at: time_if_any(row, "died_at")?,
        failure: failure.and_then(LetterFailure::read),
        failures: row.try_get("failures")?,
        contents: row.try_get("contents")?,
        data_key: row.try_get("data_key")?,
        replays: count("replays")?,
        notification,
        subscriber,
    })
}

/// Stores subscriptions, each to the notifications of one name. A new one also gets the earlier notifications of that
/// name that have no letter to any subscriber.
pub(super) async fn subscribe(
    db: &Transaction<'_>,
    subscriptions: &[Subscription],
) -> Result<(), StoreError> {
    db.row("SELECT pg_advisory_xact_lock($1)", &[&SUBSCRIPTIONS])
        .await?;
    let mut new = Vec::new();
    for one in subscriptions {
        let insert = "INSERT INTO agent_subscriptions AS known (subscriber, notification) VALUES ($1, $2)
             ON CONFLICT (subscriber) DO UPDATE SET notification = $2 WHERE known.notification <> $2";
        let values: Params<'_> = &[&one.subscriber, &one.notification];
        if db.execute(insert, values).await? > 0 {
            new.push(&*one.subscriber);
        }
    }
    if new.is_empty() {
        return Ok(());
    }
    let now = signed(db.now().await?);
    let waiting = "INSERT INTO agent_letters (notification, subscriber, tenant_id, next_at)
         SELECT told.id, subscriber, tenant_id, $1
         FROM agent_notifications AS told JOIN agent_subscriptions ON notification = name
         WHERE length(data_key) > 0 AND subscriber = ANY($2)
           AND NOT EXISTS (SELECT 1 FROM agent_letters AS known WHERE known.notification = told.id)
         ORDER BY published_at, told.id, subscriber";
    db.execute(waiting, &[&now, &new]).await.map(drop)
}

pub(super) async fn unsubscribe(db: &Transaction<'_>, subscriber: &str) -> Result<(), StoreError> {
    db.row("SELECT pg_advisory_xact_lock($1)", &[&SUBSCRIPTIONS])
        .await?;
    let sql = "DELETE FROM agent_subscriptions WHERE subscriber = $1";
    db.execute(sql, &[&subscriber]).await?;
    let sql = "SELECT notification FROM agent_letters WHERE subscriber = $1 AND died_at IS NULL";
    for row in db.rows(sql, &[&subscriber]).await? {
        remove(db, row.try_get(0)?, subscriber).await?;
    }
    Ok(())
}

pub(super) async fn publish(
    db: &Transaction<'_>,
    new: &NewNotification,
) -> Result<String, StoreError> {
    let shared = "SELECT pg_advisory_xact_lock_shared($1)";
    db.row(shared, &[&SUBSCRIPTIONS]).await?;
    let now = signed(db.now().await?);
    let insert = "INSERT INTO agent_notifications
             (id, tenant_id, name, key, published_by, contents, data_key, published_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
         ON CONFLICT (tenant_id, name, key) WHERE key IS NOT NULL DO NOTHING";
    let by = new.published_by.as_deref().map(text);
    let values: Params<'_> = &[
        &new.id,
        &new.tenant,
        &new.name,
        &new.key,
        &by,
        &new.contents,
        &new.data_key,
        &now,
    ];
    if db.execute(insert, values).await? == 0 {
        let known =
            "SELECT id FROM agent_notifications WHERE tenant_id = $1 AND name = $2 AND key = $3";
        let known = db.row(known, &[&new.tenant, &new.name, &new.key]).await?;
        let missing = || wording::notification_in_between(&new.name);
        return Ok(known.ok_or_else(missing)?.try_get(0)?);
    }
    let letters = "INSERT INTO agent_letters (notification, subscriber, tenant_id, next_at)
         SELECT $1, subscriber, $2, $3 FROM agent_subscriptions WHERE notification = $4 ORDER BY subscriber";
    db.execute(letters, &[&new.id, &new.tenant, &now, &new.name])
        .await?;
    Ok(new.id.clone())
}

/// Returns `true` if there may be a letter to claim; a quick look without a lock.
pub(super) async fn any(
    db: &impl GenericClient,
    now: u64,
    claim: &LetterClaim,
) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM agent_letters WHERE subscriber = ANY($1) AND next_at <= $2 LIMIT 1";
    let found = row(db, sql, &[&claim.subscribers, &signed(now)]).await?;
    Ok(found.is_some())
}

pub(super) async fn claim(
    db: &Transaction<'_>,
    claim: &LetterClaim,
) -> Result<Vec<Letter>, StoreError> {
    let now = db.now().await?;
    let sql = "WITH due AS (
             SELECT number FROM agent_letters WHERE subscriber = ANY($1) AND next_at <= $2
             ORDER BY next_at, number LIMIT $4 FOR UPDATE SKIP LOCKED)
         UPDATE agent_letters AS letter SET attempts = attempts + 1, fence = fence + 1, next_at = $3
         FROM due WHERE letter.number = due.number RETURNING letter.number";
    let (until, most) = (
        signed(now + millis(claim.time)),
        i64::from(limit(claim.limit)),
    );
    let due = db
        .rows(sql, &[&claim.subscribers, &signed(now), &until, &most])
        .await?;
    let mut numbers = Vec::with_capacity(due.len());
    for row in &due {
        numbers.push(row.try_get::<_, i64>(0)?);
    }
    let sql = format!("{SELECT} WHERE number = ANY($1) ORDER BY number");
    let found = db.rows(&sql, &[&numbers]).await?;
    found.iter().map(read).collect()
}

pub(super) async fn end(
    db: &Transaction<'_>,
    letter: &Letter,
    end: &LetterEnd,
) -> Result<(), StoreError> {
    let now = db.now().await?;
    let (next_at, died_at, failure, failures) = match end {
        LetterEnd::Taken => return remove(db, &letter.notification, &letter.subscriber).await,
        LetterEnd::Again {
            after,
            failure,
            failures,
        } => (Some(signed(now + millis(*after))), None, failure, failures),
        LetterEnd::Dead { failure, failures } => (None, Some(signed(now)), failure, failures),
    };
    let sql = "UPDATE agent_letters SET next_at = $4, died_at = $5, failure = $6, failures = $7
         WHERE notification = $1 AND subscriber = $2 AND fence = $3 AND died_at IS NULL";
    let values: Params<'_> = &[
        &letter.notification,
        &letter.subscriber,
        &signed(letter.fence),
        &next_at,
        &died_at,
        &failure.as_str(),
        failures,
    ];
    db.execute(sql, values).await.map(drop)
}

/// Removes a letter, and its notification if that was the last one; a notification with a key stays, without its contents.
async fn remove(
    db: &Transaction<'_>,
    notification: &str,
    subscriber: &str,
) -> Result<(), StoreError> {
    // Of letters that end at once, the last one has to see that it is the last.
    let lock = "SELECT 1 FROM agent_notifications WHERE id = $1 FOR UPDATE";
    db.row(lock, &[&notification]).await?;
    let sql = "DELETE FROM agent_letters WHERE notification = $1 AND subscriber = $2";
    db.execute(sql, &[&notification, &subscriber]).await?;
    for done in [
        "DELETE FROM agent_notifications WHERE id = $1 AND key IS NULL
             AND NOT EXISTS (SELECT 1 FROM agent_letters WHERE notification = $1)",
        "UPDATE agent_notifications SET contents = '', data_key = '' WHERE id = $1
             AND NOT EXISTS (SELECT 1 FROM agent_letters WHERE notification = $1)",
    ] {
        db.execute(done, &[&notification]).await?;
    }
    Ok(())
}

pub(super) async fn find(db: &impl GenericClient, id: &str) -> Result<Option<Letter>, StoreError> {
    let Some((notification, subscriber)) = parts_of(id) else {
        return Ok(None);
    };
    let sql = format!("{SELECT} WHERE notification = $1 AND subscriber = $2");
    let found = row(db, &sql, &[&notification, &subscriber]).await?;
    found.as_ref().map(read).transpose()
}

pub(super) async fn list(
    db: &impl GenericClient,
    filter: &LetterFilter,
) -> Result<Vec<Letter>, StoreError> {
    let sql = format!(
        "{SELECT}
         WHERE ($1::text IS NULL OR letter.tenant_id = $1)
           AND ($2::text IS NULL OR subscriber = $2)
           AND ($3::boolean IS NULL OR (died_at IS NOT NULL) = $3)
           AND ($4::bigint IS NULL OR died_at >= $4)
           AND ($5::bigint IS NULL OR died_at < $5)
           AND ($6::bigint IS NULL OR number < $6)
         ORDER BY number DESC LIMIT $7"
    );
    let at = |time: Option<Timestamp>| time.map(|time| signed(time.as_millis()));
    let (since, until) = (at(filter.died_since), at(filter.died_until));
    let (before, most) = (filter.before.map(signed), i64::from(limit(filter.limit)));
    let values: Params<'_> = &[
        &filter.tenant,
        &filter.subscriber,
        &filter.dead,
        &since,
        &until,
        &before,
        &most,
    ];
    let found = rows(db, &sql, values).await?;
    found.iter().map(read).collect()
}

pub(super) async fn replay(db: &Transaction<'_>, replay: &Replay) -> Result<(), StoreError> {
    let is_own = |tenant: &str| replay.tenant.as_deref().is_none_or(|own| own == tenant);
    let by = text(&replay.by);
    let about = |subject| About {
        actor: Some(&by),
        subject,
        detail: replay.detail.as_deref(),
        ..About::default()
    };
    match &replay.of {
        ReplayOf::Letter(id) => {
            let missing = || wording::no_letter(id);
            let (notification, subscriber) = parts_of(id).ok_or_else(missing)?;
            let lock = "SELECT 1 FROM agent_letters WHERE notification = $1 AND subscriber = $2 FOR UPDATE";
            db.row(lock, &[&notification, &subscriber]).await?;
            let letter = find(&db.db, id).await?;
            let letter = letter.filter(|letter| is_own(&letter.tenant));
            let letter = letter.ok_or_else(missing)?;
            if letter.died_at.is_none() {
                return Err(wording::letter_alive(&letter));
            }
            let now = db.now().await?;
            let again = "UPDATE agent_letters SET attempts = 0, next_at = $2, died_at = NULL, replays = replays + 1
                 WHERE number = $1";
            db.execute(again, &[&signed(letter.number), &signed(now)])
                .await?;
            let (kind, tenant) = (AuditKind::Replayed, Some(&*letter.tenant));
            append_to_platform(db, now, tenant, kind, about(Some(id))).await
        }
        ReplayOf::Run(id) => {
            lock(db, id).await?;
            let run = runs::find(&db.db, id).await?;
            let run = run.filter(|run| is_own(&run.tenant));
            let run = run.ok_or_else(|| wording::no_run(id))?;
            if run.status != RunStatus::Held {
                return Err(wording::run_not_held(id, run.status));
            }
            let now = db.now().await?;
            append(db, now, id, AuditKind::Replayed, about(None)).await?;
            runs::unhold(db, id, &replay.by, None).await.map(drop)
        }
    }
}

/// Removes the notifications of a tenant with their letters, when the tenant is erased.
pub(super) async fn erase_tenant(db: &Transaction<'_>, tenant: &str) -> Result<(), StoreError> {
    for text in [
        "DELETE FROM agent_letters WHERE tenant_id = $1",
        "DELETE FROM agent_notifications WHERE tenant_id = $1",
    ] {
        db.execute(text, &[&tenant]).await?;
    }
    Ok(())
}
