use agents_core::secret::{ExposeSecret, SecretString};
use agents_http::Bundle;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Credential of an organisation or a workspace: a key, or a token of OAuth that is refreshed.
///
/// ```
/// use agents_control::{Bundle, CredentialValue};
///
/// let key = CredentialValue::from("sk-1");
/// let token = CredentialValue::from(Bundle::new("at-1", "https://auth.example.com/token").refresh_token("rt-1"));
/// # let _ = (key, token);
/// ```
#[derive(Clone)]
pub enum CredentialValue {
    /// Key that is sent as it is and never refreshed, such as an API key.
    Key(SecretString),
    /// Access token, with what is needed to refresh it.
    Token(Bundle),
}

impl From<&str> for CredentialValue {
    fn from(key: &str) -> Self {
        CredentialValue::Key(key.into())
    }
}

impl From<String> for CredentialValue {
    fn from(key: String) -> Self {
        CredentialValue::Key(key.into())
    }
}

impl From<SecretString> for CredentialValue {
    fn from(key: SecretString) -> Self {
        CredentialValue::Key(key)
    }
}

impl From<Bundle> for CredentialValue {
    fn from(bundle: Bundle) -> Self {
        CredentialValue::Token(bundle)
    }
}

impl fmt::Debug for CredentialValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CredentialValue::Key(_) => f.write_str("Key"),
            CredentialValue::Token(bundle) => f.debug_tuple("Token").field(bundle).finish(),
        }
    }
}

/// Form of a credential as JSON, in which it is encrypted.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Stored {
    Key(String),
    Token(Bundle),
}

impl CredentialValue {
    /// Returns the credential as JSON, which is encrypted before it is stored.
    pub(super) fn to_json(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(&match self {
            CredentialValue::Key(key) => Stored::Key(key.expose_secret().to_owned()),
            CredentialValue::Token(bundle) => Stored::Token(bundle.clone()),
        })
    }

    pub(super) fn of_json(json: &[u8]) -> serde_json::Result<Self> {
        Ok(match serde_json::from_slice(json)? {
            Stored::Key(key) => CredentialValue::Key(key.into()),
            Stored::Token(bundle) => CredentialValue::Token(bundle),
        })
    }
}
