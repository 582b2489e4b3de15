//! Leases of runs.

use super::{
    Tx, approvals,
    audit::append,
    conversations::{self, IS_NEXT},
    runs,
};
use crate::{
    AuditKind, Claim, HeldKind, HeldReason, Lease, Renewed, Rest, StoreError, columns::millis,
    trail::About, wording,
};
use agents_core::run::Timestamp;
use rusqlite::{Connection, OptionalExtension, named_params, params};
use std::time::Duration;

/// SQL condition of a run that can go on at the time `:now`.
const CAN_GO_ON: &str = "(status = 'ready'
    OR status = 'waiting' AND wake_at <= :now
    OR status = 'running' AND lease_until <= :now)";

/// Returns the id of the next run to claim, with its number of claims and the principal who has paused it; `None` if no
/// run can be claimed.
fn next(tx: &Tx<'_>, claim: &Claim) -> Result<Option<(String, u32, Option<String>)>, StoreError> {
    let sql = format!(
        "SELECT id, claims, paused_by FROM agent_runs AS this
         WHERE {CAN_GO_ON} AND {IS_NEXT} AND (:alone OR claims < :most_claims)
           AND agent_name IN (SELECT value FROM json_each(:agents))
           AND (:run IS NULL OR id = :run)
           AND (:per_tenant = 0 OR :per_tenant > (
               SELECT count(*) FROM agent_runs
               WHERE tenant_id = this.tenant_id AND status = 'running' AND lease_until > :now))
         ORDER BY priority DESC, updated_at, number LIMIT 1"
    );
    let mut found = tx.prepare_cached(&sql)?;
    let found = found.query_row(
        named_params! {
            ":now": tx.now,
            ":agents": serde_json::Value::from(claim.agents.clone()).to_string(),
            ":run": claim.run,
            ":per_tenant": claim.per_tenant,
            ":alone": claim.alone,
            ":most_claims": claim.most_claims,
        },
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    );
    Ok(found.optional()?)
}

/// Returns `true` if there is a run that the worker can claim, or that a claim would hold instead.
pub(super) fn any(tx: &Tx<'_>, claim: &Claim) -> Result<bool, StoreError> {
    Ok(next(tx, claim)?.is_some())
}

pub(super) fn claim(tx: &Tx<'_>, claim: &Claim) -> Result<Option<Lease>, StoreError> {
    while let Some((run, claims, paused_by)) = next(tx, claim)? {
        if let Some(by) = paused_by {
            // Its worker is gone, and has not put it down.
            hold(tx, &run, &wording::paused(&by))?;
            continue;
        }
        if claims > claim.most_claims {
            hold(tx, &run, &wording::claimed_in_vain(claims.into()))?;
            continue;
        }
        let until = tx.now + millis(claim.time);
        let mut claimed = tx.prepare_cached(
            "UPDATE agent_runs
             SET status = 'running', lease_owner = ?2, lease_until = ?3, fence = fence + 1, claims = claims + 1,
                 wake_at = NULL, updated_at = ?4
             WHERE id = ?1",
        )?;
        claimed.execute(params![run, claim.worker, until, tx.now])?;
        let run = runs::known(tx, &run)?;
        return Ok(Some(Lease {
            fence: run.fence,
            run,
            worker: claim.worker.clone(),
            alone: claims >= claim.most_claims,
            until: Timestamp::from_millis(until),
        }));
    }
    Ok(None)
}

fn hold(tx: &Tx<'_>, run: &str, held: &HeldReason) -> Result<(), StoreError> {
    let mut hold = tx.prepare_cached(
        "UPDATE agent_runs
         SET status = 'held', held = ?2, held_kind = ?4, held_by = ?5, lease_owner = NULL, lease_until = NULL,
             updated_at = ?3
         WHERE id = ?1",
    )?;
    hold.execute(params![run, held.why, tx.now, held.kind.as_str(), held.by])?;
    append(tx, run, AuditKind::Held, About::by(held.by.as_deref()))
}

/// Holds all runs that are neither over nor held already. Their leases end with a new fence.
pub(super) fn hold_all(tx: &Tx<'_>, why: &str, by: &str) -> Result<u64, StoreError> {
    let mut open = tx.prepare_cached(
        "UPDATE agent_runs SET fence = fence + 1 WHERE status NOT IN ('done', 'held') RETURNING id",
    )?;
    let open: Vec<String> = open
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let held = HeldReason::new(HeldKind::All, why).by(by);
    for run in &open {
        hold(tx, run, &held)?;
    }
    Ok(open.len() as u64)
}

/// Returns an error for a lease that another worker's has replaced, that was given back, or whose run was held. A lease
/// whose time is over stays valid until another worker claims the run.
pub(super) fn check(db: &Connection, lease: &Lease) -> Result<(), StoreError> {
    let mut found = db.prepare_cached(
        "SELECT 1 FROM agent_runs WHERE id = ?1 AND fence = ?2 AND status = 'running'",
    )?;
    match found.exists(params![lease.run.id, lease.fence])? {
        true => Ok(()),
        false => Err(wording::lease_lost(lease)),
    }
}

pub(super) fn renew(tx: &Tx<'_>, lease: &Lease, time: Duration) -> Result<Renewed, StoreError> {
    check(tx, lease)?;
    let until = tx.now + millis(time);
    let mut renewed = tx.prepare_cached("UPDATE agent_runs SET lease_until = ?2 WHERE id = ?1")?;
    renewed.execute(params![lease.run.id, until])?;
    let run = runs::known(tx, &lease.run.id)?;
    Ok(Renewed {
        until: Timestamp::from_millis(until),
        messages: run.messages,
        cancelled_by: run.cancelled_by,
    })
}

pub(super) fn release(tx: &Tx<'_>, lease: &Lease, rest: &Rest) -> Result<(), StoreError> {
    check(tx, lease)?;
    let run = runs::known(tx, &lease.run.id)?;
    let put_down = match rest {
        Rest::Ready | Rest::Waiting { .. } => run.paused_by.as_deref(),
        Rest::Done { .. } | Rest::Held(_) => None,
    };
    let put_down = put_down.map(|by| Rest::Held(wording::paused(by)));
    let rest = put_down.as_ref().unwrap_or(rest);
    let (status, wake_at, end, held) = match rest {
        Rest::Ready => ("ready", None, None, None),
        Rest::Waiting { wake_at, messages } if run.messages == *messages => {
            ("waiting", wake_at.map(Timestamp::as_millis), None, None)
        }
        // A decision came in while the run was put down.
        Rest::Waiting { .. } => ("ready", None, None, None),
        Rest::Done { end, .. } => ("done", None, Some(end.as_str()), None),
        Rest::Held(held) => ("held", None, None, Some(held)),
    };
    let mut released = tx.prepare_cached(
        "UPDATE agent_runs
         SET status = ?2, wake_at = ?3, ended = ?4, held = ?5, held_kind = ?7, held_by = ?8, lease_owner = NULL,
             lease_until = NULL, claims = iif(?2 = 'ready', claims, 0), updated_at = ?6
         WHERE id = ?1",
    )?;
    released.execute(params![
        lease.run.id,
        status,
        wake_at,
        end,
        held.map(|held| &held.why),
        tx.now,
        held.map(|held| held.kind.as_str()),
        held.and_then(|held| held.by.as_ref())
    ])?;
    match rest {
        Rest::Done { end, conversation } => {
            if let Some(contents) = conversation {
                conversations::leave(tx, &lease.run, contents)?;
            }
            approvals::withdraw(tx, &lease.run.id)?;
            let about = About {
                subject: Some(end.as_str()),
                ..About::default()
            };
            append(tx, &lease.run.id, AuditKind::Finished, about)
        }
        Rest::Held(held) => {
            let by = held.by.as_deref();
            append(tx, &lease.run.id, AuditKind::Held, About::by(by))
        }
        Rest::Ready | Rest::Waiting { .. } => Ok(()),
    }
}
