//! Errors of a control plane.

use agents_store::StoreError;
use std::fmt;

/// Error of a control plane: its kind, and a message that says what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlError {
    kind: ControlErrorKind,
    message: String,
}

/// Kind of a [`ControlError`], by which callers decide what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ControlErrorKind {
    /// The profile is not valid, its purpose is not registered, or a stored profile cannot be read. For credentials:
    /// the owner is a user, or the credential cannot be encrypted.
    Invalid,
    /// The principal may not change this profile.
    Forbidden,
    /// No profile has the version that was named.
    NotFound,
    /// The version that was to be replaced is not the active one.
    Conflict,
    /// The store of the control plane failed, or could not be reached.
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

    /// Returns the kind of the error, by which callers decide what to do.
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
