//! The JSON shapes of Ollama's answers, borrowing from the bytes they came in.

use serde::{
    Deserialize, Deserializer,
    de::{self, Visitor},
};
use serde_json::value::RawValue;
use std::{borrow::Cow, fmt};

/// One document: the whole answer, or a line of a stream.
#[derive(Deserialize)]
pub(crate) struct Line<'a> {
    #[serde(borrow)]
    pub(crate) message: Option<Said<'a>>,
    pub(crate) done: Option<bool>,
    #[serde(borrow, default)]
    pub(crate) done_reason: Text<'a>,
    pub(crate) prompt_eval_count: Option<u64>,
    pub(crate) eval_count: Option<u64>,
    /// Ollama reports what goes wrong after the headers in the place of an answer.
    #[serde(borrow)]
    pub(crate) error: Option<&'a RawValue>,
}

/// What the model said, or the next piece of it.
#[derive(Deserialize)]
pub(crate) struct Said<'a> {
    #[serde(borrow, default)]
    pub(crate) content: Text<'a>,
    #[serde(borrow, default)]
    pub(crate) thinking: Text<'a>,
    #[serde(borrow)]
    pub(crate) tool_calls: Option<Vec<Call<'a>>>,
}

/// A call. Only newer servers give it an id.
#[derive(Deserialize)]
pub(crate) struct Call<'a> {
    #[serde(borrow, default)]
    pub(crate) id: Text<'a>,
    #[serde(borrow)]
    pub(crate) function: Function<'a>,
}

/// Whom to call, and with what.
#[derive(Deserialize)]
pub(crate) struct Function<'a> {
    #[serde(borrow, default)]
    pub(crate) name: Text<'a>,
    /// As written: a tree would round the numbers.
    #[serde(borrow)]
    pub(crate) arguments: Option<&'a RawValue>,
}

impl Function<'_> {
    /// The arguments as text: an object as it was written, a string (as some servers send them)
    /// as what it says, nothing as nothing.
    pub(crate) fn arguments_text(&self) -> String {
        match self.arguments.map(RawValue::get) {
            None | Some("null") => String::new(),
            Some(text) if text.starts_with('"') => {
                serde_json::from_str(text).unwrap_or_else(|_| text.to_owned())
            }
            Some(text) => text.to_owned(),
        }
    }
}

/// What an error says: its text, or the message within, or all of it.
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

/// A string, borrowed where it has no escapes; `null` and absence are the empty string.
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
