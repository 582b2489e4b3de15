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
    /// Id of the request in the journal of its run. No other request of the run has this id.
    pub request: String,
    /// Place of the calling agent in the run. If a revision was asked of an earlier request at the same place and for
    /// the same tool, this request follows it, and gets its correlation id.
    pub place: String,
    /// Name of the agent that calls the tool.
    pub agent_name: String,
    /// Name of the tool that is to run if the call is approved.
    pub tool_name: String,
    /// Version of the tool that is to run, such as `1.2.0`.
    pub version: String,
    /// Arguments in short, without personal data and secrets.
    pub args_summary: String,
    /// Words that say what the call would do, for deciders.
    pub effect_description: String,
    /// Risk of the call: how much a mistake would cost.
    pub risk_level: Risk,
    /// User whom the run works for; `None` if it works for no particular one.
    pub user_id: Option<String>,
    /// Digest of the exact arguments. An approval applies only to arguments with this digest, unless the decider edits
    /// them.
    pub args_digest: String,
    /// Time after which the request expires, from the moment at which it is stored.
    pub expires_after: Duration,
    /// Exact request with its arguments, encrypted with the key of the run.
    pub detail: Vec<u8>,
    /// Reasons why the call needs approval, as JSON; `None` if they are not known. They stay when the run is erased, so
    /// they name executions by their ids, and quote no arguments.
    pub reasons: Option<String>,
    /// Id within the run of the earlier request that this one follows, whose correlation id it gets; `None` if it
    /// follows none.
    pub follows: Option<String>,
    /// Decision of a mode. The request is pending if this is `None`, or if the mode is not in effect any more.
    pub by_mode: Option<ByMode>,
}

/// Request for approval of one call, as the store has it: the question, and the decision once there is one. Once the
/// run is erased, the arguments, the description and the note are empty or `None`, and pseudonyms stand for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    /// Id of the request in the store, by which deciders name it.
    pub id: String,
    /// Id of the run that made the request.
    pub run: String,
    /// Id of the request in the journal of its run. No other request of the run has this id.
    pub request: String,
    /// Id that this request has in common with the earlier requests that it revises or [follows](NewApproval::follows).
    pub correlation_id: String,
    /// Tenant (organisation) that the run works for.
    pub tenant_id: String,
    /// User whom the run works for; `None` if it works for no particular one.
    pub user_id: Option<String>,
    /// Principal (person or program) who started the run; `None` if nobody was named.
    pub started_by: Option<String>,
    /// Name of the agent that calls the tool.
    pub agent_name: String,
    /// Name of the tool that is to run.
    pub tool_name: String,
    /// Version of the tool that is to run, such as `1.2.0`.
    pub version: String,
    /// Arguments in short, without personal data and secrets.
    pub args_summary: String,
    /// Words that say what the call would do, for deciders.
    pub effect_description: String,
    /// Risk of the call: how much a mistake would cost.
    pub risk_level: Risk,
    /// Digest of the exact arguments. An approval applies only to arguments with this digest, unless the decider has
    /// edited them.
    pub args_digest: String,
    /// Time at which the request was stored, by the clock of the store.
    pub requested_at: Timestamp,
    /// Time at which the request expires if nobody has decided.
    pub expires_at: Timestamp,
    /// State of the request: whether it is pending, decided, used, expired, or cancelled because its run is over.
    pub status: ApprovalStatus,
    /// Exact request with its arguments, encrypted with the key of the run.
    pub detail: Vec<u8>,
    /// Principal who has decided about the request, or [the name of the mode](ByMode::by) that has approved it; `None`
    /// while there is no decision.
    pub decided_by: Option<String>,
    /// Time at which the request was decided, expired or was cancelled, whichever came last; `None` while it is
    /// pending.
    pub decided_at: Option<Timestamp>,
    /// Reason of a denial, or note that says how a call is to be changed; `None` for any other request.
    pub note: Option<String>,
    /// Arguments that the decider put in the place of the call's own, or the answer to a question, encrypted; `None` if
    /// there is neither.
    pub edited: Option<Vec<u8>>,
    /// Time until which an approval can be used; `None` for a request that was never approved.
    pub use_by: Option<Timestamp>,
    /// Proof of the decision, which only whoever has the keys of the run can make; `None` while there is no decision.
    pub proof: Option<Vec<u8>>,
    /// Reasons why the call needs approval, as JSON; `None` for a request of an earlier version. They stay when the run is
    /// erased.
    pub reasons: Option<String>,
}

/// State of a request for approval: whether its call may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalStatus {
    /// The request waits for a decision.
    Pending,
    /// The call may run, if it begins before the approval expires.
    Approved,
    /// The call may not run: the decider has refused it.
    #[serde(alias = "rejected")]
    Denied,
    /// The call may not run as it is: the decider asks the agent for a changed one.
    RevisionRequested,
    /// The request was not decided in time, or the approval was not used in time.
    Expired,
    /// The run has ended before the request was decided, or before its approval was used.
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

/// Decision of a principal about one request for approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Id of the request that is decided.
    pub id: String,
    /// Tenant of the decider; `None` for an operator of all tenants. A request of another tenant counts as one that is
    /// not there.
    pub tenant: Option<String>,
    /// Principal who decides: a person or a program, by its id.
    pub by: String,
    /// Answer to the request: approve, deny, or ask for a change.
    pub answer: Answer,
    /// Proof of the decision, which only whoever has the keys of the run can make.
    pub proof: Vec<u8>,
}

#[cfg_attr(
    not(any(feature = "sqlite", feature = "postgres")),
    allow(dead_code, reason = "the stores check approvals")
)]
impl Approval {
    /// Returns `true` if the approval was used before for these arguments, and `false` if it may be used now. Otherwise
    /// the execution is not approved, which is an error. `covers` is the digest of the arguments that were approved.
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

/// Answer to a request for approval: may the call run?
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The call may run, with its own arguments or with edited ones.
    Approve {
        /// Arguments that the approver gives in the place of the call's own, or the answer to a question, encrypted;
        /// `None` to run the call as it is.
        edited: Option<Vec<u8>>,
        /// Digest of the arguments in `edited`; `None` if the call runs as it is, or if `edited` is an answer.
        edited_digest: Option<String>,
        /// Time from the decision within which the run has to use the approval.
        use_within: Duration,
    },
    /// The call may not run, for this reason.
    Deny(String),
    /// The call may not run as it is: the agent is asked for a changed one, as the note says.
    Revise(String),
}

/// Choice of requests, for [`Store::approvals`](crate::Store::approvals). The default chooses all requests of all
/// tenants.
///
/// A request is chosen if it fits each field that is set. A list has `limit` requests at most. For the next page, set
/// `after` to the id of the last request.
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
    /// Tenant (organisation) whose requests are chosen; `None` for all.
    pub tenant: Option<String>,
    /// Run whose requests are chosen, by its id; `None` for all.
    pub run: Option<String>,
    /// State of the requests that are chosen; `None` for all.
    pub status: Option<ApprovalStatus>,
    /// Id of a request: requests that were made later are chosen, the oldest first; `None` for all. An id that the
    /// store does not know is an error.
    pub after: Option<String>,
    /// Maximum number of requests; 0 for 100.
    pub limit: u32,
}
