//! Rows of streamed text.

use super::{
    connections::{Params, Transaction, number, rows, signed},
    leases,
};
use crate::{Lease, NewText, StoreError, Text, columns::millis};
use deadpool_postgres::GenericClient;

/// Maximum number of outdated rows of streamed text that are removed when rows are added, whichever runs they belong
/// to.
const SWEPT: i64 = 64;

pub(super) async fn add(
    db: &Transaction<'_>,
    lease: &Lease,
    texts: &[NewText],
) -> Result<(), StoreError> {
    let held = leases::hold_fast(db, lease).await?;
    insert(db, held.now, lease, texts).await
}

/// Adds rows of streamed text to a run. The caller has checked that the lease on the run is valid.
pub(super) async fn insert(
    db: &Transaction<'_>,
    now: u64,
    lease: &Lease,
    texts: &[NewText],
) -> Result<(), StoreError> {
    if texts.is_empty() {
        return Ok(());
    }
    let sql =
        "INSERT INTO agent_run_texts (run_id, number, contents, expires_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT DO NOTHING";
    for text in texts {
        let expires_at = signed(now + millis(text.keep));
        let values: Params<'_> = &[
            &lease.run.id,
            &signed(text.number),
            &text.contents,
            &expires_at,
        ];
        db.execute(sql, values).await?;
    }
    // Rows that another worker is about to remove are passed over.
    let sweep = "DELETE FROM agent_run_texts WHERE (run_id, number) IN (
             SELECT run_id, number FROM agent_run_texts WHERE expires_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)";
    db.execute(sweep, &[&signed(now), &SWEPT]).await.map(drop)
}

pub(super) async fn list(
    db: &impl GenericClient,
    now: u64,
    run: &str,
    after: u64,
) -> Result<Vec<Text>, StoreError> {
    let sql = "SELECT number, contents FROM agent_run_texts
         WHERE run_id = $1 AND number > $2 AND expires_at > $3 ORDER BY number";
    let found = rows(db, sql, &[&run, &signed(after), &signed(now)]).await?;
    let read = |row: &_| {
        Ok(Text {
            number: number(row, "number")?,
            contents: deadpool_postgres::tokio_postgres::Row::try_get(row, "contents")?,
        })
    };
    found.iter().map(read).collect()
}
