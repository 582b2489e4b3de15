use super::{Cause, Class, Code, ErrorRecord, Origin, Severity};
use crate::Json;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt;

/// Error of a tool call.
///
/// The enum is exhaustive on purpose: a `match` on it is checked by the compiler.
/// [`code`](ToolError::code) and [`class`](ToolError::class) follow from the value.
///
/// ```
/// # use agents_core as agents;
/// use agents::{Class, Code, ToolError};
///
/// let error = ToolError::InvalidArgs {
///     raw_args: "not json".into(),
///     parse_error: "expected an object".into(),
///     expected_schema: serde_json::json!({"type": "object"}),
/// };
/// assert_eq!((error.code(), error.class()), (Code::ValidationError, Class::User));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ToolError {
    /// No JSON object could be read from the arguments, they are too long, or the tool writes and the reading of the
    /// whole text is uncertain.
    InvalidArgs {
        /// Text of the arguments that could not be read, as the model or a repair gave it; only its beginning, if it
        /// exceeds the size limit.
        raw_args: String,
        /// Reason why the text of the arguments was not read, in words.
        parse_error: String,
        /// JSON Schema that the arguments should follow.
        expected_schema: Value,
    },
    /// A JSON object was read, but a field is missing, of the wrong type or against a constraint, or the tool writes
    /// and the reading of the field is uncertain. Also the failure of a final answer.
    #[serde(rename = "DeserializationError", alias = "Deserialization")]
    Deserialization {
        /// Arguments or answer that do not fit. Arguments are JSON text, in which the reader may have mended, for
        /// example, a trailing comma; an answer is the text as it was given.
        raw_value: String,
        /// Path of the value that does not fit, such as `lines` or `items[2].name`; empty if the arguments or the
        /// answer do not fit as a whole.
        path: String,
        /// Type that the value at the path had to become, in the words of the schema: `u32`, `Vec<Line>`,
        /// `Option<Unit>`.
        target_type: String,
        /// Cause whose message says what was expected at the path and what was found there. It lists the
        /// [`misfits`](Cause::misfits) if there are several.
        cause: Cause,
    },
    /// The execution of the tool failed, or the call was refused before the tool ran.
    #[serde(rename = "ExecutionError", alias = "Execution")]
    Execution {
        /// Arguments of the call; the model's text as a JSON string if they were never read. An empty string, or
        /// `null`, if the error is not about a certain call.
        args: Json,
        /// Cause of the failure of the execution.
        cause: Cause,
    },
    /// The failure was escalated because it could not be handled.
    #[serde(rename = "EscalationError", alias = "Escalation")]
    Escalation {
        /// Name of the tool, repair agent or agent that escalated first.
        source: String,
        /// Reason that was given for the escalation, in words.
        reason: String,
        /// Severity that was given for the escalation.
        severity: Severity,
        /// Failure of the call or of the answer that was escalated.
        original: Box<ToolError>,
        /// Number of attempts before the escalation: executions of the tool, and tries of repair agents.
        attempts: u32,
    },
}

impl ToolError {
    /// Returns the error code, by which programs tell causes apart.
    pub fn code(&self) -> Code {
        match self {
            ToolError::InvalidArgs { .. } | ToolError::Deserialization { .. } => {
                Code::ValidationError
            }
            ToolError::Execution { cause, .. } => cause.code(),
            ToolError::Escalation { original, .. } => original.code(),
        }
    }

    /// Returns the class of the [`code`](ToolError::code), which says who can do something about the failure.
    pub fn class(&self) -> Class {
        self.code().class()
    }

    /// Returns `true` if a rate limiter has refused the execution, or failed to decide about it.
    pub(crate) fn is_limited(&self) -> bool {
        matches!(self, ToolError::Execution { cause, .. } if cause.origin() == Origin::RateLimited)
    }

    /// Returns `true` if the execution was cut off: this process ended, or no usable answer came from the server or
    /// the tool that carried out the call.
    pub(crate) fn is_interrupted(&self) -> bool {
        matches!(self, ToolError::Execution { cause, .. } if cause.origin() == Origin::Interrupted)
    }

    /// Returns `true` if the execution was cut off: it timed out, panicked, or was interrupted.
    pub(crate) fn is_cut_off(&self) -> bool {
        matches!(self, ToolError::Execution { cause, .. } if cause.is_cut_off())
    }

    /// Returns the name of the variant, as it is serialized.
    pub fn kind(&self) -> &'static str {
        match self {
            ToolError::InvalidArgs { .. } => "InvalidArgs",
            ToolError::Deserialization { .. } => "DeserializationError",
            ToolError::Execution { .. } => "ExecutionError",
            ToolError::Escalation { .. } => "EscalationError",
        }
    }

    /// Returns the path of the field that does not fit, the first one if there are several; `None` if the error is not
    /// about a field.
    pub fn field(&self) -> Option<&str> {
        match self {
            ToolError::Deserialization { path, .. } if !path.is_empty() => Some(path),
            _ => None,
        }
    }

    /// Returns the record of the error. A receipt adds what it knows besides the error, such as an arm's hint.
    pub fn receipt(&self) -> ErrorRecord {
        let (details, retry_after_s, reason) = match self {
            ToolError::InvalidArgs {
                raw_args,
                expected_schema,
                ..
            } => {
                let mut details = json!({ "raw_args": shorten(raw_args) });
                if !expected_schema.is_null() {
                    details["expected_schema"] = expected_schema.clone();
                }
                (Some(details), None, None)
            }
            ToolError::Deserialization {
                raw_value,
                path,
                target_type,
                cause,
            } => {
                let mut details = json!({
                    "path": path,
                    "raw_value": shorten(raw_value),
                    "target_type": target_type,
                });
                cause.all_misfits().add_to(&mut details);
                (Some(details), None, None)
            }
            ToolError::Execution { cause, .. } => (
                None,
                cause.retry_after().map(|d| d.as_secs_f64()),
                cause.reason().map(|reason| reason.to_string()),
            ),
            ToolError::Escalation {
                source,
                reason,
                severity,
                original,
                attempts,
            } => (
                Some(json!({
                    "source": source,
                    "severity": severity,
                    "attempts": attempts,
                    "original": original.receipt(),
                })),
                None,
                Some(reason.clone()),
            ),
        };
        ErrorRecord {
            code: self.code(),
            class: self.class(),
            kind: self.kind().into(),
            message: self.to_string(),
            details,
            retry_after_s,
            reason,
        }
    }
}

impl From<Cause> for ToolError {
    /// Creates the error of an execution whose arguments are not known: they are `null`.
    fn from(cause: Cause) -> Self {
        ToolError::Execution {
            args: Json::null(),
            cause,
        }
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ToolError::InvalidArgs { parse_error, .. } => {
                write!(f, "the arguments cannot be read: {parse_error}")
            }
            ToolError::Deserialization { cause, .. } if !cause.misfits().is_empty() => {
                write!(f, "{}", cause.all_misfits())
            }
            ToolError::Deserialization { path, cause, .. } if path.is_empty() => {
                write!(f, "{cause}")
            }
            ToolError::Deserialization { path, cause, .. } => write!(f, "field `{path}`: {cause}"),
            ToolError::Execution { cause, .. } => write!(f, "{cause}"),
            ToolError::Escalation {
                source,
                reason,
                severity,
                ..
            } => {
                write!(f, "`{source}` gave up ({severity}): {reason}")
            }
        }
    }
}

impl std::error::Error for ToolError {}

/// Cuts a text to its first 2,000 characters, and adds how long it was. A shorter text stays as it is.
pub(crate) fn shorten(raw: &str) -> String {
    const ENOUGH: usize = 2000;
    match raw.char_indices().nth(ENOUGH) {
        Some((end, _)) => format!("{}… ({} bytes in all)", &raw[..end], raw.len()),
        None => raw.to_owned(),
    }
}
