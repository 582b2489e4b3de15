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
    /// The tool returned this error. To arms whose error type is [`AnyError`](super::AnyError), the refusal of a rate
    /// limiter looks the same.
    Returned(&'a E),
    /// The tool did not finish within this time.
    TimedOut(Duration),
    /// The tool panicked with this message.
    Panicked(&'a str),
}

/// Writes the failure in words, such as for the text of a [`feedback`](crate::recovery::feedback) or of an escalation.
/// An error that the tool returned is written as it is displayed, without its sources.
impl<E: fmt::Display> fmt::Display for Failure<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Returned(error) => error.fmt(f),
            Failure::TimedOut(after) => write!(f, "it did not finish within {after:?}"),
            Failure::Panicked(said) => write!(f, "it panicked: {said}"),
        }
    }
}
