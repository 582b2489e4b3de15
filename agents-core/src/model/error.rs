use super::Request;
use crate::{Error, ErrorKind};
use serde::{Deserialize, Serialize};
use std::{fmt, time::Duration};

/// Why a model gave no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// The client cannot ask as it is set up: an address that is none, a header that cannot be sent.
    Setup,
    /// Nobody listens there, or nobody behind the gateway that does.
    Unreachable,
    /// The server does not know the model.
    NotFound,
    /// The server refused the request, or reported an error of its own.
    Refused,
    /// The server has too much to do, or was asked too often.
    Overloaded,
    /// No answer came in time.
    TimedOut,
    /// The connection broke, or the answer did, before it was whole.
    Interrupted,
    /// The answer is not what the protocol promises.
    Malformed,
    /// A recording does not hold this request.
    NotRecorded,
}

/// A model's failure: what kind, and a message that says the way out.
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
}

impl ModelError {
    /// A failure of `kind`, described by `message`.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        ModelError {
            kind,
            message: message.into(),
            status: None,
            retry_after: None,
        }
    }

    /// Keeps the HTTP status the server answered with.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// Keeps how long the server wants to be left alone.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// What kind of failure this is.
    pub fn kind(&self) -> ModelErrorKind {
        self.kind
    }

    /// The HTTP status, if the server answered at all.
    pub fn status(&self) -> Option<u16> {
        self.status
    }

    /// How long the server wants to be left alone, if it said so.
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// Whether the same request may be answered a moment later: the server had too much to do (429, 503),
    /// nothing came in time (408, 504), the connection broke (502). Nobody at the address, no such model and a
    /// key that is refused stay as they are; a 500 mostly means that the model does not fit into the machine.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::model::{ModelError, ModelErrorKind::*};
    ///
    /// assert!(ModelError::new(Interrupted, "the connection broke").is_transient());
    /// assert!(ModelError::new(Refused, "bad gateway").with_status(502).is_transient());
    /// assert!(!ModelError::new(Refused, "no key").with_status(401).is_transient());
    /// assert!(!ModelError::new(Unreachable, "connection refused").is_transient());
    /// ```
    pub fn is_transient(&self) -> bool {
        use ModelErrorKind::{Interrupted, Overloaded, TimedOut};
        matches!(self.kind, Overloaded | TimedOut | Interrupted)
            || matches!(self.status, Some(408 | 429 | 502..=504))
    }
}

impl ModelError {
    /// What it says, as it may be written down.
    pub(super) fn shown(&self, request: &Request<'_>) -> String {
        match request.masker() {
            Some(masker) => masker.text(&self.message).into_owned(),
            None => self.message.clone(),
        }
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ModelError {}

impl From<ModelError> for Error {
    fn from(error: ModelError) -> Self {
        let kind = match error.kind {
            ModelErrorKind::NotRecorded => ErrorKind::Replay,
            _ => ErrorKind::Model,
        };
        Error::new(kind, error.to_string()).with_source(error)
    }
}
