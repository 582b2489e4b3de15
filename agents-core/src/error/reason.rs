use serde::{Deserialize, Serialize};
use std::fmt;

/// Reason why a call was not approved or not repeated: the value of `reason` in the call's error, beside the code `POLICY_DENIED`.
///
/// ```
/// # use agents_core as agents;
/// use agents::error::{Cause, DenialReason};
///
/// let cause = Cause::denied("not this month").because(DenialReason::ApprovalDenied);
/// assert_eq!(cause.reason(), Some(DenialReason::ApprovalDenied));
/// assert_eq!(DenialReason::ApprovalDenied.as_str(), "APPROVAL_DENIED");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum DenialReason {
    /// The approver, a person or a program, refused the call, or panicked; or the run has no approver.
    ApprovalDenied,
    /// The time for the decision ran out, or the time within which the approval could be used did. Also the reason for
    /// a question to the user in a run without an approver.
    ApprovalExpired,
    /// The same call has succeeded before in the run, and nobody has said that it is meant twice.
    Repeated,
}

impl DenialReason {
    /// Returns the reason as it is serialized, such as `APPROVAL_DENIED`.
    pub fn as_str(self) -> &'static str {
        match self {
            DenialReason::ApprovalDenied => "APPROVAL_DENIED",
            DenialReason::ApprovalExpired => "APPROVAL_EXPIRED",
            DenialReason::Repeated => "REPEATED",
        }
    }
}

impl fmt::Display for DenialReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
