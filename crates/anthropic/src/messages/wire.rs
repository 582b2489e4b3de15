//! The JSON types of replies, which borrow from the received bytes. Servers differ, so every field may be missing.

use serde::{Deserialize, Deserializer, de};
use serde_json::value::RawValue;
use std::{borrow::Cow, fmt};

/// An event of a stream. Its parts are parsed if its type is known: another event may give them another meaning.
#[derive(Deserialize)]
pub(super) struct Event<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Text<'a>,
    pub(super) index: Option<u64>,
    #[serde(borrow)]
    pub(super) message: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) content_block: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) delta: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}

/// A reply in one document, or its beginning.
#[derive(Deserialize)]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    pub(super) content: Option<Vec<&'a RawValue>>,
    #[serde(borrow, default)]
    pub(super) stop_reason: Text<'a>,
    pub(super) stop_details: Option<StopDetails>,
    #[serde(borrow)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}

/// Next fragment of a block, or the values at the end of the message.
#[derive(Deserialize)]
pub(super) struct Delta<'a> {
    #[serde(borrow, default)]
    pub(super) text: Text<'a>,
    #[serde(borrow, default)]
    pub(super) thinking: Text<'a>,
    #[serde(borrow, default)]
    pub(super) signature: Text<'a>,
    #[serde(borrow, default)]
    pub(super) partial_json: Text<'a>,
    #[serde(borrow)]
    pub(super) citation: Option<&'a RawValue>,
    /// Part of a summary that the server has made of a conversation that is too long.
    #[serde(borrow)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) stop_reason: Text<'a>,
    pub(super) stop_details: Option<StopDetails>,
}

#[derive(Deserialize)]
pub(super) struct StopDetails {
    pub(super) explanation: Option<String>,
}

/// Block of a message's content: text, a call, reasoning, or another one.
#[derive(Deserialize)]
pub(super) struct Block<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow, default)]
    pub(super) text: Text<'a>,
    #[serde(borrow, default)]
    pub(super) thinking: Text<'a>,
    pub(super) signature: Option<String>,
    #[serde(borrow, default)]
    pub(super) id: Text<'a>,
    #[serde(borrow, default)]
    pub(super) name: Text<'a>,
    /// Citations of a text. In a block that is no text, the field has settings.
    #[serde(borrow)]
    pub(super) citations: Option<&'a RawValue>,
    /// Arguments of a call as the server wrote them, since parsed numbers would be rounded.
    #[serde(borrow)]
    pub(super) input: Option<&'a RawValue>,
}

/// Tokens as the server counts them. The input is without what was read from the cache, or written into it.
#[derive(Clone, Copy, Default, Deserialize)]
pub(super) struct Counts {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
}

#[derive(Deserialize)]
pub(super) struct Usage {
    #[serde(flatten)]
    whole: Counts,
    iterations: Option<Vec<Iteration>>,
}

/// Counts of one part of the work for a reply, such as a summary.
#[derive(Deserialize)]
struct Iteration {
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(flatten)]
    counts: Counts,
}

impl Counts {
    fn read(&self) -> agents_core::model::Usage {
        let cached = self.cache_read_input_tokens.unwrap_or_default();
        let written = self.cache_creation_input_tokens.unwrap_or_default();
        let fresh = self.input_tokens.unwrap_or_default();
        agents_core::model::Usage {
            input_tokens: fresh.saturating_add(cached).saturating_add(written),
            cached_tokens: cached,
            cache_write_tokens: written,
            output_tokens: self.output_tokens.unwrap_or_default(),
            requests: 0,
        }
    }

    /// Returns the greater of each count: the counts of a stream grow, and an event may leave some of them at 0.
    fn or(self, before: Counts) -> Counts {
        Counts {
            input_tokens: self.input_tokens.max(before.input_tokens),
            output_tokens: self.output_tokens.max(before.output_tokens),
            cache_read_input_tokens: self
                .cache_read_input_tokens
                .max(before.cache_read_input_tokens),
            cache_creation_input_tokens: self
                .cache_creation_input_tokens
                .max(before.cache_creation_input_tokens),
        }
    }
}

impl Usage {
    /// Reads the counts of a server; `None` if one of them is not a number of tokens. In that case nothing is known of
    /// the usage, and the reply is used all the same.
    pub(super) fn of(json: &RawValue) -> Option<Self> {
        serde_json::from_str(json.get()).ok()
    }

    /// Removes the number of tokens that were written: at the beginning of a stream it is close to zero, and the end
    /// has the real one.
    pub(super) fn at_start(mut self) -> Self {
        self.whole.output_tokens = None;
        self
    }

    /// Takes the counts that this event lacks from an earlier event.
    pub(super) fn or(self, before: Option<Usage>) -> Usage {
        let Some(before) = before else { return self };
        Usage {
            whole: self.whole.or(before.whole),
            iterations: self.iterations.or(before.iterations),
        }
    }

    /// Returns the tokens as `agents` counts them. The tokens of summaries are added: they are billed, but the server
    /// does not include them.
    pub(super) fn read(&self) -> agents_core::model::Usage {
        let mut usage = self.whole.read();
        let summaries = self.iterations.iter().flatten();
        for summary in summaries.filter(|iteration| iteration.kind == "compaction") {
            usage += summary.counts.read();
        }
        usage.requests = 1;
        usage
    }
}

/// A text, borrowed if it has no escapes. `null` and a missing field are the empty text.
#[derive(Default)]
pub(super) struct Text<'a>(pub(super) Cow<'a, str>);

impl std::ops::Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(text.into()))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(text.to_owned().into()))
            }

            fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
                Ok(Text::default())
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}
