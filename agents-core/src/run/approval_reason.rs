use super::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Reason why a call needs approval. Each request of a run has one or more of them.
///
/// ```
/// # use agents_core as agents;
/// use agents::run::ApprovalReason;
///
/// assert_eq!(ApprovalReason::Policy.to_string(), "a policy of the run demands it");
/// assert!(!ApprovalReason::Always.is_of_a_rule() && ApprovalReason::Policy.is_of_a_rule());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ApprovalReason {
    /// The call asks a person a question: it needs an [answer](super::Approval::answer).
    Question,
    /// The tool, or a policy of its agent, declares that every call needs approval.
    Always,
    /// The tool writes outside of the organisation, and does not declare whether its calls need approval.
    External,
    /// The condition of the tool holds for these arguments: `approval = when(..)`.
    Condition,
    /// The agent's place in its team demands approval: `.confirm([..])`.
    Place,
    /// A policy of the run demands approval of the call.
    Policy,
    /// An earlier execution of the tool may have taken effect, and nobody has found out yet.
    InDoubt,
    /// An equal call has run before, or is about to run for the same reply: in this run, in a run around it, or in any
    /// run within these.
    Repeated(EarlierExecution),
    /// An equal call was denied before: in this run, in a run around it, or in any run within these.
    DeniedBefore(EarlierDenial),
    /// The approver gave other arguments, whose risk is higher than the approver may approve.
    RiskierArguments,
}

impl ApprovalReason {
    /// Returns `true` if a rule demands the approval: [`External`](Self::External), [`Condition`](Self::Condition) or
    /// [`Policy`](Self::Policy). An operator may decide beforehand about calls that need approval for such reasons
    /// alone. Returns `false` for all other reasons, for which a person decides about each call.
    pub fn is_of_a_rule(&self) -> bool {
        match self {
            ApprovalReason::External | ApprovalReason::Condition | ApprovalReason::Policy => true,
            ApprovalReason::Question
            | ApprovalReason::Always
            | ApprovalReason::Place
            | ApprovalReason::InDoubt
            | ApprovalReason::Repeated(_)
            | ApprovalReason::DeniedBefore(_)
            | ApprovalReason::RiskierArguments => false,
        }
    }
}

impl fmt::Display for ApprovalReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            ApprovalReason::Question => "it asks a question",
            ApprovalReason::Always => "every call of the tool needs approval",
            ApprovalReason::External => "the tool writes outside of the organisation",
            ApprovalReason::Condition => "the condition of the tool holds for these arguments",
            ApprovalReason::Place => "the agent's place in its team demands it",
            ApprovalReason::Policy => "a policy of the run demands it",
            ApprovalReason::InDoubt => "an earlier execution of the tool may have taken effect",
            ApprovalReason::Repeated(earlier) => {
                return write!(f, "the same call has run before: {earlier}");
            }
            ApprovalReason::DeniedBefore(earlier) => {
                return write!(f, "the same call was denied before: {earlier}");
            }
            ApprovalReason::RiskierArguments => {
                "the other arguments have a higher risk than their author may approve"
            }
        };
        f.write_str(text)
    }
}

/// Execution of an equal call (same tool, same arguments) before this one: in the same run, in a run around it, or in
/// any run within these.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EarlierExecution {
    /// Id of the execution: the id of its request for approval, and the number of the attempt. A runtime replaces it by
    /// the id of the stored execution.
    pub id: String,
    /// Time at which the execution began; `None` if it has not begun yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// Outcome of the execution, as far as it is known.
    pub outcome: EarlierOutcome,
    /// Id of the receipt of the call that was executed.
    pub call_id: String,
    /// Id of the request for approval that belongs to that call.
    pub request: String,
    /// Number of the execution among those of its call, from 1.
    pub attempt: u32,
}

/// Denial of an equal call (same tool, same arguments) before this one: in the same run, in a run around it, or in any
/// run within these.
///
/// ```
/// # use agents_core as agents;
/// use agents::run::EarlierDenial;
///
/// let row = r#"{"request": "c1", "at": "2026-11-28T12:03:00Z", "by": "ada", "reason": "no refund, fraud"}"#;
/// let denial: EarlierDenial = serde_json::from_str(row).unwrap();
/// assert_eq!(denial.to_string(), "no refund, fraud (by ada, 2026-11-28T12:03:00.000Z)");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EarlierDenial {
    /// Id of the request for approval that was denied.
    pub request: String,
    /// Time of the denial.
    pub at: Timestamp,
    /// Name of the person or program that denied it, if the approver gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Reason of the denial, or the change that was asked for. It is empty, and `by` is `None`, in a list of requests of
    /// a runtime: only the exact request has them.
    pub reason: String,
}

impl fmt::Display for EarlierDenial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let EarlierDenial { reason, at, by, .. } = self;
        let gap = if reason.is_empty() { "" } else { " " };
        match by {
            Some(by) => write!(f, "{reason}{gap}(by {by}, {at})"),
            None => write!(f, "{reason}{gap}({at})"),
        }
    }
}

/// Outcome of the execution that an [`EarlierExecution`] tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EarlierOutcome {
    /// The execution has not begun, goes on, or its end is not recorded.
    Open,
    /// The earlier execution returned an output.
    Succeeded,
    /// The earlier execution failed.
    Failed,
    /// The execution timed out, panicked or was cut off, so that nobody knows whether the tool took effect.
    Unknown,
}

impl fmt::Display for EarlierExecution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = match self.outcome {
            EarlierOutcome::Open => "is not over",
            EarlierOutcome::Succeeded => "succeeded",
            EarlierOutcome::Failed => "failed",
            EarlierOutcome::Unknown => "may have taken effect",
        };
        write!(f, "execution {} ", self.id)?;
        if let Some(at) = self.at {
            write!(f, "of {at} ")?;
        }
        f.write_str(outcome)
    }
}
