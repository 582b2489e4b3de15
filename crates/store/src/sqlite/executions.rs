//! Rows of executions.

use super::{
    Tx, approvals,
    audit::append,
    row::{time, time_if_any, word},
};
use crate::{
    AuditKind, Begin, Execution, ExecutionFilter, Finish, Lease, RowDigest, Settle, Settled,
    StoreError,
    columns::{IN_DOUBT, OF_EXECUTION as COLUMNS, limit, millis, read_risk, risk},
    trail::About,
    wording,
};
use rusqlite::{Connection, OptionalExtension, Row, named_params, params};

fn read(row: &Row<'_>) -> rusqlite::Result<Execution> {
    Ok(Execution {
        id: row.get("id")?,
        tenant_id: row.get("tenant_id")?,
        run: row.get("run_id")?,
        call_id: row.get("call_id")?,
        attempt: row.get("attempt")?,
        agent_name: row.get("agent_name")?,
        tool_name: row.get("tool_name")?,
        version: row.get("version")?,
        input: row.get("input")?,
        output: row.get("output")?,
        approved: row.get("approved")?,
        approved_by: row.get("approved_by")?,
        risk_level: word(row, "risk_level", read_risk)?,
        executed_at: time(row, "executed_at")?,
        duration_ms: row.get("duration_ms")?,
        error: row.get("error")?,
        effect_unknown: row.get("effect_unknown")?,
        superseded: row.get("superseded")?,
        settled: settled(row)?,
        rolled_back: row.get("rolled_back")?,
        rolled_back_at: time_if_any(row, "rolled_back_at")?,
    })
}

fn settled(row: &Row<'_>) -> rusqlite::Result<Option<Settled>> {
    let Some(had_effect) = row.get("had_effect")? else {
        return Ok(None);
    };
    Ok(Some(Settled {
        had_effect,
        by: row
            .get::<_, Option<String>>("settled_by")?
            .unwrap_or_default(),
        at: time_if_any(row, "settled_at")?.unwrap_or_default(),
        proof: row
            .get::<_, Option<_>>("settled_proof")?
            .unwrap_or_default(),
    }))
}

/// Stores the begin of an execution, which uses the approval that it needs.
pub(super) fn began(tx: &Tx<'_>, lease: &Lease, begin: &Begin) -> Result<(), StoreError> {
    let row = insert(tx, lease, begin, tx.now)?;
    tell(tx, AuditKind::Began, &row, tx.key.of_begin(&row))
}

/// Stores an execution that began and ended in this commit.
pub(super) fn ran(
    tx: &Tx<'_>,
    lease: &Lease,
    begin: &Begin,
    finish: &Finish,
) -> Result<(), StoreError> {
    let took = millis(finish.took);
    insert(tx, lease, begin, tx.now.saturating_sub(took))?;
    let row = update(tx, finish, Some(took))?;
    tell(tx, AuditKind::Ran, &row, tx.key.of_execution(&row))
}

/// Stores the end of an execution: its state, and its encrypted output.
pub(super) fn ended(tx: &Tx<'_>, finish: &Finish) -> Result<(), StoreError> {
    let row = update(tx, finish, None)?;
    let kind = match row.effect_unknown {
        true => AuditKind::InDoubt,
        false => AuditKind::Ended,
    };
    tell(tx, kind, &row, tx.key.of_end(&row))
}

/// Stores the row of an execution that begins at this time.
fn insert(tx: &Tx<'_>, lease: &Lease, begin: &Begin, at: u64) -> Result<Execution, StoreError> {
    let run = &lease.run;
    let approved_by = match &begin.needs {
        Some(request) => approvals::consume(tx, &run.id, request, begin)?,
        None => None,
    };
    let mut insert = tx.prepare_cached(
        "INSERT INTO agent_tool_executions
             (id, tenant_id, run_id, call_id, attempt, agent_name, tool_name, version, input, approved, approved_by,
              risk_level, executed_at, run)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, (SELECT number FROM agent_runs WHERE id = ?3))
         ON CONFLICT (id) DO UPDATE SET executed_at = excluded.executed_at WHERE duration_ms IS NULL",
    )?;
    let begun = insert.execute(params![
        begin.id,
        run.tenant,
        run.id,
        begin.call_id,
        begin.attempt,
        begin.agent_name,
        begin.tool_name,
        begin.version,
        begin.input,
        begin.needs.is_some(),
        approved_by,
        risk(begin.risk_level),
        at
    ])?;
    match begun {
        0 => Err(wording::ended_before(begin)),
        _ => known(tx, &begin.id),
    }
}

/// Stores the end of an execution in its row. `took` is its duration; without it, the time since the begin is stored.
fn update(tx: &Tx<'_>, finish: &Finish, took: Option<u64>) -> Result<Execution, StoreError> {
    let mut update = tx.prepare_cached(
        "UPDATE agent_tool_executions
         SET output = ?2, error = ?3, effect_unknown = ?4, duration_ms = coalesce(?5, max(0, ?6 - executed_at))
         WHERE id = ?1",
    )?;
    update.execute(params![
        finish.id,
        finish.output,
        finish.error,
        finish.effect_unknown,
        took,
        tx.now
    ])?;
    known(tx, &finish.id)
}

/// Adds an event about an execution to the audit trail of its run.
fn tell(
    tx: &Tx<'_>,
    kind: AuditKind,
    row: &Execution,
    digest: RowDigest,
) -> Result<(), StoreError> {
    let begins = kind != AuditKind::Ended && kind != AuditKind::InDoubt;
    let about = About {
        actor: row.approved_by.as_deref().filter(|_| begins),
        subject: Some(&row.id),
        tool_name: Some(&row.tool_name),
        row_digest: Some(digest.to_vec()),
        ..About::default()
    };
    append(tx, &row.run, kind, about)
}

/// Stores the verdict of a person about an execution in doubt, and counts a message for its run. A run that waits is
/// ready then.
pub(super) fn settle(tx: &Tx<'_>, settle: &Settle) -> Result<Execution, StoreError> {
    let Settle {
        execution,
        had_effect,
        by,
        proof,
        detail,
    } = settle;
    let row = known(tx, execution)?;
    if !row.is_in_doubt() {
        return Err(wording::not_in_doubt(&row));
    }
    let mut update = tx.prepare_cached(
        "UPDATE agent_tool_executions SET had_effect = ?2, settled_by = ?3, settled_at = ?4, settled_proof = ?5
         WHERE id = ?1",
    )?;
    update.execute(params![execution, had_effect, by, tx.now, proof])?;
    let row = known(tx, execution)?;
    let about = About {
        subject: Some(&row.id),
        tool_name: Some(&row.tool_name),
        detail: detail.as_deref(),
        row_digest: Some(tx.key.of_settled(&row).to_vec()),
        ..About::by(Some(by))
    };
    append(tx, &row.run, AuditKind::Settled, about)?;
    approvals::wake(tx, &row.run)?;
    Ok(row)
}

/// Marks an execution as undone, and returns the digest of the mark.
pub(super) fn undone(tx: &Tx<'_>, id: &str) -> Result<Option<Vec<u8>>, StoreError> {
    let mut update = tx.prepare_cached(
        "UPDATE agent_tool_executions SET rolled_back = 1, rolled_back_at = ?2
         WHERE id = ?1 AND NOT rolled_back",
    )?;
    update.execute(params![id, tx.now])?;
    Ok(Some(tx.key.of_undo(&known(tx, id)?).to_vec()))
}

/// Returns the execution with this id, which has to be there.
fn known(db: &Connection, id: &str) -> Result<Execution, StoreError> {
    find(db, id)?.ok_or_else(|| wording::no_execution(id))
}

pub(super) fn find(db: &Connection, id: &str) -> Result<Option<Execution>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM agent_tool_executions WHERE id = ?1");
    let mut found = db.prepare_cached(&sql)?;
    Ok(found.query_row([id], read).optional()?)
}

pub(super) fn list(
    db: &Connection,
    filter: &ExecutionFilter,
) -> Result<Vec<Execution>, StoreError> {
    let of_run = match filter.run {
        Some(_) => "run = (SELECT number FROM agent_runs WHERE id = :run)",
        None => ":run IS NULL",
    };
    let sql = format!(
        "SELECT {COLUMNS} FROM agent_tool_executions
         WHERE (:tenant IS NULL OR tenant_id = :tenant)
           AND {of_run}
           AND (:tool IS NULL OR tool_name = :tool)
           AND (NOT :in_doubt OR {IN_DOUBT})
           AND (NOT :settled OR had_effect IS NOT NULL)
           AND (:after IS NULL OR (executed_at, id) > (SELECT executed_at, id FROM agent_tool_executions WHERE id = :after))
         ORDER BY executed_at, id LIMIT :limit"
    );
    let mut found = db.prepare_cached(&sql)?;
    let rows = found.query_map(
        named_params! {
            ":tenant": filter.tenant,
            ":run": filter.run,
            ":tool": filter.tool_name,
            ":in_doubt": filter.in_doubt,
            ":settled": filter.settled,
            ":after": filter.after,
            ":limit": limit(filter.limit),
        },
        read,
    )?;
    let rows: Vec<_> = rows.collect::<Result<_, _>>()?;
    match &filter.after {
        Some(after) if rows.is_empty() && find(db, after)?.is_none() => {
            Err(wording::no_execution(after))
        }
        _ => Ok(rows),
    }
}
