//! Commits of runs: journals, and the rows that follow from them.

use super::{approvals, leases, runs::time};
use crate::{Begin, Commit, Committed, ErrorKind, Finish, Lease, StoreError, columns};
use rusqlite::{Connection, params};

pub(super) fn commit(
    db: &Connection,
    now: u64,
    lease: &Lease,
    commit: &Commit,
) -> Result<(), StoreError> {
    leases::check(db, lease)?;
    let run = &lease.run.id;
    let mut last =
        db.prepare_cached("SELECT last_seq, last_commit FROM agent_runs WHERE id = ?1")?;
    let (last_seq, last_commit): (u64, Option<String>) =
        last.query_row([run], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if last_commit.as_deref() == Some(&commit.id) {
        return Ok(());
    }
    if last_seq != commit.after || commit.last < commit.after {
        let after = commit.after;
        return Err(StoreError::new(
            ErrorKind::Conflict,
            format!("the journal of run `{run}` ends with entry {last_seq}, not with {after}"),
        ));
    }
    let mut insert = db.prepare_cached(
        "INSERT INTO agent_run_commits (run_id, after_seq, last_seq, entries, committed_at) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    insert.execute(params![run, commit.after, commit.last, commit.entries, now])?;
    let mut advance = db.prepare_cached(
        "UPDATE agent_runs SET last_seq = ?2, last_commit = ?3, claims = 0, updated_at = ?4 WHERE id = ?1",
    )?;
    advance.execute(params![run, commit.last, commit.id, now])?;
    for asked in &commit.asked {
        approvals::ask(db, now, lease, asked)?;
    }
    for begin in &commit.began {
        began(db, now, lease, begin)?;
    }
    for finish in &commit.ended {
        ended(db, now, finish)?;
    }
    Ok(())
}

fn began(db: &Connection, now: u64, lease: &Lease, begin: &Begin) -> Result<(), StoreError> {
    let run = &lease.run;
    let approved_by = match &begin.needs {
        Some(request) => approvals::consume(db, now, &run.id, request, &begin.args_digest)?,
        None => None,
    };
    let mut insert = db.prepare_cached(
        "INSERT INTO agent_tool_executions
             (id, tenant_id, run_id, call_id, attempt, agent_name, tool_name, version, input, approved, approved_by,
              risk_level, executed_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
         ON CONFLICT (id) DO UPDATE SET executed_at = excluded.executed_at",
    )?;
    insert.execute(params![
        begin.id,
        run.tenant,
        run.id,
        begin.call_id,
        begin.attempt,
        begin.agent_name,
        begin.tool_name,
        begin.version,
        begin.input,
        begin.needs.is_some(),
        approved_by,
        columns::risk(begin.risk_level),
        now
    ])?;
    Ok(())
}

fn ended(db: &Connection, now: u64, finish: &Finish) -> Result<(), StoreError> {
    let mut update = db.prepare_cached(
        "UPDATE agent_tool_executions
         SET output = ?2, error = ?3, effect_unknown = ?4, duration_ms = max(0, ?5 - executed_at)
         WHERE id = ?1",
    )?;
    update.execute(params![
        finish.id,
        finish.output,
        finish.error,
        finish.effect_unknown,
        now
    ])?;
    Ok(())
}

pub(super) fn list(db: &Connection, run: &str, after: u64) -> Result<Vec<Committed>, StoreError> {
    let mut found = db.prepare_cached(
        "SELECT after_seq, last_seq, entries, committed_at FROM agent_run_commits
         WHERE run_id = ?1 AND last_seq > ?2 ORDER BY last_seq",
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
