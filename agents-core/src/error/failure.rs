use super::{Cause, Code};
use std::{fmt, time::Duration};

/// Failure of an execution: the tool's own error, a timeout or a panic.
///
/// ```
/// # use agents_core as agents;
/// use agents::error::Failure;
/// use std::{io, time::Duration};
///
/// fn is_worth_a_retry(failure: &Failure<'_, io::Error>) -> bool {
///     match failure {
///         Failure::Returned(e) => e.kind() != io::ErrorKind::NotFound,
///         Failure::TimedOut(after) => *after < Duration::from_secs(60),
///         Failure::Panicked(_) => false,
///     }
/// }
///
/// let gone = io::Error::from(io::ErrorKind::NotFound);
/// assert!(!is_worth_a_retry(&Failure::Returned(&gone)));
/// let slow: Failure<'_, io::Error> = Failure::TimedOut(Duration::from_secs(2));
/// assert!(is_worth_a_retry(&slow));
/// assert_eq!(slow.to_string(), "it did not finish within 2s");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure<'a, E> {
    /// The tool returned this error.
    Returned(&'a E),
    /// The tool exceeded this timeout.
    TimedOut(Duration),
    /// The tool panicked with this message.
    Panicked(&'a str),
}

/// Writes the failure as it is told to a model: for the text of a [`feedback`](crate::recovery::feedback), or of an
/// escalation.
impl<E: fmt::Display> fmt::Display for Failure<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Returned(error) => error.fmt(f),
            Failure::TimedOut(after) => write!(f, "it did not finish within {after:?}"),
            Failure::Panicked(said) => write!(f, "it panicked: {said}"),
        }
    }
}

/// Type-erased error of a tool, for an agent's shared arms.
///
/// ```
/// # use agents_core as agents;
/// use agents::recovery::*;
/// use std::io;
///
/// // An agent's shared arms: one opinion about the errors of several tools.
/// fn gone(failure: &Failure<'_, AnyError>) -> bool {
///     match failure {
///         Failure::Returned(error) => error
///             .downcast_ref::<io::Error>()
///             .is_some_and(|error| error.kind() == io::ErrorKind::NotFound),
///         Failure::TimedOut(_) | Failure::Panicked(_) => false,
///     }
/// }
/// # let _ = gone;
/// ```
#[derive(Clone)]
pub struct AnyError(pub(super) Cause);

impl AnyError {
    /// Returns the error itself, if it is an `E`.
    pub fn downcast_ref<E: 'static>(&self) -> Option<&E> {
        self.0.downcast_ref()
    }

    /// Returns the error code.
    pub fn code(&self) -> Code {
        self.0.code()
    }
}

impl fmt::Display for AnyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.message())
    }
}

impl fmt::Debug for AnyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}
