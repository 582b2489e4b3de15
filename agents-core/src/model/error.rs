use crate::{Error, ErrorKind};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Why a model gave no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// Nobody listens there.
    Unreachable,
    /// The server does not know the model.
    NotFound,
    /// The server refused the request, or reported an error of its own.
    Refused,
    /// No answer came in time.
    TimedOut,
    /// The answer broke off, or is not what the protocol promises.
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
/// let error = ModelError::new(ModelErrorKind::Unreachable, "nobody answers at 127.0.0.1:11434").with_status(503);
/// assert_eq!(error.kind(), ModelErrorKind::Unreachable);
/// assert_eq!(error.status(), Some(503));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelError {
    kind: ModelErrorKind,
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
}

impl ModelError {
    /// A failure of `kind`, described by `message`.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        ModelError {
            kind,
            message: message.into(),
            status: None,
        }
    }

    /// Keeps the HTTP status the server answered with.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// What kind of failure this is.
    pub fn kind(&self) -> ModelErrorKind {
        self.kind
    }

    /// Whether asking again may help: no answer in time, one that broke off, a server that is busy or has
    /// failed itself. Nobody at the address, no such model and a key that is refused stay as they are.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::model::{ModelError, ModelErrorKind::*};
    ///
    /// assert!(ModelError::new(TimedOut, "no byte for a minute").is_transient());
    /// assert!(ModelError::new(Refused, "overloaded").with_status(503).is_transient());
    /// assert!(!ModelError::new(Refused, "no key").with_status(401).is_transient());
    /// assert!(!ModelError::new(Unreachable, "connection refused").is_transient());
    /// ```
    pub fn is_transient(&self) -> bool {
        match self.status {
            Some(status) => matches!(status, 408 | 425 | 429 | 500..),
            // What a server reports in the place of an answer is a failure of its own.
            None => matches!(
                self.kind,
                ModelErrorKind::TimedOut | ModelErrorKind::Malformed | ModelErrorKind::Refused
            ),
        }
    }

    /// The HTTP status, if the server answered at all.
    pub fn status(&self) -> Option<u16> {
        self.status
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
