//! Commits of runs: journals, and the rows that follow from them.

use super::{Tx, approvals, executions, leases, row::time, texts};
use crate::{Commit, Committed, Lease, StoreError, wording};
use rusqlite::{Connection, params};

pub(super) fn commit(tx: &Tx<'_>, lease: &Lease, commit: &Commit) -> Result<(), StoreError> {
    leases::check(tx, lease)?;
    let run = &lease.run.id;
    let mut last =
        tx.prepare_cached("SELECT number, last_seq, last_commit FROM agent_runs WHERE id = ?1")?;
    let (number, last_seq, last_commit): (u64, u64, Option<String>) =
        last.query_row([run], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    if last_commit.as_deref() == Some(&commit.id) {
        return Ok(());
    }
    if last_seq != commit.after || commit.last < commit.after {
        return Err(wording::journal_went_on(run, last_seq, commit.after));
    }
    let mut insert = tx.prepare_cached(
        "INSERT INTO agent_run_commits (run, after_seq, last_seq, entries, committed_at) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    insert.execute(params![
        number,
        commit.after,
        commit.last,
        commit.entries,
        tx.now
    ])?;
    let mut advance = tx.prepare_cached(
        "UPDATE agent_runs SET last_seq = ?2, last_commit = ?3, claims = 0, updated_at = ?4 WHERE id = ?1",
    )?;
    advance.execute(params![run, commit.last, commit.id, tx.now])?;
    for asked in &commit.asked {
        approvals::ask(tx, lease, asked)?;
    }
    for begin in &commit.began {
        match commit.end_of(begin) {
            Some(finish) => executions::ran(tx, lease, begin, finish)?,
            None => executions::began(tx, lease, begin)?,
        }
    }
    for finish in commit.later_ends() {
        executions::ended(tx, finish)?;
    }
    texts::insert(tx, lease, &commit.texts)?;
    Ok(())
}

pub(super) fn list(db: &Connection, run: &str, after: u64) -> Result<Vec<Committed>, StoreError> {
    let mut found = db.prepare_cached(
        "SELECT after_seq, last_seq, entries, committed_at FROM agent_run_commits
         WHERE run = (SELECT number FROM agent_runs WHERE id = ?1) AND last_seq > ?2 ORDER BY last_seq",
    )?;
    let rows = found.query_map(params![run, after], |row| {
        Ok(Committed {
            after: row.get("after_seq")?,
            last: row.get("last_seq")?,
            entries: row.get("entries")?,
            at: time(row, "committed_at")?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
