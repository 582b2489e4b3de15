//! Leases of runs.

use super::{approvals, runs};
use crate::{Claim, ErrorKind, Lease, Renewed, Rest, StoreError, columns::millis};
use agents_core::run::Timestamp;
use rusqlite::{Connection, OptionalExtension, named_params, params};
use std::time::Duration;

/// Condition of a run that can go on, for `:now`.
const CAN_GO_ON: &str = "(status = 'ready'
    OR status = 'waiting' AND wake_at <= :now
    OR status = 'running' AND lease_until <= :now)";

/// Returns the id of the next run to claim, with its number of claims.
fn next(db: &Connection, now: u64, claim: &Claim) -> Result<Option<(String, u32)>, StoreError> {
    let sql = format!(
        "SELECT id, claims FROM agent_runs AS this
         WHERE {CAN_GO_ON}
           AND agent_name IN (SELECT value FROM json_each(:agents))
           AND (:run IS NULL OR id = :run)
           AND (:per_tenant = 0 OR :per_tenant > (
               SELECT count(*) FROM agent_runs
               WHERE tenant_id = this.tenant_id AND status = 'running' AND lease_until > :now))
         ORDER BY priority DESC, updated_at, rowid LIMIT 1"
    );
    let mut found = db.prepare_cached(&sql)?;
    let found = found.query_row(
        named_params! {
            ":now": now,
            ":agents": serde_json::Value::from(claim.agents.clone()).to_string(),
            ":run": claim.run,
            ":per_tenant": claim.per_tenant,
        },
        |row| Ok((row.get(0)?, row.get(1)?)),
    );
    Ok(found.optional()?)
}

/// Returns `true` if there is a run to claim.
pub(super) fn any(db: &Connection, now: u64, claim: &Claim) -> Result<bool, StoreError> {
    Ok(next(db, now, claim)?.is_some())
}

pub(super) fn claim(db: &Connection, now: u64, claim: &Claim) -> Result<Option<Lease>, StoreError> {
    while let Some((run, claims)) = next(db, now, claim)? {
        if claims >= claim.most_claims {
            let why = format!(
                "{claims} workers in a row took the run and stored nothing: it may end their processes; release it when the cause is mended"
            );
            hold(db, now, &run, &why)?;
            continue;
        }
        let until = now + millis(claim.time);
        let mut claimed = db.prepare_cached(
            "UPDATE agent_runs
             SET status = 'running', lease_owner = ?2, lease_until = ?3, fence = fence + 1, claims = claims + 1,
                 wake_at = NULL, updated_at = ?4
             WHERE id = ?1",
        )?;
        claimed.execute(params![run, claim.worker, until, now])?;
        let run = runs::known(db, &run)?;
        return Ok(Some(Lease {
            fence: run.fence,
            run,
            worker: claim.worker.clone(),
            until: Timestamp::from_millis(until),
        }));
    }
    Ok(None)
}

fn hold(db: &Connection, now: u64, run: &str, why: &str) -> Result<(), StoreError> {
    let mut held = db.prepare_cached(
        "UPDATE agent_runs SET status = 'held', held = ?2, lease_owner = NULL, lease_until = NULL, updated_at = ?3
         WHERE id = ?1",
    )?;
    held.execute(params![run, why, now])?;
    Ok(())
}

/// Refuses a lease that another worker's has replaced, or that was given back. A lease whose time is over still holds
/// until another worker claims the run.
pub(super) fn check(db: &Connection, lease: &Lease) -> Result<(), StoreError> {
    let mut found = db.prepare_cached(
        "SELECT 1 FROM agent_runs WHERE id = ?1 AND fence = ?2 AND status = 'running'",
    )?;
    match found.exists(params![lease.run.id, lease.fence])? {
        true => Ok(()),
        false => Err(StoreError::new(
            ErrorKind::LeaseLost,
            format!(
                "worker `{}` no longer has run `{}`: its lease {} has ended",
                lease.worker, lease.run.id, lease.fence
            ),
        )),
    }
}

pub(super) fn renew(
    db: &Connection,
    now: u64,
    lease: &Lease,
    time: Duration,
) -> Result<Renewed, StoreError> {
    check(db, lease)?;
    let until = now + millis(time);
    let mut renewed = db.prepare_cached("UPDATE agent_runs SET lease_until = ?2 WHERE id = ?1")?;
    renewed.execute(params![lease.run.id, until])?;
    let run = runs::known(db, &lease.run.id)?;
    Ok(Renewed {
        until: Timestamp::from_millis(until),
        messages: run.messages,
        cancelled_by: run.cancelled_by,
    })
}

pub(super) fn release(
    db: &Connection,
    now: u64,
    lease: &Lease,
    rest: &Rest,
) -> Result<(), StoreError> {
    check(db, lease)?;
    let (status, wake_at, end, held) = match rest {
        Rest::Ready => ("ready", None, None, None),
        Rest::Waiting { wake_at, messages } => {
            let run = runs::known(db, &lease.run.id)?;
            match run.messages == *messages {
                true => ("waiting", wake_at.map(Timestamp::as_millis), None, None),
                // A decision came in while the run was put down.
                false => ("ready", None, None, None),
            }
        }
        Rest::Done(end) => ("done", None, Some(end.as_str()), None),
        Rest::Held(why) => ("held", None, None, Some(why)),
    };
    let mut released = db.prepare_cached(
        "UPDATE agent_runs
         SET status = ?2, wake_at = ?3, ended = ?4, held = ?5, lease_owner = NULL, lease_until = NULL,
             claims = iif(?2 = 'ready', claims, 0), updated_at = ?6
         WHERE id = ?1",
    )?;
    released.execute(params![lease.run.id, status, wake_at, end, held, now])?;
    if matches!(rest, Rest::Done(_)) {
        approvals::cancel(db, now, &lease.run.id)?;
    }
    Ok(())
}
