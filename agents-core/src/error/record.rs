use super::{Class, Code};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Serialized form of a [`ToolError`](super::ToolError).
///
/// ```
/// # use agents_core as agents;
/// use agents::ToolError;
///
/// let error = ToolError::InvalidArgs {
///     raw_args: "path is a.txt".into(),
///     parse_error: "they are not a JSON object".into(),
///     expected_schema: serde_json::json!({"type": "object"}),
/// };
/// let receipt = serde_json::to_value(error.receipt())?;
/// assert_eq!(receipt["code"], "VALIDATION_ERROR");
/// assert_eq!(receipt["details"]["raw_args"], "path is a.txt");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorRecord {
    /// Code of the error, by which programs tell causes apart.
    pub code: Code,
    /// Class of the code, which says who can do something about the failure.
    pub class: Class,
    /// Name of the [`ToolError`](super::ToolError) variant that the record was made from, as
    /// [`ToolError::kind`](super::ToolError::kind) returns it.
    pub kind: String,
    /// Message that says what failed in the call, for people and models.
    pub message: String,
    /// Details of the error. For arguments or an answer: the text that failed, its beginning if it is long; the
    /// `expected_schema`, or the `path`, the `target_type` and, if there are several, the `misfits`.
    ///
    /// For an escalation: its `source`, its `severity`, the `attempts` before it and the record of the `original`
    /// failure.
    ///
    /// For any error, as far as they apply: an arm's [`hint`](ErrorRecord::hint), the run's
    /// [`remark`](ErrorRecord::remark), the name of the person or program that denied the call
    /// ([`decided_by`](ErrorRecord::decided_by)), `revised` if a change was asked for
    /// ([`is_revised`](ErrorRecord::is_revised)), and who gave a text in place of the model's
    /// ([`given_by`](ErrorRecord::given_by)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// Number of seconds after which the same call may succeed; `None` if no such time is known, and for an escalation,
    /// whose `original` may have the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_s: Option<f64>,
    /// Reason for which the failure was [escalated](crate::recovery::escalate) or has [ended the
    /// run](crate::recovery::throw); the [`DenialReason`](super::DenialReason) of a call that was not approved. `None`
    /// for any other error, and if the approver asked for a change or gave arguments that do not fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl ErrorRecord {
    /// Returns the hint of a [`feedback`](crate::recovery::feedback), which an arm gave the model besides the error;
    /// `None` if no arm gave one. The hint is a part of the details.
    pub fn hint(&self) -> Option<&str> {
        self.details.as_ref()?.get(HINT)?.as_str()
    }

    pub(crate) fn with_hint(self, hint: &str) -> Self {
        self.with(HINT, hint)
    }

    /// Returns the remark that the run itself made to the model besides the error; `None` if the run made none. The
    /// remark is a part of the details.
    pub fn remark(&self) -> Option<&str> {
        self.details.as_ref()?.get(REMARK)?.as_str()
    }

    pub(crate) fn with_remark(self, remark: &str) -> Self {
        self.with(REMARK, remark)
    }

    /// Returns the author of the text or the value that does not fit, if it was not the model: `fix`, `sanitize` or the
    /// name of a repair agent. Only the error of an event has one
    /// ([`EventKind::CallFailed`](crate::run::EventKind::CallFailed)): a receipt and the model are told what was wrong
    /// with the model's own text. If a repair agent gave a text that had failed before, the result is `None`, and the
    /// message names the agent. The author is a part of the details.
    pub fn given_by(&self) -> Option<&str> {
        self.details.as_ref()?.get(GIVEN_BY)?.as_str()
    }

    pub(crate) fn with_author(self, name: &str) -> Self {
        self.with(GIVEN_BY, name)
    }

    /// Returns the name of the person or program that did not approve the call; `None` if the approver [gave no
    /// name](crate::run::Approval::by), and for any other error, such as that of a call which a policy denied. Only the
    /// error of a receipt has the name, as a part of the details.
    pub fn decided_by(&self) -> Option<&str> {
        self.details.as_ref()?.get(DECIDED_BY)?.as_str()
    }

    pub(crate) fn with_decided_by(self, name: &str) -> Self {
        self.with(DECIDED_BY, name)
    }

    /// Returns `true` if the approver denied the call as it is, and [asked for a change](crate::run::Approval::Revise).
    /// This mark is a part of the details.
    pub fn is_revised(&self) -> bool {
        let said = self
            .details
            .as_ref()
            .and_then(|details| details.get(REVISED));
        said.is_some_and(|said| said == true)
    }

    pub(crate) fn with_revision(self) -> Self {
        self.with(REVISED, true)
    }

    fn with(mut self, key: &str, what: impl Into<Value>) -> Self {
        let details = self.details.get_or_insert_with(|| json!({}));
        // A receipt from elsewhere may have any value there.
        if let Some(details) = details.as_object_mut() {
            details.insert(key.to_owned(), what.into());
        }
        self
    }
}

const GIVEN_BY: &str = "given_by";
const HINT: &str = "hint";
const REMARK: &str = "remark";
const DECIDED_BY: &str = "decided_by";
const REVISED: &str = "revised";
