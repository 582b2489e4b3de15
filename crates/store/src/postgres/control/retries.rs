//! Retry budgets.

use crate::{
    RetryChange, StoreError,
    postgres::{
        connections::{Params, Transaction},
        row::text,
    },
};

pub(super) async fn change(
    db: &Transaction<'_>,
    org_id: &str,
    change: RetryChange,
) -> Result<Option<u32>, StoreError> {
    let [earned, taken, most] = [change.earned, change.taken, change.most].map(i64::from);
    // Whether there is enough, and that it is taken, is one statement.
    let guarded = "INSERT INTO llm_retry_state AS budget (org_id, tenths)
             SELECT $1::text, $4::bigint - $3::bigint WHERE $3 <= $4
         ON CONFLICT (org_id) DO UPDATE SET tenths = least($4, budget.tenths + $2::bigint) - $3
             WHERE least($4, budget.tenths + $2) >= $3
         RETURNING tenths";
    let values: Params<'_> = &[&text(org_id), &earned, &taken, &most];
    let Some(left) = db.row(guarded, values).await? else {
        return Ok(None);
    };
    let left: i64 = left.try_get(0)?;
    Ok(Some(u32::try_from(left).unwrap_or(u32::MAX)))
}
