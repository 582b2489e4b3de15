//! Retry budgets.

use crate::{RetryChange, StoreError, sqlite::Tx};
use rusqlite::{OptionalExtension, params};

pub(super) fn change(
    tx: &Tx<'_>,
    org_id: &str,
    change: RetryChange,
) -> Result<Option<u32>, StoreError> {
    let RetryChange {
        earned,
        taken,
        most,
    } = change;
    // Whether there is enough, and that it is taken, is one statement.
    let mut guarded = tx.prepare_cached(
        "INSERT INTO llm_retry_state (org_id, tenths) SELECT ?1, ?4 - ?3 WHERE ?3 <= ?4
         ON CONFLICT DO UPDATE SET tenths = min(?4, tenths + ?2) - ?3 WHERE min(?4, tenths + ?2) >= ?3
         RETURNING tenths",
    )?;
    let left = guarded.query_row(params![org_id, earned, taken, most], |row| row.get(0));
    Ok(left.optional()?)
}
