//! The log of usage, and its sums.

use crate::{
    BudgetKey, StoreError, UsageBy, UsageDay, UsageFilter, UsageRow, UsageSum,
    postgres::{
        connections::{Params, number, rows},
        row::time,
    },
};
use deadpool_postgres::{GenericClient, tokio_postgres::Row};

/// SQL condition for the rows of a filter, with the parameters 1 to 4.
const WHERE: &str = "($1::text IS NULL OR org_id = $1) AND ($2::text IS NULL OR domain_id = $2)
    AND ($3::text IS NULL OR purpose = $3) AND ($4::text IS NULL OR date >= $4)";

fn key(row: &Row) -> Result<BudgetKey, StoreError> {
    Ok(BudgetKey {
        org_id: row.try_get("org_id")?,
        domain_id: row.try_get("domain_id")?,
        purpose: row.try_get("purpose")?,
    })
}

fn limit(filter: &UsageFilter) -> i64 {
    i64::from(filter.limit.unwrap_or(100))
}

pub(super) async fn listed(
    db: &impl GenericClient,
    filter: &UsageFilter,
) -> Result<Vec<UsageRow>, StoreError> {
    let sql = format!(
        "SELECT * FROM llm_usage WHERE outcome IS NOT NULL AND {WHERE} AND ($5::text IS NULL OR run_id = $5)
         ORDER BY number DESC LIMIT $6"
    );
    let UsageFilter {
        org_id,
        domain_id,
        purpose,
        run_id,
        since,
        ..
    } = filter;
    let limit = limit(filter);
    let values: Params<'_> = &[org_id, domain_id, purpose, since, run_id, &limit];
    let read = |row: &Row| {
        let cost: Option<i64> = row.try_get("cost")?;
        Ok(UsageRow {
            id: row.try_get("id")?,
            at: time(row, "at")?,
            date: row.try_get("date")?,
            key: key(row)?,
            bc: row.try_get("bc")?,
            provider: row.try_get("provider")?,
            model: row.try_get("model")?,
            profile_version: number(row, "profile_version")?,
            run_id: row.try_get("run_id")?,
            turn_id: row.try_get("turn_id")?,
            input_tokens: number(row, "input_tokens")?,
            cached_tokens: number(row, "cached_tokens")?,
            cache_write_tokens: number(row, "cache_write_tokens")?,
            output_tokens: number(row, "output_tokens")?,
            cost_nanos: cost.map(i64::cast_unsigned),
            outcome: row.try_get("outcome")?,
            took_ms: number(row, "took_ms")?,
        })
    };
    rows(db, &sql, values).await?.iter().map(read).collect()
}

pub(super) async fn sums(
    db: &impl GenericClient,
    filter: &UsageFilter,
    by: UsageBy,
) -> Result<Vec<UsageSum>, StoreError> {
    let column = by.column();
    let sql = format!(
        "SELECT {column}, count(*), sum(input_tokens)::bigint, sum(output_tokens)::bigint,
             coalesce(sum(cost), 0)::bigint, count(*) FILTER (WHERE cost IS NULL)
         FROM llm_usage WHERE outcome IS NOT NULL AND {WHERE} AND ($5::text IS NULL OR run_id = $5)
         GROUP BY 1 ORDER BY 5 DESC, 1 LIMIT $6"
    );
    let UsageFilter {
        org_id,
        domain_id,
        purpose,
        run_id,
        since,
        ..
    } = filter;
    let limit = limit(filter);
    let values: Params<'_> = &[org_id, domain_id, purpose, since, run_id, &limit];
    let read = |row: &Row| {
        Ok(UsageSum {
            of: row.try_get(0)?,
            call_count: number(row, 1)?,
            input_tokens: number(row, 2)?,
            output_tokens: number(row, 3)?,
            cost_nanos: number(row, 4)?,
            unpriced: number(row, 5)?,
        })
    };
    rows(db, &sql, values).await?.iter().map(read).collect()
}

pub(super) async fn daily(
    db: &impl GenericClient,
    filter: &UsageFilter,
) -> Result<Vec<UsageDay>, StoreError> {
    let sql = format!(
        "SELECT * FROM llm_usage_daily WHERE {WHERE}
         ORDER BY date DESC, org_id, domain_id, bc, purpose, model LIMIT $5"
    );
    let UsageFilter {
        org_id,
        domain_id,
        purpose,
        since,
        ..
    } = filter;
    let limit = limit(filter);
    let values: Params<'_> = &[org_id, domain_id, purpose, since, &limit];
    let read = |row: &Row| {
        Ok(UsageDay {
            date: row.try_get("date")?,
            key: key(row)?,
            bc: row.try_get("bc")?,
            model: row.try_get("model")?,
            call_count: number(row, "call_count")?,
            input_tokens: number(row, "input_tokens")?,
            output_tokens: number(row, "output_tokens")?,
            cost_nanos: number(row, "cost_estimate")?,
        })
    };
    rows(db, &sql, values).await?.iter().map(read).collect()
}
