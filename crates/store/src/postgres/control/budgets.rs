//! Holds and budgets.

use crate::{
    Budget, BudgetKey, Hold, HoldAnswer, RateRule, Settlement, StoreError,
    columns::millis,
    control::{MOST, UNSETTLED, after_refill, amount_of, date},
    postgres::{
        Clock,
        connections::{self, Params, Transaction, number, row, rows, signed},
        row::text,
    },
    wording,
};
use deadpool_postgres::{GenericClient, tokio_postgres::Row};
use std::time::Duration;

/// Amount that stands for a missing cap, since no sum reaches it.
const NO_CAP: i64 = i64::MAX;

pub(super) async fn hold(db: &Transaction<'_>, hold: &Hold) -> Result<HoldAnswer, StoreError> {
    let key = &stored(&hold.key);
    let BudgetKey {
        org_id,
        domain_id,
        purpose,
    } = key;
    let now = db.now().await?;
    // The rate comes first and the sums after it, in every transaction, so that no two wait for each other.
    if let Some(rate) = hold.rate
        && let Some(wait) = take_call(db, key, rate, now).await?
    {
        return Ok(HoldAnswer::TooOften { wait });
    }
    expire(db, key, now).await?;
    let today = date(now);
    // Whether the cap permits it, and that it is held, is one statement.
    let guarded = "INSERT INTO llm_budget_state AS day (org_id, domain_id, purpose, date, held)
         SELECT $1::text, $2::text, $3::text, $4::text, $5::bigint WHERE $5 <= $6::bigint
         ON CONFLICT (org_id, domain_id, purpose, date) DO UPDATE SET held = day.held + $5
             WHERE day.spent + day.held + $5 <= $6";
    let cap = hold
        .cap_nanos
        .map_or(NO_CAP, |cap| signed(cap.min(MOST - 1)));
    let amount = signed(amount_of(hold));
    let values: Params<'_> = &[org_id, domain_id, purpose, &today, &amount, &cap];
    if db.execute(guarded, values).await? == 0 {
        let budget = of_day(&db.db, key, &today).await?;
        return Ok(HoldAnswer::CapReached { budget });
    }
    let insert = "INSERT INTO llm_usage (id, at, date, org_id, domain_id, bc, purpose, provider, model, profile_version,
             run_id, turn_id, held, expires_at, circuit)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)";
    let held = hold.amount_nanos.map(|amount| signed(amount.min(MOST)));
    let values: Params<'_> = &[
        &hold.id,
        &signed(now),
        &today,
        org_id,
        domain_id,
        &text(&hold.bc),
        purpose,
        &text(&hold.provider),
        &text(&hold.model),
        &signed(hold.profile_version),
        &text(&hold.run_id),
        &text(&hold.turn_id),
        &held,
        &signed(now + millis(hold.expires_in)),
        &text(&hold.circuit),
    ];
    db.execute(insert, values).await?;
    let warns = warns(db, key, &today, hold.cap_nanos).await?;
    Ok(HoldAnswer::Held { warns })
}

fn stored(key: &BudgetKey) -> BudgetKey {
    BudgetKey {
        org_id: text(&key.org_id).into_owned(),
        domain_id: text(&key.domain_id).into_owned(),
        purpose: text(&key.purpose).into_owned(),
    }
}

/// Takes a call out of the bucket of a rate limit. If there is none, returns the time until there is one.
async fn take_call(
    db: &Transaction<'_>,
    key: &BudgetKey,
    rate: RateRule,
    now: u64,
) -> Result<Option<Duration>, StoreError> {
    let BudgetKey {
        org_id,
        domain_id,
        purpose,
    } = key;
    let guarded = "INSERT INTO llm_rate_state AS bucket (org_id, domain_id, purpose, calls, at)
             VALUES ($1, $2, $3, $4::double precision - 1, $5)
         ON CONFLICT (org_id, domain_id, purpose) DO UPDATE
             SET calls = least($4, bucket.calls + greatest(0, $5 - bucket.at) * $4 / $6::double precision) - 1,
                 at = greatest(bucket.at, $5)
             WHERE least($4, bucket.calls + greatest(0, $5 - bucket.at) * $4 / $6) >= 1";
    let (calls, per, at) = (f64::from(rate.calls), rate.per_ms as f64, signed(now));
    let values: Params<'_> = &[org_id, domain_id, purpose, &calls, &at, &per];
    if db.execute(guarded, values).await? > 0 {
        return Ok(None);
    }
    let sql = "SELECT calls, at FROM llm_rate_state WHERE org_id = $1 AND domain_id = $2 AND purpose = $3";
    let Some(found) = db.row(sql, &[org_id, domain_id, purpose]).await? else {
        return Ok(Some(Duration::from_millis(1)));
    };
    let passed = now.saturating_sub(number(&found, "at")?);
    Ok(Some(after_refill(rate, found.try_get("calls")?, passed)))
}

/// Ends the expired holds of a key. The requests of these holds were sent, so the amounts held count as spent.
async fn expire(db: &Transaction<'_>, key: &BudgetKey, now: u64) -> Result<(), StoreError> {
    let BudgetKey {
        org_id,
        domain_id,
        purpose,
    } = key;
    // A hold that another transaction settles just now is left to it, since that one may wait for this one.
    let sql = "SELECT id FROM llm_usage
         WHERE org_id = $1 AND domain_id = $2 AND purpose = $3 AND outcome IS NULL AND expires_at <= $4
         ORDER BY date, number FOR UPDATE SKIP LOCKED";
    let values: Params<'_> = &[org_id, domain_id, purpose, &signed(now)];
    for found in db.rows(sql, values).await? {
        let settlement = Settlement {
            id: found.try_get("id")?,
            outcome: UNSETTLED.to_owned(),
            ..Settlement::default()
        };
        settle(db, &settlement).await?;
    }
    Ok(())
}

/// Reads an amount from a column; `None` if the column is null.
fn amount(row: &Row, column: &str) -> Result<Option<i64>, StoreError> {
    Ok(row.try_get(column)?)
}

pub(super) async fn settle(
    db: &Transaction<'_>,
    settlement: &Settlement,
) -> Result<bool, StoreError> {
    let settlement = &settlement.clone().bounded();
    // The row is locked: of several settlements, one counts.
    let sql = "SELECT * FROM llm_usage WHERE id = $1 FOR UPDATE";
    let Some(open) = db.row(sql, &[&settlement.id]).await? else {
        return Err(wording::no_hold(&settlement.id));
    };
    let outcome: Option<String> = open.try_get("outcome")?;
    let was_unsettled = outcome.as_deref() == Some(UNSETTLED);
    if outcome.is_some() && (!was_unsettled || settlement.outcome == UNSETTLED) {
        return Ok(false);
    }
    let key = BudgetKey {
        org_id: open.try_get("org_id")?,
        domain_id: open.try_get("domain_id")?,
        purpose: open.try_get("purpose")?,
    };
    let (bc, model, date): (String, String, String) = (
        open.try_get("bc")?,
        open.try_get("model")?,
        open.try_get("date")?,
    );
    let held = amount(&open, "held")?;
    let cost = settlement.cost_nanos.map(signed).or(held);
    let (freed, before) = match was_unsettled {
        true => (0, amount(&open, "cost")?.unwrap_or(0)),
        false => (held.unwrap_or(0), 0),
    };
    let (input, output) = (
        signed(settlement.input_tokens),
        signed(settlement.output_tokens),
    );
    let BudgetKey {
        org_id,
        domain_id,
        purpose,
    } = &key;
    let spent = cost.unwrap_or(0);
    // The tables are locked in the order in which `rebuild` locks them: the sums, the log, the days.
    let sums = "UPDATE llm_budget_state SET held = held - $5, spent = spent + $6 - $7
         WHERE org_id = $1 AND domain_id = $2 AND purpose = $3 AND date = $4";
    let values: Params<'_> = &[org_id, domain_id, purpose, &date, &freed, &spent, &before];
    db.execute(sums, values).await?;
    let update = "UPDATE llm_usage SET outcome = $2, input_tokens = $3, cached_tokens = $4, cache_write_tokens = $5,
             output_tokens = $6, cost = $7, took_ms = $8, failed = $9 WHERE id = $1";
    let values: Params<'_> = &[
        &settlement.id,
        &text(&settlement.outcome),
        &input,
        &signed(settlement.cached_tokens),
        &signed(settlement.cache_write_tokens),
        &output,
        &cost,
        &signed(settlement.took_ms),
        &settlement.failed,
    ];
    db.execute(update, values).await?;
    let daily = "INSERT INTO llm_usage_daily AS day (org_id, domain_id, bc, purpose, model, date, input_tokens,
             output_tokens, cost_estimate, call_count)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
         ON CONFLICT (org_id, domain_id, bc, purpose, model, date) DO UPDATE
             SET input_tokens = day.input_tokens + $7, output_tokens = day.output_tokens + $8,
                 cost_estimate = day.cost_estimate + $9, call_count = day.call_count + $10";
    let (more, calls) = (spent - before, i64::from(!was_unsettled));
    let values: Params<'_> = &[
        org_id, domain_id, &bc, purpose, &model, &date, &input, &output, &more, &calls,
    ];
    db.execute(daily, values).await?;
    warns(db, &key, &date, settlement.cap_nanos).await
}

/// Returns `true` if the day's sum has reached 80 % of the cap, once a day: any later call for the same day returns
/// `false`.
async fn warns(
    db: &Transaction<'_>,
    key: &BudgetKey,
    date: &str,
    cap: Option<u64>,
) -> Result<bool, StoreError> {
    let Some(cap) = cap else {
        return Ok(false);
    };
    let BudgetKey {
        org_id,
        domain_id,
        purpose,
    } = key;
    let once = "UPDATE llm_budget_state SET warned = 1
         WHERE org_id = $1 AND domain_id = $2 AND purpose = $3 AND date = $4 AND warned = 0
             AND (spent + held) / 4 >= $5::bigint / 5";
    let cap = signed(cap.min(MOST - 1));
    let values: Params<'_> = &[org_id, domain_id, purpose, &date, &cap];
    Ok(db.execute(once, values).await? > 0)
}

pub(super) async fn today(
    db: &impl GenericClient,
    clock: &Clock,
    key: &BudgetKey,
) -> Result<Budget, StoreError> {
    let now = connections::now(db, clock).await?;
    of_day(db, &stored(key), &date(now)).await
}

pub(super) async fn all_of_today(
    db: &impl GenericClient,
    clock: &Clock,
    org: Option<&str>,
) -> Result<Vec<(BudgetKey, Budget)>, StoreError> {
    let today = date(connections::now(db, clock).await?);
    let sql = "SELECT org_id, domain_id, purpose, spent, held FROM llm_budget_state
         WHERE date = $1 AND ($2::text IS NULL OR org_id = $2) ORDER BY purpose, org_id, domain_id";
    let org = org.map(text);
    let found = rows(db, sql, &[&today, &org]).await?;
    let read = |row: &Row| {
        let key = BudgetKey {
            org_id: row.try_get("org_id")?,
            domain_id: row.try_get("domain_id")?,
            purpose: row.try_get("purpose")?,
        };
        let budget = Budget {
            spent_nanos: number(row, "spent")?,
            held_nanos: number(row, "held")?,
        };
        Ok((key, budget))
    };
    found.iter().map(read).collect()
}

async fn of_day(
    db: &impl GenericClient,
    key: &BudgetKey,
    date: &str,
) -> Result<Budget, StoreError> {
    let BudgetKey {
        org_id,
        domain_id,
        purpose,
    } = key;
    let sql = "SELECT spent, held FROM llm_budget_state
         WHERE org_id = $1 AND domain_id = $2 AND purpose = $3 AND date = $4";
    let found = row(db, sql, &[org_id, domain_id, purpose, &date]).await?;
    found.map_or(Ok(Budget::default()), |row| {
        Ok(Budget {
            spent_nanos: number(&row, "spent")?,
            held_nanos: number(&row, "held")?,
        })
    })
}

pub(super) async fn rebuild(db: &Transaction<'_>) -> Result<(), StoreError> {
    // Nobody holds or settles anything meanwhile. Who was warned stays so.
    let statements = [
        "LOCK TABLE llm_budget_state, llm_usage, llm_usage_daily IN SHARE ROW EXCLUSIVE MODE",
        "UPDATE llm_budget_state SET spent = 0, held = 0",
        "INSERT INTO llm_budget_state AS day (org_id, domain_id, purpose, date, spent, held)
             SELECT org_id, domain_id, purpose, date,
                 coalesce(sum(cost) FILTER (WHERE outcome IS NOT NULL), 0)::bigint,
                 coalesce(sum(held) FILTER (WHERE outcome IS NULL), 0)::bigint
             FROM llm_usage GROUP BY org_id, domain_id, purpose, date
             ON CONFLICT (org_id, domain_id, purpose, date) DO UPDATE SET spent = excluded.spent, held = excluded.held",
        "DELETE FROM llm_usage_daily",
        "INSERT INTO llm_usage_daily (org_id, domain_id, bc, purpose, model, date, input_tokens, output_tokens,
                 cost_estimate, call_count)
             SELECT org_id, domain_id, bc, purpose, model, date, sum(input_tokens)::bigint,
                 sum(output_tokens)::bigint, coalesce(sum(cost), 0)::bigint, count(*)
             FROM llm_usage WHERE outcome IS NOT NULL
             GROUP BY org_id, domain_id, bc, purpose, model, date",
    ];
    for sql in statements {
        db.execute(sql, &[]).await?;
    }
    Ok(())
}
