use super::Tried;
use crate::{
    Json,
    error::{AnyError, Failure, ToolError},
};
use serde_json::Value;
use std::{fmt, ops::Deref};

/// Text as a model wrote it, together with the schema it should have followed. Derefs to `str`.
///
/// ```
/// # use agents_core as agents;
/// use agents::recovery::Raw;
/// use serde_json::json;
///
/// let schema = json!({"type": "object"});
/// let raw = Raw::new("{'path': 'a.txt'}", &schema);
/// // It is text: all that `str` can, it can.
/// assert_eq!(raw.replace('\'', "\""), r#"{"path": "a.txt"}"#);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Raw<'a> {
    text: &'a str,
    schema: &'a Value,
}

impl<'a> Raw<'a> {
    /// This text, for this schema.
    pub fn new(text: &'a str, schema: &'a Value) -> Self {
        Raw { text, schema }
    }

    /// The text.
    pub fn as_str(&self) -> &'a str {
        self.text
    }

    /// The schema it should have followed.
    pub fn schema(&self) -> &'a Value {
        self.schema
    }
}

impl Deref for Raw<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        self.text
    }
}

impl fmt::Display for Raw<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)
    }
}

/// What is wrong with what a model wrote, and where.
///
/// ```
/// # use agents_core as agents;
/// use agents::recovery::*;
///
/// // In a `deserialization_error` arm: which field is at fault decides.
/// fn on_fault(error: &Fault<'_>) -> Decision<Deserialization> {
///     match error.path() {
///         "date" => feedback("dates are written 2026-08-01"),
///         path if path.starts_with("items[") => feedback(format!("look at {path} again")),
///         _ => escalate(error.to_string()),
///     }
/// }
/// assert_eq!(on_fault(&Fault::new("date", "expected a date")), feedback("dates are written 2026-08-01"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault<'a> {
    path: &'a str,
    message: &'a str,
}

impl<'a> Fault<'a> {
    /// Something wrong at this path; the empty path is the whole.
    pub fn new(path: &'a str, message: &'a str) -> Self {
        Fault { path, message }
    }

    /// Whether this field, or something in it, is at fault.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::recovery::Fault;
    ///
    /// assert!(Fault::new("lines", "expected u32").field("lines"));
    /// assert!(Fault::new("items[2].name", "missing").field("items"));
    /// assert!(!Fault::new("lines", "expected u32").field("line"));
    /// ```
    pub fn field(&self, name: &str) -> bool {
        self.path
            .strip_prefix(name)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    }

    /// Where: `lines`, `items[2].name`; empty for the whole.
    pub fn path(&self) -> &'a str {
        self.path
    }

    /// What was expected there and what was found.
    pub fn message(&self) -> &'a str {
        self.message
    }
}

impl fmt::Display for Fault<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path {
            "" => f.write_str(self.message),
            path => write!(f, "field `{path}`: {}", self.message),
        }
    }
}

/// A failure as the arms of one tool see it, with the tool's own error type.
///
/// ```
/// # use agents_core as agents;
/// use agents::recovery::*;
/// use std::io;
///
/// // The arms of a tool that fails with `io::Error`, without macros.
/// fn arms(error: CallError<'_, io::Error>) -> Option<Plan> {
///     match error {
///         CallError::InvalidArgs(raw, _) => {
///             let text = raw.strip_prefix("args: ").map(str::to_owned);
///             Some(fix::<InvalidArgs>(text).into())
///         }
///         CallError::Execution(Failure::Returned(error)) if error.kind() == io::ErrorKind::NotFound => {
///             Some(feedback::<Execution>("list the folder first").into())
///         }
///         CallError::Execution(_) => Some(retry::<Execution>().into()),
///         CallError::Deserialization(..) | CallError::InvalidOutput(..) => None,
///     }
/// }
/// # let _ = arms;
/// ```
#[derive(Debug)]
pub enum CallError<'a, E> {
    /// `invalid_args(raw, error)`
    InvalidArgs(&'a Raw<'a>, &'a Fault<'a>),
    /// `deserialization_error(value, error)`; the value at fault, if there is one.
    Deserialization(Option<&'a Value>, &'a Fault<'a>),
    /// `execution_error(failure)`
    Execution(Failure<'a, E>),
    /// `invalid_output(raw, error)`
    InvalidOutput(&'a Raw<'a>, &'a Fault<'a>),
}

/// What an arm may know besides the failure: `cx` in `on_error`.
///
/// ```
/// # use agents_core as agents;
/// use agents::recovery::ErrorContext;
/// use serde_json::json;
///
/// let cx = ErrorContext::new("read_file").with_args(&json!({"path": "a.txt"})).with_attempt(2);
/// assert_eq!(cx.attempt(), 2);
/// ```
#[derive(Clone, Debug, Default)]
pub struct ErrorContext {
    pub(crate) tool: String,
    pub(crate) args: Option<Json>,
    pub(crate) attempt: u32,
    pub(crate) previous: Vec<Tried>,
}

impl ErrorContext {
    /// The context of a first failure, for a test that asks a tool's arms.
    pub fn new(tool: impl Into<String>) -> Self {
        ErrorContext {
            tool: tool.into(),
            attempt: 1,
            ..ErrorContext::default()
        }
    }

    /// Sets the arguments.
    #[must_use]
    pub fn with_args(mut self, args: &Value) -> Self {
        self.args = Json::of(args).ok();
        self
    }

    /// Sets how many executions there were.
    #[must_use]
    pub fn with_attempt(mut self, attempt: u32) -> Self {
        self.attempt = attempt;
        self
    }

    /// The tool's name; the agent's, in an `invalid_output` arm.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The arguments, once they could be read.
    pub fn args(&self) -> Option<&Json> {
        self.args.as_ref()
    }

    /// How many times the tool has run for this call.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// What was tried for this call already, and why it failed.
    pub fn previous(&self) -> &[Tried] {
        &self.previous
    }
}

/// Hands a failure to arms whose error type is `E`. `None` when there is no such failure: the call
/// was denied, or the live error is gone.
pub(crate) fn with_error<E: 'static, R>(
    error: &ToolError,
    schema: &Value,
    ask: impl FnOnce(CallError<'_, E>) -> Option<R>,
) -> Option<R> {
    match error {
        ToolError::Execution { cause, .. } => ask(CallError::Execution(cause.failure()?)),
        _ => with_text(error, schema, ask),
    }
}

/// The same for arms that serve tools of any error type.
pub(crate) fn with_any_error<R>(
    error: &ToolError,
    schema: &Value,
    ask: impl FnOnce(CallError<'_, AnyError>) -> Option<R>,
) -> Option<R> {
    match error {
        ToolError::Execution { cause, .. } => {
            ask(CallError::Execution(cause.failure_as(Some(&cause.any()))?))
        }
        _ => with_text(error, schema, ask),
    }
}

fn with_text<E, R>(
    error: &ToolError,
    schema: &Value,
    ask: impl FnOnce(CallError<'_, E>) -> Option<R>,
) -> Option<R> {
    match error {
        ToolError::InvalidArgs {
            raw_args,
            parse_error,
            ..
        } => ask(CallError::InvalidArgs(
            &Raw::new(raw_args, schema),
            &Fault::new("", parse_error),
        )),
        ToolError::Deserialization {
            raw_value,
            path,
            cause,
            ..
        } => {
            let whole: Option<Value> = serde_json::from_str(raw_value).ok();
            let value = whole
                .as_ref()
                .and_then(|whole| super::value_at(whole, path));
            ask(CallError::Deserialization(
                value,
                &Fault::new(path, cause.message()),
            ))
        }
        // An execution has no text; what was escalated has been decided already.
        ToolError::Execution { .. } | ToolError::Escalation { .. } => None,
    }
}
