use super::FailedRepair;
use crate::{
    Json,
    error::{AnyError, Failure, ReadError, ToolError},
    scope::Scope,
};
use serde_json::Value;
use std::{fmt, ops::Deref, sync::Arc, time::Duration};

/// Text of a call's arguments or of a final answer, with the schema that it should follow; derefs to `str`.
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
    /// Pairs a text with the schema that it should follow.
    pub fn new(text: &'a str, schema: &'a Value) -> Self {
        Raw { text, schema }
    }

    /// Returns the text itself, such as the model's arguments in an `invalid_args` arm.
    pub fn as_str(&self) -> &'a str {
        self.text
    }

    /// Returns the JSON Schema that the text should follow; `null` for a final answer in plain text.
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

/// Failure of a call or of a final answer, in the form that arms match on. `E` is the error type of the tool.
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
    /// `invalid_args(raw, error)`: no JSON object could be read from the arguments, they are too long, or the tool
    /// writes and the reading of the whole text is uncertain. Of arguments that are too long, `raw` is only the
    /// beginning.
    InvalidArgs(&'a Raw<'a>, &'a ReadError),
    /// `deserialization_error(value, error)`: an object was read that does not fit, or whose reading is uncertain in a
    /// field, for a tool that writes. `value` is the value at fault; `None` if a value is missing.
    Deserialization(Option<&'a Value>, &'a ReadError),
    /// `execution_error(failure)`: the tool returned an `Err`, timed out or panicked. Arms whose `E` is [`AnyError`]
    /// also get the refusals of a rate limiter.
    Execution(Failure<'a, E>),
    /// `invalid_output(raw, error)`: the final answer does not fit the agent's `Out`, or a validator refuses it.
    InvalidOutput(&'a Raw<'a>, &'a ReadError),
}

/// Context of a failure, besides the failure itself: `cx` in `on_error`.
///
/// ```
/// # use agents_core as agents;
/// use agents::recovery::ErrorContext;
/// use serde_json::json;
///
/// let cx = ErrorContext::new("read_file").with_args(&json!({"path": "a.txt"})).with_attempt(2).with_scope("acme");
/// assert_eq!((cx.attempt(), cx.scope().tenant_id()), (2, "acme"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct ErrorContext {
    pub(crate) tool: String,
    pub(crate) args: Option<Json>,
    pub(crate) attempt: u32,
    pub(crate) previous: Vec<FailedRepair>,
    pub(crate) run_id: Arc<str>,
    pub(crate) scope: Scope,
    pub(crate) time_left: Option<Duration>,
}

impl ErrorContext {
    /// Creates the context of a failure of the first execution, for unit tests of arms. The context has no arguments
    /// and no bound on the time.
    pub fn new(tool: impl Into<String>) -> Self {
        ErrorContext {
            tool: tool.into(),
            attempt: 1,
            ..ErrorContext::default()
        }
    }

    /// Sets the arguments of the failed call.
    #[must_use]
    pub fn with_args(mut self, args: &Value) -> Self {
        self.args = Json::of(args).ok();
        self
    }

    /// Sets the number that [`attempt`](ErrorContext::attempt) returns.
    #[must_use]
    pub fn with_attempt(mut self, attempt: u32) -> Self {
        self.attempt = attempt;
        self
    }

    /// Sets the scope that the run works for.
    #[must_use]
    pub fn with_scope(mut self, scope: impl Into<Scope>) -> Self {
        self.scope = scope.into();
        self
    }

    /// Sets the time left for the agent and its run.
    #[must_use]
    pub fn with_time_left(mut self, time: Duration) -> Self {
        self.time_left = Some(time);
        self
    }

    /// Returns the name of the tool; in an `invalid_output` arm, the name of the agent.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Returns the arguments of the failed call; `None` in `invalid_args` and `invalid_output` arms.
    pub fn args(&self) -> Option<&Json> {
        self.args.as_ref()
    }

    /// Returns the number of executions of the tool for this call so far; in an `invalid_output` arm, the number of the
    /// turn with the answer.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Returns the repairs that were tried for this call or answer, and failed.
    pub fn previous(&self) -> &[FailedRepair] {
        &self.previous
    }

    /// Returns the id of the run; empty outside of a run.
    pub fn run_id(&self) -> &str {
        &self.run_id
    }

    /// Returns the scope that the run works for.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Returns the time left before the agent or its run is stopped; `None` if the time of neither is bounded.
    ///
    /// A wait that is longer than this time cannot help:
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::recovery::*;
    /// use std::time::Duration;
    ///
    /// fn patient(cx: &ErrorContext) -> Decision<Execution> {
    ///     let wait = Duration::from_secs(20);
    ///     match cx.time_left() {
    ///         Some(left) if left <= wait => escalate("no time to wait for it"),
    ///         _ => retry().backoff(constant(wait)),
    ///     }
    /// }
    ///
    /// let cx = ErrorContext::new("fetch");
    /// assert_eq!(patient(&cx), retry().backoff(constant(Duration::from_secs(20))));
    /// assert_eq!(patient(&cx.with_time_left(Duration::from_secs(5))), escalate("no time to wait for it"));
    /// ```
    pub fn time_left(&self) -> Option<Duration> {
        self.time_left
    }
}

/// Passes a failure of a call to arms whose error type is `E`, and returns their result. Returns `None` if the arms
/// cannot be asked: the call was denied, held back by a rate limiter or interrupted, or the live error is gone.
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

/// Passes a failure of a call to arms for tools of any error type, and returns their result. Returns `None` if the call
/// was denied or interrupted.
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
            &ReadError::new("", parse_error),
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
                &ReadError::new(path, cause.message()).with_others(cause.misfits().iter().cloned()),
            ))
        }
        // An execution has no text, and an escalation has been decided already.
        ToolError::Execution { .. } | ToolError::Escalation { .. } => None,
    }
}
