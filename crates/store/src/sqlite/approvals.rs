//! Rows of requests for approval.

use super::{
    Tx,
    audit::append,
    modes,
    row::{time, time_if_any, word},
};
use crate::{
    Answer, Approval, ApprovalFilter, ApprovalStatus, AuditKind, Begin, ByMode, Decision, Lease,
    NewApproval, Run, StoreError,
    columns::{limit, millis, read_risk, risk},
    trail::About,
    wording,
};
use rusqlite::{Connection, OptionalExtension, Row, named_params, params};

const COLUMNS: &str = "id, run_id, request, correlation_id, tenant_id, user_id, started_by, agent_name, tool_name, \
     version, args_summary, effect_description, risk_level, args_digest, requested_at, expires_at, status, detail, \
     decided_by, decided_at, note, edited, use_by, proof, reasons";

/// SQL query: is an attempt at a call, whose approval was used, the one to go on with? An earlier attempt, or this one
/// before it was put down, has begun; this one has not ended, and no later or successful one is there.
const GOES_ON: &str = "SELECT count(*) > 0 AND count(*) FILTER (
        WHERE attempt > ?3 OR duration_ms IS NOT NULL AND (attempt = ?3 OR error IS NULL AND NOT effect_unknown)) = 0
     FROM agent_tool_executions WHERE run = (SELECT number FROM agent_runs WHERE id = ?1) AND call_id = ?2";

fn read(row: &Row<'_>) -> rusqlite::Result<Approval> {
    Ok(Approval {
        id: row.get("id")?,
        run: row.get("run_id")?,
        request: row.get("request")?,
        correlation_id: row.get("correlation_id")?,
        tenant_id: row.get("tenant_id")?,
        user_id: row.get("user_id")?,
        started_by: row.get("started_by")?,
        agent_name: row.get("agent_name")?,
        tool_name: row.get("tool_name")?,
        version: row.get("version")?,
        args_summary: row.get("args_summary")?,
        effect_description: row.get("effect_description")?,
        risk_level: word(row, "risk_level", read_risk)?,
        args_digest: row.get("args_digest")?,
        requested_at: time(row, "requested_at")?,
        expires_at: time(row, "expires_at")?,
        status: word(row, "status", ApprovalStatus::read)?,
        detail: row.get("detail")?,
        decided_by: row.get("decided_by")?,
        decided_at: time_if_any(row, "decided_at")?,
        note: row.get("note")?,
        edited: row.get("edited")?,
        use_by: time_if_any(row, "use_by")?,
        proof: row.get("proof")?,
        reasons: row.get("reasons")?,
    })
}

/// Stores a request for approval. If the run has a request with the same id in the journal already, that request stays
/// as it is.
pub(super) fn ask(tx: &Tx<'_>, lease: &Lease, asked: &NewApproval) -> Result<(), StoreError> {
    let run = &lease.run;
    let mut followed = tx.prepare_cached(
        "SELECT correlation_id FROM agent_approvals
         WHERE run_id = ?1
           AND (request = ?4 OR place = ?2 AND tool_name = ?3 AND status = 'revision_requested')
         ORDER BY request IS ?4 DESC, number DESC LIMIT 1",
    )?;
    let about = params![run.id, asked.place, asked.tool_name, asked.follows];
    let followed = followed.query_row(about, |row| row.get::<_, String>(0));
    let correlation = followed.optional()?.unwrap_or_else(|| asked.id.clone());
    let mut insert = tx.prepare_cached(
        "INSERT INTO agent_approvals
             (id, run_id, request, place, correlation_id, tenant_id, user_id, started_by, agent_name, tool_name, version,
              args_summary, effect_description, risk_level, args_digest, requested_at, expires_at, status, detail, reasons)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, 'pending', ?18, ?19)
         ON CONFLICT (run_id, request) DO NOTHING",
    )?;
    let made = insert.execute(params![
        asked.id,
        run.id,
        asked.request,
        asked.place,
        correlation,
        run.tenant,
        asked.user_id,
        run.started_by,
        asked.agent_name,
        asked.tool_name,
        asked.version,
        asked.args_summary,
        asked.effect_description,
        risk(asked.risk_level),
        asked.args_digest,
        tx.now,
        tx.now + millis(asked.expires_after),
        asked.detail,
        asked.reasons
    ])?;
    if made == 0 {
        // It was there already.
        return Ok(());
    }
    tell(tx, AuditKind::Requested, &asked.id)?;
    match &asked.by_mode {
        Some(by_mode) => decided_by_mode(tx, run, &asked.id, by_mode),
        None => Ok(()),
    }
}

/// Approves a request in the name of a mode, if that mode is still in effect.
fn decided_by_mode(tx: &Tx<'_>, run: &Run, id: &str, mode: &ByMode) -> Result<(), StoreError> {
    if modes::in_effect(tx, &run.tenant)? != Some(mode.seq) {
        return Ok(());
    }
    let mut update = tx.prepare_cached(
        "UPDATE agent_approvals
         SET status = 'approved', decided_by = ?2, decided_at = ?3, use_by = ?4, proof = ?5 WHERE id = ?1",
    )?;
    let use_by = tx.now + millis(mode.use_within);
    update.execute(params![id, mode.by, tx.now, use_by, mode.proof])?;
    tell(tx, AuditKind::Approved, id)
}

/// Adds an event about a request for approval to the audit trail of its run.
fn tell(tx: &Tx<'_>, kind: AuditKind, id: &str) -> Result<(), StoreError> {
    let row = find(tx, id)?.ok_or_else(|| wording::no_request(id))?;
    let row_digest = match kind {
        AuditKind::Requested => tx.key.of_request(&row).to_vec(),
        _ => tx.key.of_decision(&row).to_vec(),
    };
    append(
        tx,
        &row.run,
        kind,
        About {
            actor: row.decided_by.as_deref(),
            subject: Some(&row.id),
            tool_name: Some(&row.tool_name),
            row_digest: Some(row_digest),
            ..About::default()
        },
    )
}

/// Uses the approval of a request for an execution. Returns who gave the approval; an error if it does not cover the
/// execution.
pub(super) fn consume(
    tx: &Tx<'_>,
    run: &str,
    request: &str,
    begin: &Begin,
) -> Result<Option<String>, StoreError> {
    let digest = &begin.args_digest;
    let sql = format!(
        "SELECT {COLUMNS}, coalesce(edited_digest, args_digest) AS covers FROM agent_approvals
         WHERE run_id = ?1 AND (request = ?2 OR edited_digest = ?3)
         ORDER BY request = ?2 DESC, number DESC"
    );
    let mut found = tx.prepare_cached(&sql)?;
    let found = found.query_row(params![run, request, digest], |row| {
        Ok((read(row)?, row.get::<_, String>("covers")?))
    });
    let Some((approval, covers)) = found.optional()? else {
        return Err(wording::request_never_made(run, request));
    };
    if approval.was_used_for(&covers, digest, tx.now)? {
        let mut goes_on = tx.prepare_cached(GOES_ON)?;
        return match goes_on
            .query_row(params![run, begin.call_id, begin.attempt], |row| row.get(0))?
        {
            true => Ok(approval.decided_by),
            false => Err(wording::used_up(&approval.tool_name)),
        };
    }
    let mut used =
        tx.prepare_cached("UPDATE agent_approvals SET status = 'consumed' WHERE id = ?1")?;
    used.execute([&approval.id])?;
    Ok(approval.decided_by)
}

/// Stores a decision about a request. A refused decision is an inner error, so that the transaction still stores an
/// expiry that it has found.
pub(super) fn decide(
    tx: &Tx<'_>,
    decision: &Decision,
) -> Result<Result<Approval, StoreError>, StoreError> {
    expire(tx)?;
    let Decision {
        id,
        tenant,
        by,
        answer,
        proof,
    } = decision;
    let found = find(tx, id)?;
    let own = |approval: &Approval| tenant.as_ref().is_none_or(|own| *own == approval.tenant_id);
    let Some(approval) = found.filter(own) else {
        return Ok(Err(wording::no_request(id)));
    };
    if approval.status != ApprovalStatus::Pending {
        return Ok(Err(wording::settled(&approval)));
    }
    let (kind, note, edited, edited_digest, use_by) = match answer {
        Answer::Approve {
            edited,
            edited_digest,
            use_within,
        } => {
            let use_by = tx.now + millis(*use_within);
            (
                AuditKind::Approved,
                None,
                edited.clone(),
                edited_digest.clone(),
                Some(use_by),
            )
        }
        Answer::Deny(reason) => (AuditKind::Denied, Some(reason), None, None, None),
        Answer::Revise(note) => (AuditKind::RevisionRequested, Some(note), None, None, None),
    };
    let mut update = tx.prepare_cached(
        "UPDATE agent_approvals
         SET status = ?2, decided_by = ?3, decided_at = ?4, note = ?5, edited = ?6, edited_digest = ?7, use_by = ?8, proof = ?9
         WHERE id = ?1",
    )?;
    update.execute(params![
        id,
        kind.as_str(),
        by,
        tx.now,
        note,
        edited,
        edited_digest,
        use_by,
        proof
    ])?;
    tell(tx, kind, id)?;
    wake(tx, &approval.run)?;
    let decided = find(tx, id)?;
    Ok(decided.ok_or_else(|| wording::no_request(id)))
}

/// Counts a message for a run that is not over. If the run waits, it is ready to go on.
pub(super) fn wake(tx: &Tx<'_>, run: &str) -> Result<(), StoreError> {
    let mut wake = tx.prepare_cached(
        "UPDATE agent_runs
         SET messages = messages + 1, status = iif(status = 'waiting', 'ready', status), updated_at = ?2
         WHERE id = ?1 AND status <> 'done'",
    )?;
    wake.execute(params![run, tx.now])?;
    Ok(())
}

/// Returns `true` if the time of a request, or of an approval, is over, so that [`expire`] has work.
pub(super) fn any_due(tx: &Tx<'_>) -> Result<bool, StoreError> {
    let mut due = tx.prepare_cached(
        "SELECT 1 FROM agent_approvals
         WHERE status = 'pending' AND expires_at <= ?1 OR status = 'approved' AND use_by <= ?1",
    )?;
    Ok(due.exists([tx.now])?)
}

/// Marks requests as expired if nobody decided in time, or if an approval was not used in time.
pub(super) fn expire(tx: &Tx<'_>) -> Result<(), StoreError> {
    let mut due = tx.prepare_cached(
        "UPDATE agent_approvals SET status = 'expired', decided_at = ?1
         WHERE status = 'pending' AND expires_at <= ?1 OR status = 'approved' AND use_by <= ?1
         RETURNING id, run_id",
    )?;
    let expired: Vec<(String, String)> = due
        .query_map([tx.now], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?;
    for (id, run) in expired {
        tell(tx, AuditKind::Expired, &id)?;
        wake(tx, &run)?;
    }
    Ok(())
}

/// Marks the pending requests and the unused approvals of a run that is over as cancelled.
pub(super) fn withdraw(tx: &Tx<'_>, run: &str) -> Result<(), StoreError> {
    let mut open = tx.prepare_cached(
        "UPDATE agent_approvals SET status = 'cancelled', decided_at = ?2
         WHERE run_id = ?1 AND status IN ('pending', 'approved') RETURNING id",
    )?;
    let withdrawn: Vec<String> = open
        .query_map(params![run, tx.now], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for id in withdrawn {
        tell(tx, AuditKind::Withdrawn, &id)?;
    }
    Ok(())
}

pub(super) fn find(db: &Connection, id: &str) -> Result<Option<Approval>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM agent_approvals WHERE id = ?1");
    let mut found = db.prepare_cached(&sql)?;
    Ok(found.query_row([id], read).optional()?)
}

pub(super) fn list(db: &Connection, filter: &ApprovalFilter) -> Result<Vec<Approval>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM agent_approvals
         WHERE (:tenant IS NULL OR tenant_id = :tenant)
           AND (:run IS NULL OR run_id = :run)
           AND (:status IS NULL OR status = :status)
           AND (:after IS NULL OR number > (SELECT number FROM agent_approvals WHERE id = :after))
         ORDER BY number LIMIT :limit"
    );
    let mut found = db.prepare_cached(&sql)?;
    let rows = found.query_map(
        named_params! {
            ":tenant": filter.tenant,
            ":run": filter.run,
            ":status": filter.status.map(ApprovalStatus::as_str),
            ":after": filter.after,
            ":limit": limit(filter.limit),
        },
        read,
    )?;
    let rows: Vec<_> = rows.collect::<Result<_, _>>()?;
    match &filter.after {
        Some(after) if rows.is_empty() && find(db, after)?.is_none() => {
            Err(wording::no_request(after))
        }
        _ => Ok(rows),
    }
}
