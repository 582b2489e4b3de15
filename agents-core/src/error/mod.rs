//! Error types: [`ToolError`] for one tool call, [`Error`] for an agent or a run.
//!
//! [`ToolError`] is the error of *one call*. The enum is exhaustive, so that recovery can match on it. [`Error`] is the
//! error of an *agent*. The type is opaque, with a [`kind`](Error::kind) to branch on and a chain of context.
//!
//! ```
//! # use agents_core as agents;
//! use agents::{Agent, AgentBuilder, Budget, Code, Effects, ErrorKind, tool::FnTool};
//! # use agents::testing::{Script, ScriptedModel};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), agents::Error> {
//! # let schema = serde_json::json!({"type": "object"});
//! # let (model, _) = ScriptedModel::always(Script::call("look", "{}"));
//! let look = FnTool::new("look", "Looks.", Effects::Reads, schema, |_, _| async {
//!     Err::<String, _>(std::io::Error::other("it is dark"))
//! });
//! let watcher = AgentBuilder::<String, String>::new("watcher").tool(look).model(model).build();
//! let outcome = watcher.run("What is there?").budget(Budget::new().max_turns(1)).outcome().await?;
//!
//! // The call has failed, as its receipt tells. The agent had no other turn in which its model could react.
//! let receipt = outcome.outputs.receipts().next().unwrap();
//! assert_eq!(receipt.error.as_ref().unwrap().code, Code::Unknown);
//! assert_eq!(outcome.result.unwrap_err().kind(), ErrorKind::Budget);
//! # Ok(())
//! # }
//! ```

mod any_error;
mod cause;
mod chain;
mod code;
mod escape;
mod failure;
mod kind;
mod misfits;
mod reason;
mod record;
mod severity;
mod tool;

pub use crate::reader::ReadError;
pub use any_error::AnyError;
pub(crate) use cause::Handed;
pub use cause::{Cause, Origin, ToolFailure};
pub(crate) use chain::chain;
pub use code::{Class, Code};
pub use failure::Failure;
pub use kind::ErrorKind;
pub(crate) use misfits::Misfits;
pub use reason::DenialReason;
pub use record::ErrorRecord;
pub use severity::Severity;
pub use tool::ToolError;
pub(crate) use tool::shorten;

use crate::{
    escalation::{Escalation, EscalationHop},
    shared::Shared,
};
use chain::causes;
use escape::plain;
use std::{any::Any, error::Error as StdError, fmt, sync::Arc};

/// Error of an agent or of a run.
///
/// The error is one word wide, cheap to clone, and prints as a chain: the innermost reason last. `{:#}` adds the
/// sources, if they say more; a `main` that returns the error prints the sources on lines of their own. Control
/// characters other than line breaks and tabs are escaped (`\u{1b}`), so that a terminal executes none;
/// [`message`](Error::message) returns them unescaped.
///
/// ```
/// # use agents_core as agents;
/// use agents::{Error, ErrorKind};
///
/// let error = Error::new(ErrorKind::Model, "connection refused").context("agent `planner`");
/// assert_eq!(error.kind(), agents::ErrorKind::Model);
/// assert_eq!(error.to_string(), "agent `planner`: connection refused");
/// ```
#[derive(Clone)]
pub struct Error(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    message: String,
    /// Contexts that callers have put before the message, innermost first.
    context: Vec<String>,
    source: Option<Arc<dyn StdError + Send + Sync>>,
    /// Escalation that the error stands for; `None` if the error is not one of an escalation.
    escalation: Option<Shared<Escalation>>,
    /// Is `true` if all agents that could have handled the escalation have been asked.
    settled: bool,
}

impl Error {
    /// Creates an error of `kind` with `message`. By convention, a message is in lower case, without a full stop, and
    /// includes the remedy.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error(Arc::new(Inner {
            kind,
            message: message.into(),
            context: Vec::new(),
            source: None,
            escalation: None,
            settled: false,
        }))
    }

    /// Creates the error by which an agent escalates its work instead of doing it.
    ///
    /// A repair agent that returns this error escalates the call or the answer that it was to repair. If a model called
    /// the agent, as a delegate or by a bridge tool, the agents above are asked, beginning with the caller. Any other
    /// agent just ends with this error. The agent's own `on_escalation` is never asked.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{Agent, AgentBuilder, Error, Severity, agent::Skill};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Error> {
    /// // An agent with a body that knows when to give up.
    /// let clerk = AgentBuilder::<String, u32>::new("clerk").skill(Skill::native("parse", "Reads.", |text: String| async move {
    ///     text.parse().map_err(|_| Error::escalated(format!("`{text}` is no number"), Severity::Medium))
    /// })).build();
    /// let error = clerk.run("twelve").await.unwrap_err();
    /// assert_eq!((error.kind(), error.severity()), (agents::ErrorKind::Escalated, Some(Severity::Medium)));
    /// # Ok(())
    /// # }
    /// ```
    pub fn escalated(reason: impl Into<String>, severity: Severity) -> Self {
        let reason = reason.into();
        Error::of_escalation(Escalation::of_agent("", &reason, severity), false)
    }

    /// Creates the error of an escalation; `settled` if all agents that could have handled it were asked.
    pub(crate) fn of_escalation(escalation: Escalation, settled: bool) -> Self {
        let error = Error::new(ErrorKind::Escalated, &escalation.reason);
        let mut inner = Arc::unwrap_or_clone(error.0);
        inner.escalation = Some(Shared::new(escalation));
        inner.settled = settled;
        Error(Arc::new(inner))
    }

    /// Creates the error by which an agent or a tool ends the whole run. No agent above can handle it.
    ///
    /// The throw ends the run, even if a caller of the agent would handle an error. If the run is nested in another
    /// run, the throw ends that run as well.
    ///
    /// A tool has to return this error unchanged. If a tool wraps it in an error type of its own, the run treats it as
    /// any other error of the tool, and asks the arms about it.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{Agent, AgentBuilder, Error, agent::Skill, compose::first_of};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Error> {
    /// let strict = AgentBuilder::<String, String>::new("strict").skill(Skill::native("check", "Checks.", |_: String| async {
    ///     Err(Error::thrown("the licence has run out"))
    /// })).build();
    /// let easy = AgentBuilder::<String, String>::new("easy").skill(Skill::native("work", "Works.", |x: String| async { Ok(x) })).build();
    /// // A failure would be a defeat in this race; a throw ends it.
    /// assert_eq!(first_of((strict, easy)).run("go").await.unwrap_err().kind(), agents::ErrorKind::Thrown);
    /// # Ok(())
    /// # }
    /// ```
    pub fn thrown(reason: impl Into<String>) -> Self {
        Error::new(ErrorKind::Thrown, reason)
    }

    /// Attaches the error that caused this one; [`source`](StdError::source) returns it.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{Error, ErrorKind};
    ///
    /// let cause = std::io::Error::other("the disk is full");
    /// let error = Error::new(ErrorKind::Failed, "the report cannot be written").with_source(cause);
    /// assert_eq!(format!("{error:#}"), "the report cannot be written: the disk is full");
    /// ```
    #[must_use]
    pub fn with_source(self, source: impl StdError + Send + Sync + 'static) -> Self {
        self.caused_by(Box::new(source))
    }

    pub(crate) fn caused_by(self, source: Box<dyn StdError + Send + Sync>) -> Self {
        let mut inner = Arc::unwrap_or_clone(self.0);
        inner.source = Some(Arc::from(source));
        Error(Arc::new(inner))
    }

    /// Adds a context before the text of the error: the agent or the activity in which the error occurred.
    /// [`message`](Error::message) stays the same.
    #[must_use]
    pub fn context(self, what: impl Into<String>) -> Self {
        let mut inner = Arc::unwrap_or_clone(self.0);
        inner.context.push(what.into());
        Error(Arc::new(inner))
    }

    /// Returns the same error with its texts changed by `text` and its escalation by `escalation`, such as by masking.
    /// The source is dropped if `text` would change its text, or the text of a source below it.
    pub(crate) fn mapped(
        self,
        text: impl Fn(String) -> String,
        escalation: impl Fn(Escalation) -> Escalation,
    ) -> Self {
        let inner = Arc::unwrap_or_clone(self.0);
        let unchanged = |source: &Arc<dyn StdError + Send + Sync>| {
            let mut cause: Option<&dyn StdError> = Some(&**source);
            while let Some(error) = cause {
                let said = error.to_string();
                if text(said.clone()) != said {
                    return false;
                }
                cause = error.source();
            }
            true
        };
        Error(Arc::new(Inner {
            kind: inner.kind,
            source: inner.source.filter(unchanged),
            message: text(inner.message),
            context: inner.context.into_iter().map(&text).collect(),
            escalation: inner
                .escalation
                .map(|it| Shared::new(escalation(it.to_owned()))),
            settled: inner.settled,
        }))
    }

    /// Creates the error of an agent for an error that user code returned: with the text of `error`, or `error` itself
    /// if its type is [`Error`].
    pub(crate) fn of_displayed<E: fmt::Display + 'static>(error: &E) -> Self {
        match (error as &dyn Any).downcast_ref::<Error>() {
            Some(error) => error.clone(),
            None => Error::new(ErrorKind::Failed, error.to_string()),
        }
    }

    /// Returns the kind of error, by which callers decide what to do.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the message of the error, without contexts and sources.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the severity of the escalation; `None` where [`escalation`](Error::escalation) returns `None`.
    pub fn severity(&self) -> Option<Severity> {
        self.escalation().map(|escalation| escalation.severity)
    }

    /// Returns the escalation that the error stands for, with its source, its reason and the original failure. `None`
    /// if the error is no escalation, or is the error of a [stored run](crate::journal::Journal) that was read again
    /// and had ended with this error: only the kind and the text of such an error are stored.
    pub fn escalation(&self) -> Option<&Escalation> {
        self.0.escalation.as_deref()
    }

    pub(crate) fn is_settled(&self) -> bool {
        self.0.settled
    }
}

impl Error {
    /// Returns the text of the error as it is displayed, with its contexts and without its sources, unescaped.
    fn said(&self) -> Result<String, fmt::Error> {
        let mut said = String::new();
        self.say(&mut said)?;
        Ok(said)
    }

    fn say(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        for context in self.0.context.iter().rev() {
            write!(out, "{context}: ")?;
        }
        match self.escalation() {
            Some(escalation) if !escalation.source.is_empty() => {
                EscalationHop::say(&escalation.said(), "", out)?;
            }
            _ => out.write_str(&self.0.message)?,
        }
        let refused = self
            .escalation()
            .map_or(&[][..], |escalation| &escalation.refused);
        refused.iter().try_for_each(|one| write!(out, "; {one}"))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = self.said()?;
        f.write_str(&plain(&said))?;
        let causes = match f.alternate() {
            true => causes(self, said),
            false => Vec::new(),
        };
        causes
            .iter()
            .try_for_each(|cause| write!(f, ": {}", plain(cause)))
    }
}

/// Writes the error for people, as a `main` that returns the error prints it: the [`Display`](fmt::Display) text, and a
/// line for each source that says more. `{:#?}` writes the parts, the kind among them.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = self.said()?;
        if f.alternate() {
            let mut parts = f.debug_struct("Error");
            parts.field("kind", &self.0.kind);
            parts.field("message", &said);
            if let Some(escalation) = self.escalation() {
                parts.field("escalation", &Part(escalation));
            }
            if let Some(source) = self.source() {
                parts.field("source", &Part(&source));
            }
            return parts.finish();
        }
        f.write_str(&plain(&said))?;
        causes(self, said)
            .iter()
            .try_for_each(|cause| write!(f, "\n  caused by: {}", plain(cause)))
    }
}

/// Part of an error for its `Debug` output, whose control characters are escaped.
struct Part<'a>(&'a dyn fmt::Debug);

impl fmt::Debug for Part<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&plain(&format!("{:#?}", self.0)))
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0
            .source
            .as_deref()
            .map(|s| s as &(dyn StdError + 'static))
    }
}

#[cfg(test)]
mod tests {
    use super::{Error, ErrorKind};
    use std::{error::Error as StdError, fmt, io};

    #[test]
    fn what_main_prints() {
        let reset = io::Error::other(io::Error::from(io::ErrorKind::ConnectionReset));
        let error = Error::new(ErrorKind::Failed, "the page cannot be read").with_source(reset);
        let error = error.context("agent `reader`");
        assert_eq!(
            format!("{error:?}"),
            "agent `reader`: the page cannot be read\n  caused by: connection reset"
        );
        assert!(format!("{error:#?}").contains("kind: Failed"));
        assert_eq!(
            format!("{error:#}"),
            "agent `reader`: the page cannot be read: connection reset"
        );
        // A source that has been quoted is not said twice.
        let refused = io::Error::other("nobody answers");
        let error = Error::new(ErrorKind::Model, refused.to_string()).with_source(refused);
        assert_eq!(format!("{error:?}"), "nobody answers");
    }

    #[test]
    fn what_others_said_moves_no_cursor() {
        let said = "\u{1b}]0;gone\u{7}\r\u{9b}2J\tone\ntwo";
        let seen = "\\u{1b}]0;gone\\u{7}\\u{d}\\u{9b}2J\tone\ntwo";
        let error = Error::new(ErrorKind::Model, said).context("agent `\u{1b}c`");
        let first = format!("agent `\\u{{1b}}c`: {seen}");
        assert_eq!(error.to_string(), first);
        assert_eq!(format!("{error:?}"), first);
        assert_eq!(error.message(), said, "for programs it stays as it was");

        let cause = io::Error::other("\u{1b}[2J");
        let caused = error.clone().with_source(cause);
        assert_eq!(format!("{caused:#}"), format!("{first}: \\u{{1b}}[2J"));
        assert_eq!(
            format!("{caused:?}"),
            format!("{first}\n  caused by: \\u{{1b}}[2J")
        );

        // Each text is escaped once, in whatever form its source comes.
        let quoted = Error::new(ErrorKind::Failed, said).with_source(io::Error::other(said));
        assert_eq!(format!("{quoted:#}"), seen);
        let quoted = Error::new(ErrorKind::Failed, error.message()).with_source(quoted);
        assert_eq!(format!("{quoted:#}"), seen);
        let parts = format!("{quoted:#?}");
        assert!(parts.contains("message: \"\\u{1b}]0;"), "{parts:?}");
        let parts = format!("{:#?}", error.with_source(Raw("\u{1b}[2J")));
        assert!(!parts.contains('\u{1b}'), "{parts:?}");
    }

    /// Error for a test, whose `Debug` writes its text unescaped.
    struct Raw(&'static str);

    impl fmt::Display for Raw {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl fmt::Debug for Raw {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl StdError for Raw {}
}
