//! Circuits that are open.

use crate::{StoreError, columns::millis, sqlite::Tx};
use rusqlite::params;
use std::time::Duration;

pub(super) fn list(tx: &Tx<'_>) -> Result<Vec<(String, Duration)>, StoreError> {
    let mut found = tx.prepare_cached("SELECT name, max(until - ?1, 0) FROM llm_circuits")?;
    let found = found.query_map([tx.now], |row| {
        Ok((row.get(0)?, Duration::from_millis(row.get(1)?)))
    })?;
    Ok(found.collect::<Result<_, _>>()?)
}

pub(super) fn fail(
    tx: &Tx<'_>,
    name: &str,
    failures: u32,
    time: Duration,
) -> Result<bool, StoreError> {
    // Whether the last requests have failed, and that the circuit opens, is one statement.
    let mut guarded = tx.prepare_cached(
        "INSERT INTO llm_circuits (name, until)
         SELECT ?1, ?2 WHERE ?3 <= (
             SELECT coalesce(sum(failed), 0) FROM (
                 SELECT failed FROM llm_usage WHERE circuit = ?1 AND failed IS NOT NULL ORDER BY number DESC LIMIT ?3))
         ON CONFLICT DO NOTHING",
    )?;
    Ok(guarded.execute(params![name, tx.now + millis(time), failures])? > 0)
}

pub(super) fn open(tx: &Tx<'_>, name: &str, time: Duration) -> Result<bool, StoreError> {
    let until = tx.now + millis(time);
    let mut insert = tx.prepare_cached(
        "INSERT INTO llm_circuits (name, until) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
    )?;
    if insert.execute(params![name, until])? > 0 {
        return Ok(true);
    }
    let mut update = tx.prepare_cached("UPDATE llm_circuits SET until = ?2 WHERE name = ?1")?;
    update.execute(params![name, until])?;
    Ok(false)
}

pub(super) fn probe(tx: &Tx<'_>, name: &str, time: Duration) -> Result<bool, StoreError> {
    let mut guarded =
        tx.prepare_cached("UPDATE llm_circuits SET until = ?3 WHERE name = ?1 AND until <= ?2")?;
    Ok(guarded.execute(params![name, tx.now, tx.now + millis(time)])? > 0)
}

pub(super) fn close(tx: &Tx<'_>, name: &str) -> Result<bool, StoreError> {
    let mut delete = tx.prepare_cached("DELETE FROM llm_circuits WHERE name = ?1")?;
    Ok(delete.execute([name])? > 0)
}
