//! Holds and budgets.

use crate::{
    Budget, BudgetKey, Hold, HoldAnswer, RateRule, Settlement, StoreError,
    columns::millis,
    control::{MOST, UNSETTLED, after_refill, amount_of, date},
    sqlite::Tx,
    wording,
};
use rusqlite::{OptionalExtension, params};
use std::time::Duration;

pub(super) fn hold(tx: &Tx<'_>, hold: &Hold) -> Result<HoldAnswer, StoreError> {
    let BudgetKey {
        org_id,
        domain_id,
        purpose,
    } = &hold.key;
    if let Some(rate) = hold.rate
        && let Some(wait) = take_call(tx, &hold.key, rate)?
    {
        return Ok(HoldAnswer::TooOften { wait });
    }
    expire(tx, &hold.key)?;
    let today = date(tx.now);
    let amount = amount_of(hold);
    // Whether the cap permits it, and that it is held, is one statement.
    let mut guarded = tx.prepare_cached(
        "INSERT INTO llm_budget_state (org_id, domain_id, purpose, date, held)
         SELECT ?1, ?2, ?3, ?4, ?5 WHERE ?5 <= ?6
         ON CONFLICT DO UPDATE SET held = held + ?5 WHERE spent + held + ?5 <= ?6",
    )?;
    // Without a cap, the sums are kept all the same.
    let cap = hold.cap_nanos.map_or(NO_CAP, |cap| cap.min(MOST - 1));
    let is_held = guarded.execute(params![org_id, domain_id, purpose, today, amount, cap])?;
    if is_held == 0 {
        let budget = of_day(tx, &hold.key, &today)?;
        return Ok(HoldAnswer::CapReached { budget });
    }
    let mut insert = tx.prepare_cached(
        "INSERT INTO llm_usage (id, at, date, org_id, domain_id, bc, purpose, provider, model, profile_version, run_id,
             turn_id, held, expires_at, circuit)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
    )?;
    insert.execute(params![
        hold.id,
        tx.now,
        today,
        org_id,
        domain_id,
        hold.bc,
        purpose,
        hold.provider,
        hold.model,
        hold.profile_version,
        hold.run_id,
        hold.turn_id,
        hold.amount_nanos.map(|amount| amount.min(MOST)),
        tx.now + millis(hold.expires_in),
        hold.circuit
    ])?;
    let warns = warns(tx, &hold.key, &today, hold.cap_nanos)?;
    Ok(HoldAnswer::Held { warns })
}

/// Takes a call out of the bucket of a rate limit. If there is none, returns the time until there is one.
fn take_call(tx: &Tx<'_>, key: &BudgetKey, rate: RateRule) -> Result<Option<Duration>, StoreError> {
    let BudgetKey {
        org_id,
        domain_id,
        purpose,
    } = key;
    let mut guarded = tx.prepare_cached(
        "INSERT INTO llm_rate_state (org_id, domain_id, purpose, calls, at) VALUES (?1, ?2, ?3, ?4 - 1.0, ?5)
         ON CONFLICT DO UPDATE
             SET calls = min(?4, calls + max(0, ?5 - at) * ?4 / ?6) - 1.0, at = max(at, ?5)
             WHERE min(?4, calls + max(0, ?5 - at) * ?4 / ?6) >= 1.0",
    )?;
    let (calls, per) = (f64::from(rate.calls), rate.per_ms as f64);
    let taken = guarded.execute(params![org_id, domain_id, purpose, calls, tx.now, per])?;
    if taken > 0 {
        return Ok(None);
    }
    let mut found = tx.prepare_cached(
        "SELECT calls, at FROM llm_rate_state WHERE org_id = ?1 AND domain_id = ?2 AND purpose = ?3",
    )?;
    let (left, at) = found.query_row(params![org_id, domain_id, purpose], |row| {
        Ok((row.get::<_, f64>(0)?, row.get::<_, u64>(1)?))
    })?;
    Ok(Some(after_refill(rate, left, tx.now.saturating_sub(at))))
}

/// Ends the expired holds of a key. The requests of these holds were sent, so the amounts held count as spent.
fn expire(tx: &Tx<'_>, key: &BudgetKey) -> Result<(), StoreError> {
    let BudgetKey {
        org_id,
        domain_id,
        purpose,
    } = key;
    let mut found = tx.prepare_cached(
        "SELECT id FROM llm_usage
         WHERE org_id = ?1 AND domain_id = ?2 AND purpose = ?3 AND outcome IS NULL AND expires_at <= ?4",
    )?;
    let ids = found.query_map(params![org_id, domain_id, purpose, tx.now], |row| {
        row.get::<_, String>(0)
    })?;
    for id in ids.collect::<Result<Vec<_>, _>>()? {
        let settlement = Settlement {
            id,
            outcome: UNSETTLED.to_owned(),
            ..Settlement::default()
        };
        settle(tx, &settlement)?;
    }
    Ok(())
}

/// Amount that stands for a missing cap, since no sum reaches it.
const NO_CAP: u64 = u64::MAX >> 1;

/// Row of the log of usage whose hold is being settled.
struct Open {
    key: BudgetKey,
    bc: String,
    model: String,
    date: String,
    held: Option<u64>,
    outcome: Option<String>,
    cost: Option<u64>,
}

pub(super) fn settle(tx: &Tx<'_>, settlement: &Settlement) -> Result<bool, StoreError> {
    let settlement = &settlement.clone().bounded();
    let mut found = tx.prepare_cached("SELECT * FROM llm_usage WHERE id = ?1")?;
    let found = found.query_row([&settlement.id], |row| {
        Ok(Open {
            key: BudgetKey {
                org_id: row.get("org_id")?,
                domain_id: row.get("domain_id")?,
                purpose: row.get("purpose")?,
            },
            bc: row.get("bc")?,
            model: row.get("model")?,
            date: row.get("date")?,
            held: row.get("held")?,
            outcome: row.get("outcome")?,
            cost: row.get("cost")?,
        })
    });
    let Some(open) = found.optional()? else {
        return Err(wording::no_hold(&settlement.id));
    };
    let was_unsettled = open.outcome.as_deref() == Some(UNSETTLED);
    if open.outcome.is_some() && (!was_unsettled || settlement.outcome == UNSETTLED) {
        return Ok(false);
    }
    let BudgetKey {
        org_id,
        domain_id,
        purpose,
    } = &open.key;
    let cost = settlement.cost_nanos.or(open.held);
    let (freed, spent_before) = match was_unsettled {
        true => (0, open.cost.unwrap_or(0)),
        false => (open.held.unwrap_or(0), 0),
    };
    let mut update = tx.prepare_cached(
        "UPDATE llm_usage SET outcome = ?2, input_tokens = ?3, cached_tokens = ?4, cache_write_tokens = ?5,
             output_tokens = ?6, cost = ?7, took_ms = ?8, failed = ?9 WHERE id = ?1",
    )?;
    update.execute(params![
        settlement.id,
        settlement.outcome,
        settlement.input_tokens,
        settlement.cached_tokens,
        settlement.cache_write_tokens,
        settlement.output_tokens,
        cost,
        settlement.took_ms,
        settlement.failed
    ])?;
    let mut sums = tx.prepare_cached(
        "UPDATE llm_budget_state SET held = held - ?5, spent = spent + ?6 - ?7
         WHERE org_id = ?1 AND domain_id = ?2 AND purpose = ?3 AND date = ?4",
    )?;
    sums.execute(params![
        org_id,
        domain_id,
        purpose,
        open.date,
        freed,
        cost.unwrap_or(0),
        spent_before
    ])?;
    let mut daily = tx.prepare_cached(
        "INSERT INTO llm_usage_daily (org_id, domain_id, bc, purpose, model, date, input_tokens, output_tokens,
             cost_estimate, call_count)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9 - ?10, ?11)
         ON CONFLICT DO UPDATE SET input_tokens = input_tokens + ?7, output_tokens = output_tokens + ?8,
             cost_estimate = cost_estimate + ?9 - ?10, call_count = call_count + ?11",
    )?;
    daily.execute(params![
        org_id,
        domain_id,
        open.bc,
        purpose,
        open.model,
        open.date,
        settlement.input_tokens,
        settlement.output_tokens,
        cost.unwrap_or(0),
        spent_before,
        u64::from(!was_unsettled)
    ])?;
    warns(tx, &open.key, &open.date, settlement.cap_nanos)
}

/// Returns `true` if the day's sum has reached 80 % of the cap, once a day: any later call for the same day returns
/// `false`.
fn warns(tx: &Tx<'_>, key: &BudgetKey, date: &str, cap: Option<u64>) -> Result<bool, StoreError> {
    let Some(cap) = cap else {
        return Ok(false);
    };
    let BudgetKey {
        org_id,
        domain_id,
        purpose,
    } = key;
    let mut once = tx.prepare_cached(
        "UPDATE llm_budget_state SET warned = 1
         WHERE org_id = ?1 AND domain_id = ?2 AND purpose = ?3 AND date = ?4 AND warned = 0
             AND (spent + held) / 4 >= ?5 / 5",
    )?;
    let cap = cap.min(MOST - 1);
    Ok(once.execute(params![org_id, domain_id, purpose, date, cap])? > 0)
}

pub(super) fn today(tx: &Tx<'_>, key: &BudgetKey) -> Result<Budget, StoreError> {
    of_day(tx, key, &date(tx.now))
}

pub(super) fn all_of_today(
    tx: &Tx<'_>,
    org: Option<&str>,
) -> Result<Vec<(BudgetKey, Budget)>, StoreError> {
    let mut found = tx.prepare_cached(
        "SELECT org_id, domain_id, purpose, spent, held FROM llm_budget_state
         WHERE date = ?1 AND (?2 IS NULL OR org_id = ?2) ORDER BY purpose, org_id, domain_id",
    )?;
    let found = found.query_map(params![date(tx.now), org], |row| {
        let key = BudgetKey {
            org_id: row.get(0)?,
            domain_id: row.get(1)?,
            purpose: row.get(2)?,
        };
        let budget = Budget {
            spent_nanos: row.get(3)?,
            held_nanos: row.get(4)?,
        };
        Ok((key, budget))
    })?;
    Ok(found.collect::<Result<_, _>>()?)
}

fn of_day(tx: &Tx<'_>, key: &BudgetKey, date: &str) -> Result<Budget, StoreError> {
    let BudgetKey {
        org_id,
        domain_id,
        purpose,
    } = key;
    let mut found = tx.prepare_cached(
        "SELECT spent, held FROM llm_budget_state
         WHERE org_id = ?1 AND domain_id = ?2 AND purpose = ?3 AND date = ?4",
    )?;
    let found = found.query_row(params![org_id, domain_id, purpose, date], |row| {
        Ok(Budget {
            spent_nanos: row.get(0)?,
            held_nanos: row.get(1)?,
        })
    });
    Ok(found.optional()?.unwrap_or_default())
}

pub(super) fn rebuild(tx: &Tx<'_>) -> Result<(), StoreError> {
    // Who was warned stays so.
    tx.execute_batch(
        "UPDATE llm_budget_state SET spent = 0, held = 0;
         INSERT INTO llm_budget_state (org_id, domain_id, purpose, date, spent, held)
             SELECT org_id, domain_id, purpose, date,
                 coalesce(sum(CASE WHEN outcome IS NOT NULL THEN cost END), 0),
                 coalesce(sum(CASE WHEN outcome IS NULL THEN held END), 0)
             FROM llm_usage WHERE TRUE GROUP BY org_id, domain_id, purpose, date
             ON CONFLICT DO UPDATE SET spent = excluded.spent, held = excluded.held;
         DELETE FROM llm_usage_daily;
         INSERT INTO llm_usage_daily (org_id, domain_id, bc, purpose, model, date, input_tokens, output_tokens,
                 cost_estimate, call_count)
             SELECT org_id, domain_id, bc, purpose, model, date, sum(input_tokens), sum(output_tokens),
                 coalesce(sum(cost), 0), count(*)
             FROM llm_usage WHERE outcome IS NOT NULL
             GROUP BY org_id, domain_id, bc, purpose, model, date;",
    )?;
    Ok(())
}
