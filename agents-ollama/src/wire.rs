//! The JSON types of Ollama's answers, which borrow from the received bytes.

use serde::{
    Deserialize, Deserializer,
    de::{self, Visitor},
};
use serde_json::value::RawValue;
use std::{borrow::Cow, fmt};

/// JSON document of the server: a complete answer, or a line of a stream.
#[derive(Deserialize)]
pub(crate) struct Line<'a> {
    #[serde(borrow)]
    pub(crate) message: Option<AnswerMessage<'a>>,
    pub(crate) done: Option<bool>,
    #[serde(borrow, default)]
    pub(crate) done_reason: Text<'a>,
    /// JSON of the counts of tokens, which is parsed apart: counts that cannot be read are no reason to lose a reply.
    #[serde(borrow)]
    pub(crate) prompt_eval_count: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) eval_count: Option<&'a RawValue>,
    /// Error that occurred after the server had sent the head of its response.
    #[serde(borrow)]
    pub(crate) error: Option<&'a RawValue>,
    /// Error of a server in front of Ollama.
    #[serde(borrow)]
    pub(crate) detail: Option<&'a RawValue>,
}

/// Message of the model, or the next fragment of it.
#[derive(Deserialize)]
pub(crate) struct AnswerMessage<'a> {
    #[serde(borrow, default)]
    pub(crate) content: Text<'a>,
    #[serde(borrow, default)]
    pub(crate) thinking: Text<'a>,
    #[serde(borrow)]
    pub(crate) tool_calls: Option<Vec<Call<'a>>>,
}

/// A tool call. Only newer servers give it an id.
#[derive(Deserialize)]
pub(crate) struct Call<'a> {
    #[serde(borrow, default)]
    pub(crate) id: Text<'a>,
    #[serde(borrow)]
    pub(crate) function: Function<'a>,
}

/// Name and arguments of a tool call.
#[derive(Deserialize)]
pub(crate) struct Function<'a> {
    #[serde(borrow, default)]
    pub(crate) name: Text<'a>,
    /// Arguments of the call as the server wrote them, since parsed numbers would be rounded.
    #[serde(borrow)]
    pub(crate) arguments: Option<&'a RawValue>,
}

/// Returns the message in an error of the server, which is a string or an object with a `message`; otherwise its JSON.
pub(crate) fn error_text(error: &RawValue) -> String {
    #[derive(Deserialize)]
    struct Inner {
        message: String,
    }
    let text = error.get();
    serde_json::from_str::<String>(text)
        .or_else(|_| serde_json::from_str::<Inner>(text).map(|inner| inner.message))
        .unwrap_or_else(|_| text.to_owned())
}

/// A string, borrowed if it has no escapes. `null` is the empty string, and so is a missing field that has
/// `#[serde(default)]`.
#[derive(Default)]
pub(crate) struct Text<'a>(pub(crate) Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }

            fn visit_unit<E: de::Error>(self) -> Result<Text<'de>, E> {
                Ok(Text::default())
            }
        }

        deserializer.deserialize_any(Reader)
    }
}
