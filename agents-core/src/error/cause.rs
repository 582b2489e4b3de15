mod doubt;

use self::doubt::Doubt;
use super::{Code, DenialReason, Error, ErrorKind, Failure, Misfits, ReadError};
use crate::escalation::Escalation;
use serde::{Deserialize, Serialize};
use std::{any::Any, borrow::Cow, fmt, sync::Arc, time::Duration};

/// Extension of a tool's error type with an error code and a time to wait before a retry. Models and dashboards can
/// branch on the code.
///
/// An error type without this trait has the code [`Code::Unknown`]. If the tool lacked a secret, a failure with that
/// code gets one that says so.
///
/// ```
/// # use agents_core as agents;
/// use agents::{Code, ToolFailure};
/// use std::{fmt, time::Duration};
///
/// struct Busy { seconds: u64 }
/// impl fmt::Display for Busy {
///     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { write!(f, "busy") }
/// }
/// impl ToolFailure for Busy {
///     fn code(&self) -> Code { Code::RateLimit }
///     fn retry_after(&self) -> Option<Duration> { Some(Duration::from_secs(self.seconds)) }
/// }
/// ```
pub trait ToolFailure {
    /// Returns the error code; [`Code::Unknown`] by default.
    fn code(&self) -> Code {
        Code::Unknown
    }

    /// Returns the time to wait before the same call may succeed; `None`, which is the default, if no such time is
    /// known.
    ///
    /// A `retry` waits that long, up to the bound that its [`Backoff`](crate::recovery::Backoff) sets.
    fn retry_after(&self) -> Option<Duration> {
        None
    }
}

/// Origin of the failure of a call: the way in which the call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Origin {
    /// The tool returned an `Err` by itself. Also the origin of a cause that has only a code and a message: of
    /// arguments or an answer that do not fit, of a call that lacks a stored secret, or of a call that was left undone.
    Returned,
    /// The tool exceeded its timeout, which had this length.
    TimedOut(Duration),
    /// The tool, or the agent behind it, panicked, and the run has caught the panic.
    Panicked,
    /// The call was refused before it ran, or before it ran again: the tool is unknown or blocked, a policy or an
    /// approver denied the call, or the agent's calls are used up.
    Denied,
    /// A rate limiter refused the execution, or failed to decide about it.
    RateLimited,
    /// The execution was cut off: this process ended while the tool ran, or no usable answer came from the server that
    /// carried out the call. Also the origin if a tool that writes returned an output that cannot be used.
    Interrupted,
}

/// Cause of the failure of a call: its code, its message, its origin, and the live error if there is one.
///
/// A cause is cheap to clone. The live error is the value that the tool returned: it can be downcast in the process
/// that made it, and only its text is stored.
///
/// ```
/// # use agents_core as agents;
/// use agents::{Code, error::{Cause, Origin}};
/// use std::{io, time::Duration};
///
/// let cause = Cause::returned(io::Error::other("no route"), Code::NetworkError, Some(Duration::from_secs(2)));
/// assert_eq!((cause.origin(), cause.code()), (Origin::Returned, Code::NetworkError));
/// assert!(cause.downcast_ref::<io::Error>().is_some(), "the live error, in this process");
///
/// let stored: Cause = serde_json::from_str(&serde_json::to_string(&cause)?)?;
/// assert_eq!(stored.message(), "no route");
/// assert!(stored.downcast_ref::<io::Error>().is_none());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cause(Arc<Inner>);

#[derive(Clone, Serialize, Deserialize)]
struct Inner {
    message: String,
    origin: Origin,
    code: Code,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry_after: Option<Duration>,
    #[serde(skip)]
    live: Option<Arc<dyn Any + Send + Sync>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    handed: Option<Handed>,
    /// Is `true` if an agent panicked; the message then says so already.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_agent_panic: bool,
    /// Reason with which the failure ends the run, if it is a throw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    thrown: Option<String>,
    /// Faults of arguments or of an answer, of which only the first are listed; empty unless there are several.
    #[serde(default, skip_serializing_if = "Misfits::is_empty")]
    misfits: Misfits,
    /// Kind of doubt about the effect, if the execution of a tool that writes was cut off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    doubt: Option<Doubt>,
    /// Reason why the call was not approved, if the approver refused the call or the time ran out; otherwise `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<DenialReason>,
}

/// Result of a delegate that is more than a failure of its call: the run has to act on it.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Handed {
    /// The delegate escalated, and the agents above have not been asked yet.
    Up(Escalation),
    /// The delegate escalated, and all agents above have been asked without success.
    Back(Escalation),
    /// The delegate is put together wrongly and cannot work, which a model cannot correct.
    Unfit(String),
}

impl Cause {
    /// Creates the cause of an execution that returned `error`, with the `code` and `retry_after`
    /// of its type.
    ///
    /// An [`Error::thrown`] is no failure of the call: it ends the run.
    pub fn returned<E>(error: E, code: Code, retry_after: Option<Duration>) -> Self
    where
        E: fmt::Display + Send + Sync + 'static,
    {
        let message = error.to_string();
        Self::returned_saying(message, error, code, retry_after)
    }

    /// Creates the cause of an execution that returned `error`, with `message` as its text. The message may tell the
    /// sources of the error as well.
    pub(crate) fn returned_saying<E>(
        message: String,
        error: E,
        code: Code,
        retry_after: Option<Duration>,
    ) -> Self
    where
        E: Send + Sync + 'static,
    {
        let said = (&error as &dyn Any).downcast_ref::<Error>();
        let thrown = said.filter(|error| error.kind() == ErrorKind::Thrown);
        Cause(Arc::new(Inner {
            retry_after,
            thrown: thrown.map(|error| error.message().to_owned()),
            live: Some(Arc::new(error)),
            ..Self::inner(Origin::Returned, code, message)
        }))
    }

    /// Creates the cause of a delegate call whose agent returned `error`.
    ///
    /// An escalation and an agent that cannot work are handed over; any other error is a failure of the call. A throw
    /// has ended the run already.
    pub(crate) fn of_agent(agent: &str, error: Error) -> Self {
        let code = match error.kind() {
            ErrorKind::Model => Code::ProviderError,
            ErrorKind::Budget | ErrorKind::Denied => Code::PolicyDenied,
            _ => Code::Unknown,
        };
        let handed = match (error.kind(), error.escalation()) {
            (ErrorKind::Build, _) => Some(Handed::Unfit(error.message().to_owned())),
            (ErrorKind::Escalated, Some(escalation)) => {
                let mut escalation = escalation.clone();
                if escalation.source.is_empty() {
                    escalation.source = agent.to_owned();
                }
                Some(match error.is_settled() {
                    true => Handed::Back(escalation),
                    false => Handed::Up(escalation),
                })
            }
            _ => None,
        };
        let origin = match error.kind() {
            ErrorKind::Panicked => Origin::Panicked,
            _ => Origin::Returned,
        };
        Cause(Arc::new(Inner {
            live: Some(Arc::new(error.clone())),
            handed,
            is_agent_panic: origin == Origin::Panicked,
            ..Self::inner(origin, code, format!("{error:#}"))
        }))
    }

    /// Creates the cause of an execution that exceeded its timeout.
    pub fn timed_out(after: Duration) -> Self {
        let message = format!("it did not finish within {after:?}");
        Cause::of(Origin::TimedOut(after), Code::Timeout, message)
    }

    /// Creates the cause of an execution that panicked.
    pub(crate) fn panicked(message: impl Into<String>) -> Self {
        Cause::of(Origin::Panicked, Code::Unknown, message.into())
    }

    /// Creates the cause of an execution that was cut off: its process ended, or no usable answer came from the server
    /// or the tool that carried it out. If the tool writes, nobody knows whether the call took effect.
    pub fn interrupted(message: impl Into<String>) -> Self {
        Cause::of(Origin::Interrupted, Code::Unknown, message.into())
    }

    /// Creates the cause of a call that was refused before it ran: [`Origin::Denied`], with the code [`Code::PolicyDenied`].
    pub fn denied(reason: impl Into<String>) -> Self {
        Cause::of(Origin::Denied, Code::PolicyDenied, reason.into())
    }

    /// Sets the reason why the call was not approved: the approver refused the call, or the time for an approval ran
    /// out.
    #[must_use]
    pub fn because(self, reason: DenialReason) -> Self {
        self.but(|inner| inner.reason = Some(reason))
    }

    /// Creates the cause of an execution that a rate limiter refused, with the time to wait before the next one if the
    /// limiter knows it.
    pub(crate) fn rate_limited(reason: impl Into<String>, retry_after: Option<Duration>) -> Self {
        Cause(Arc::new(Inner {
            retry_after,
            ..Cause::inner(Origin::RateLimited, Code::RateLimit, reason.into())
        }))
    }

    /// Creates a cause from a code and a message alone, without a live error.
    pub fn text(code: Code, message: impl Into<String>) -> Self {
        Cause::of(Origin::Returned, code, message.into())
    }

    /// Creates the cause of arguments or of an answer that do not fit: `first` is the message about one misfit, and
    /// `all` the list of misfits, which is empty if there is only one.
    pub(crate) fn misfit(first: String, all: Misfits) -> Self {
        Cause(Arc::new(Inner {
            misfits: all,
            ..Self::inner(Origin::Returned, Code::ValidationError, first)
        }))
    }

    fn of(origin: Origin, code: Code, message: String) -> Self {
        Cause(Arc::new(Self::inner(origin, code, message)))
    }

    fn inner(origin: Origin, code: Code, message: String) -> Inner {
        Inner {
            message: capped(message),
            origin,
            code,
            retry_after: None,
            live: None,
            handed: None,
            is_agent_panic: false,
            thrown: None,
            misfits: Misfits::default(),
            doubt: None,
            reason: None,
        }
    }

    /// Returns the same cause with its message, and the reason of a throw, changed by `text`, such as by masking. The
    /// live error stays as it is, for the arms.
    pub(crate) fn mapped(self, text: impl Fn(&str) -> Cow<'_, str>) -> Self {
        match text(&self.0.message) {
            Cow::Owned(message) => self.but(|inner| {
                let thrown = inner.thrown.take();
                inner.thrown = thrown.map(|reason| text(&reason).into_owned());
                inner.message = message;
            }),
            Cow::Borrowed(_) => self,
        }
    }

    /// Returns the same cause with this code, if the tool returned an error without a code. Any other cause stays as it
    /// is.
    pub(crate) fn coded(self, code: Code) -> Self {
        match (self.0.origin, self.0.code) {
            (Origin::Returned, Code::Unknown) => self.but(|inner| inner.code = code),
            _ => self,
        }
    }

    fn but(&self, change: impl FnOnce(&mut Inner)) -> Self {
        let mut inner = (*self.0).clone();
        change(&mut inner);
        Cause(Arc::new(inner))
    }

    /// Returns the message that says what failed, for people and models. A message of more than 16,000 bytes is cut.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the origin of the failure: an error of the tool, a timeout, a panic, a refusal or an interruption.
    pub fn origin(&self) -> Origin {
        self.0.origin
    }

    /// Returns the error code, by which programs tell causes apart.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// Returns the reason why the call was not approved: the approver refused the call, or the time for an approval ran
    /// out. It is `None` for any other cause, and if the approver asked for a change or gave arguments that do not fit.
    pub fn reason(&self) -> Option<DenialReason> {
        self.0.reason
    }

    /// Returns the misfits of arguments or of an answer in the order of the schema, at most eight. The list is empty
    /// unless there are several misfits: a single one is in the message.
    pub fn misfits(&self) -> &[ReadError] {
        &self.0.misfits.listed
    }

    pub(crate) fn all_misfits(&self) -> &Misfits {
        &self.0.misfits
    }

    /// Takes out the escalation or the defect that a delegate returned; `None` if the delegate returned neither, or the
    /// tool is no delegate.
    pub(crate) fn hand_over(&mut self) -> Option<Handed> {
        self.0.handed.as_ref()?;
        let handed = self.0.handed.clone();
        *self = self.but(|inner| inner.handed = None);
        handed
    }

    /// Returns the reason of a throw; `None` if the tool did not return one.
    pub(crate) fn thrown(&self) -> Option<&str> {
        self.0.thrown.as_deref()
    }

    /// Returns the time to wait before the same call may succeed; `None` if no such time is known.
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// Returns the live error, if its type is `E`; `None` also if the cause was read from a journal.
    pub fn downcast_ref<E: 'static>(&self) -> Option<&E> {
        self.0.live.as_ref()?.downcast_ref()
    }

    /// Returns the failure in the form for an `execution_error` arm, with the tool's own error type.
    ///
    /// The result is `None` if the call was refused, held back by a rate limiter or interrupted. It is `None` as well if
    /// the error that the tool returned is gone, or of another type.
    pub fn failure<E: 'static>(&self) -> Option<Failure<'_, E>> {
        self.failure_as(self.downcast_ref())
    }

    /// Returns the failure in the form that arms match on, with `returned` as the error that the tool returned; `None`
    /// if the call was denied or interrupted, or if `returned` is needed and `None`.
    pub(crate) fn failure_as<'a, E>(&'a self, returned: Option<&'a E>) -> Option<Failure<'a, E>> {
        match self.0.origin {
            Origin::Returned | Origin::RateLimited => returned.map(Failure::Returned),
            Origin::TimedOut(after) => Some(Failure::TimedOut(after)),
            Origin::Panicked => Some(Failure::Panicked(&self.0.message)),
            Origin::Denied | Origin::Interrupted => None,
        }
    }
}

/// Cuts a message to its first 16,000 bytes, which models are told and receipts hold, and adds how long it was.
fn capped(message: String) -> String {
    const MOST: usize = 16_000;
    if message.len() <= MOST {
        return message;
    }
    let end = message.floor_char_boundary(MOST);
    format!("{}… ({} bytes in all)", &message[..end], message.len())
}

impl fmt::Debug for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner {
            message,
            origin,
            code,
            ..
        } = &*self.0;
        write!(f, "{message} ({origin:?}, {code})")
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A panicked agent's message says so already.
        if self.0.origin == Origin::Panicked && !self.0.is_agent_panic {
            f.write_str("it panicked: ")?;
        }
        f.write_str(&self.0.message)?;
        self.0.doubt.map_or(Ok(()), |doubt| doubt.fmt(f))
    }
}

impl PartialEq for Cause {
    fn eq(&self, other: &Self) -> bool {
        let told = |cause: &Self| {
            (
                cause.message().to_owned(),
                cause.misfits().to_owned(),
                cause.origin(),
                cause.code(),
                cause.retry_after(),
                cause.0.doubt,
                cause.reason(),
            )
        };
        told(self) == told(other)
    }
}
