use super::MIN_SECRET_CHARS;
use crate::{Code, ToolFailure};
use std::{fmt, io};

/// Reason why a tool did not get a secret.
///
/// The operator `?` converts this error into a tool's own error: an [`io::Error`], a `String`, or
/// any type that takes errors. If that error names no code of its own, the call has the code of the secret error:
/// `AUTH_REQUIRED`, or `PROVIDER_ERROR` if the secret could not be looked up.
///
/// ```
/// # use agents_core as agents;
/// use agents::{ToolContext, secret::SecretError};
/// use std::io;
///
/// // With `?`, the secret error becomes the tool's own error.
/// async fn ask_crm(cx: &ToolContext) -> io::Result<String> {
///     let key = cx.secret("crm").await?;
///     Ok(format!("asked with a key of {} bytes", key.expose_secret().len()))
/// }
/// # let _ = ask_crm;
/// let error = SecretError::unavailable("crm", "the vault is sealed");
/// assert!(error.to_string().contains("the vault is sealed"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretError {
    name: String,
    why: Why,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Why {
    Missing,
    TooShort(usize),
    Unavailable(String),
}

impl std::error::Error for SecretError {}

impl fmt::Display for SecretError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.name;
        write!(f, "the secret `{name}` ")?;
        match &self.why {
            Why::Missing => f.write_str(
                "is missing: neither the run nor its user, workspace or organisation has it",
            ),
            Why::TooShort(chars) => write!(
                f,
                "has {chars} characters; fewer than {MIN_SECRET_CHARS} cannot be masked, so it is not used"
            ),
            Why::Unavailable(why) => write!(f, "cannot be looked up: {why}"),
        }
    }
}

impl SecretError {
    /// Creates the error for a secret that neither the run nor its user, workspace or organisation has.
    pub fn missing(name: impl Into<String>) -> Self {
        SecretError {
            name: name.into(),
            why: Why::Missing,
        }
    }

    /// Creates the error for a secret that could not be looked up, for instance because a vault
    /// does not answer.
    pub fn unavailable(name: impl Into<String>, why: impl Into<String>) -> Self {
        SecretError {
            name: name.into(),
            why: Why::Unavailable(why.into()),
        }
    }

    pub(super) fn too_short(name: &str, chars: usize) -> Self {
        SecretError {
            name: name.to_owned(),
            why: Why::TooShort(chars),
        }
    }

    /// Returns the name of the secret that the tool did not get.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns `true` if neither the run nor its user, workspace or organisation has the secret; `false` if the secret
    /// is too short, or could not be looked up.
    pub fn is_missing(&self) -> bool {
        self.why == Why::Missing
    }
}

impl ToolFailure for SecretError {
    fn code(&self) -> Code {
        match self.why {
            Why::Missing | Why::TooShort(_) => Code::AuthRequired,
            Why::Unavailable(_) => Code::ProviderError,
        }
    }
}

impl From<SecretError> for io::Error {
    fn from(error: SecretError) -> Self {
        let kind = match error.why {
            Why::Missing | Why::TooShort(_) => io::ErrorKind::PermissionDenied,
            Why::Unavailable(_) => io::ErrorKind::Other,
        };
        io::Error::new(kind, error)
    }
}

impl From<SecretError> for String {
    fn from(error: SecretError) -> Self {
        error.to_string()
    }
}
