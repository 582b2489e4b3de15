//! Numbers of rows, in whose order pollers read them.
//!
//! A row has its number before its transaction commits, so a later number may be seen earlier. Whoever reads rows after
//! a number would then miss the earlier one for ever. So each transaction that adds such rows shares a lock until it is
//! over, and whoever reads rows of all runs, to go on after the last one, waits for the transactions that have the lock.

use super::connections::Transaction;
use crate::StoreError;

/// SQL expression that takes the shared lock, in a statement that adds a numbered row. An advisory lock of the server
/// has two numbers.
pub(super) const ANNOUNCE: &str = "pg_advisory_xact_lock_shared(1634168437, 0)";

/// Takes the shared lock before rows with numbers are added. Take all locks on runs first: whoever holds the shared
/// lock may not wait for a run.
pub(super) async fn announce(db: &Transaction<'_>) -> Result<(), StoreError> {
    let sql = format!("SELECT {ANNOUNCE}");
    db.row(&sql, &[]).await.map(drop)
}

/// Waits until all rows that have a number can be seen. No new one gets a number until the transaction ends.
pub(super) async fn settle(db: &Transaction<'_>) -> Result<(), StoreError> {
    let sql = "SELECT pg_advisory_xact_lock(1634168437, 0)";
    db.row(sql, &[]).await.map(drop)
}
