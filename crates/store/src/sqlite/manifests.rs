//! Rows of manifests.

use super::{Tx, row::time};
use crate::{NewManifest, StoreError, StoredManifest, manifest::KEPT};
use rusqlite::{Connection, Row, params};

fn read(row: &Row<'_>) -> rusqlite::Result<StoredManifest> {
    Ok(StoredManifest {
        agent: row.get("agent_name")?,
        contents: row.get("contents")?,
        first_seen_at: time(row, "first_seen_at")?,
        seen_at: time(row, "seen_at")?,
    })
}

/// Stores manifests, and removes those of their agents that are not among the last [`KEPT`] that were seen.
pub(super) fn put(tx: &Tx<'_>, manifests: &[NewManifest]) -> Result<(), StoreError> {
    let mut insert = tx.prepare_cached(
        "INSERT INTO agent_manifests (agent_name, digest, contents, first_seen_at, seen_at)
         VALUES (?1, ?2, ?3, ?4, ?4)
         ON CONFLICT (agent_name, digest) DO UPDATE SET seen_at = max(seen_at, ?4)",
    )?;
    let mut forget = tx.prepare_cached(
        "DELETE FROM agent_manifests WHERE agent_name = ?1 AND digest NOT IN (
             SELECT digest FROM agent_manifests WHERE agent_name = ?1
             ORDER BY seen_at DESC, first_seen_at DESC, digest LIMIT ?2)",
    )?;
    for one in manifests {
        insert.execute(params![one.agent, one.digest(), one.contents, tx.now])?;
        forget.execute(params![one.agent, KEPT])?;
    }
    Ok(())
}

pub(super) fn list(db: &Connection) -> Result<Vec<StoredManifest>, StoreError> {
    let mut found = db.prepare_cached(
        "SELECT * FROM agent_manifests ORDER BY agent_name, seen_at DESC, first_seen_at DESC, digest",
    )?;
    let rows = found.query_map([], read)?;
    Ok(rows.collect::<Result<_, _>>()?)
}
