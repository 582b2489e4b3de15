//! Rows of requests for approval. Whatever changes one has locked its run before.

use super::{
    audit::append,
    connections::{Params, Transaction, row, rows, signed},
    modes, numbers,
    row::{lock, text, time, time_if_any, word},
};
use crate::{
    Answer, Approval, ApprovalFilter, ApprovalStatus, AuditKind, Begin, ByMode, Decision, Lease,
    NewApproval, Run, StoreError,
    columns::{limit, millis, read_risk, risk},
    trail::About,
    wording,
};
use deadpool_postgres::{GenericClient, tokio_postgres::Row};

const COLUMNS: &str = "id, run_id, request, correlation_id, tenant_id, user_id, started_by, agent_name, tool_name, \
     version, args_summary, effect_description, risk_level, args_digest, requested_at, expires_at, status, detail, \
     decided_by, decided_at, note, edited, use_by, proof, reasons";

/// SQL query: is an attempt at a call, whose approval was used, the one to go on with? An earlier attempt, or this one
/// before it was put down, has begun; this one has not ended, and no later or successful one is there.
const GOES_ON: &str = "SELECT count(*) > 0 AND count(*) FILTER (
        WHERE attempt > $3 OR duration_ms IS NOT NULL AND (attempt = $3 OR error IS NULL AND NOT effect_unknown)) = 0
     FROM agent_tool_executions WHERE run = (SELECT number FROM agent_runs WHERE id = $1) AND call_id = $2";

fn read(row: &Row) -> Result<Approval, StoreError> {
    Ok(Approval {
        id: row.try_get("id")?,
        run: row.try_get("run_id")?,
        request: row.try_get("request")?,
        correlation_id: row.try_get("correlation_id")?,
        tenant_id: row.try_get("tenant_id")?,
        user_id: row.try_get("user_id")?,
        started_by: row.try_get("started_by")?,
        agent_name: row.try_get("agent_name")?,
        tool_name: row.try_get("tool_name")?,
        version: row.try_get("version")?,
        args_summary: row.try_get("args_summary")?,
        effect_description: row.try_get("effect_description")?,
        risk_level: word(row, "risk_level", read_risk)?,
        args_digest: row.try_get("args_digest")?,
        requested_at: time(row, "requested_at")?,
        expires_at: time(row, "expires_at")?,
        status: word(row, "status", ApprovalStatus::read)?,
        detail: row.try_get("detail")?,
        decided_by: row.try_get("decided_by")?,
        decided_at: time_if_any(row, "decided_at")?,
        note: row.try_get("note")?,
        edited: row.try_get("edited")?,
        use_by: time_if_any(row, "use_by")?,
        proof: row.try_get("proof")?,
        reasons: row.try_get("reasons")?,
    })
}

/// Stores a request for approval. If the run has a request with the same id in the journal already, that request stays
/// as it is.
pub(super) async fn ask(
    db: &Transaction<'_>,
    now: u64,
    lease: &Lease,
    asked: &NewApproval,
) -> Result<(), StoreError> {
    let run = &lease.run;
    let followed = "SELECT correlation_id FROM agent_approvals
         WHERE run_id = $1
           AND (request = $4 OR place = $2 AND tool_name = $3 AND status = 'revision_requested')
         ORDER BY coalesce(request = $4, FALSE) DESC, number DESC LIMIT 1";
    let about: Params<'_> = &[&run.id, &asked.place, &asked.tool_name, &asked.follows];
    let (followed, announced) = tokio::join!(db.row(followed, about), numbers::announce(db));
    announced?;
    let correlation = match followed? {
        Some(row) => row.try_get(0)?,
        None => asked.id.clone(),
    };
    let sql = "INSERT INTO agent_approvals
             (id, run_id, request, place, correlation_id, tenant_id, user_id, started_by, agent_name, tool_name, version,
              args_summary, effect_description, risk_level, args_digest, requested_at, expires_at, status, detail, reasons)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, 'pending', $18, $19)
         ON CONFLICT (run_id, request) DO NOTHING";
    let made = db
        .execute(
            sql,
            &[
                &asked.id,
                &run.id,
                &asked.request,
                &asked.place,
                &correlation,
                &run.tenant,
                &asked.user_id,
                &run.started_by,
                &asked.agent_name,
                &asked.tool_name,
                &asked.version,
                &text(&asked.args_summary),
                &text(&asked.effect_description),
                &risk(asked.risk_level),
                &asked.args_digest,
                &signed(now),
                &signed(now + millis(asked.expires_after)),
                &asked.detail,
                &asked.reasons,
            ],
        )
        .await?;
    if made == 0 {
        // It was there already.
        return Ok(());
    }
    tell(db, now, AuditKind::Requested, &asked.id).await?;
    match &asked.by_mode {
        Some(by_mode) => decided_by_mode(db, now, run, &asked.id, by_mode).await,
        None => Ok(()),
    }
}

/// Approves a request in the name of a mode, if that mode is still in effect.
async fn decided_by_mode(
    db: &Transaction<'_>,
    now: u64,
    run: &Run,
    id: &str,
    mode: &ByMode,
) -> Result<(), StoreError> {
    if modes::in_effect(db, &run.tenant).await? != Some(mode.seq) {
        return Ok(());
    }
    let sql = "UPDATE agent_approvals
         SET status = 'approved', decided_by = $2, decided_at = $3, use_by = $4, proof = $5 WHERE id = $1";
    let use_by = signed(now + millis(mode.use_within));
    let values: Params<'_> = &[&id, &mode.by, &signed(now), &use_by, &mode.proof];
    db.execute(sql, values).await?;
    tell(db, now, AuditKind::Approved, id).await
}

/// Adds an event about a request for approval to the audit trail of its run.
async fn tell(db: &Transaction<'_>, now: u64, kind: AuditKind, id: &str) -> Result<(), StoreError> {
    let row = find(&db.db, id)
        .await?
        .ok_or_else(|| wording::no_request(id))?;
    let row_digest = match kind {
        AuditKind::Requested => db.key.of_request(&row).to_vec(),
        _ => db.key.of_decision(&row).to_vec(),
    };
    let about = About {
        actor: row.decided_by.as_deref(),
        subject: Some(&row.id),
        tool_name: Some(&row.tool_name),
        row_digest: Some(row_digest),
        ..About::default()
    };
    append(db, now, &row.run, kind, about).await
}

/// Uses the approval of a request for an execution. Returns who gave the approval; an error if it does not cover the
/// execution.
pub(super) async fn consume(
    db: &Transaction<'_>,
    now: u64,
    run: &str,
    request: &str,
    begin: &Begin,
) -> Result<Option<String>, StoreError> {
    let digest = &begin.args_digest;
    let sql = format!(
        "SELECT {COLUMNS}, coalesce(edited_digest, args_digest) AS covers FROM agent_approvals
         WHERE run_id = $1 AND (request = $2 OR edited_digest = $3)
         ORDER BY request = $2 DESC, number DESC LIMIT 1"
    );
    let Some(found) = db.row(&sql, &[&run, &request, &digest]).await? else {
        return Err(wording::request_never_made(run, request));
    };
    let approval = read(&found)?;
    let covers: &str = found.try_get("covers")?;
    if approval.was_used_for(covers, digest, now)? {
        let attempt = i64::from(begin.attempt);
        let goes_on = db
            .row(GOES_ON, &[&run, &text(&begin.call_id), &attempt])
            .await?;
        return match goes_on.is_some_and(|row| row.get(0)) {
            true => Ok(approval.decided_by),
            false => Err(wording::used_up(&approval.tool_name)),
        };
    }
    let used = "UPDATE agent_approvals SET status = 'consumed' WHERE id = $1";
    db.execute(used, &[&approval.id]).await?;
    Ok(approval.decided_by)
}

/// Stores a decision about a request. A refused decision is an inner error, so that the transaction still stores an
/// expiry that it has found.
pub(super) async fn decide(
    db: &Transaction<'_>,
    decision: &Decision,
) -> Result<Result<Approval, StoreError>, StoreError> {
    let Decision {
        id,
        tenant,
        by,
        answer,
        proof,
    } = decision;
    let own = |approval: &Approval| tenant.as_ref().is_none_or(|own| *own == approval.tenant_id);
    let Some(approval) = find(&db.db, id).await?.filter(own) else {
        return Ok(Err(wording::no_request(id)));
    };
    lock(db, &approval.run).await?;
    let now = db.now().await?;
    expire_those_of(db, now, std::slice::from_ref(&approval.run)).await?;
    // As it is under the lock.
    let Some(approval) = find(&db.db, id).await? else {
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
            let use_by = signed(now + millis(*use_within));
            (
                AuditKind::Approved,
                None,
                edited.as_ref(),
                edited_digest.as_ref(),
                Some(use_by),
            )
        }
        Answer::Deny(reason) => (AuditKind::Denied, Some(text(reason)), None, None, None),
        Answer::Revise(note) => (
            AuditKind::RevisionRequested,
            Some(text(note)),
            None,
            None,
            None,
        ),
    };
    let sql = format!(
        "UPDATE agent_approvals
         SET status = $2, decided_by = $3, decided_at = $4, note = $5, edited = $6, edited_digest = $7, use_by = $8, proof = $9
         WHERE id = $1 RETURNING {COLUMNS}"
    );
    let now_at = signed(now);
    let values: Params<'_> = &[
        id,
        &kind.as_str(),
        by,
        &now_at,
        &note,
        &edited,
        &edited_digest,
        &use_by,
        proof,
    ];
    let Some(decided) = db.row(&sql, values).await? else {
        return Ok(Err(wording::no_request(id)));
    };
    tell(db, now, kind, id).await?;
    wake(db, now, &approval.run).await?;
    read(&decided).map(Ok)
}

/// Counts a message for a run that is not over. If the run waits, it is ready to go on.
pub(super) async fn wake(db: &Transaction<'_>, now: u64, run: &str) -> Result<(), StoreError> {
    let sql = "UPDATE agent_runs
         SET messages = messages + 1, status = CASE status WHEN 'waiting' THEN 'ready' ELSE status END, updated_at = $2
         WHERE id = $1 AND status <> 'done'";
    db.execute(sql, &[&run, &signed(now)]).await.map(drop)
}

/// Returns the runs of the requests whose time is over, and of the approvals that were not used in time.
pub(super) async fn due(db: &impl GenericClient, now: u64) -> Result<Vec<String>, StoreError> {
    let sql = "SELECT DISTINCT run_id FROM agent_approvals
         WHERE status = 'pending' AND expires_at <= $1 OR status = 'approved' AND use_by <= $1";
    let found = rows(db, sql, &[&signed(now)]).await?;
    found.iter().map(|row| Ok(row.try_get(0)?)).collect()
}

/// Marks the requests of these runs as expired if nobody decided in time, or if an approval was not used in time.
pub(super) async fn expire(db: &Transaction<'_>, runs: &[String]) -> Result<(), StoreError> {
    // Everybody who locks several runs locks them in this order.
    let lock = "SELECT 1 FROM agent_runs WHERE id = ANY($1) ORDER BY id FOR UPDATE";
    db.rows(lock, &[&runs]).await?;
    let now = db.now().await?;
    expire_those_of(db, now, runs).await
}

async fn expire_those_of(
    db: &Transaction<'_>,
    now: u64,
    runs: &[String],
) -> Result<(), StoreError> {
    let sql = "UPDATE agent_approvals SET status = 'expired', decided_at = $2
         WHERE run_id = ANY($1)
           AND (status = 'pending' AND expires_at <= $2 OR status = 'approved' AND use_by <= $2)
         RETURNING id, run_id";
    for expired in db.rows(sql, &[&runs, &signed(now)]).await? {
        tell(db, now, AuditKind::Expired, expired.try_get(0)?).await?;
        wake(db, now, expired.try_get(1)?).await?;
    }
    Ok(())
}

/// Marks the pending requests and the unused approvals of a run that is over as cancelled.
pub(super) async fn withdraw(db: &Transaction<'_>, now: u64, run: &str) -> Result<(), StoreError> {
    let sql = "UPDATE agent_approvals SET status = 'cancelled', decided_at = $2
         WHERE run_id = $1 AND status IN ('pending', 'approved') RETURNING id";
    for withdrawn in db.rows(sql, &[&run, &signed(now)]).await? {
        tell(db, now, AuditKind::Withdrawn, withdrawn.try_get(0)?).await?;
    }
    Ok(())
}

pub(super) async fn find(
    db: &impl GenericClient,
    id: &str,
) -> Result<Option<Approval>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM agent_approvals WHERE id = $1");
    let found = row(db, &sql, &[&id]).await?;
    found.as_ref().map(read).transpose()
}

/// Returns requests for approval. It first waits for transactions that may store earlier ones, so that a reader misses
/// none.
pub(super) async fn list_settled(
    db: &Transaction<'_>,
    filter: &ApprovalFilter,
) -> Result<Vec<Approval>, StoreError> {
    numbers::settle(db).await?;
    list(&db.db, filter).await
}

pub(super) async fn list(
    db: &impl GenericClient,
    filter: &ApprovalFilter,
) -> Result<Vec<Approval>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM agent_approvals
         WHERE ($1::text IS NULL OR tenant_id = $1)
           AND ($2::text IS NULL OR run_id = $2)
           AND ($3::text IS NULL OR status = $3)
           AND ($4::text IS NULL OR number > (SELECT number FROM agent_approvals WHERE id = $4))
         ORDER BY number LIMIT $5"
    );
    let ApprovalFilter {
        tenant,
        run,
        status,
        after,
        limit: asked,
    } = filter;
    let status = status.map(ApprovalStatus::as_str);
    let most = i64::from(limit(*asked));
    let found = rows(db, &sql, &[tenant, run, &status, after, &most]).await?;
    if let (Some(after), true) = (after, found.is_empty())
        && find(db, after).await?.is_none()
    {
        return Err(wording::no_request(after));
    }
    found.iter().map(read).collect()
}
