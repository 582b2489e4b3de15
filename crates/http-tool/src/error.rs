use super::{address::NotPublic, wording};
use agents_core::{Code, ToolFailure, secret::SecretError};
use std::{error::Error as StdError, time::Duration};

/// Reason why a request was not made or failed.
///
/// ```
/// use agents::{Code, ToolFailure, http::{HttpArgs, HttpError, HttpTool}, prelude::*};
///
/// // A server that has nothing to say is no failure of this tool.
/// async fn status_page(http: &HttpTool, cx: &ToolContext) -> Result<String, HttpError> {
///     match http.call(HttpArgs::get("https://status.example.com"), cx).await {
///         Ok(answer) => Ok(answer.text.unwrap_or_default()),
///         Err(error) if error.code() == Code::NetworkError => Ok("the status page is down too".into()),
///         Err(error) => Err(error),
///     }
/// }
/// # let _ = status_page;
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct HttpError {
    code: Code,
    message: String,
    status: Option<u16>,
    retry_after: Option<Duration>,
    was_sent: bool,
}

impl HttpError {
    pub(super) fn new(code: Code, message: impl Into<String>) -> Self {
        HttpError {
            code,
            message: message.into(),
            status: None,
            retry_after: None,
            was_sent: false,
        }
    }

    pub(super) fn denied(message: impl Into<String>) -> Self {
        HttpError::new(Code::PolicyDenied, message)
    }

    pub(super) fn timed_out(after: Duration) -> Self {
        HttpError {
            was_sent: true,
            ..HttpError::new(Code::Timeout, wording::timed_out(after))
        }
    }

    /// Creates the error for a response with a failure status. `without` is the server's origin, if a redirect kept a
    /// secret from it.
    pub(super) fn of_status(
        status: u16,
        said: &str,
        retry_after: Option<Duration>,
        without: Option<String>,
    ) -> Self {
        let (code, what) = match status {
            401 | 403 => (Code::AuthRequired, wording::CREDENTIALS_REFUSED),
            429 => (Code::RateLimit, wording::ASKED_TOO_OFTEN),
            _ => (Code::ProviderError, wording::FAILED),
        };
        let without = without.as_deref().filter(|_| code == Code::AuthRequired);
        HttpError {
            status: Some(status),
            retry_after,
            ..HttpError::new(code, wording::of_status(what, status, without, said))
        }
    }

    /// Creates the error for a connection that failed, broke off, or was refused because the host is a private one, and
    /// for a client or a request that cannot be made.
    pub(super) fn of_transport(error: &reqwest::Error) -> Self {
        let mut innermost: &dyn StdError = error;
        while let Some(source) = innermost.source() {
            innermost = source;
            if let Some(denied) = innermost.downcast_ref::<NotPublic>() {
                return private(&denied.0);
            }
        }
        let what = match (error.is_connect(), error.is_builder()) {
            (true, _) => wording::NOT_REACHED,
            (_, true) => wording::NOT_ASKED,
            _ => wording::BROKE_OFF,
        };
        let host = error
            .url()
            .and_then(|url| url.host_str())
            .unwrap_or_default();
        HttpError {
            was_sent: what == wording::BROKE_OFF,
            ..HttpError::new(
                Code::NetworkError,
                wording::of_transport(host, what, &innermost),
            )
        }
    }

    /// Returns `true` if the request may have reached the server and no complete answer came: a request that writes may
    /// have taken effect.
    pub fn may_have_taken_effect(&self) -> bool {
        self.was_sent
    }

    /// Returns the HTTP status code for which the call failed (401, 403, 429, or 500 and above); `None` if the call
    /// failed for any other reason.
    pub fn status(&self) -> Option<u16> {
        self.status
    }
}

pub(super) fn private(host: &str) -> HttpError {
    HttpError::denied(wording::private_address(host))
}

impl ToolFailure for HttpError {
    fn code(&self) -> Code {
        self.code
    }

    fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }
}

impl From<SecretError> for HttpError {
    fn from(error: SecretError) -> Self {
        HttpError::new(error.code(), error.to_string())
    }
}
