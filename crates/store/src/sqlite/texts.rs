//! Rows of streamed text.

use super::{Tx, leases};
use crate::{Lease, NewText, StoreError, Text, columns::millis};
use rusqlite::{Connection, params};

/// Maximum number of outdated rows of streamed text that are removed when rows are added, whichever runs they belong
/// to.
const SWEPT: u32 = 64;

pub(super) fn add(tx: &Tx<'_>, lease: &Lease, texts: &[NewText]) -> Result<(), StoreError> {
    leases::check(tx, lease)?;
    insert(tx, lease, texts)
}

/// Adds rows of streamed text to a run. The caller has checked that the lease on the run is valid.
pub(super) fn insert(tx: &Tx<'_>, lease: &Lease, texts: &[NewText]) -> Result<(), StoreError> {
    if texts.is_empty() {
        return Ok(());
    }
    let mut insert = tx.prepare_cached(
        "INSERT INTO agent_run_texts (run_id, number, contents, expires_at) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT DO NOTHING",
    )?;
    for text in texts {
        let expires_at = tx.now + millis(text.keep);
        insert.execute(params![
            lease.run.id,
            text.number,
            text.contents,
            expires_at
        ])?;
    }
    let mut sweep = tx.prepare_cached(
        "DELETE FROM agent_run_texts WHERE (run_id, number) IN (
             SELECT run_id, number FROM agent_run_texts WHERE expires_at <= ?1 LIMIT ?2)",
    )?;
    sweep.execute(params![tx.now, SWEPT])?;
    Ok(())
}

pub(super) fn list(db: &Tx<'_>, run: &str, after: u64) -> Result<Vec<Text>, StoreError> {
    let connection: &Connection = db;
    let mut found = connection.prepare_cached(
        "SELECT number, contents FROM agent_run_texts
         WHERE run_id = ?1 AND number > ?2 AND expires_at > ?3 ORDER BY number",
    )?;
    let rows = found.query_map(params![run, after, db.now], |row| {
        Ok(Text {
            number: row.get(0)?,
            contents: row.get(1)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
