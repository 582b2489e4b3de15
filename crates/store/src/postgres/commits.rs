//! Commits of runs: journals, and the rows that follow from them.

use super::{
    approvals,
    connections::{Params, Transaction, number, rows, signed},
    executions, leases,
    row::time,
    texts,
};
use crate::{Commit, Committed, Lease, StoreError, wording};
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
        ended: _,
        texts: said,
    } = commit;
    if held.last_commit.as_ref() == Some(id) {
        return Ok(());
    }
    let last_seq = held.last_seq;
    if last_seq != *after || last < after {
        return Err(wording::journal_went_on(run, last_seq, *after));
    }
    let now = held.now;
    let (after, last, at) = (signed(*after), signed(*last), signed(now));
    let insert = "INSERT INTO agent_run_commits (run, after_seq, last_seq, entries, committed_at)
         VALUES ($1, $2, $3, $4, $5)";
    let of_run = held.trail.number;
    let inserted: Params<'_> = &[&of_run, &after, &last, entries, &at];
    db.execute(insert, inserted).await?;
    // The events of the step change the row of the run once, together with it.
    *db.trail() = Some(held.trail);
    for asked in asked {
        approvals::ask(db, now, lease, asked).await?;
    }
    for begin in begun {
        match commit.end_of(begin) {
            Some(finish) => executions::ran(db, now, lease, begin, finish).await?,
            None => executions::began(db, now, lease, begin).await?,
        }
    }
    for finish in commit.later_ends() {
        executions::ended(db, now, finish).await?;
    }
    texts::insert(db, now, lease, said).await?;
    let Some(trail) = db.trail().take() else {
        return Err(wording::trail_without_end());
    };
    let advance = "UPDATE agent_runs
         SET last_seq = $2, last_commit = $3, claims = 0, advanced_at = $4, audit_seq = $5, audit_digest = $6
         WHERE number = $1";
    let (seq, digest) = (signed(trail.end.seq), trail.end.digest);
    let advanced: Params<'_> = &[&of_run, &last, id, &at, &seq, &digest];
    db.execute(advance, advanced).await.map(drop)
}

pub(super) async fn list(
    db: &impl GenericClient,
    run: &str,
    after: u64,
) -> Result<Vec<Committed>, StoreError> {
    let sql = "SELECT after_seq, last_seq, entries, committed_at FROM agent_run_commits
         WHERE run = (SELECT number FROM agent_runs WHERE id = $1) AND last_seq > $2 ORDER BY last_seq";
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
