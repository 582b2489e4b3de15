use crate::wording;
use agents_core::{Code, ToolFailure};
use std::{error::Error, fmt, time::Duration};

/// Field of an operation, and the description of what is wrong there.
pub(crate) type Fault = (String, String);

/// Error of an OpenAPI document. If operations are at fault, it names each operation and the field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError(String);

impl ApiError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        ApiError(message.into())
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for ApiError {}

/// Error of a call of a tool that was made of an operation. If a request that writes may have taken effect and no
/// complete answer came, there is no such error: the effect of the call is in doubt.
///
/// Arms get this error from the tools of a document:
///
/// ```
/// use agents::{AgentBuilder, recovery::{CallError, Execution, Failure, retry}};
/// use agents_openapi::CallError as ApiCallError;
///
/// let clerk = AgentBuilder::<String, String>::new("clerk").on_error(|error, _| match error {
///     CallError::Execution(Failure::Returned(error)) => match error.downcast_ref::<ApiCallError>()?.status()? {
///         409 => Some(retry::<Execution>().max_attempts(2).into()),
///         _ => None,
///     },
///     _ => None,
/// });
/// # let _ = clerk;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallError {
    code: Code,
    message: String,
    status: Option<u16>,
    retry_after: Option<Duration>,
}

impl CallError {
    /// Creates the error of a call whose arguments cannot be sent.
    pub(crate) fn arguments(message: impl Into<String>) -> Self {
        CallError {
            code: Code::ValidationError,
            message: message.into(),
            status: None,
            retry_after: None,
        }
    }

    /// Creates the error of a call that the server answered with this status. `said` is the text of its answer.
    pub(crate) fn answered(status: u16, said: &str) -> Self {
        CallError {
            code: match status {
                400 | 422 => Code::ValidationError,
                _ => Code::Unknown,
            },
            message: wording::answered(status, said),
            status: Some(status),
            retry_after: None,
        }
    }

    /// Returns the failure status with which the server answered; `None` if the call failed for any other reason: no
    /// request was sent, no complete answer came, or a redirect was not followed.
    pub fn status(&self) -> Option<u16> {
        self.status
    }
}

impl From<agents_http_tool::HttpError> for CallError {
    fn from(error: agents_http_tool::HttpError) -> Self {
        CallError {
            code: error.code(),
            message: error.to_string(),
            status: error.status(),
            retry_after: error.retry_after(),
        }
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for CallError {}

impl ToolFailure for CallError {
    fn code(&self) -> Code {
        self.code
    }

    fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }
}
