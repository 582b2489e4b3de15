use std::{error::Error, fmt, time::Duration};

/// Reason why the response to an HTTP request is missing or incomplete. The texts come from the innermost cause, which
/// is the most specific.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TransportError {
    /// No connection to the server could be opened, for this reason.
    Connect(String),
    /// The connection was open, and broke or brought something other than HTTP, for this reason.
    Interrupted(String),
    /// A time limit of the client or of its caller has passed before the response was complete.
    TimedOut {
        /// Kind of the time limit that has passed.
        limit: TimeLimit,
        /// Length of the time limit that has passed, as it was set or shortened last.
        after: Duration,
    },
    /// The body is longer than this number of bytes.
    TooLong(usize),
    /// The client's settings permit no request, for this reason.
    Setup(String),
    /// The client was used outside a tokio runtime, which it needs.
    NoRuntime,
}

/// Time limit of [`Limits`](crate::Limits) that an exchange with a server has exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeLimit {
    /// Limit on the time in which no byte arrives: [`Limits::idle`](crate::Limits::idle).
    Idle,
    /// Limit on the time until the reply begins: [`Limits::first`](crate::Limits::first).
    First,
    /// Limit on the time of the whole exchange: [`Limits::total`](crate::Limits::total).
    Total,
}

impl TransportError {
    pub(crate) fn connect(error: &dyn Error) -> TransportError {
        TransportError::Connect(root_cause(error))
    }

    pub(crate) fn interrupted(error: &dyn Error) -> TransportError {
        TransportError::Interrupted(root_cause(error))
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TransportError::Connect(why) => write!(f, "no server answers ({why})"),
            TransportError::Interrupted(why) => write!(f, "the connection broke ({why})"),
            TransportError::TimedOut { limit, after } => match limit {
                TimeLimit::Idle => write!(f, "no byte came for {after:?}"),
                TimeLimit::First => write!(f, "the reply did not begin within {after:?}"),
                TimeLimit::Total => write!(f, "the reply was not complete within {after:?}"),
            },
            TransportError::TooLong(bytes) => {
                write!(f, "the body is longer than {} MiB", bytes >> 20)
            }
            TransportError::Setup(why) => f.write_str(why),
            TransportError::NoRuntime => {
                f.write_str("a request can only be sent inside a tokio runtime")
            }
        }
    }
}

impl Error for TransportError {}

/// Returns the text of an error's innermost cause: the last of the chain of `source()`.
fn root_cause(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
