//! The log of usage, and its sums.

use crate::{
    BudgetKey, StoreError, UsageBy, UsageDay, UsageFilter, UsageRow, UsageSum, sqlite::row::time,
};
use rusqlite::{Connection, Row, params};

/// SQL condition for the rows of a filter, with the parameters 1 to 4.
const WHERE: &str = "(?1 IS NULL OR org_id = ?1) AND (?2 IS NULL OR domain_id = ?2)
    AND (?3 IS NULL OR purpose = ?3) AND (?4 IS NULL OR date >= ?4)";

fn key(row: &Row<'_>) -> rusqlite::Result<BudgetKey> {
    Ok(BudgetKey {
        org_id: row.get("org_id")?,
        domain_id: row.get("domain_id")?,
        purpose: row.get("purpose")?,
    })
}

pub(super) fn rows(db: &Connection, filter: &UsageFilter) -> Result<Vec<UsageRow>, StoreError> {
    let UsageFilter {
        org_id,
        domain_id,
        purpose,
        run_id,
        since,
        limit,
    } = filter;
    let mut found = db.prepare_cached(&format!(
        "SELECT * FROM llm_usage WHERE outcome IS NOT NULL AND {WHERE} AND (?5 IS NULL OR run_id = ?5)
         ORDER BY number DESC LIMIT ?6"
    ))?;
    let limit = limit.unwrap_or(100);
    let values = params![org_id, domain_id, purpose, since, run_id, limit];
    let found = found.query_map(values, |row| {
        Ok(UsageRow {
            id: row.get("id")?,
            at: time(row, "at")?,
            date: row.get("date")?,
            key: key(row)?,
            bc: row.get("bc")?,
            provider: row.get("provider")?,
            model: row.get("model")?,
            profile_version: row.get("profile_version")?,
            run_id: row.get("run_id")?,
            turn_id: row.get("turn_id")?,
            input_tokens: row.get("input_tokens")?,
            cached_tokens: row.get("cached_tokens")?,
            cache_write_tokens: row.get("cache_write_tokens")?,
            output_tokens: row.get("output_tokens")?,
            cost_nanos: row.get("cost")?,
            outcome: row.get("outcome")?,
            took_ms: row.get("took_ms")?,
        })
    })?;
    Ok(found.collect::<Result<_, _>>()?)
}

pub(super) fn sums(
    db: &Connection,
    filter: &UsageFilter,
    by: UsageBy,
) -> Result<Vec<UsageSum>, StoreError> {
    let UsageFilter {
        org_id,
        domain_id,
        purpose,
        run_id,
        since,
        limit,
    } = filter;
    let column = by.column();
    let mut found = db.prepare_cached(&format!(
        "SELECT {column}, count(*), sum(input_tokens), sum(output_tokens), coalesce(sum(cost), 0),
             sum(cost IS NULL)
         FROM llm_usage WHERE outcome IS NOT NULL AND {WHERE} AND (?5 IS NULL OR run_id = ?5)
         GROUP BY 1 ORDER BY 5 DESC, 1 LIMIT ?6"
    ))?;
    let limit = limit.unwrap_or(100);
    let values = params![org_id, domain_id, purpose, since, run_id, limit];
    let found = found.query_map(values, |row| {
        Ok(UsageSum {
            of: row.get(0)?,
            call_count: row.get(1)?,
            input_tokens: row.get(2)?,
            output_tokens: row.get(3)?,
            cost_nanos: row.get(4)?,
            unpriced: row.get(5)?,
        })
    })?;
    Ok(found.collect::<Result<_, _>>()?)
}

pub(super) fn daily(db: &Connection, filter: &UsageFilter) -> Result<Vec<UsageDay>, StoreError> {
    let UsageFilter {
        org_id,
        domain_id,
        purpose,
        run_id: _,
        since,
        limit,
    } = filter;
    let mut found = db.prepare_cached(&format!(
        "SELECT * FROM llm_usage_daily WHERE {WHERE}
         ORDER BY date DESC, org_id, domain_id, bc, purpose, model LIMIT ?5"
    ))?;
    let limit = limit.unwrap_or(100);
    let found = found.query_map(params![org_id, domain_id, purpose, since, limit], |row| {
        Ok(UsageDay {
            date: row.get("date")?,
            key: key(row)?,
            bc: row.get("bc")?,
            model: row.get("model")?,
            call_count: row.get("call_count")?,
            input_tokens: row.get("input_tokens")?,
            output_tokens: row.get("output_tokens")?,
            cost_nanos: row.get("cost_estimate")?,
        })
    })?;
    Ok(found.collect::<Result<_, _>>()?)
}
