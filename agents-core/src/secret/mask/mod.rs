//! What hides secrets in everything that is written.

mod base64;
mod known;
mod spelling;
mod stream;

pub(crate) use stream::Stream;

use super::{SecretError, panic};
use crate::Json;
use known::Known;
use secrecy::{ExposeSecret, SecretString};
use serde::{Serialize, de::DeserializeOwned};
use std::{
    borrow::Cow,
    fmt,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering::Acquire, Ordering::Release},
    },
};

/// How many characters a secret has at least.
pub const SHORTEST: usize = 4;

/// Knows the secrets of a run, and writes `[secret:name]` in their place. Until there is a secret it
/// costs one look at a flag.
///
/// A run has one of its own; use it, from [`Cx::masker`](crate::run::Cx::masker), for what you write
/// down yourself.
///
/// ```
/// # use agents_core as agents;
/// use agents::secret::Masker;
///
/// let masker = Masker::new();
/// masker.learn("crm", &"hunter/2".to_owned().into())?;
/// assert_eq!(masker.text("key=hunter%2F2"), "key=[secret:crm]");
/// assert_eq!(masker.text(r#"{"key":"hunter\/2"}"#), r#"{"key":"[secret:crm]"}"#);
/// assert_eq!(masker.text("Basic dTpodW50ZXIvMg=="), "Basic dTp[secret:crm]");
/// # Ok::<_, agents::secret::SecretError>(())
/// ```
#[derive(Default)]
pub struct Masker {
    any: AtomicBool,
    known: RwLock<Arc<Known>>,
}

impl Masker {
    /// Knows nothing yet.
    pub fn new() -> Arc<Masker> {
        Arc::default()
    }

    /// Hides this value from now on.
    ///
    /// # Errors
    /// When it has fewer than [`SHORTEST`] characters: everything would be hidden.
    pub fn learn(self: &Arc<Self>, name: &str, value: &SecretString) -> Result<(), SecretError> {
        Self::check(name, value.expose_secret())?;
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(more) = known.and(name, value.expose_secret()) {
            *known = Arc::new(more);
            drop(known);
            if !self.any.swap(true, Release) {
                panic::watch(self);
            }
        }
        Ok(())
    }

    pub(super) fn check(name: &str, value: &str) -> Result<(), SecretError> {
        match value.trim().chars().count() {
            chars if chars < SHORTEST => Err(SecretError::too_short(name, chars)),
            _ => Ok(()),
        }
    }

    /// There is nothing to hide.
    pub fn is_empty(&self) -> bool {
        !self.any.load(Acquire)
    }

    /// How many secrets it hides.
    pub fn len(&self) -> usize {
        self.known().map_or(0, |known| known.len())
    }

    fn known(&self) -> Option<Arc<Known>> {
        (!self.is_empty())
            .then(|| Arc::clone(&self.known.read().unwrap_or_else(PoisonError::into_inner)))
    }

    /// The same text without secrets.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.known() {
            Some(known) => known.text(text),
            None => Cow::Borrowed(text),
        }
    }

    /// The same value without secrets: in its strings, its keys, and its numbers.
    pub fn json(&self, json: &Json) -> Json {
        let Some(known) = self.known() else {
            return json.clone();
        };
        let masked = known.json(json.as_str(), true);
        match known.across(&masked) {
            // It is spread over more than one string: then the whole is no more than text.
            Cow::Owned(text) => Json::string(&text),
            Cow::Borrowed(_) => match masked {
                Cow::Borrowed(_) => json.clone(),
                Cow::Owned(text) => Json::trusted(&text),
            },
        }
    }

    /// JSON text without secrets; it stays JSON.
    pub fn json_text<'a>(&self, json: &'a str) -> Cow<'a, str> {
        match self.known() {
            Some(known) => known.json(json, true),
            None => Cow::Borrowed(json),
        }
    }

    /// Data of any type as JSON, without secrets: where there are none, it is written once.
    ///
    /// # Errors
    /// When `value` cannot be written as JSON.
    pub fn written<T: Serialize + DeserializeOwned>(
        &self,
        value: T,
    ) -> Result<String, serde_json::Error> {
        let text = serde_json::to_string(&value)?;
        match self.json_text(&text) {
            Cow::Borrowed(_) => Ok(text),
            Cow::Owned(_) => serde_json::to_string(&self.data(value)),
        }
    }

    /// Data of any type without secrets, in all its strings.
    pub fn data<T: Serialize + DeserializeOwned>(&self, value: T) -> T {
        let Some(known) = self.known() else {
            return value;
        };
        let Ok(text) = serde_json::to_string(&value) else {
            return value;
        };
        for numbers in [true, false] {
            match known.json(&text, numbers) {
                Cow::Borrowed(_) => return value,
                Cow::Owned(masked) => {
                    if let Ok(masked) = serde_json::from_str(&masked) {
                        return masked;
                    }
                }
            }
        }
        // A secret is a word of the format itself, such as `user`: that one stays.
        let mut text = text;
        for known in known.each() {
            match known.json(&text, false) {
                Cow::Owned(masked) if serde_json::from_str::<T>(&masked).is_ok() => text = masked,
                _ => {}
            }
        }
        serde_json::from_str(&text).unwrap_or(value)
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
