//! Holds, budgets and the log of usage.

use agents_core::run::Timestamp;
use std::time::Duration;

/// Key of a limit: the organisation, the workspace and the purpose that it holds for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct BudgetKey {
    /// Id of the organisation.
    pub org_id: String,
    /// Id of the workspace; empty for none.
    pub domain_id: String,
    /// Purpose.
    pub purpose: String,
}

/// Rate limit: a bucket that holds `calls` calls, and that fills up within the time `per_ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateRule {
    /// Number of calls that the bucket holds.
    pub calls: u32,
    /// Time in which an empty bucket fills up, in milliseconds.
    pub per_ms: u64,
}

/// Order to hold money for a request that is about to be sent. It also counts the call for the rate limit, and stores who is
/// about to ask which model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hold {
    /// Id of the request.
    pub id: String,
    /// Organisation, workspace and purpose whose limits apply.
    pub key: BudgetKey,
    /// Rate limit; `None` if there is none, or if an earlier request of the same call has counted for it.
    pub rate: Option<RateRule>,
    /// Cap of a day, in billionths of a dollar; `None` for no cap.
    pub cap_nanos: Option<u64>,
    /// Largest cost of the request, in billionths of a dollar; `None` if its price is not known.
    pub amount_nanos: Option<u64>,
    /// Time after which the hold counts as spent if nobody settles it.
    pub expires_in: Duration,
    /// Bounded context that the call comes from: see [`Scope`](agents_core::tool::Scope).
    pub bc: String,
    /// Name of the provider.
    pub provider: String,
    /// Name of the model.
    pub model: String,
    /// Version of the profile that named the model.
    pub profile_version: u64,
    /// Id of the run; empty outside of a run.
    pub run_id: String,
    /// Place of the agent in the run, and its turn.
    pub turn_id: String,
    /// Name of the circuit that the request goes through.
    pub circuit: String,
}

/// Answer to a [`Hold`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HoldAnswer {
    /// The money is held.
    Held {
        /// Is `true` if the day's sum has just reached 80 % of the cap.
        warns: bool,
    },
    /// Refused: too many calls came before.
    TooOften {
        /// Time until the next call may be made.
        wait: Duration,
    },
    /// Refused: with the largest cost of the request, the day's sum would pass the cap.
    CapReached {
        /// Amounts that are spent and held.
        budget: Budget,
    },
}

/// Amounts that are spent and held on a day, in billionths of a dollar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Amount that was spent.
    pub spent_nanos: u64,
    /// Amount that is held for requests under way.
    pub held_nanos: u64,
}

/// End of a hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settlement {
    /// Id of the request.
    pub id: String,
    /// Cost of the request, in billionths of a dollar; `None` if it is not known. It then counts as what was held.
    pub cost_nanos: Option<u64>,
    /// Number of tokens read.
    pub input_tokens: u64,
    /// Number of those from the provider's cache.
    pub cached_tokens: u64,
    /// Number of those that were written into the provider's cache.
    pub cache_write_tokens: u64,
    /// Number of tokens written.
    pub output_tokens: u64,
    /// End of the request: `answered`, or the kind of its error.
    pub outcome: String,
    /// Is `true` if the model has failed, and `None` if the request says nothing about the model.
    pub failed: Option<bool>,
    /// Time from the request to the end of the reply, in milliseconds.
    pub took_ms: u64,
    /// Cap of a day, in billionths of a dollar, for the warning; `None` for no cap.
    pub cap_nanos: Option<u64>,
}

/// Row of the log: one request to a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageRow {
    /// Id of the request.
    pub id: String,
    /// Time at which the money was held.
    pub at: Timestamp,
    /// Day of the hold, in UTC.
    pub date: String,
    /// Organisation, workspace and purpose whose limits applied.
    pub key: BudgetKey,
    /// Bounded context that the call came from.
    pub bc: String,
    /// Name of the provider.
    pub provider: String,
    /// Name of the model.
    pub model: String,
    /// Version of the profile that named the model.
    pub profile_version: u64,
    /// Id of the run; empty outside of a run.
    pub run_id: String,
    /// Place of the agent in the run, and its turn.
    pub turn_id: String,
    /// Number of tokens read.
    pub input_tokens: u64,
    /// Number of those from the provider's cache.
    pub cached_tokens: u64,
    /// Number of those that were written into the provider's cache.
    pub cache_write_tokens: u64,
    /// Number of tokens written.
    pub output_tokens: u64,
    /// Cost in billionths of a dollar; `None` if no price is known.
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
    /// Rows of this organisation.
    pub org_id: Option<String>,
    /// Rows of this workspace.
    pub domain_id: Option<String>,
    /// Rows of this purpose.
    pub purpose: Option<String>,
    /// Rows of this run. Daily sums know no runs.
    pub run_id: Option<String>,
    /// Rows of this day and those after it, such as `2026-11-25`.
    pub since: Option<String>,
    /// Largest number of rows; 100 if it is `None`.
    pub limit: Option<u32>,
}

/// Column that the log is summed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UsageBy {
    /// Organisation.
    Org,
    /// Purpose.
    Purpose,
    /// Model.
    Model,
    /// Run.
    Run,
    /// Turn of an agent at its place. Equal turns of several runs are one sum, unless the filter names a run.
    Turn,
    /// Agent of the run; empty outside of a run, and for a run that is not in the same store.
    Agent,
    /// Day, in UTC.
    Day,
}

impl UsageBy {
    /// Returns the column, or the expression that stands for one.
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

/// Sum of rows of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageSum {
    /// Value of the column that the rows of the sum have in common.
    pub of: String,
    /// Number of requests.
    pub call_count: u64,
    /// Number of tokens read.
    pub input_tokens: u64,
    /// Number of tokens written.
    pub output_tokens: u64,
    /// Known cost in billionths of a dollar.
    pub cost_nanos: u64,
    /// Number of requests whose cost is not known.
    pub unpriced: u64,
}

/// Sum of a day.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageDay {
    /// Day, in UTC.
    pub date: String,
    /// Organisation, workspace and purpose whose requests are summed up.
    pub key: BudgetKey,
    /// Bounded context that the calls came from.
    pub bc: String,
    /// Name of the model.
    pub model: String,
    /// Number of requests.
    pub call_count: u64,
    /// Number of tokens read.
    pub input_tokens: u64,
    /// Number of tokens written.
    pub output_tokens: u64,
    /// Known cost in billionths of a dollar.
    pub cost_nanos: u64,
}

/// Outcome of a request that nobody has settled in time.
pub(crate) const UNSETTLED: &str = "unsettled";

/// Largest number that is stored, so that sums of many rows are within the integers of a database.
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

/// Returns the time until a bucket has a call again. It had `left` calls `passed_ms` milliseconds ago.
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
