use std::error::Error;

/// Reason why a response is missing or incomplete. Texts are those of the innermost cause, which is the most specific.
#[derive(Debug)]
pub(crate) enum TransportError {
    /// No connection could be opened.
    Connect(String),
    /// The connection was open, and broke.
    Interrupted(String),
    /// No byte arrived within the time limit.
    TimedOut,
    /// The body is longer than [`MAX_BODY`](crate::transport::MAX_BODY).
    TooLong,
    /// The client's settings permit no connection.
    Setup(String),
    /// The client was used outside a tokio runtime.
    NoRuntime,
}

impl TransportError {
    pub(crate) fn connect(error: &dyn Error) -> TransportError {
        TransportError::Connect(root_cause(error))
    }

    pub(crate) fn interrupted(error: &dyn Error) -> TransportError {
        TransportError::Interrupted(root_cause(error))
    }
}

/// Returns the text of an error's innermost cause.
fn root_cause(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
