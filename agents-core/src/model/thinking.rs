use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::{fmt, ops::Deref};

/// Reasoning of a model: a text to read, and data that only the provider can read.
///
/// Some providers sign or encrypt their reasoning, and need it back unchanged with the next request. A client keeps
/// that data here under its provider's name. Clients of other providers do not see the data. A `Thinking` derefs to its
/// text.
///
/// ```
/// # use agents_core as agents;
/// use agents::model::{Reply, Thinking};
///
/// let thinking = Thinking::from("First the units").with_opaque("anthropic", r#"{"signature": "EuYB"}"#);
/// let reply = Reply { thinking: Some(thinking), ..Reply::default() };
/// assert_eq!(reply.thinking.as_deref(), Some("First the units"));
///
/// let thinking = reply.thinking.unwrap_or_default();
/// assert_eq!(thinking.opaque("anthropic"), Some(r#"{"signature": "EuYB"}"#));
/// assert_eq!(thinking.opaque("openai"), None);
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Thinking {
    text: String,
    opaque: Option<Box<Opaque>>,
}

#[derive(Clone, PartialEq, Eq)]
struct Opaque {
    provider: String,
    data: String,
}

impl Thinking {
    /// Maximum number of bytes of a provider's opaque data, 4 MiB; longer data is left out.
    pub const MAX_OPAQUE: usize = 4 << 20;

    /// Sets the data that goes back to `provider` unchanged, in place of earlier data. Data that is longer than
    /// [`MAX_OPAQUE`](Self::MAX_OPAQUE) is left out, and the earlier data as well.
    #[must_use]
    pub fn with_opaque(mut self, provider: impl Into<String>, data: impl Into<String>) -> Self {
        let (provider, data) = (provider.into(), data.into());
        self.opaque =
            (data.len() <= Thinking::MAX_OPAQUE).then(|| Box::new(Opaque { provider, data }));
        self
    }

    /// Returns the data that goes back to `provider` unchanged; `None` if there is no data, or if the data belongs to
    /// another provider.
    pub fn opaque(&self, provider: &str) -> Option<&str> {
        let opaque = self.opaque.as_ref()?;
        (opaque.provider == provider).then_some(&*opaque.data)
    }

    /// Returns `true` if there is neither text nor opaque data.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.opaque.is_none()
    }
}

impl From<String> for Thinking {
    fn from(text: String) -> Self {
        Thinking { text, opaque: None }
    }
}

impl From<&str> for Thinking {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl Deref for Thinking {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Debug for Thinking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.opaque {
            None => self.text.fmt(f),
            Some(opaque) => f
                .debug_struct("Thinking")
                .field("text", &self.text)
                .field("provider", &opaque.provider)
                .field("opaque_bytes", &opaque.data.len())
                .finish(),
        }
    }
}

/// Writes reasoning without opaque data as its text alone.
impl Serialize for Thinking {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Whole<'a> {
            text: &'a str,
            provider: &'a str,
            opaque: &'a str,
        }
        match &self.opaque {
            None => serializer.serialize_str(&self.text),
            Some(opaque) => Whole {
                text: &self.text,
                provider: &opaque.provider,
                opaque: &opaque.data,
            }
            .serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Thinking {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Stored {
            Text(String),
            Whole {
                text: String,
                provider: String,
                opaque: String,
            },
        }
        Ok(match Stored::deserialize(deserializer)? {
            Stored::Text(text) => text.into(),
            Stored::Whole {
                text,
                provider,
                opaque,
            } => Thinking::from(text).with_opaque(provider, opaque),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Thinking;
    use serde_json::json;

    #[test]
    fn reasoning_is_stored_with_its_opaque_data() {
        let text = Thinking::from("hm");
        assert_eq!(serde_json::to_value(&text).unwrap(), json!("hm"));
        let signed = text.with_opaque("anthropic", "EuYB");
        let stored = serde_json::to_value(&signed).unwrap();
        assert_eq!(
            stored,
            json!({ "text": "hm", "provider": "anthropic", "opaque": "EuYB" })
        );
        assert_eq!(serde_json::from_value::<Thinking>(stored).unwrap(), signed);
        let stored = serde_json::from_value::<Thinking>(json!("hm")).unwrap();
        assert_eq!((&*stored, stored.opaque("anthropic")), ("hm", None));
    }

    #[test]
    fn opaque_data_has_a_maximum_length() {
        let data = "x".repeat(Thinking::MAX_OPAQUE + 1);
        assert!(
            Thinking::default()
                .with_opaque("openai", &data[1..])
                .opaque("openai")
                .is_some()
        );
        assert!(Thinking::default().with_opaque("openai", data).is_empty());
    }
}
