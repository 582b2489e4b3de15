//! Masking of secrets wherever text is written.

mod data;
mod decode;
mod known;
mod panic;
mod reference;
mod search;
mod stored;
mod stream;

pub(super) use data::Masks;
pub(super) use panic::masked;
#[cfg(feature = "recordings")]
pub(crate) use reference::shown;
pub(crate) use reference::{Reference, references};
pub(crate) use stream::Stream;

use super::{MIN_SECRET_CHARS, SecretError, SecretScope, SecretValue};
use crate::Json;
use known::Known;
use secrecy::{ExposeSecret, SecretString};
use serde::{Serialize, de::DeserializeOwned};
use std::{
    borrow::Cow,
    fmt,
    sync::{Arc, OnceLock, PoisonError, RwLock},
};

/// Replaces the secrets of a run by `[secret:name]` wherever text is written.
///
/// As long as the run has no secret, masking costs the check of one flag.
///
/// Each run has a masker of its own, which [`RunContext::masker`](crate::context::RunContext::masker) returns. Use
/// the run's masker for text that you write yourself.
///
/// ```
/// # use agents_core as agents;
/// use agents::secret::Masker;
///
/// let masker = Masker::new();
/// masker.learn("crm", &"hunter/2".to_owned().into())?;
/// assert_eq!(masker.text("key=hunter%2F2"), "key=[secret:crm]");
/// assert_eq!(masker.text(r#"{"key":"hunter\/2"}"#), r#"{"key":"[secret:crm]"}"#);
/// assert_eq!(masker.text("Basic dTpodW50ZXIvMg=="), "Basic dT[secret:crm]");
/// # Ok::<_, agents::secret::SecretError>(())
/// ```
#[derive(Default)]
pub struct Masker {
    /// Functions that mask data, set with the first secret; while it is empty, there is nothing to mask.
    masks: OnceLock<&'static Masks>,
    known: RwLock<Arc<Known>>,
}

impl Masker {
    /// Creates a masker that knows no secrets yet.
    pub fn new() -> Arc<Masker> {
        Arc::default()
    }

    /// Adds a secret: its value is masked from now on. A value that the masker knows already keeps the name that it
    /// has.
    ///
    /// The first secret of the process installs [a panic hook](super#the-panic-hook).
    ///
    /// # Errors
    /// When the value has fewer than 4 characters, without the white space around it: masking it would hide half of
    /// every text.
    #[inline] // Otherwise every program would compile `Masks::ALL`.
    pub fn learn(self: &Arc<Self>, name: &str, value: &SecretString) -> Result<(), SecretError> {
        let reference = Reference {
            scope: SecretScope::Run,
            name: name.to_owned(),
            version: None,
        };
        self.learn_as(reference, &value.clone().into())
    }

    /// Adds a secret of any scope and version, whose value is masked from now on.
    pub(crate) fn learn_as(
        self: &Arc<Self>,
        reference: Reference,
        value: &SecretValue,
    ) -> Result<(), SecretError> {
        let text = value.text().expose_secret();
        Self::check(&reference.name, text)?;
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(more) = known.and(reference, text) {
            *known = Arc::new(more);
            drop(known);
            if self.masks.set(value.masks()).is_ok() {
                panic::watch(self);
            }
        }
        Ok(())
    }

    pub(super) fn check(name: &str, value: &str) -> Result<(), SecretError> {
        match value.trim().chars().count() {
            chars if chars < MIN_SECRET_CHARS => Err(SecretError::too_short(name, chars)),
            _ => Ok(()),
        }
    }

    /// Returns `true` if there is no secret to mask.
    pub fn is_empty(&self) -> bool {
        self.masks.get().is_none()
    }

    /// Returns the number of secrets that the masker knows.
    pub fn len(&self) -> usize {
        self.known().map_or(0, |known| known.len())
    }

    fn known(&self) -> Option<Arc<Known>> {
        (!self.is_empty())
            .then(|| Arc::clone(&self.known.read().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Returns all secrets that the masker knows if the text contains any of them; `None` otherwise. Most texts contain
    /// no secret, and the search in such a text is fast.
    fn known_in(&self, text: &str) -> Option<Arc<Known>> {
        self.known().filter(|known| known.is_in(text))
    }

    /// Returns `true` if there is a secret in the text, in any of its spellings.
    pub fn is_in(&self, text: &str) -> bool {
        self.known_in(text).is_some()
    }

    /// Masks the secrets in a text.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.known_in(text) {
            Some(known) => known.text(text),
            None => Cow::Borrowed(text),
        }
    }

    /// Masks the secrets in a JSON value: in its strings, its keys and its numbers.
    pub fn json(&self, json: &Json) -> Json {
        let Some(known) = self.known_in(json.as_str()) else {
            return json.clone();
        };
        match known.masked(json.as_str()) {
            Cow::Borrowed(_) => json.clone(),
            Cow::Owned(text) => Json::parse(&text).unwrap_or_else(|_| Json::string(&text)),
        }
    }

    /// Masks the secrets in JSON text, which stays valid JSON.
    pub(crate) fn json_text<'a>(&self, json: &'a str) -> Cow<'a, str> {
        match self.known_in(json) {
            Some(known) => known.masked(json),
            None => Cow::Borrowed(json),
        }
    }

    /// Masks the secrets in all strings of any serializable data, and in its numbers where the type takes a text
    /// instead. A secret without which the data could not be read back, such as the name of a variant, stays. Data that
    /// cannot be written as JSON is returned as it is.
    pub fn data<T: Serialize + DeserializeOwned>(&self, value: T) -> T {
        if self.is_empty() {
            return value;
        }
        let Ok(text) = serde_json::to_string(&value) else {
            return value;
        };
        let masked = self.known_in(&text).and_then(|known| known.data(&text));
        masked.unwrap_or(value)
    }
}

impl fmt::Debug for Masker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = self.len();
        write!(f, "Masker({known} secrets)")
    }
}

#[cfg(test)]
mod tests;
