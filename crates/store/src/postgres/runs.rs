//! Rows of runs.

use super::{
    audit::append,
    connections::{Params, Transaction, number, row, rows, signed},
    conversations,
    row::{lock, time, time_if_any, word},
};
use crate::{
    AuditKind, End, HeldReason, NewRun, Run, RunFilter, RunStatus, StoreError,
    columns::{labels as json, limit, read_labels},
    trail::About,
    wording,
};
use agents_core::run::Timestamp;
use deadpool_postgres::{GenericClient, tokio_postgres::Row};

/// Class number of the store's locks on keys of runs, among the server's advisory locks.
const KEYS: i32 = 0x6167_6b79;

const COLUMNS: &str = "id, tenant_id, key, agent_name, conversation, started_by, priority, labels::text AS labels, data, \
     data_key, status, wake_at, ended, held, held_kind, held_by, cancelled_by, paused_by, last_seq, messages, fence, audit_seq, audit_digest, \
     created_at, greatest(updated_at, advanced_at) AS updated_at";

fn read(row: &Row) -> Result<Run, StoreError> {
    let end: Option<&str> = row.try_get("ended")?;
    Ok(Run {
        id: row.try_get("id")?,
        tenant: row.try_get("tenant_id")?,
        key: row.try_get("key")?,
        agent: row.try_get("agent_name")?,
        conversation: row.try_get("conversation")?,
        started_by: row.try_get("started_by")?,
        priority: row.try_get("priority")?,
        labels: read_labels(row.try_get("labels")?),
        data: row.try_get("data")?,
        data_key: row.try_get("data_key")?,
        status: word(row, "status", RunStatus::read)?,
        wake_at: time_if_any(row, "wake_at")?,
        end: end.and_then(End::read),
        held: HeldReason::read(
            row.try_get("held")?,
            row.try_get("held_kind")?,
            row.try_get("held_by")?,
        ),
        cancelled_by: row.try_get("cancelled_by")?,
        paused_by: row.try_get("paused_by")?,
        last_seq: number(row, "last_seq")?,
        messages: number(row, "messages")?,
        fence: number(row, "fence")?,
        audit_seq: number(row, "audit_seq")?,
        audit_digest: row.try_get("audit_digest")?,
        created_at: time(row, "created_at")?,
        updated_at: time(row, "updated_at")?,
    })
}

pub(super) async fn create(db: &Transaction<'_>, run: &NewRun) -> Result<Run, StoreError> {
    if let Some(known) = started_before(db, run).await? {
        return Ok(known);
    }
    let now = db.now().await?;
    let at = signed(now);
    conversations::add(db, now, run).await?;
    // Processes of earlier versions do not lock keys.
    let sql = format!(
        "INSERT INTO agent_runs
             (id, tenant_id, key, agent_name, conversation, started_by, priority, data, data_key, status, created_at, updated_at,
              labels)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'ready', $10, $10, $11::text::jsonb)
         ON CONFLICT (tenant_id, agent_name, key) WHERE key IS NOT NULL DO NOTHING
         RETURNING {COLUMNS}"
    );
    let NewRun {
        id,
        tenant,
        key,
        agent,
        conversation,
        started_by,
        priority,
        labels,
        data,
        data_key,
    } = run;
    let labels = json(labels);
    let values: Params<'_> = &[
        id,
        tenant,
        key,
        agent,
        conversation,
        started_by,
        priority,
        data,
        data_key,
        &at,
        &labels,
    ];
    if let Some(stored) = db.row(&sql, values).await? {
        let about = About {
            row_digest: Some(db.key.of_run(&read(&stored)?).to_vec()),
            ..About::by(started_by.as_deref())
        };
        append(db, now, id, AuditKind::Started, about).await?;
        return known(&db.db, id).await;
    }
    let known = started_before(db, run).await?;
    known.ok_or_else(|| wording::no_run(id))
}

/// Returns the run that was started with this run's key, if it has a key and there is such a run. Of several starts
/// with one key, the others wait here until the first one is stored.
async fn started_before(db: &Transaction<'_>, run: &NewRun) -> Result<Option<Run>, StoreError> {
    let NewRun {
        tenant, agent, key, ..
    } = run;
    if key.is_none() {
        return Ok(None);
    }
    let lock = "SELECT pg_advisory_xact_lock($1, hashtext(concat_ws(chr(31), $2::text, $3::text, $4::text)))";
    db.row(lock, &[&KEYS, tenant, agent, key]).await?;
    let sql = format!(
        "SELECT {COLUMNS} FROM agent_runs WHERE tenant_id = $1 AND agent_name = $2 AND key = $3"
    );
    let known = db.row(&sql, &[tenant, agent, key]).await?;
    known.as_ref().map(read).transpose()
}

pub(super) async fn find(db: &impl GenericClient, id: &str) -> Result<Option<Run>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM agent_runs WHERE id = $1");
    let found = row(db, &sql, &[&id]).await?;
    found.as_ref().map(read).transpose()
}

/// Returns the run with this id, which has to be there.
pub(super) async fn known(db: &impl GenericClient, id: &str) -> Result<Run, StoreError> {
    find(db, id).await?.ok_or_else(|| wording::no_run(id))
}

pub(super) async fn list(
    db: &impl GenericClient,
    filter: &RunFilter,
) -> Result<Vec<Run>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM agent_runs
         WHERE ($1::text IS NULL OR tenant_id = $1)
           AND ($2::text IS NULL OR agent_name = $2)
           AND ($3::text IS NULL OR status = $3)
           AND ($4::text IS NULL OR number < (SELECT number FROM agent_runs WHERE id = $4))
           AND {talk}
           AND ($7::text IS NULL OR started_by = $7)
           AND ($8::text IS NULL OR key = $8)
           AND ($9::bigint IS NULL OR created_at >= $9)
           AND ($10::bigint IS NULL OR created_at < $10)
           AND ($13::text IS NULL OR number > (SELECT number FROM agent_runs WHERE id = $13))
           AND {erasable} AND {labelled}
         ORDER BY number {order} LIMIT $5",
        order = match filter.oldest_first {
            true => "ASC",
            false => "DESC",
        },
        // Conditions that have an index are there only if they are asked for.
        talk = match (&filter.tenant, &filter.conversation) {
            (Some(_), Some(_)) => "(tenant_id = $1 AND conversation = $6::text)",
            _ => "($6::text IS NULL OR conversation = $6)",
        },
        erasable = match filter.erasable {
            Some(_) => "status = 'done' AND length(data_key) > 0 AND updated_at < $11",
            None => "$11::bigint IS NULL",
        },
        labelled = match filter.labels.is_empty() {
            false => "labels <> '{}' AND labels @> ($12::text)::jsonb",
            true => "$12::text IS NOT NULL",
        },
    );
    let RunFilter {
        tenant,
        agent,
        conversation,
        started_by,
        status,
        key,
        labels,
        since,
        until,
        erasable,
        before,
        after,
        oldest_first: _,
        limit: asked,
    } = filter;
    let status = status.map(RunStatus::as_str);
    let most = i64::from(limit(*asked));
    let millis = |time: &Option<Timestamp>| time.map(|time| signed(time.as_millis()));
    let (since, until, erasable) = (millis(since), millis(until), millis(erasable));
    let labels = json(labels);
    let values: Params<'_> = &[
        tenant,
        agent,
        &status,
        before,
        &most,
        conversation,
        started_by,
        key,
        &since,
        &until,
        &erasable,
        &labels,
        after,
    ];
    let found = rows(db, &sql, values).await?;
    if found.is_empty() {
        for bound in before.iter().chain(after) {
            known(db, bound).await?;
        }
    }
    found.iter().map(read).collect()
}

pub(super) async fn cancel(db: &Transaction<'_>, run: &str, by: &str) -> Result<Run, StoreError> {
    lock(db, run).await?;
    let now = db.now().await?;
    let sql = "UPDATE agent_runs
         SET cancelled_by = coalesce(cancelled_by, $2), messages = messages + 1, updated_at = $3,
             status = CASE WHEN status IN ('waiting', 'held') THEN 'ready' ELSE status END, held = NULL, held_kind = NULL, held_by = NULL, paused_by = NULL,
             claims = 0
         WHERE id = $1 AND status <> 'done'";
    if db.execute(sql, &[&run, &by, &signed(now)]).await? > 0 {
        append(db, now, run, AuditKind::Cancelled, About::by(Some(by))).await?;
    }
    known(&db.db, run).await
}

pub(super) async fn pause(db: &Transaction<'_>, run: &str, by: &str) -> Result<Run, StoreError> {
    lock(db, run).await?;
    let stored = known(&db.db, run).await?;
    match stored.status {
        RunStatus::Done => return Err(wording::cannot_be_paused(run)),
        RunStatus::Held => return Ok(stored),
        _ if stored.paused_by.is_some() => return Ok(stored),
        _ => {}
    }
    let now = db.now().await?;
    let pause = "UPDATE agent_runs SET paused_by = $2, messages = messages + 1, updated_at = $3 WHERE id = $1";
    db.execute(pause, &[&run, &by, &signed(now)]).await?;
    append(db, now, run, AuditKind::Paused, About::by(Some(by))).await?;
    // Nobody works on the run, also if the lease of a worker that is gone has ended.
    let hold = "UPDATE agent_runs
         SET status = 'held', held = $2, held_kind = $4, held_by = $5, fence = fence + 1, wake_at = NULL, lease_owner = NULL,
             lease_until = NULL
         WHERE id = $1 AND (status <> 'running' OR lease_until <= $3)";
    let held = wording::paused(by);
    let values: Params<'_> = &[&run, &held.why, &signed(now), &held.kind.as_str(), &held.by];
    if db.execute(hold, values).await? > 0 {
        append(db, now, run, AuditKind::Held, About::by(Some(by))).await?;
    }
    known(&db.db, run).await
}

pub(super) async fn instruct(
    db: &Transaction<'_>,
    run: &str,
    by: &str,
    text: &[u8],
) -> Result<Run, StoreError> {
    lock(db, run).await?;
    let now = db.now().await?;
    let sql = "UPDATE agent_runs SET messages = messages + 1, updated_at = $2 WHERE id = $1 AND status <> 'done'";
    if db.execute(sql, &[&run, &signed(now)]).await? == 0 {
        known(&db.db, run).await?;
        return Err(wording::cannot_be_instructed(run));
    }
    let about = About {
        detail: Some(text),
        ..About::by(Some(by))
    };
    append(db, now, run, AuditKind::Instructed, about).await?;
    known(&db.db, run).await
}

pub(super) async fn unhold(
    db: &Transaction<'_>,
    run: &str,
    by: &str,
    model: Option<&str>,
) -> Result<Run, StoreError> {
    lock(db, run).await?;
    let now = db.now().await?;
    let sql = "UPDATE agent_runs
         SET status = CASE status WHEN 'held' THEN 'ready' ELSE status END, held = NULL, held_kind = NULL, held_by = NULL, paused_by = NULL, claims = 0,
             messages = messages + 1, updated_at = $2
         WHERE id = $1 AND (status = 'held' OR status <> 'done' AND paused_by IS NOT NULL)";
    if db.execute(sql, &[&run, &signed(now)]).await? > 0 {
        let about = About {
            subject: model,
            ..About::by(Some(by))
        };
        append(db, now, run, AuditKind::Released, about).await?;
    }
    known(&db.db, run).await
}

pub(super) async fn rewrap(
    db: &Transaction<'_>,
    run: &str,
    before: &[u8],
    after: &[u8],
) -> Result<bool, StoreError> {
    let sql = "UPDATE agent_runs SET data_key = $3 WHERE id = $1 AND data_key = $2";
    Ok(db.execute(sql, &[&run, &before, &after]).await? > 0)
}
