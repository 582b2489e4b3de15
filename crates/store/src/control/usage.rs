//! Holds, budgets and the log of usage.

use agents_core::run::Timestamp;
use std::time::Duration;

/// Key of a limit: the organisation, the workspace and the purpose that it applies to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct BudgetKey {
    /// Id of the organisation (tenant) that the limit applies to.
    pub org_id: String,
    /// Id of the workspace that the limit applies to; empty for none.
    pub domain_id: String,
    /// Purpose of the requests that the limit applies to.
    pub purpose: String,
}

/// Rate limit: a bucket that holds `calls` calls, and that fills up within the time `per_ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateRule {
    /// Number of calls that the bucket holds when it is full.
    pub calls: u32,
    /// Time in which an empty bucket fills up, in milliseconds.
    pub per_ms: u64,
}

/// Order to hold money for a request that is about to be sent. It also counts the call for the rate limit, and stores who is
/// about to ask which model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hold {
    /// Id of the request to a model, which no other request has.
    pub id: String,
    /// Organisation, workspace and purpose whose limits apply.
    pub key: BudgetKey,
    /// Rate limit that applies; `None` if there is none, or if an earlier request of the same call has counted for it.
    pub rate: Option<RateRule>,
    /// Maximum cost of a day, in billionths of a dollar; `None` for no cap.
    pub cap_nanos: Option<u64>,
    /// Largest cost that the request can have, in billionths of a dollar; `None` if the model has no price or the
    /// length of the reply no bound, so that any cap refuses the request.
    pub amount_nanos: Option<u64>,
    /// Time after which the hold counts as spent if nobody settles it. The next hold for the same key ends it then.
    pub expires_in: Duration,
    /// Bounded context that the call comes from: see [`Scope`](agents_core::tool::Scope).
    pub bc: String,
    /// Name of the provider that is about to be asked.
    pub provider: String,
    /// Name of the model that is about to be asked.
    pub model: String,
    /// Version of the profile that named the model.
    pub profile_version: u64,
    /// Id of the run that makes the request; empty outside of a run.
    pub run_id: String,
    /// Path of the agent's place in the run, with the number of its turn.
    pub turn_id: String,
    /// Name of the circuit that the request goes through: one for each model and credential.
    pub circuit: String,
}

/// Answer of the store to a [`Hold`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HoldAnswer {
    /// The money is held, and the request may be sent.
    Held {
        /// Is `true` if the sum of the day has just reached 80 % of the cap, for the first time on that day, so that
        /// people are warned.
        warns: bool,
    },
    /// The request is refused: too many calls came before.
    TooOften {
        /// Time until the rate limit admits the next call.
        wait: Duration,
    },
    /// The request is refused: with its largest cost, the sum of the day would pass the cap, or its largest cost is not
    /// known.
    CapReached {
        /// Amounts that are spent and held today.
        budget: Budget,
    },
}

/// Amounts that are spent and held on a day, in billionths of a dollar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Amount that was spent on the day of the budget.
    pub spent_nanos: u64,
    /// Amount that is held for requests that have not ended.
    pub held_nanos: u64,
}

/// End of the hold on money for one request: what the request has cost, and how it went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settlement {
    /// Id of the request, as its [`Hold`] names it.
    pub id: String,
    /// Cost of the request, in billionths of a dollar; `None` if it is not known. It then counts as what was held.
    pub cost_nanos: Option<u64>,
    /// Number of tokens that the model has read: its input, with the cached ones.
    pub input_tokens: u64,
    /// Number of the input tokens that came from the provider's cache.
    pub cached_tokens: u64,
    /// Number of the input tokens that were written into the provider's cache.
    pub cache_write_tokens: u64,
    /// Number of tokens that the model has written: its output.
    pub output_tokens: u64,
    /// End of the request: `answered`, or the kind of its error.
    pub outcome: String,
    /// Is `true` if the model has failed, `false` if it has answered, and `None` if the request says nothing about the
    /// model.
    pub failed: Option<bool>,
    /// Time from the request to the end of the reply, in milliseconds.
    pub took_ms: u64,
    /// Cap on the cost of a day, in billionths of a dollar, for the warning at 80 %; `None` for no cap.
    pub cap_nanos: Option<u64>,
}

/// Row of the log: one request to a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageRow {
    /// Id of the request to a model.
    pub id: String,
    /// Time at which the cost of the request was reserved.
    pub at: Timestamp,
    /// Day in UTC on which the cost was reserved, such as `2026-11-25`.
    pub date: String,
    /// Organisation, workspace and purpose whose limits applied.
    pub key: BudgetKey,
    /// Bounded context (in the sense of domain-driven design) that the call came from.
    pub bc: String,
    /// Name of the provider that was asked.
    pub provider: String,
    /// Name of the model that was asked.
    pub model: String,
    /// Version of the profile that named the model.
    pub profile_version: u64,
    /// Id of the run that made the request; empty outside of a run.
    pub run_id: String,
    /// Path of the agent's place in the run, with the number of its turn.
    pub turn_id: String,
    /// Number of tokens that the model has read: its input, with the cached ones.
    pub input_tokens: u64,
    /// Number of the input tokens that came from the provider's cache.
    pub cached_tokens: u64,
    /// Number of the input tokens that were written into the provider's cache.
    pub cache_write_tokens: u64,
    /// Number of tokens that the model has written: its output.
    pub output_tokens: u64,
    /// Cost in billionths of a dollar; if the cost is not known, the amount that was held; `None` if nothing was held
    /// either.
    pub cost_nanos: Option<u64>,
    /// End of the request: `answered`, the kind of its error, or `unsettled` if nobody has settled it in time.
    pub outcome: String,
    /// Time from the request to the end of the reply, in milliseconds.
    pub took_ms: u64,
}

/// Choice of rows of the log of usage, for [`ControlStore::usage`](crate::ControlStore::usage) and its sums. The default
/// chooses all rows. A row is chosen if it fits each field that is set.
///
/// ```
/// use agents_store::{ControlStore, SqliteStore, UsageBy, UsageFilter};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents_store::StoreError> {
/// let store = SqliteStore::in_memory().await?;
/// let november = UsageFilter { org_id: Some("acme".into()), since: Some("2026-11-01".into()), ..UsageFilter::default() };
/// for sum in store.usage_sums(&november, UsageBy::Model).await? {
///     println!("{}: {} requests, {} billionths of a dollar", sum.of, sum.call_count, sum.cost_nanos);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageFilter {
    /// Id of the organisation (tenant) whose rows are chosen; `None` for all.
    pub org_id: Option<String>,
    /// Id of the workspace whose rows are chosen; `None` for all.
    pub domain_id: Option<String>,
    /// Purpose whose rows are chosen; `None` for all.
    pub purpose: Option<String>,
    /// Id of the run whose rows are chosen; `None` for all. Daily sums do not tell runs apart.
    pub run_id: Option<String>,
    /// First day whose rows are chosen, in UTC, such as `2026-11-25`; `None` for all days.
    pub since: Option<String>,
    /// Maximum number of rows or sums that are returned; `None` for 100.
    pub limit: Option<u32>,
}

/// Column of the log of usage by which rows are grouped: rows with the same value become one sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UsageBy {
    /// Groups requests by the organisation (tenant) that they were made for.
    Org,
    /// Groups requests by their purpose, such as `scoring`.
    Purpose,
    /// Groups requests by the name of the model that was asked.
    Model,
    /// Groups requests by the run that made them; requests outside of a run are one sum.
    Run,
    /// Groups requests by the place of the agent in its run, and its turn. Equal turns of several runs are one sum,
    /// unless the filter names a run.
    Turn,
    /// Groups requests by the name of the agent whose run made them. The name is empty outside of a run, and for a run
    /// that is not in the same store.
    Agent,
    /// Groups requests by their day, in UTC.
    Day,
}

impl UsageBy {
    /// Returns the column by which rows are grouped, or the SQL expression that stands for one.
    pub(crate) fn column(self) -> &'static str {
        match self {
            UsageBy::Org => "org_id",
            UsageBy::Purpose => "purpose",
            UsageBy::Model => "model",
            UsageBy::Run => "run_id",
            UsageBy::Turn => "turn_id",
            UsageBy::Agent => {
                "coalesce((SELECT agent_name FROM agent_runs WHERE agent_runs.id = llm_usage.run_id), '')"
            }
            UsageBy::Day => "date",
        }
    }
}

/// Sum of the rows of the log that have the same value in the column of [`UsageBy`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageSum {
    /// Value of the column that the rows of the sum have in common.
    pub of: String,
    /// Number of requests that are summed up.
    pub call_count: u64,
    /// Number of tokens that models have read for the requests of this sum.
    pub input_tokens: u64,
    /// Number of tokens that models have written for the requests of this sum.
    pub output_tokens: u64,
    /// Sum of the costs, in billionths of a dollar. A cost that is not known counts as the amount that was held.
    pub cost_nanos: u64,
    /// Number of requests without a cost: the cost is not known, and no amount was held.
    pub unpriced: u64,
}

/// Sum of the requests of one day to one model, for one key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageDay {
    /// Day of the requests, in UTC, such as `2026-11-25`.
    pub date: String,
    /// Organisation, workspace and purpose whose requests are summed up.
    pub key: BudgetKey,
    /// Bounded context (in the sense of domain-driven design) that the calls came from.
    pub bc: String,
    /// Name of the model that was asked.
    pub model: String,
    /// Number of requests that are summed up.
    pub call_count: u64,
    /// Number of tokens that the model has read for the requests of this day.
    pub input_tokens: u64,
    /// Number of tokens that the model has written for the requests of this day.
    pub output_tokens: u64,
    /// Sum of the costs, in billionths of a dollar. A cost that is not known counts as the amount that was held.
    pub cost_nanos: u64,
}

/// Outcome of a request that nobody has settled in time.
pub(crate) const UNSETTLED: &str = "unsettled";

/// Largest number that is stored for tokens and costs, so that sums of many rows are within the integers of a database.
pub(crate) const MOST: u64 = 1 << 53;

/// Returns the amount that a hold adds to the sum of its day.
pub(crate) fn amount_of(hold: &Hold) -> u64 {
    match (hold.amount_nanos, hold.cap_nanos) {
        (Some(amount), _) => amount.min(MOST),
        (None, None) => 0,
        // A price that is not known is never taken for zero.
        (None, Some(_)) => MOST,
    }
}

/// Returns the time until the bucket of a rate limit has a call again. It had `left` calls `passed_ms` milliseconds
/// ago.
pub(crate) fn after_refill(rate: RateRule, left: f64, passed_ms: u64) -> Duration {
    let per_call = rate.per_ms as f64 / f64::from(rate.calls.max(1));
    let missing = (1.0 - left) * per_call - passed_ms as f64;
    Duration::from_millis(missing.max(1.0).ceil() as u64)
}

impl Settlement {
    /// Returns the settlement with numbers that a database can store and sum up, as a store does when it gets it.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        let numbers = [
            &mut self.input_tokens,
            &mut self.cached_tokens,
            &mut self.cache_write_tokens,
            &mut self.output_tokens,
            &mut self.took_ms,
        ];
        for number in numbers {
            *number = (*number).min(MOST);
        }
        self.cost_nanos = self.cost_nanos.map(|cost| cost.min(MOST));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::{Hold, MOST, RateRule, after_refill, amount_of};
    use std::time::Duration;

    #[test]
    fn an_unknown_price_is_never_zero_where_a_cap_holds() {
        let hold = |amount_nanos, cap_nanos| Hold {
            amount_nanos,
            cap_nanos,
            ..Hold::default()
        };
        assert_eq!(amount_of(&hold(None, Some(5))), MOST);
        assert_eq!(amount_of(&hold(None, None)), 0);
        assert_eq!(amount_of(&hold(Some(3), Some(5))), 3);
        assert_eq!(amount_of(&hold(Some(u64::MAX), None)), MOST);
    }

    #[test]
    fn the_wait_for_a_call() {
        let rate = RateRule {
            calls: 60,
            per_ms: 60_000,
        };
        assert_eq!(after_refill(rate, 0.0, 0), Duration::from_secs(1));
        assert_eq!(after_refill(rate, 0.5, 0), Duration::from_millis(500));
        assert_eq!(after_refill(rate, 0.0, 999), Duration::from_millis(1));
        assert_eq!(after_refill(rate, 0.0, 5_000), Duration::from_millis(1));
    }
}
