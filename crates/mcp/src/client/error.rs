use agents_core::{Code, ToolFailure};
use std::{error::Error, fmt, time::Duration};

/// Error that an MCP server has answered with, or that occurred on the way to it.
///
/// Arms get this error from the tools of a server:
///
/// ```
/// use agents_core::recovery::{CallError, Execution, Failure, retry};
/// use agents_core::AgentBuilder;
/// use agents_mcp::{McpError, McpErrorKind};
///
/// let triage = AgentBuilder::<String, String>::new("triage").on_error(|error, _| match error {
///     CallError::Execution(Failure::Returned(error)) => match error.downcast_ref::<McpError>()?.kind() {
///         McpErrorKind::Unreachable => Some(retry::<Execution>().max_attempts(3).into()),
///         _ => None,
///     },
///     _ => None,
/// });
/// ```
#[derive(Clone, Debug)]
pub struct McpError {
    kind: McpErrorKind,
    message: String,
    retry_after: Option<Duration>,
    challenge: Option<String>,
}

/// Kind of an [`McpError`], by which arms tell errors apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum McpErrorKind {
    /// The server could not be started or reached, its connection was lost, or it did not answer in time. No request
    /// that can have an effect was sent. A call of a tool that writes has no error of this kind if the connection is
    /// lost during the call: the effect of such a call is in doubt.
    Unreachable,
    /// The server demands that this client authorizes itself, or this client could not be authorized.
    Unauthorized,
    /// The server refused the arguments of the call, or the parameters of another request.
    InvalidArguments,
    /// The server does not have the tool, has changed it since it was admitted, or does not know requests of this kind,
    /// such as those for prompts.
    Changed,
    /// The server answered that the call has failed, or answered a request with another error.
    Failed,
    /// The server sent what the protocol does not allow, or more than this client reads.
    Protocol,
}

impl McpError {
    pub(super) fn new(kind: McpErrorKind, message: impl Into<String>) -> Self {
        McpError {
            kind,
            message: message.into(),
            retry_after: None,
            challenge: None,
        }
    }

    /// Replaces the message of the error by this one.
    pub(super) fn saying(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    pub(super) fn after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// Sets the header `WWW-Authenticate` with which the server demanded authorization.
    pub(super) fn challenged(mut self, challenge: Option<&str>) -> Self {
        self.challenge = challenge.map(str::to_owned);
        self
    }

    /// Returns the header `WWW-Authenticate` with which the server demanded authorization, if it sent one.
    #[cfg(feature = "auth")]
    pub(super) fn challenge(&self) -> Option<&str> {
        self.challenge.as_deref()
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> McpErrorKind {
        self.kind
    }
}

impl fmt::Display for McpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for McpError {}

impl ToolFailure for McpError {
    fn code(&self) -> Code {
        match self.kind {
            McpErrorKind::Unreachable => Code::NetworkError,
            McpErrorKind::Unauthorized => Code::AuthRequired,
            McpErrorKind::InvalidArguments => Code::ValidationError,
            McpErrorKind::Changed => Code::PolicyDenied,
            McpErrorKind::Failed | McpErrorKind::Protocol => Code::ProviderError,
        }
    }

    fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }
}
