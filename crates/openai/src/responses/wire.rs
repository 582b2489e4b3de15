//! The JSON types of replies, which borrow from the received bytes. Unknown items and fields are skipped.

use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Event of a streamed reply.
#[derive(Deserialize)]
pub(super) struct StreamEvent<'a> {
    #[serde(borrow, rename = "type", default)]
    pub(super) kind: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) delta: Option<&'a RawValue>,
    /// Item to which a fragment belongs: its id, and its position in the reply.
    #[serde(borrow)]
    pub(super) item_id: Option<Cow<'a, str>>,
    pub(super) output_index: Option<u64>,
    /// Arguments of a call as a whole, behind their fragments.
    #[serde(borrow)]
    pub(super) arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) item: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) response: Option<&'a RawValue>,
}

/// A reply in one document, which also ends a stream.
#[derive(Deserialize)]
pub(super) struct Response<'a> {
    #[serde(borrow)]
    pub(super) status: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) output: Option<Vec<&'a RawValue>>,
    pub(super) incomplete_details: Option<Incomplete>,
    /// JSON of the counts of tokens, which is parsed apart: counts that cannot be read are no reason to lose a reply.
    #[serde(borrow)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct Incomplete {
    pub(super) reason: Option<String>,
}

/// Item of a reply: a message, a call, reasoning, or another one.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Item {
    Message {
        #[serde(default)]
        content: Vec<Part>,
    },
    Reasoning {
        #[serde(default)]
        summary: Vec<Part>,
        content: Option<Vec<Part>>,
    },
    /// A call, whose fields are those of [`FunctionCall`].
    FunctionCall {},
    #[serde(other)]
    Other,
}

/// Call of the model, as an item of a reply.
#[derive(Deserialize)]
pub(super) struct FunctionCall<'a> {
    #[serde(borrow)]
    pub(super) id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) call_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) arguments: Option<&'a RawValue>,
}

/// A part of an item: a text, or the words of a refusal.
#[derive(Deserialize)]
pub(super) struct Part {
    pub(super) text: Option<String>,
    pub(super) refusal: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Usage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    input_tokens_details: Option<Details>,
}

#[derive(Deserialize)]
struct Details {
    cached_tokens: Option<u64>,
}

impl Usage {
    /// Reads the counts of tokens that a server sent; `None` if one of them is not a number of tokens. In that case
    /// nothing is known of the usage.
    pub(super) fn of(json: &RawValue) -> Option<agents_core::model::Usage> {
        let usage: Usage = serde_json::from_str(json.get()).ok()?;
        Some(usage.read())
    }

    fn read(&self) -> agents_core::model::Usage {
        let details = self.input_tokens_details.as_ref();
        let cached = details.and_then(|details| details.cached_tokens);
        agents_core::model::Usage {
            input_tokens: self.input_tokens.unwrap_or_default(),
            output_tokens: self.output_tokens.unwrap_or_default(),
            cached_tokens: cached.unwrap_or_default(),
            requests: 1,
            ..Default::default()
        }
    }
}
