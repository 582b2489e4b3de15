//! The JSON types of replies, which borrow from the received bytes. Servers differ, so every field may be missing.

use agents_http::arguments_text;
use serde::{
    Deserialize, Deserializer,
    de::{
        self, IgnoredAny, MapAccess, SeqAccess, Visitor,
        value::{MapAccessDeserializer, SeqAccessDeserializer},
    },
};
use serde_json::{Map, Value, value::RawValue};
use std::{borrow::Cow, fmt};

/// A reply in one document, or an event of a stream.
#[derive(Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow)]
    pub(super) choices: Option<Vec<Choice<'a>>>,
    /// JSON of the counts of tokens, which is parsed apart: counts that cannot be read are no reason to lose a reply.
    #[serde(borrow)]
    pub(super) usage: Option<&'a RawValue>,
    /// Field in which Groq sends the counts of tokens at the end of a stream.
    #[serde(borrow)]
    pub(super) x_groq: Option<Groq<'a>>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct Groq<'a> {
    #[serde(borrow)]
    pub(super) usage: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct Choice<'a> {
    pub(super) index: Option<u64>,
    /// Message in a document. Perplexity's streams repeat there what was said so far.
    #[serde(borrow)]
    pub(super) message: Option<Said<'a>>,
    /// Next fragment of the message; only in a stream.
    #[serde(borrow)]
    pub(super) delta: Option<Said<'a>>,
    #[serde(borrow)]
    pub(super) finish_reason: Option<Cow<'a, str>>,
    /// Counts of tokens within the choice, where Moonshot sends them.
    #[serde(borrow)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}

/// Message of the model, or the next fragment of it.
#[derive(Deserialize)]
pub(super) struct Said<'a> {
    #[serde(borrow, default)]
    pub(super) content: Text<'a>,
    #[serde(borrow, default)]
    pub(super) refusal: Text<'a>,
    #[serde(borrow, default)]
    pub(super) reasoning_content: Text<'a>,
    #[serde(borrow, default)]
    pub(super) reasoning: Text<'a>,
    pub(super) reasoning_details: Option<Vec<Map<String, Value>>>,
    #[serde(borrow)]
    pub(super) tool_calls: Option<Calls<'a>>,
    /// Call in the form that `tool_calls` has replaced.
    #[serde(borrow)]
    pub(super) function_call: Option<Function<'a>>,
}

/// Tool calls of a message: a list of them, or one call without a list, as some servers send it.
pub(super) struct Calls<'a>(pub(super) Vec<Call<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for Calls<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Calls<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of calls")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, calls: A) -> Result<Calls<'de>, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(calls)).map(Calls)
            }

            fn visit_map<A: MapAccess<'de>>(self, call: A) -> Result<Calls<'de>, A::Error> {
                let call = Call::deserialize(MapAccessDeserializer::new(call))?;
                Ok(Calls(vec![call]))
            }
        }

        deserializer.deserialize_any(Reader)
    }
}

/// Tool call of the model, or the next fragment of one.
#[derive(Default, Deserialize)]
pub(super) struct Call<'a> {
    pub(super) index: Option<u64>,
    #[serde(borrow, default)]
    pub(super) id: Text<'a>,
    #[serde(borrow)]
    function: Option<Function<'a>>,
    /// Name and arguments of a call that has no `function` around them.
    #[serde(borrow, default)]
    name: Text<'a>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    parameters: Option<&'a RawValue>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
}

impl<'a> Call<'a> {
    /// Returns a fragment in the form that `tool_calls` has replaced, which has neither id nor index.
    pub(super) fn of(function: Function<'a>) -> Self {
        Call {
            function: Some(function),
            ..Call::default()
        }
    }

    pub(super) fn name(&self) -> &str {
        let function = self.function.as_ref();
        function.map_or(&self.name.text, |function| &function.name.text)
    }

    pub(super) fn arguments(&self) -> Cow<'_, str> {
        let arguments = match &self.function {
            Some(of) => [of.arguments, of.parameters, of.input, of.args],
            None => [self.arguments, self.parameters, self.input, self.args],
        };
        arguments_text(arguments.into_iter().flatten().next())
    }
}

#[derive(Deserialize)]
pub(super) struct Function<'a> {
    #[serde(borrow, default)]
    name: Text<'a>,
    /// Arguments of the call as the server wrote them, since parsed numbers would be rounded.
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    /// Arguments by the names that some servers have for them.
    #[serde(borrow)]
    parameters: Option<&'a RawValue>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
}

#[derive(Clone, Copy, Deserialize)]
pub(super) struct Usage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<Details>,
    /// Number of tokens read from the cache, where DeepSeek counts them.
    prompt_cache_hit_tokens: Option<u64>,
    /// Number of tokens read from the cache, where Moonshot counts them.
    cached_tokens: Option<u64>,
}

#[derive(Clone, Copy, Deserialize)]
struct Details {
    cached_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
}

impl Usage {
    /// Reads the counts of tokens that a server sent; `None` if one of them is not a number of tokens. In that case
    /// nothing is known of the usage.
    pub(super) fn of(json: &RawValue) -> Option<agents_core::model::Usage> {
        let usage: Usage = serde_json::from_str(json.get()).ok()?;
        Some(usage.read())
    }

    fn read(&self) -> agents_core::model::Usage {
        let details = self.prompt_tokens_details;
        let cached = details.and_then(|details| details.cached_tokens);
        let cached = cached
            .or(self.prompt_cache_hit_tokens)
            .or(self.cached_tokens);
        let written = details.and_then(|details| details.cache_write_tokens);
        agents_core::model::Usage {
            input_tokens: self.prompt_tokens.unwrap_or_default(),
            output_tokens: self.completion_tokens.unwrap_or_default(),
            cached_tokens: cached.unwrap_or_default(),
            cache_write_tokens: written.unwrap_or_default(),
            requests: 1,
        }
    }
}

/// A text, borrowed if it has no escapes. `null` and a missing field are the empty text. Mistral sends a list of parts;
/// some of them are reasoning.
#[derive(Default)]
pub(super) struct Text<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) thinking: String,
}

impl<'a> Text<'a> {
    fn of(text: impl Into<Cow<'a, str>>) -> Self {
        Text {
            text: text.into(),
            thinking: String::new(),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextReader)
    }
}

struct TextReader;

impl<'de> Visitor<'de> for TextReader {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a list of parts")
    }

    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Text<'de>, E> {
        Ok(Text::of(text))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Text<'de>, E> {
        Ok(Text::of(text.to_owned()))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Text<'de>, E> {
        Ok(Text::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Text<'de>, A::Error> {
        let (mut text, mut thinking) = (String::new(), String::new());
        while let Some(part) = parts.next_element::<Part>()? {
            match part {
                Part::Known {
                    text: piece,
                    thinking: thought,
                } => {
                    text.push_str(piece.as_deref().unwrap_or_default());
                    for thought in thought.into_iter().flatten() {
                        thinking.push_str(&thought.text);
                    }
                }
                Part::Plain(piece) => text.push_str(&piece),
                Part::Other(_) => {}
            }
        }
        Ok(Text {
            text: text.into(),
            thinking,
        })
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Part {
    Plain(String),
    Known {
        text: Option<String>,
        thinking: Option<Vec<Thought>>,
    },
    Other(#[allow(dead_code)] IgnoredAny),
}

#[derive(Deserialize)]
struct Thought {
    #[serde(default)]
    text: String,
}
