//! Rows of executions. Whatever changes one has locked its run before.

use super::{
    approvals,
    audit::append,
    connections::{Params, Transaction, number, row, rows, signed},
    row::{lock, text, time, time_if_any, word},
};
use crate::{
    AuditKind, Begin, Execution, ExecutionFilter, Finish, Lease, RowDigest, Settle, Settled,
    StoreError,
    columns::{IN_DOUBT, OF_EXECUTION as COLUMNS, limit, millis, read_risk, risk},
    trail::About,
    wording,
};
use deadpool_postgres::{GenericClient, tokio_postgres::Row};

fn read(row: &Row) -> Result<Execution, StoreError> {
    let attempt = number(row, "attempt")?;
    let duration: Option<i64> = row.try_get("duration_ms")?;
    Ok(Execution {
        id: row.try_get("id")?,
        tenant_id: row.try_get("tenant_id")?,
        run: row.try_get("run_id")?,
        call_id: row.try_get("call_id")?,
        attempt: u32::try_from(attempt).unwrap_or(u32::MAX),
        agent_name: row.try_get("agent_name")?,
        tool_name: row.try_get("tool_name")?,
        version: row.try_get("version")?,
        input: row.try_get("input")?,
        output: row.try_get("output")?,
        approved: row.try_get("approved")?,
        approved_by: row.try_get("approved_by")?,
        risk_level: word(row, "risk_level", read_risk)?,
        executed_at: time(row, "executed_at")?,
        duration_ms: duration.map(i64::cast_unsigned),
        error: row.try_get("error")?,
        effect_unknown: row.try_get("effect_unknown")?,
        superseded: row.try_get("superseded")?,
        settled: settled(row)?,
        rolled_back: row.try_get("rolled_back")?,
        rolled_back_at: time_if_any(row, "rolled_back_at")?,
    })
}

fn settled(row: &Row) -> Result<Option<Settled>, StoreError> {
    let Some(had_effect) = row.try_get("had_effect")? else {
        return Ok(None);
    };
    Ok(Some(Settled {
        had_effect,
        by: row
            .try_get::<_, Option<_>>("settled_by")?
            .unwrap_or_default(),
        at: time_if_any(row, "settled_at")?.unwrap_or_default(),
        proof: row
            .try_get::<_, Option<_>>("settled_proof")?
            .unwrap_or_default(),
    }))
}

/// Stores the begin of an execution, which uses the approval that it needs, and tells the audit trail of it.
pub(super) async fn began(
    db: &Transaction<'_>,
    now: u64,
    lease: &Lease,
    begin: &Begin,
) -> Result<(), StoreError> {
    let row = insert(db, now, lease, begin, None).await?;
    tell(db, now, AuditKind::Began, &row, db.key.of_begin(&row)).await
}

/// Stores an execution that began and ended in this commit.
pub(super) async fn ran(
    db: &Transaction<'_>,
    now: u64,
    lease: &Lease,
    begin: &Begin,
    finish: &Finish,
) -> Result<(), StoreError> {
    let row = insert(db, now, lease, begin, Some(finish)).await?;
    tell(db, now, AuditKind::Ran, &row, db.key.of_execution(&row)).await
}

/// Stores the end of an execution: its state, and its encrypted output.
pub(super) async fn ended(
    db: &Transaction<'_>,
    now: u64,
    finish: &Finish,
) -> Result<(), StoreError> {
    let sql = format!(
        "UPDATE agent_tool_executions
         SET output = $2, error = $3, effect_unknown = $4, duration_ms = greatest(0, $5 - executed_at)
         WHERE id = $1 RETURNING {COLUMNS}"
    );
    let values: Params<'_> = &[
        &finish.id,
        &finish.output,
        &finish.error.as_deref().map(text),
        &finish.effect_unknown,
        &signed(now),
    ];
    let row = db.row(&sql, values).await?;
    let row = read(&row.ok_or_else(|| wording::no_execution(&finish.id))?)?;
    let kind = match row.effect_unknown {
        true => AuditKind::InDoubt,
        false => AuditKind::Ended,
    };
    tell(db, now, kind, &row, db.key.of_end(&row)).await
}

/// Stores the row of an execution, with its end if the end is known.
async fn insert(
    db: &Transaction<'_>,
    now: u64,
    lease: &Lease,
    begin: &Begin,
    finish: Option<&Finish>,
) -> Result<Execution, StoreError> {
    let run = &lease.run;
    let approved_by = match &begin.needs {
        Some(request) => approvals::consume(db, now, &run.id, request, begin).await?,
        None => None,
    };
    let sql = format!(
        "INSERT INTO agent_tool_executions
             (id, tenant_id, run_id, call_id, attempt, agent_name, tool_name, version, input, approved, approved_by,
              risk_level, executed_at, output, error, duration_ms, run)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16,
                 (SELECT number FROM agent_runs WHERE id = $3))
         ON CONFLICT (id) DO UPDATE
         SET executed_at = excluded.executed_at, output = excluded.output, error = excluded.error,
             duration_ms = excluded.duration_ms
         WHERE agent_tool_executions.duration_ms IS NULL
         RETURNING {COLUMNS}"
    );
    let took = finish.map(|finish| millis(finish.took));
    let values: Params<'_> = &[
        &begin.id,
        &run.tenant,
        &run.id,
        &text(&begin.call_id),
        &i64::from(begin.attempt),
        &text(&begin.agent_name),
        &text(&begin.tool_name),
        &text(&begin.version),
        &begin.input,
        &begin.needs.is_some(),
        &approved_by,
        &risk(begin.risk_level),
        &signed(now.saturating_sub(took.unwrap_or(0))),
        &finish.and_then(|finish| finish.output.as_deref()),
        &finish.and_then(|finish| finish.error.as_deref()).map(text),
        &took.map(signed),
    ];
    let row = db.row(&sql, values).await?;
    read(&row.ok_or_else(|| wording::ended_before(begin))?)
}

/// Adds an event about an execution to the audit trail of its run.
async fn tell(
    db: &Transaction<'_>,
    now: u64,
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
    append(db, now, &row.run, kind, about).await
}

/// Stores the verdict of a person about an execution in doubt, and counts a message for its run. A run that waits is
/// ready then.
pub(super) async fn settle(db: &Transaction<'_>, settle: &Settle) -> Result<Execution, StoreError> {
    let Settle {
        execution,
        had_effect,
        by,
        proof,
        detail,
    } = settle;
    let row = find(&db.db, execution).await?;
    let row = row.ok_or_else(|| wording::no_execution(execution))?;
    lock(db, &row.run).await?;
    let now = db.now().await?;
    let sql = format!(
        "UPDATE agent_tool_executions SET had_effect = $2, settled_by = $3, settled_at = $4, settled_proof = $5
         WHERE id = $1 AND {IN_DOUBT} RETURNING {COLUMNS}"
    );
    let values: Params<'_> = &[execution, had_effect, by, &signed(now), proof];
    let Some(row) = db.row(&sql, values).await? else {
        let row = find(&db.db, execution).await?;
        return Err(row.map_or_else(
            || wording::no_execution(execution),
            |row| wording::not_in_doubt(&row),
        ));
    };
    let row = read(&row)?;
    let about = About {
        subject: Some(&row.id),
        tool_name: Some(&row.tool_name),
        detail: detail.as_deref(),
        row_digest: Some(db.key.of_settled(&row).to_vec()),
        ..About::by(Some(by))
    };
    append(db, now, &row.run, AuditKind::Settled, about).await?;
    approvals::wake(db, now, &row.run).await?;
    Ok(row)
}

/// Marks an execution as undone, and returns the digest of the mark.
pub(super) async fn undone(
    db: &Transaction<'_>,
    now: u64,
    id: &str,
) -> Result<Vec<u8>, StoreError> {
    let sql = "UPDATE agent_tool_executions SET rolled_back = TRUE, rolled_back_at = $2
         WHERE id = $1 AND NOT rolled_back";
    db.execute(sql, &[&id, &signed(now)]).await?;
    let stored = find(&db.db, id)
        .await?
        .ok_or_else(|| wording::no_execution(id))?;
    Ok(db.key.of_undo(&stored).to_vec())
}

pub(super) async fn find(
    db: &impl GenericClient,
    id: &str,
) -> Result<Option<Execution>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM agent_tool_executions WHERE id = $1");
    let found = row(db, &sql, &[&id]).await?;
    found.as_ref().map(read).transpose()
}

pub(super) async fn list(
    db: &impl GenericClient,
    filter: &ExecutionFilter,
) -> Result<Vec<Execution>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM agent_tool_executions
         WHERE ($1::text IS NULL OR tenant_id = $1)
           AND ($2::text IS NULL OR run = (SELECT number FROM agent_runs WHERE id = $2))
           AND ($3::text IS NULL OR tool_name = $3)
           AND {in_doubt} AND {settled}
           AND ($4::text IS NULL
                OR (executed_at, id) > (SELECT executed_at, id FROM agent_tool_executions WHERE id = $4))
         ORDER BY executed_at, id LIMIT $5",
        in_doubt = match filter.in_doubt {
            true => IN_DOUBT,
            false => "true",
        },
        settled = match filter.settled {
            true => "had_effect IS NOT NULL",
            false => "true",
        },
    );
    let ExecutionFilter {
        tenant,
        run,
        tool_name,
        in_doubt: _,
        settled: _,
        after,
        limit: asked,
    } = filter;
    let most = i64::from(limit(*asked));
    let found = rows(db, &sql, &[tenant, run, tool_name, after, &most]).await?;
    if let (Some(after), true) = (after, found.is_empty())
        && find(db, after).await?.is_none()
    {
        return Err(wording::no_execution(after));
    }
    found.iter().map(read).collect()
}
