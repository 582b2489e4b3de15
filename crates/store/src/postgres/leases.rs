//! Leases of runs.

use super::{
    approvals,
    audit::append,
    connections::{Ahead, Params, Transaction, number, signed},
    conversations::{self, IS_NEXT},
    row::text,
    runs,
};
use crate::{
    AuditKind, Claim, HeldKind, Lease, Renewed, Rest, StoreError,
    columns::millis,
    trail::{About, End},
    wording,
};
use agents_core::run::Timestamp;
use std::time::Duration;

/// Class number of the store's locks on tenants, among the server's advisory locks.
const TENANTS: i32 = 0x6167_6e74;

/// Answer to the claim of a worker that asks for a run.
pub(super) enum Claimed {
    /// The worker has got a run to go on with.
    Lease(Box<Lease>),
    /// No run can be claimed at present.
    Nothing,
    /// Another worker was faster, and this tenant has as many runs under way as it may have. The caller tries again
    /// without the tenant.
    Full(String),
}

/// Run that may be claimed; its row is locked.
struct Candidate {
    id: String,
    tenant: String,
    claims: u64,
    paused_by: Option<String>,
}

/// Returns the next run to claim; `None` if there is none. Runs that another transaction has locked are passed over.
async fn next(
    db: &Transaction<'_>,
    now: u64,
    claim: &Claim,
    full: &[String],
) -> Result<Option<Candidate>, StoreError> {
    let only = match claim.run {
        Some(_) => "id = $4",
        None => "$4::text IS NULL",
    };
    // Each kind of run has its index. At most three runs are locked, until the transaction ends.
    let [ready, waiting, running] = [
        "status = 'ready' AND $1::bigint IS NOT NULL",
        "status = 'waiting' AND wake_at <= $1",
        "status = 'running' AND lease_until <= $1",
    ]
    .map(|can_go_on| {
        format!(
            "SELECT * FROM (
                 SELECT id, tenant_id, claims, paused_by, priority, updated_at, number FROM agent_runs AS this
                 WHERE {can_go_on} AND agent_name = ANY($2) AND tenant_id <> ALL($3) AND {only} AND {IS_NEXT} AND ($5 OR claims < $6)
                 ORDER BY priority DESC, updated_at, number LIMIT 1 FOR UPDATE SKIP LOCKED) AS one"
        )
    });
    let sql = format!(
        "SELECT id, tenant_id, claims, paused_by FROM ({ready} UNION ALL {waiting} UNION ALL {running}) AS found
         ORDER BY priority DESC, updated_at, number LIMIT 1"
    );
    let now = signed(now);
    let values: Params<'_> = &[
        &now,
        &claim.agents,
        &full,
        &claim.run,
        &claim.alone,
        &i64::from(claim.most_claims),
    ];
    let Some(found) = db.row(&sql, values).await? else {
        return Ok(None);
    };
    Ok(Some(Candidate {
        id: found.try_get("id")?,
        tenant: found.try_get("tenant_id")?,
        claims: number(&found, "claims")?,
        paused_by: found.try_get("paused_by")?,
    }))
}

/// Returns the tenants that have as many runs under way as they may have.
pub(super) async fn full(
    db: &Transaction<'_>,
    now: u64,
    per_tenant: u32,
) -> Result<Vec<String>, StoreError> {
    if per_tenant == 0 {
        return Ok(Vec::new());
    }
    let sql = "SELECT tenant_id FROM agent_runs WHERE status = 'running' AND lease_until > $1
         GROUP BY tenant_id HAVING count(*) >= $2";
    let found = db
        .rows(sql, &[&signed(now), &i64::from(per_tenant)])
        .await?;
    found.iter().map(|row| Ok(row.try_get(0)?)).collect()
}

/// Returns `true` if the tenant may have one more run under way. No other worker claims a run of the tenant until the
/// transaction ends.
async fn has_room(db: &Transaction<'_>, tenant: &str, per_tenant: u32) -> Result<bool, StoreError> {
    let lock = "SELECT pg_advisory_xact_lock($1, hashtext($2))";
    db.row(lock, &[&TENANTS, &tenant]).await?;
    let now = signed(db.now().await?);
    let sql = "SELECT count(*) FROM agent_runs WHERE tenant_id = $1 AND status = 'running' AND lease_until > $2";
    let found = db.row(sql, &[&tenant, &now]).await?;
    let under_way = found.map_or(Ok(0), |row| number(&row, 0))?;
    Ok(under_way < u64::from(per_tenant))
}

/// Claims a run of a tenant that is not among the `full` ones. A claim locks one tenant at most: a second lock on a
/// tenant could be the other half of a deadlock.
pub(super) async fn claim(
    db: &Transaction<'_>,
    claim: &Claim,
    full: &[String],
) -> Result<Claimed, StoreError> {
    let now = db.now().await?;
    let full = [full, &self::full(db, now, claim.per_tenant).await?].concat();
    loop {
        let Some(found) = next(db, now, claim, &full).await? else {
            return Ok(Claimed::Nothing);
        };
        let Candidate {
            id,
            tenant,
            claims,
            paused_by,
        } = found;
        if let Some(by) = paused_by {
            // Its worker is gone, and has not put it down.
            hold(db, now, &id, &wording::paused(&by)).await?;
            continue;
        }
        let most_claims = u64::from(claim.most_claims);
        if claims > most_claims {
            hold(db, now, &id, &wording::claimed_in_vain(claims)).await?;
            continue;
        }
        if claim.per_tenant > 0 && !has_room(db, &tenant, claim.per_tenant).await? {
            return Ok(Claimed::Full(tenant));
        }
        let until = now + millis(claim.time);
        let sql = "UPDATE agent_runs
             SET status = 'running', lease_owner = $2, lease_until = $3, fence = fence + 1, claims = claims + 1,
                 wake_at = NULL, updated_at = $4
             WHERE id = $1";
        db.execute(sql, &[&id, &claim.worker, &signed(until), &signed(now)])
            .await?;
        let run = runs::known(&db.db, &id).await?;
        return Ok(Claimed::Lease(Box::new(Lease {
            fence: run.fence,
            run,
            worker: claim.worker.clone(),
            alone: claims >= most_claims,
            until: Timestamp::from_millis(until),
        })));
    }
}

async fn hold(
    db: &Transaction<'_>,
    now: u64,
    run: &str,
    held: &crate::HeldReason,
) -> Result<(), StoreError> {
    let sql = "UPDATE agent_runs
         SET status = 'held', held = $2, held_kind = $4, held_by = $5, lease_owner = NULL, lease_until = NULL,
             updated_at = $3
         WHERE id = $1";
    let (why, kind) = (text(&held.why), held.kind.as_str());
    db.execute(sql, &[&run, &why, &signed(now), &kind, &held.by])
        .await?;
    append(db, now, run, AuditKind::Held, About::by(held.by.as_deref())).await
}

/// Holds all runs that are neither over nor held already. Their leases end with a new fence.
pub(super) async fn hold_all(db: &Transaction<'_>, why: &str, by: &str) -> Result<u64, StoreError> {
    // Everybody who locks several runs locks them in this order.
    let open =
        "SELECT id FROM agent_runs WHERE status NOT IN ('done', 'held') ORDER BY id FOR UPDATE";
    let open = db.rows(open, &[]).await?;
    let now = db.now().await?;
    let fence = "UPDATE agent_runs SET fence = fence + 1 WHERE id = $1";
    let held = crate::HeldReason::new(HeldKind::All, why).by(by);
    for row in &open {
        let run: &str = row.try_get(0)?;
        db.execute(fence, &[&run]).await?;
        hold(db, now, run, &held).await?;
    }
    Ok(open.len() as u64)
}

/// Run whose worker's lease is valid; its row is locked.
pub(super) struct Held {
    /// Time of the store after the wait for the lock of the run's row.
    pub(super) now: u64,
    /// End of the run's audit trail, before the events of this transaction.
    pub(super) trail: Ahead,
    pub(super) last_seq: u64,
    pub(super) last_commit: Option<String>,
    messages: u64,
    cancelled_by: Option<String>,
    paused_by: Option<String>,
}

/// Locks a run, and refuses a lease that another worker's has replaced, that was given back, or whose run was held. A
/// lease whose time is over stays valid until another worker claims the run.
pub(super) async fn hold_fast(db: &Transaction<'_>, lease: &Lease) -> Result<Held, StoreError> {
    // The time is that after the wait for the lock.
    let sql = "WITH locked AS MATERIALIZED (
             SELECT number, tenant_id, audit_seq, audit_digest, fence, status, last_seq, last_commit, messages, cancelled_by,
                 paused_by FROM agent_runs
             WHERE id = $1 FOR UPDATE)
         SELECT *, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now FROM locked";
    let lost = || wording::lease_lost(lease);
    let found = db.row(sql, &[&lease.run.id]).await?.ok_or_else(lost)?;
    let status: &str = found.try_get("status")?;
    if number(&found, "fence")? != lease.fence || status != "running" {
        return Err(lost());
    }
    Ok(Held {
        now: db.at(&found)?,
        trail: Ahead {
            number: found.try_get("number")?,
            end: End {
                run: lease.run.id.clone(),
                tenant_id: found.try_get("tenant_id")?,
                seq: number(&found, "audit_seq")?,
                digest: found.try_get("audit_digest")?,
            },
        },
        last_seq: number(&found, "last_seq")?,
        last_commit: found.try_get("last_commit")?,
        messages: number(&found, "messages")?,
        cancelled_by: found.try_get("cancelled_by")?,
        paused_by: found.try_get("paused_by")?,
    })
}

pub(super) async fn renew(
    db: &Transaction<'_>,
    lease: &Lease,
    time: Duration,
) -> Result<Renewed, StoreError> {
    let held = hold_fast(db, lease).await?;
    let until = held.now + millis(time);
    let sql = "UPDATE agent_runs SET lease_until = $2 WHERE id = $1";
    db.execute(sql, &[&lease.run.id, &signed(until)]).await?;
    Ok(Renewed {
        until: Timestamp::from_millis(until),
        messages: held.messages,
        cancelled_by: held.cancelled_by,
    })
}

pub(super) async fn release(
    db: &Transaction<'_>,
    lease: &Lease,
    rest: &Rest,
) -> Result<(), StoreError> {
    let run = hold_fast(db, lease).await?;
    let now = run.now;
    let put_down = match rest {
        Rest::Ready | Rest::Waiting { .. } => run.paused_by.as_deref(),
        Rest::Done { .. } | Rest::Held(_) => None,
    };
    let put_down = put_down.map(|by| Rest::Held(wording::paused(by)));
    let rest = put_down.as_ref().unwrap_or(rest);
    let (status, wake_at, end, held) = match rest {
        Rest::Ready => ("ready", None, None, None),
        Rest::Waiting { wake_at, messages } if run.messages == *messages => {
            let wake_at = wake_at.map(|at| signed(at.as_millis()));
            ("waiting", wake_at, None, None)
        }
        // A decision came in while the run was put down.
        Rest::Waiting { .. } => ("ready", None, None, None),
        Rest::Done { end, .. } => ("done", None, Some(end.as_str()), None),
        Rest::Held(held) => ("held", None, None, Some(held)),
    };
    let sql = "UPDATE agent_runs
         SET status = $2, wake_at = $3, ended = $4, held = $5, held_kind = $7, held_by = $8, lease_owner = NULL,
             lease_until = NULL, claims = CASE WHEN $2 = 'ready' THEN claims ELSE 0 END, updated_at = $6
         WHERE id = $1";
    let id = &lease.run.id;
    let why = held.map(|held| text(&held.why));
    let kind = held.map(|held| held.kind.as_str());
    let by = held.and_then(|held| held.by.as_deref());
    let at = signed(now);
    db.execute(sql, &[id, &status, &wake_at, &end, &why, &at, &kind, &by])
        .await?;
    match rest {
        Rest::Done { end, conversation } => {
            if let Some(contents) = conversation {
                conversations::leave(db, now, &lease.run, contents).await?;
            }
            approvals::withdraw(db, now, id).await?;
            let about = About {
                subject: Some(end.as_str()),
                ..About::default()
            };
            append(db, now, id, AuditKind::Finished, about).await
        }
        Rest::Held(_) => append(db, now, id, AuditKind::Held, About::by(by)).await,
        Rest::Ready | Rest::Waiting { .. } => Ok(()),
    }
}
