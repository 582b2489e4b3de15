use serde::{Deserialize, Serialize};
use std::fmt;

/// Stable, machine-readable error code. A code that this version does not know is read as `UNKNOWN`.
///
/// ```
/// # use agents_core as agents;
/// use agents::{Class, Code};
///
/// assert_eq!(Code::RateLimit.as_str(), "RATE_LIMIT");
/// assert_eq!(Code::ValidationError.class(), Class::User);
/// assert_eq!(Code::RateLimit.class(), Class::Transient);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Code {
    /// The arguments, or the final answer, cannot be read or do not fit.
    ValidationError,
    /// The tool did not end before its deadline.
    Timeout,
    /// The tool was called too often in too short a time, or the rate limiter failed to decide about the call.
    RateLimit,
    /// The call is not allowed: the tool is not among the agent's tools, or the call was denied or over budget.
    PolicyDenied,
    /// A secret that the tool needs is missing or was rejected.
    AuthRequired,
    /// The service behind the tool failed, or the model of a delegate did.
    ProviderError,
    /// The service behind the tool could not be reached.
    NetworkError,
    /// The sandbox in which the tool ran stopped it.
    SandboxError,
    /// The tool failed in any other way, panics included.
    #[serde(other)]
    Unknown,
}

impl Code {
    /// All codes that a failure can have.
    pub const ALL: [Code; 9] = [
        Code::ValidationError,
        Code::Timeout,
        Code::RateLimit,
        Code::PolicyDenied,
        Code::AuthRequired,
        Code::ProviderError,
        Code::NetworkError,
        Code::SandboxError,
        Code::Unknown,
    ];

    /// Returns the class of this code, which says who can do something about the failure.
    pub fn class(self) -> Class {
        match self {
            Code::ValidationError => Class::User,
            Code::PolicyDenied | Code::AuthRequired => Class::Policy,
            Code::Timeout | Code::RateLimit | Code::ProviderError | Code::NetworkError => {
                Class::Transient
            }
            Code::SandboxError | Code::Unknown => Class::Terminal,
        }
    }

    /// Returns the code as it is serialized, such as `RATE_LIMIT`.
    pub fn as_str(self) -> &'static str {
        match self {
            Code::ValidationError => "VALIDATION_ERROR",
            Code::Timeout => "TIMEOUT",
            Code::RateLimit => "RATE_LIMIT",
            Code::PolicyDenied => "POLICY_DENIED",
            Code::AuthRequired => "AUTH_REQUIRED",
            Code::ProviderError => "PROVIDER_ERROR",
            Code::NetworkError => "NETWORK_ERROR",
            Code::SandboxError => "SANDBOX_ERROR",
            Code::Unknown => "UNKNOWN",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Party that can do something about a failure; a function of the [`Code`].
///
/// ```
/// # use agents_core as agents;
/// use agents::{Class, Code};
///
/// // Alerts for what somebody has to mend, and for nothing that heals by itself.
/// let wakes_somebody = |code: Code| code.class() == Class::Terminal;
/// assert!(!wakes_somebody(Code::Timeout) && !wakes_somebody(Code::ValidationError));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Class {
    /// The caller can do something: other arguments may succeed.
    User,
    /// The author of the rules can do something: the same call would be refused again.
    Policy,
    /// The failure passes by itself: the same call may succeed later.
    Transient,
    /// The failure counts as final: its code names nobody who can do something about it. Arms may retry all the same.
    Terminal,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
