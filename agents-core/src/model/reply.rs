use super::{Thinking, ToolCall, wording};
use crate::reader::Changes;
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// Reason why a model stopped writing.
///
/// ```
/// # use agents_core as agents;
/// use agents::model::FinishReason;
///
/// // In a `Model` of your own: what the server calls it.
/// fn finish(done_reason: &str) -> FinishReason {
///     match done_reason {
///         "stop" => FinishReason::Stop,
///         "length" => FinishReason::Length,
///         "content_filter" => FinishReason::Filter,
///         other => FinishReason::Other(other.to_owned()),
///     }
/// }
/// assert_eq!(finish("length"), FinishReason::Length);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model ended its reply by itself.
    #[default]
    Stop,
    /// The model waits for the results of its calls. Some servers say [`Stop`](Self::Stop) for that.
    ToolCalls,
    /// The model's output limit or the end of its window was reached, so that the text is cut off.
    Length,
    /// The model declined to answer, as [`Reply::refusal`] may say.
    Refusal,
    /// A filter of the provider withheld the reply, or a part of it.
    Filter,
    /// Any other reason, in the words of the server.
    Other(String),
}

/// A model's reply to one request.
///
/// ```
/// # use agents_core as agents;
/// use agents::model::{FinishReason, Reply};
///
/// let reply = Reply { content: "42".into(), ..Reply::default() };
/// assert!(reply.calls.is_empty());
/// assert_eq!(reply.finish, FinishReason::Stop);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// Text of the reply, besides calls and reasoning.
    #[serde(default)]
    pub content: String,
    /// Reasoning of the model, where the server returns it separately; `None` if it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking>,
    /// Tool calls that the model asks for, in its order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// Changes that were made to read the calls, one entry for each call, in the order of `calls`; empty if the calls
    /// were given as they are. A tool that writes does not run with a call whose reading is
    /// [uncertain](crate::reader::Change::uncertain).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Changes>,
    /// Words with which the model declined to answer, or the reason of a filter, where the server returns them
    /// separately.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// Reason why the model stopped writing this reply.
    #[serde(default)]
    pub finish: FinishReason,
    /// Tokens that were read and written for this reply, and the number of requests.
    #[serde(default)]
    pub usage: Usage,
    /// Is `true` if the tools were [offered by prompt](crate::model::prompted). A reply that is a printed call and
    /// nothing else then counts as a call, even if no tool has the name in it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub prompted: bool,
    /// Name of the model that answered, if the model that was asked stands for several; else `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Cost of the reply in billionths of a unit of money, if the model [knows it](crate::Model::knows_cost). This cost
    /// is counted in place of the price that the run has for the model.
    #[serde(skip)]
    pub cost_nanos: Option<u64>,
    /// Requests and tokens that the server still permits. They are not stored.
    #[serde(skip)]
    pub rate_limits: Option<RateLimits>,
}

impl Reply {
    /// Returns the reason why there is no answer: the model declined, or a filter withheld the reply. `None` if there
    /// is an answer.
    pub(crate) fn declined(&self) -> Option<String> {
        match (&self.refusal, &self.finish) {
            (words, FinishReason::Filter) => {
                Some(wording::withheld(words.as_deref().unwrap_or_default()))
            }
            (Some(words), _) => Some(wording::declined(words)),
            (None, FinishReason::Refusal) => Some(wording::declined(&self.content)),
            _ => None,
        }
    }
}

/// Requests and tokens that a server still permits for now, as its last reply said.
///
/// ```
/// # use agents_core as agents;
/// use agents::model::Reply;
///
/// fn is_nearly_used_up(reply: &Reply) -> bool {
///     let left = reply.rate_limits.and_then(|limits| limits.requests_left);
///     left.is_some_and(|requests| requests < 10)
/// }
/// assert!(!is_nearly_used_up(&Reply::default()));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateLimits {
    /// Number of requests that are still permitted; `None` if the server did not say.
    pub requests_left: Option<u64>,
    /// Number of tokens that are still permitted; `None` if the server did not say.
    pub tokens_left: Option<u64>,
}

/// Tokens and requests that models have used, for one reply or as a sum.
///
/// ```
/// # use agents_core as agents;
/// use agents::model::Usage;
///
/// let mut usage = Usage { input_tokens: 300, output_tokens: 20, requests: 1, ..Usage::default() };
/// usage += Usage { input_tokens: 340, output_tokens: 15, requests: 1, ..Usage::default() };
/// assert_eq!((usage.tokens(), usage.requests), (675, 2));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Number of tokens read by models, cached ones included.
    pub input_tokens: u64,
    /// Number of the tokens read that came from the provider's cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
    /// Number of the tokens read that were written into the provider's cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u64,
    /// Number of tokens written by models.
    pub output_tokens: u64,
    /// Number of requests that models have answered.
    #[serde(default)]
    pub requests: u64,
}

impl Usage {
    /// Returns the sum of input and output tokens.
    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Usage) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(other.cached_tokens);
        self.cache_write_tokens = self
            .cache_write_tokens
            .saturating_add(other.cache_write_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.requests = self.requests.saturating_add(other.requests);
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}
