//! The JSON types of replies, which borrow from the received bytes. Every field may be missing.

use serde::{Deserialize, Deserializer};
use serde_json::{Value, value::RawValue};
use std::borrow::Cow;

/// A reply in one document, or an event of a stream.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Chunk<'a> {
    #[serde(borrow)]
    pub(super) candidates: Option<Vec<Candidate<'a>>>,
    #[serde(alias = "prompt_feedback")]
    pub(super) prompt_feedback: Option<PromptFeedback>,
    /// JSON of the counts of tokens, which is parsed apart: counts that cannot be read are no reason to lose a reply.
    #[serde(borrow, alias = "usage_metadata")]
    pub(super) usage_metadata: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PromptFeedback {
    pub(super) block_reason: Option<String>,
    pub(super) block_reason_message: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Candidate<'a> {
    pub(super) index: Option<u64>,
    #[serde(borrow)]
    pub(super) content: Option<Content<'a>>,
    #[serde(alias = "finish_reason")]
    pub(super) finish_reason: Option<String>,
    #[serde(alias = "finish_message")]
    pub(super) finish_message: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Content<'a> {
    #[serde(borrow)]
    pub(super) parts: Option<Vec<&'a RawValue>>,
}

/// A part of the content: a text, a thought, a call, or something else.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Part<'a> {
    #[serde(borrow, default, deserialize_with = "text")]
    pub(super) text: Option<Cow<'a, str>>,
    pub(super) thought: Option<bool>,
    #[serde(alias = "thought_signature")]
    pub(super) thought_signature: Option<String>,
    #[serde(borrow, alias = "function_call")]
    pub(super) function_call: Option<Call<'a>>,
}

/// Call of the model, or the next fragment of one.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Call<'a> {
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    /// Arguments of the call as the server wrote them, since parsed numbers would be rounded.
    #[serde(borrow)]
    pub(super) args: Option<&'a RawValue>,
    pub(super) partial_args: Option<Vec<PartialArgument>>,
    pub(super) will_continue: Option<bool>,
}

/// Fragment of the arguments of a call: the value at one path.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PartialArgument {
    pub(super) json_path: String,
    pub(super) string_value: Option<String>,
    pub(super) number_value: Option<Value>,
    pub(super) bool_value: Option<bool>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Usage {
    prompt_token_count: Option<u64>,
    tool_use_prompt_token_count: Option<u64>,
    cached_content_token_count: Option<u64>,
    candidates_token_count: Option<u64>,
    thoughts_token_count: Option<u64>,
}

impl Usage {
    /// Reads the counts of tokens that a server sent; `None` if one of them is not a number of tokens. In that case
    /// nothing is known of the usage.
    pub(super) fn of(json: &RawValue) -> Option<Self> {
        serde_json::from_str(json.get()).ok()
    }

    /// Takes the counts that this event does not have from an earlier event.
    pub(super) fn or(self, before: Option<Usage>) -> Usage {
        let Some(before) = before else { return self };
        Usage {
            prompt_token_count: self.prompt_token_count.or(before.prompt_token_count),
            tool_use_prompt_token_count: self
                .tool_use_prompt_token_count
                .or(before.tool_use_prompt_token_count),
            cached_content_token_count: self
                .cached_content_token_count
                .or(before.cached_content_token_count),
            candidates_token_count: self
                .candidates_token_count
                .or(before.candidates_token_count),
            thoughts_token_count: self.thoughts_token_count.or(before.thoughts_token_count),
        }
    }

    /// Returns the tokens as `agents` counts them: thoughts count as written, and results of the server's own tools as
    /// read.
    pub(super) fn read(&self) -> agents_core::model::Usage {
        let sum = |one: Option<u64>, other: Option<u64>| {
            one.unwrap_or_default()
                .saturating_add(other.unwrap_or_default())
        };
        agents_core::model::Usage {
            input_tokens: sum(self.prompt_token_count, self.tool_use_prompt_token_count),
            cached_tokens: self.cached_content_token_count.unwrap_or_default(),
            output_tokens: sum(self.candidates_token_count, self.thoughts_token_count),
            requests: 1,
            ..Default::default()
        }
    }
}

/// Reads a text of the server's JSON, borrowed if it has no escapes.
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Cow<'de, str>>, D::Error> {
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

    Ok(Option::<Text<'_>>::deserialize(deserializer)?.map(|text| text.0))
}
