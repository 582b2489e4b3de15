use super::ContextOverflow;
use crate::{Error, ErrorKind};
use serde::{Deserialize, Serialize};
use std::{fmt, time::Duration};

/// Kind of a [`ModelError`]: why the model gave no reply.
///
/// ```
/// # use agents_core as agents;
/// use agents::model::{ModelError, ModelErrorKind};
///
/// fn is_worth_another_server(error: &ModelError) -> bool {
///     matches!(error.kind(), ModelErrorKind::Unreachable | ModelErrorKind::TimedOut)
/// }
/// # let _ = is_worth_another_server;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// The request cannot be made, for instance because an address or a header is invalid, a secret is missing, or the
    /// model cannot read an image.
    Setup,
    /// The server could not be reached, a gateway could not reach the server behind it, or the store of a control plane
    /// does not answer.
    Unreachable,
    /// The server does not know the model.
    NotFound,
    /// The server refused the request or reported an error of its own, the model declined to answer, or a filter
    /// withheld its reply.
    Refused,
    /// The conversation is longer than the model can read: [`ModelError::overflow`] has the sizes.
    TooLong,
    /// A filter of the provider refused the request because of its content.
    Filtered,
    /// A budget, such as the daily cap of a control plane, does not permit the request.
    OverBudget,
    /// The server is overloaded, limits the rate of requests, or failed in a way that mostly passes, or a control plane
    /// lets no request through for a while.
    Overloaded,
    /// The reply was not complete within a time limit of the client or of the server.
    TimedOut,
    /// The connection or the reply broke off before it was complete. Or the server reported, in place of its reply or
    /// within it, that it failed or that the model's call cannot be read.
    Interrupted,
    /// The reply of the server does not follow the protocol, or is longer than the client reads.
    Malformed,
    /// A replayed run asks for something that the recorded run did not ask.
    NotRecorded,
}

/// Error of a [`Model`](super::Model): its kind, and a message that says what to do.
///
/// ```
/// # use agents_core as agents;
/// use agents::model::{ModelError, ModelErrorKind};
///
/// let error = ModelError::new(ModelErrorKind::Overloaded, "too many requests are waiting").with_status(503);
/// assert_eq!(error.kind(), ModelErrorKind::Overloaded);
/// assert_eq!(error.status(), Some(503));
/// assert!(error.is_transient());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelError {
    kind: ModelErrorKind,
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry_after: Option<Duration>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    overflow: Option<ContextOverflow>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
}

impl std::error::Error for ModelError {}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl ModelError {
    /// Creates an error of `kind` with `message`.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        ModelError {
            kind,
            message: message.into(),
            status: None,
            retry_after: None,
            overflow: None,
            request_id: None,
        }
    }

    /// Creates the error of a request that is longer than the model can read, of the kind
    /// [`TooLong`](ModelErrorKind::TooLong).
    pub fn too_long(message: impl Into<String>, overflow: ContextOverflow) -> Self {
        ModelError {
            overflow: Some(overflow),
            ..ModelError::new(ModelErrorKind::TooLong, message)
        }
    }

    /// Sets the HTTP status that the server answered with.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// Sets how long the server asked clients to wait.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// Sets the id by which the provider knows the request, and adds it to the message.
    #[must_use]
    pub fn with_request_id(mut self, id: impl Into<String>) -> Self {
        let id = id.into();
        self.message = format!("{} (request {id})", self.message);
        self.request_id = Some(id);
        self
    }

    /// Returns the id by which the provider knows the request, for the provider's support; `None` if the provider sent
    /// no id.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::model::{ModelError, ModelErrorKind};
    ///
    /// let error = ModelError::new(ModelErrorKind::Overloaded, "too busy").with_request_id("req_7");
    /// assert_eq!(error.request_id(), Some("req_7"));
    /// assert_eq!(error.to_string(), "too busy (request req_7)");
    /// ```
    pub fn request_id(&self) -> Option<&str> {
        self.request_id.as_deref()
    }

    /// Returns the kind of the error, by which callers decide what to do.
    pub fn kind(&self) -> ModelErrorKind {
        self.kind
    }

    /// Returns the HTTP status that the server answered with; `None` if no status is known.
    pub fn status(&self) -> Option<u16> {
        self.status
    }

    /// Returns how long the server asked clients to wait; `None` if the server did not ask for a wait.
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// Returns the sizes of a request that is longer than the model can read, as far as they are known; `None` for
    /// errors of another kind than [`TooLong`](ModelErrorKind::TooLong).
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::model::{ContextOverflow, ModelError, ModelErrorKind};
    ///
    /// let error = ModelError::new(ModelErrorKind::TooLong, "shorten the conversation");
    /// assert_eq!(error.overflow(), Some(ContextOverflow::default()), "the server told no sizes");
    /// assert_eq!(ModelError::new(ModelErrorKind::Refused, "no key").overflow(), None);
    /// ```
    pub fn overflow(&self) -> Option<ContextOverflow> {
        (self.kind == ModelErrorKind::TooLong).then(|| self.overflow.unwrap_or_default())
    }

    /// Returns `true` if the same request may succeed when it is repeated.
    ///
    /// Failures are transient if the server had too much to do (429, 503), nothing came in time (408, 504), or the
    /// connection broke (502). An address that nothing listens at, an unknown model, a rejected key and a quota that is
    /// used up (429, [`Refused`](ModelErrorKind::Refused)) do not change by themselves. The clients of providers report a 500 as overloaded, thus as transient. The client of Ollama reports
    /// a 500 as refused, because it mostly means that the model does not fit into the machine.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::model::{ModelError, ModelErrorKind::*};
    ///
    /// assert!(ModelError::new(Interrupted, "the connection broke").is_transient());
    /// assert!(ModelError::new(Refused, "bad gateway").with_status(502).is_transient());
    /// assert!(!ModelError::new(Refused, "no key").with_status(401).is_transient());
    /// assert!(!ModelError::new(Refused, "your quota is used up").with_status(429).is_transient());
    /// assert!(!ModelError::new(Unreachable, "connection refused").is_transient());
    /// ```
    pub fn is_transient(&self) -> bool {
        use ModelErrorKind::{Interrupted, Overloaded, Refused, TimedOut};
        matches!(self.kind, Overloaded | TimedOut | Interrupted)
            || matches!(self.status, Some(408 | 502..=504))
            || self.status == Some(429) && self.kind != Refused
    }
}

impl ModelError {
    /// Returns the error with the text `before` added behind its message.
    pub(super) fn followed(mut self, before: impl fmt::Display) -> Self {
        self.message = format!("{}; {before}", self.message);
        self
    }
}

impl From<ModelError> for Error {
    fn from(error: ModelError) -> Self {
        let kind = match error.kind {
            ModelErrorKind::NotRecorded => ErrorKind::Replay,
            ModelErrorKind::OverBudget => ErrorKind::Budget,
            _ => ErrorKind::Model,
        };
        Error::new(kind, error.to_string()).with_source(error)
    }
}
