//! Commits of runs: journals, and the rows that follow from them.

use super::{
    approvals,
    connections::{Params, Transaction, number, rows, signed},
    executions, leases,
    runs::time,
    texts,
};
use crate::{Commit, Committed, ErrorKind, Lease, StoreError};
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
        texts: said,
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
        executions::began(db, now, lease, begin).await?;
    }
    for finish in finished {
        executions::ended(db, now, finish).await?;
    }
    texts::insert(db, now, lease, said).await
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
