//! Requests for approval, and decisions about them.

use crate::{ByMode, StoreError, run::words, wording};
use agents_core::{run::Timestamp, tool::Risk};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Request for approval that is about to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewApproval {
    /// Id of the request in the store, by which deciders name it.
    pub id: String,
    /// Id of the request within its run, which the run's journal has.
    pub request: String,
    /// Place of the calling agent in the run. If a revision was asked of an earlier request at the same place and for
    /// the same tool, this request follows it, and gets its correlation id.
    pub place: String,
    /// Name of the calling agent.
    pub agent_name: String,
    /// Name of the tool.
    pub tool_name: String,
    /// Version of the tool.
    pub version: String,
    /// Arguments in short, without personal data and secrets.
    pub args_summary: String,
    /// Effect of the call in words.
    pub effect_description: String,
    /// Risk of the call.
    pub risk_level: Risk,
    /// User whom the run works for.
    pub user_id: Option<String>,
    /// Digest of the exact arguments.
    pub args_digest: String,
    /// Time after which the request expires.
    pub expires_after: Duration,
    /// Exact request, encoded.
    pub detail: Vec<u8>,
    /// Reasons why the call needs approval, as JSON.
    pub reasons: Option<String>,
    /// Request of the run that this one follows, whose correlation id it gets.
    pub follows: Option<String>,
    /// Decision of a mode. Without one, or if the mode is not in effect any more, the request is pending.
    pub by_mode: Option<ByMode>,
}

/// Stored request for approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    /// Id of the request in the store, by which deciders name it.
    pub id: String,
    /// Id of the run.
    pub run: String,
    /// Id of the request within its run, which the run's journal has.
    pub request: String,
    /// Id that the request shares with those that it revises.
    pub correlation_id: String,
    /// Tenant that the run works for.
    pub tenant_id: String,
    /// User whom the run works for.
    pub user_id: Option<String>,
    /// Principal who started the run.
    pub started_by: Option<String>,
    /// Name of the calling agent.
    pub agent_name: String,
    /// Name of the tool.
    pub tool_name: String,
    /// Version of the tool.
    pub version: String,
    /// Arguments in short, without personal data and secrets.
    pub args_summary: String,
    /// Effect of the call in words.
    pub effect_description: String,
    /// Risk of the call.
    pub risk_level: Risk,
    /// Digest of the exact arguments.
    pub args_digest: String,
    /// Time of the request.
    pub requested_at: Timestamp,
    /// Time at which the request expires.
    pub expires_at: Timestamp,
    /// State of the request.
    pub status: ApprovalStatus,
    /// Exact request, encoded.
    pub detail: Vec<u8>,
    /// Principal who decided.
    pub decided_by: Option<String>,
    /// Time of the decision.
    pub decided_at: Option<Timestamp>,
    /// Reason or note of the decider.
    pub note: Option<String>,
    /// Arguments that the decider gave in place of those of the call, encoded; `None` if the decider gave none.
    pub edited: Option<Vec<u8>>,
    /// Time until which the approval can be used.
    pub use_by: Option<Timestamp>,
    /// Proof of the decision, which only whoever has the keys of the run can make.
    pub proof: Option<Vec<u8>>,
    /// Reasons why the call needs approval, as JSON; `None` for a request of an earlier version.
    pub reasons: Option<String>,
}

/// State of a request for approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalStatus {
    /// Undecided.
    Pending,
    /// The call may run.
    Approved,
    /// The call may not run.
    #[serde(alias = "rejected")]
    Denied,
    /// The call is to be changed.
    RevisionRequested,
    /// Not decided in time, or the approval was not used in time.
    Expired,
    /// The run has ended before.
    Cancelled,
    /// The call was approved, and has begun to run.
    Consumed,
}

words!(ApprovalStatus {
    Pending = "pending",
    Approved = "approved",
    Denied = "denied",
    RevisionRequested = "revision_requested",
    Expired = "expired",
    Cancelled = "cancelled",
    Consumed = "consumed",
});

/// Decision about a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Id of the request.
    pub id: String,
    /// Tenant of the decider; `None` for an operator of all tenants. The request of another tenant does not exist.
    pub tenant: Option<String>,
    /// Principal who decides.
    pub by: String,
    /// Answer to the request.
    pub answer: Answer,
    /// Proof of the decision, which only whoever has the keys of the run can make.
    pub proof: Vec<u8>,
}

#[cfg_attr(
    not(any(feature = "sqlite", feature = "postgres")),
    allow(dead_code, reason = "the stores check approvals")
)]
impl Approval {
    /// Returns `true` if the approval was used before, for these arguments, and `false` if it may be used now. `covers` is
    /// the digest of the arguments that were approved.
    pub(crate) fn was_used_for(
        &self,
        covers: &str,
        digest: &str,
        now: u64,
    ) -> Result<bool, StoreError> {
        if covers != digest {
            return Err(wording::other_arguments(&self.tool_name));
        }
        let is_late = |use_by: Timestamp| use_by.as_millis() <= now;
        match self.status {
            ApprovalStatus::Consumed => Ok(true),
            ApprovalStatus::Approved if self.use_by.is_some_and(is_late) => {
                Err(wording::used_too_late(&self.tool_name))
            }
            ApprovalStatus::Approved => Ok(false),
            _ => Err(wording::not_approved_yet(self)),
        }
    }
}

/// Answer to a request for approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The call may run.
    Approve {
        /// Arguments in place of those of the call, encoded; `None` to run the call as it is.
        edited: Option<Vec<u8>>,
        /// Digest of the arguments in `edited`.
        edited_digest: Option<String>,
        /// Time within which the approval has to be used.
        use_within: Duration,
    },
    /// The call may not run, for this reason.
    Deny(String),
    /// The call is to be changed, as the note says.
    Revise(String),
}

/// Choice of requests, for [`Store::approvals`](crate::Store::approvals). The default chooses all requests of all
/// tenants.
///
/// A request is chosen if it fits each field that is set. A list has `limit` requests at most: the id of the last one
/// begins the next page.
///
/// ```
/// use agents_store::{ApprovalFilter, ApprovalStatus, SqliteStore, Store};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents_store::StoreError> {
/// let store = SqliteStore::in_memory().await?;
/// let mut pending = ApprovalFilter {
///     tenant: Some("acme".into()),
///     status: Some(ApprovalStatus::Pending),
///     ..ApprovalFilter::default()
/// };
/// loop {
///     let page = store.approvals(&pending).await?;
///     let Some(last) = page.last() else { break };
///     pending.after = Some(last.id.clone());
///     for request in page {
///         println!("{} asks for `{}`", request.agent_name, request.tool_name);
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApprovalFilter {
    /// Requests of this tenant.
    pub tenant: Option<String>,
    /// Requests of this run.
    pub run: Option<String>,
    /// Requests in this state.
    pub status: Option<ApprovalStatus>,
    /// Requests that were made after the one with this id, the oldest first. An id that the store does not know is an
    /// error.
    pub after: Option<String>,
    /// Maximum number of requests; 0 for 100.
    pub limit: u32,
}
