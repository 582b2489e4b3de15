use super::mask::Masks;
use secrecy::SecretString;
use std::fmt;

/// Value of a secret, as a source of secrets returns it, with the name of its version if the source has versions.
///
/// A journal refers to a secret by its scope, its name and its version. A run that goes on from a journal gets the same
/// version again, or no value. If the secret has no version, the run gets the current value.
///
/// ```
/// # use agents_core as agents;
/// use agents::secret::{SecretStore, SecretValue};
///
/// let secrets = SecretStore::new()
///     .org("acme", "crm", SecretValue::new("the old key").version("2026-01"))
///     .org("acme", "crm", SecretValue::new("the new key").version("2026-07"));
/// # let _ = secrets;
/// let value = SecretValue::new("the key");
/// assert_eq!(format!("{value:?}"), "SecretValue");
/// ```
#[derive(Clone)]
pub struct SecretValue {
    text: SecretString,
    version: Option<String>,
    masks: &'static Masks,
}

impl SecretValue {
    /// Creates the value of a secret without a version.
    pub fn new(text: impl Into<SecretString>) -> Self {
        SecretValue {
            text: text.into(),
            version: None,
            masks: &Masks::ALL,
        }
    }

    /// Sets the name of the version. Journals store the name, so it must not reveal the value.
    #[must_use]
    pub fn version(mut self, name: impl Into<String>) -> Self {
        self.version = Some(name.into());
        self
    }

    /// Returns the text of the secret, in a type that does not print it.
    pub fn text(&self) -> &SecretString {
        &self.text
    }

    /// Returns the value without the name of its version, for a run that is given the value itself.
    pub(super) fn of_no_version(&self) -> Self {
        SecretValue {
            version: None,
            ..self.clone()
        }
    }

    /// Returns the functions that mask data in which the value stands.
    pub(super) fn masks(&self) -> &'static Masks {
        self.masks
    }

    pub(crate) fn version_name(&self) -> Option<&str> {
        self.version.as_deref()
    }
}

impl From<SecretString> for SecretValue {
    #[inline] // Otherwise every program would compile `Masks::ALL`.
    fn from(text: SecretString) -> Self {
        SecretValue::new(text)
    }
}

impl From<String> for SecretValue {
    #[inline] // Otherwise every program would compile `Masks::ALL`.
    fn from(text: String) -> Self {
        SecretValue::new(text)
    }
}

impl From<&str> for SecretValue {
    #[inline] // Otherwise every program would compile `Masks::ALL`.
    fn from(text: &str) -> Self {
        SecretValue::new(text)
    }
}

impl fmt::Debug for SecretValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.version {
            Some(version) => write!(f, "SecretValue(version {version})"),
            None => f.write_str("SecretValue"),
        }
    }
}
