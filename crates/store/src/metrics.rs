//! Figures about the work of a store.

use crate::RunStatus;
use std::{collections::BTreeMap, time::Duration};

/// Figures about the work that a store holds, as of one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreMetrics {
    /// Number of runs that are not over, by state. States without a run have no entry.
    pub runs: BTreeMap<RunStatus, u64>,
    /// Number of runs that somebody has paused. Runs that a worker has not yet put down count as well.
    pub paused: u64,
    /// Time for which the oldest run that a worker may claim has been waiting to go on; `None` if there is none. Runs
    /// that wait for an earlier run of their conversation count as well.
    pub oldest_claimable: Option<Duration>,
    /// Number of requests for approval that are pending.
    pub pending: u64,
    /// Age of the oldest pending request; `None` if there is none.
    pub oldest_pending: Option<Duration>,
    /// Number of executions in doubt, as [`ExecutionFilter::in_doubt`](crate::ExecutionFilter::in_doubt) chooses them:
    /// it is not known whether they took effect.
    pub in_doubt: u64,
    /// Number of deliveries that are still tried: events that a webhook has not been told of yet. Events since the last
    /// [claim](crate::Store::claim_deliveries) for the webhook are not among them.
    pub undelivered: u64,
    /// Number of deliveries that were given up: events that a webhook is not told of any more.
    pub given_up: u64,
}
