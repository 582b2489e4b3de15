//! Rows of manifests.

use super::{
    connections::{Params, Transaction, rows, signed},
    row::{text, time},
};
use crate::{NewManifest, StoreError, StoredManifest, manifest::KEPT};
use deadpool_postgres::{GenericClient, tokio_postgres::Row};

fn read(row: &Row) -> Result<StoredManifest, StoreError> {
    Ok(StoredManifest {
        agent: row.try_get("agent_name")?,
        contents: row.try_get("contents")?,
        first_seen_at: time(row, "first_seen_at")?,
        seen_at: time(row, "seen_at")?,
    })
}

/// Stores manifests, and removes those of their agents that are not among the last [`KEPT`] that were seen.
pub(super) async fn put(db: &Transaction<'_>, manifests: &[NewManifest]) -> Result<(), StoreError> {
    let now = signed(db.now().await?);
    let insert = "INSERT INTO agent_manifests (agent_name, digest, contents, first_seen_at, seen_at)
         VALUES ($1, $2, $3, $4, $4)
         ON CONFLICT (agent_name, digest) DO UPDATE SET seen_at = greatest(agent_manifests.seen_at, $4)";
    let forget = "DELETE FROM agent_manifests WHERE agent_name = $1 AND digest NOT IN (
             SELECT digest FROM agent_manifests WHERE agent_name = $1
             ORDER BY seen_at DESC, first_seen_at DESC, digest LIMIT $2)";
    // Processes that start at once take the rows in one order, so that none waits for another in a circle.
    let mut ordered: Vec<_> = manifests.iter().collect();
    ordered.sort_by(|a, b| a.agent.cmp(&b.agent));
    for one in ordered {
        let (agent, digest) = (text(&one.agent), one.digest());
        let values: Params<'_> = &[&agent, &digest.as_slice(), &one.contents, &now];
        db.execute(insert, values).await?;
        db.execute(forget, &[&agent, &i64::from(KEPT)]).await?;
    }
    Ok(())
}

pub(super) async fn list(db: &impl GenericClient) -> Result<Vec<StoredManifest>, StoreError> {
    let sql = "SELECT * FROM agent_manifests
         ORDER BY agent_name, seen_at DESC, first_seen_at DESC, digest";
    rows(db, sql, &[]).await?.iter().map(read).collect()
}
