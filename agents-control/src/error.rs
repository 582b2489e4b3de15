//! Errors of a control plane.

use agents_store::StoreError;
use std::fmt;

/// Error of a control plane: its kind, and a message that says what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlError {
    kind: ControlErrorKind,
    message: String,
}

/// Kind of a [`ControlError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ControlErrorKind {
    /// The profile is not valid.
    Invalid,
    /// The principal may not do that.
    Forbidden,
    /// The profile has no such version.
    NotFound,
    /// Another profile is active than the one that was to be replaced.
    Conflict,
    /// The store failed.
    Store,
}

impl From<StoreError> for ControlError {
    fn from(error: StoreError) -> Self {
        let kind = match error.kind() {
            agents_store::ErrorKind::Conflict => ControlErrorKind::Conflict,
            agents_store::ErrorKind::NotFound => ControlErrorKind::NotFound,
            _ => ControlErrorKind::Store,
        };
        ControlError::new(kind, error.to_string())
    }
}

impl ControlError {
    pub(crate) fn new(kind: ControlErrorKind, message: impl Into<String>) -> Self {
        ControlError {
            kind,
            message: message.into(),
        }
    }

    /// Returns the kind.
    pub fn kind(&self) -> ControlErrorKind {
        self.kind
    }
}

impl fmt::Display for ControlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ControlError {}
