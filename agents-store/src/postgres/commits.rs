//! Commits of runs: journals, and the rows that follow from them.

use super::{
    approvals,
    connections::{Params, Transaction, number, rows, signed},
    leases,
    runs::{text, time},
};
use crate::{Begin, Commit, Committed, ErrorKind, Finish, Lease, StoreError, columns};
use deadpool_postgres::GenericClient;

pub(super) async fn commit(
    db: &Transaction<'_>,
    lease: &Lease,
    commit: &Commit,
) -> Result<(), StoreError> {
    let held = leases::hold_fast(db, lease).await?;
    let run = &lease.run.id;
    let Commit {
        id,
        after,
        last,
        entries,
        asked,
        began: begun,
        ended: finished,
    } = commit;
    if held.last_commit.as_ref() == Some(id) {
        return Ok(());
    }
    let last_seq = held.last_seq;
    if last_seq != *after || last < after {
        return Err(StoreError::new(
            ErrorKind::Conflict,
            format!("the journal of run `{run}` ends with entry {last_seq}, not with {after}"),
        ));
    }
    let now = held.now;
    let (after, last, at) = (signed(*after), signed(*last), signed(now));
    let insert =
        "INSERT INTO agent_run_commits (run_id, after_seq, last_seq, entries, committed_at)
         VALUES ($1, $2, $3, $4, $5)";
    let advance = "UPDATE agent_runs SET last_seq = $2, last_commit = $3, claims = 0, updated_at = $4 WHERE id = $1";
    let inserted: Params<'_> = &[run, &after, &last, entries, &at];
    let advanced: Params<'_> = &[run, &last, id, &at];
    let (inserted, advanced) =
        tokio::join!(db.execute(insert, inserted), db.execute(advance, advanced));
    inserted?;
    advanced?;
    for asked in asked {
        approvals::ask(db, now, lease, asked).await?;
    }
    for begin in begun {
        began(db, now, lease, begin).await?;
    }
    for finish in finished {
        ended(db, now, finish).await?;
    }
    Ok(())
}

async fn began(
    db: &Transaction<'_>,
    now: u64,
    lease: &Lease,
    begin: &Begin,
) -> Result<(), StoreError> {
    let run = &lease.run;
    let approved_by = match &begin.needs {
        Some(request) => approvals::consume(db, now, &run.id, request, &begin.args_digest).await?,
        None => None,
    };
    let sql = "INSERT INTO agent_tool_executions
             (id, tenant_id, run_id, call_id, attempt, agent_name, tool_name, version, input, approved, approved_by,
              risk_level, executed_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
         ON CONFLICT (id) DO UPDATE SET executed_at = excluded.executed_at";
    db.execute(
        sql,
        &[
            &begin.id,
            &run.tenant,
            &run.id,
            &text(&begin.call_id),
            &i64::from(begin.attempt),
            &begin.agent_name,
            &begin.tool_name,
            &begin.version,
            &begin.input,
            &begin.needs.is_some(),
            &approved_by,
            &columns::risk(begin.risk_level),
            &signed(now),
        ],
    )
    .await
    .map(drop)
}

async fn ended(db: &Transaction<'_>, now: u64, finish: &Finish) -> Result<(), StoreError> {
    let sql = "UPDATE agent_tool_executions
         SET output = $2, error = $3, effect_unknown = $4, duration_ms = greatest(0, $5 - executed_at)
         WHERE id = $1";
    let error = finish.error.as_deref().map(text);
    db.execute(
        sql,
        &[
            &finish.id,
            &finish.output,
            &error,
            &finish.effect_unknown,
            &signed(now),
        ],
    )
    .await
    .map(drop)
}

pub(super) async fn list(
    db: &impl GenericClient,
    run: &str,
    after: u64,
) -> Result<Vec<Committed>, StoreError> {
    let sql = "SELECT after_seq, last_seq, entries, committed_at FROM agent_run_commits
         WHERE run_id = $1 AND last_seq > $2 ORDER BY last_seq";
    let found = rows(db, sql, &[&run, &signed(after)]).await?;
    let read = |row: &_| {
        Ok(Committed {
            after: number(row, "after_seq")?,
            last: number(row, "last_seq")?,
            entries: row.try_get("entries")?,
            at: time(row, "committed_at")?,
        })
    };
    found.iter().map(read).collect()
}
