//! Errors of a runtime.

use agents_store::StoreError;
use std::fmt;

/// Error of a runtime, with its kind and a description.
///
/// ```
/// use agents_runtime::{Client, Principal, RuntimeError, RuntimeErrorKind};
/// use agents_store::ErrorKind;
///
/// /// Cancels a run; `false` if there is no such run.
/// async fn cancel(client: &Client, run: &str, by: &Principal) -> Result<bool, RuntimeError> {
///     match client.cancel(run, by).await {
///         Ok(()) => Ok(true),
///         Err(error) if error.kind() == RuntimeErrorKind::Store(ErrorKind::NotFound) => Ok(false),
///         Err(error) => Err(error),
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuntimeError {
    kind: RuntimeErrorKind,
    message: String,
}

/// Kind of a [`RuntimeError`], by which callers decide what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RuntimeErrorKind {
    /// The store has failed, or has refused the call, for this reason.
    Store(agents_store::ErrorKind),
    /// The keyring cannot be used, keys are missing, or something that keys protect was altered or written by hand,
    /// such as the contents of a run, a decision or a mode. Or the signature or the time of a webhook's message is
    /// wrong.
    Sealed,
    /// The principal may not do this, such as decide about the request, or cancel, pause or erase the run.
    Forbidden,
    /// The call asks for something that is not possible: for example, edited arguments do not fit, the key belongs to a
    /// run with another input, or the conversation is one with another agent.
    Invalid,
    /// The stored run cannot be read, or the run that is awaited is held. A value cannot be written as JSON, the worker
    /// lacks a model or a secret that the run needs, or the audit trail cannot be written out.
    Unreadable,
}

impl RuntimeError {
    pub(crate) fn new(kind: RuntimeErrorKind, message: impl Into<String>) -> Self {
        RuntimeError {
            kind,
            message: message.into(),
        }
    }

    pub(crate) fn unreadable(message: impl fmt::Display) -> Self {
        Self::new(RuntimeErrorKind::Unreadable, message.to_string())
    }

    pub(crate) fn sealed(message: impl fmt::Display) -> Self {
        Self::new(RuntimeErrorKind::Sealed, message.to_string())
    }

    /// Returns the kind of the error, by which callers decide what to do.
    pub fn kind(&self) -> RuntimeErrorKind {
        self.kind
    }

    /// Returns `true` if the same call may succeed later: the store cannot be reached, or is too busy.
    pub fn may_pass(&self) -> bool {
        self.kind == RuntimeErrorKind::Store(agents_store::ErrorKind::Unavailable)
    }
}

impl fmt::Display for RuntimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for RuntimeError {}

impl From<StoreError> for RuntimeError {
    fn from(error: StoreError) -> Self {
        match error.kind() {
            agents_store::ErrorKind::OtherAgent => Self::new(
                RuntimeErrorKind::Invalid,
                format!("{error}; give each conversation an id of its own"),
            ),
            kind => Self::new(RuntimeErrorKind::Store(kind), error.to_string()),
        }
    }
}

impl From<RuntimeError> for agents_core::Error {
    fn from(error: RuntimeError) -> Self {
        agents_core::Error::new(agents_core::ErrorKind::Journal, error.to_string())
            .with_source(error)
    }
}
