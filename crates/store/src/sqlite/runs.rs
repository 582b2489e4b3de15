//! Rows of runs.

use super::{
    Tx,
    audit::append,
    conversations,
    row::{time, time_if_any, word},
};
use crate::{
    AuditKind, End, HeldReason, NewRun, Run, RunFilter, RunStatus, StoreError,
    columns::{labels, limit, read_labels},
    trail::About,
    wording,
};
use agents_core::run::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, named_params, params};

const COLUMNS: &str = "id, tenant_id, key, agent_name, conversation, started_by, priority, labels, data, data_key, status, \
     wake_at, ended, held, held_kind, held_by, cancelled_by, paused_by, last_seq, messages, fence, audit_seq, audit_digest, created_at, updated_at";

fn read(row: &Row<'_>) -> rusqlite::Result<Run> {
    let end: Option<String> = row.get("ended")?;
    Ok(Run {
        id: row.get("id")?,
        tenant: row.get("tenant_id")?,
        key: row.get("key")?,
        agent: row.get("agent_name")?,
        conversation: row.get("conversation")?,
        started_by: row.get("started_by")?,
        priority: row.get("priority")?,
        labels: read_labels(&row.get::<_, String>("labels")?),
        data: row.get("data")?,
        data_key: row.get("data_key")?,
        status: word(row, "status", RunStatus::read)?,
        wake_at: time_if_any(row, "wake_at")?,
        end: end.and_then(|end| End::read(&end)),
        held: HeldReason::read(
            row.get("held")?,
            row.get::<_, Option<String>>("held_kind")?.as_deref(),
            row.get("held_by")?,
        ),
        cancelled_by: row.get("cancelled_by")?,
        paused_by: row.get("paused_by")?,
        last_seq: row.get("last_seq")?,
        messages: row.get("messages")?,
        fence: row.get("fence")?,
        audit_seq: row.get("audit_seq")?,
        audit_digest: row.get("audit_digest")?,
        created_at: time(row, "created_at")?,
        updated_at: time(row, "updated_at")?,
    })
}

pub(super) fn create(tx: &Tx<'_>, run: &NewRun) -> Result<Run, StoreError> {
    if let Some(key) = &run.key {
        let sql = format!(
            "SELECT {COLUMNS} FROM agent_runs WHERE tenant_id = ?1 AND agent_name = ?2 AND key = ?3"
        );
        let mut known = tx.prepare_cached(&sql)?;
        let known = known.query_row(params![run.tenant, run.agent, key], read);
        if let Some(known) = known.optional()? {
            return Ok(known);
        }
    }
    conversations::add(tx, run)?;
    let mut insert = tx.prepare_cached(
        "INSERT INTO agent_runs
             (number, id, tenant_id, key, agent_name, conversation, started_by, priority, data, data_key, status,
              created_at, updated_at, labels)
         VALUES ((SELECT coalesce(max(number), 0) + 1 FROM agent_runs),
                 ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 'ready', ?10, ?10, ?11)",
    )?;
    insert.execute(params![
        run.id,
        run.tenant,
        run.key,
        run.agent,
        run.conversation,
        run.started_by,
        run.priority,
        run.data,
        run.data_key,
        tx.now,
        labels(&run.labels)
    ])?;
    let stored = known(tx, &run.id)?;
    let about = About {
        row_digest: Some(tx.key.of_run(&stored).to_vec()),
        ..About::by(run.started_by.as_deref())
    };
    append(tx, &run.id, AuditKind::Started, about)?;
    known(tx, &run.id)
}

pub(super) fn find(db: &Connection, id: &str) -> Result<Option<Run>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM agent_runs WHERE id = ?1");
    let mut found = db.prepare_cached(&sql)?;
    Ok(found.query_row([id], read).optional()?)
}

/// Returns the run with this id, which has to be there.
pub(super) fn known(db: &Connection, id: &str) -> Result<Run, StoreError> {
    find(db, id)?.ok_or_else(|| wording::no_run(id))
}

pub(super) fn list(db: &Connection, filter: &RunFilter) -> Result<Vec<Run>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM agent_runs
         WHERE (:tenant IS NULL OR tenant_id = :tenant)
           AND (:agent IS NULL OR agent_name = :agent)
           AND {talk}
           AND (:started_by IS NULL OR started_by = :started_by)
           AND (:status IS NULL OR status = :status)
           AND (:key IS NULL OR key = :key)
           AND (:since IS NULL OR created_at >= :since)
           AND (:until IS NULL OR created_at < :until)
           AND (:erasable IS NULL OR status = 'done' AND length(data_key) > 0 AND updated_at < :erasable)
           AND NOT EXISTS (
               SELECT 1 FROM json_each(:labels) AS wanted
               WHERE NOT EXISTS (
                   SELECT 1 FROM json_each(labels) AS own WHERE own.key = wanted.key AND own.value = wanted.value))
           AND (:before IS NULL OR number < (SELECT number FROM agent_runs WHERE id = :before))
           AND (:after IS NULL OR number > (SELECT number FROM agent_runs WHERE id = :after))
         ORDER BY number {order} LIMIT :limit",
        // A condition that has an index is there only if it is asked for.
        talk = match (&filter.tenant, &filter.conversation) {
            (Some(_), Some(_)) => "(tenant_id = :tenant AND conversation = :conversation)",
            _ => "(:conversation IS NULL OR conversation = :conversation)",
        },
        order = match filter.oldest_first {
            true => "ASC",
            false => "DESC",
        },
    );
    let mut found = db.prepare_cached(&sql)?;
    let rows = found.query_map(
        named_params! {
            ":tenant": filter.tenant,
            ":agent": filter.agent,
            ":conversation": filter.conversation,
            ":started_by": filter.started_by,
            ":status": filter.status.map(RunStatus::as_str),
            ":key": filter.key,
            ":since": filter.since.map(Timestamp::as_millis),
            ":until": filter.until.map(Timestamp::as_millis),
            ":erasable": filter.erasable.map(Timestamp::as_millis),
            ":labels": labels(&filter.labels),
            ":before": filter.before,
            ":after": filter.after,
            ":limit": limit(filter.limit),
        },
        read,
    )?;
    let rows: Vec<_> = rows.collect::<Result<_, _>>()?;
    if rows.is_empty() {
        for bound in filter.before.iter().chain(&filter.after) {
            known(db, bound)?;
        }
    }
    Ok(rows)
}

pub(super) fn cancel(tx: &Tx<'_>, run: &str, by: &str) -> Result<Run, StoreError> {
    let mut cancel = tx.prepare_cached(
        "UPDATE agent_runs
         SET cancelled_by = coalesce(cancelled_by, ?2), messages = messages + 1, updated_at = ?3,
             status = iif(status IN ('waiting', 'held'), 'ready', status), held = NULL, held_kind = NULL, held_by = NULL, paused_by = NULL, claims = 0
         WHERE id = ?1 AND status <> 'done'",
    )?;
    if cancel.execute(params![run, by, tx.now])? > 0 {
        append(tx, run, AuditKind::Cancelled, About::by(Some(by)))?;
    }
    known(tx, run)
}

pub(super) fn pause(tx: &Tx<'_>, run: &str, by: &str) -> Result<Run, StoreError> {
    let stored = known(tx, run)?;
    match stored.status {
        RunStatus::Done => return Err(wording::cannot_be_paused(run)),
        RunStatus::Held => return Ok(stored),
        _ if stored.paused_by.is_some() => return Ok(stored),
        _ => {}
    }
    let mut pause = tx.prepare_cached(
        "UPDATE agent_runs SET paused_by = ?2, messages = messages + 1, updated_at = ?3 WHERE id = ?1",
    )?;
    pause.execute(params![run, by, tx.now])?;
    append(tx, run, AuditKind::Paused, About::by(Some(by)))?;
    // Nobody works on the run, also if the lease of a worker that is gone has ended.
    let mut hold = tx.prepare_cached(
        "UPDATE agent_runs
         SET status = 'held', held = ?2, held_kind = ?4, held_by = ?5, fence = fence + 1, wake_at = NULL, lease_owner = NULL,
             lease_until = NULL
         WHERE id = ?1 AND (status <> 'running' OR lease_until <= ?3)",
    )?;
    let held = wording::paused(by);
    if hold.execute(params![run, held.why, tx.now, held.kind.as_str(), held.by])? > 0 {
        append(tx, run, AuditKind::Held, About::by(Some(by)))?;
    }
    known(tx, run)
}

pub(super) fn instruct(tx: &Tx<'_>, run: &str, by: &str, text: &[u8]) -> Result<Run, StoreError> {
    let mut tell = tx.prepare_cached(
        "UPDATE agent_runs SET messages = messages + 1, updated_at = ?2 WHERE id = ?1 AND status <> 'done'",
    )?;
    if tell.execute(params![run, tx.now])? == 0 {
        known(tx, run)?;
        return Err(wording::cannot_be_instructed(run));
    }
    let about = About {
        detail: Some(text),
        ..About::by(Some(by))
    };
    append(tx, run, AuditKind::Instructed, about)?;
    known(tx, run)
}

pub(super) fn unhold(
    tx: &Tx<'_>,
    run: &str,
    by: &str,
    model: Option<&str>,
) -> Result<Run, StoreError> {
    let mut release = tx.prepare_cached(
        "UPDATE agent_runs
         SET status = iif(status = 'held', 'ready', status), held = NULL, held_kind = NULL, held_by = NULL, paused_by = NULL, claims = 0,
             messages = messages + 1, updated_at = ?2
         WHERE id = ?1 AND (status = 'held' OR status <> 'done' AND paused_by IS NOT NULL)",
    )?;
    if release.execute(params![run, tx.now])? > 0 {
        let about = About {
            subject: model,
            ..About::by(Some(by))
        };
        append(tx, run, AuditKind::Released, about)?;
    }
    known(tx, run)
}

pub(super) fn rewrap(
    tx: &Tx<'_>,
    run: &str,
    before: &[u8],
    after: &[u8],
) -> Result<bool, StoreError> {
    let mut wrap =
        tx.prepare_cached("UPDATE agent_runs SET data_key = ?3 WHERE id = ?1 AND data_key = ?2")?;
    Ok(wrap.execute(params![run, before, after])? > 0)
}
