use super::{Cause, Code};
use std::fmt;

/// Error of any tool, for the arms that an agent has for all of its tools.
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
pub struct AnyError(Cause);

impl AnyError {
    /// Returns the tool's own error, if its type is `E` and the tool returned it in this process.
    pub fn downcast_ref<E: 'static>(&self) -> Option<&E> {
        self.0.downcast_ref()
    }

    /// Returns the error code, by which programs tell causes apart.
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

impl Cause {
    /// Returns this cause as an error without a type, for the arms that an agent has for all of its tools.
    pub fn any(&self) -> AnyError {
        AnyError(self.clone())
    }
}
