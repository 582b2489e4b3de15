use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// Message of a conversation.
///
/// ```
/// # use agents_core as agents;
/// use agents::model::Message;
/// use serde_json::json;
///
/// let message = Message::User { content: "Why is the sky blue?".into() };
/// assert_eq!(serde_json::to_value(message)?, json!({"role": "user", "content": "Why is the sky blue?"}));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// System prompt.
    System {
        /// Text of the prompt.
        content: String,
    },
    /// A message to the model: the task, or feedback on an answer.
    User {
        /// Text of the message.
        content: String,
    },
    /// A reply of the model.
    Assistant {
        /// Text of the reply, besides its calls.
        content: String,
        /// Reasoning of the model, where the server returns it separately.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thinking: Option<String>,
        /// Tool calls that the model asks for.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<ToolCall>,
    },
    /// Result of one tool call.
    Tool {
        /// Id that the model gave the call, or that the run created for it.
        tool_call_id: String,
        /// Name of the tool.
        name: String,
        /// Output of the tool, or a description of what went wrong.
        content: String,
    },
}

/// A tool call as the model asked for it.
///
/// ```
/// # use agents_core as agents;
/// use agents::model::{Reply, ToolCall};
///
/// // What a model of one's own gives that wants a tool called.
/// let call = ToolCall { id: String::new(), name: "add".into(), arguments: r#"{"left": 1}"#.into() };
/// let reply = Reply { calls: vec![call], ..Reply::default() };
/// assert_eq!(reply.calls[0].name, "add");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Id that the model gave the call; empty if it gave none, in which case the run creates one.
    #[serde(default)]
    pub id: String,
    /// Name of the tool, as the model spelled it.
    pub name: String,
    /// Arguments as text, which should be a JSON object.
    pub arguments: String,
}

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
///         other => FinishReason::Other(other.to_owned()),
///     }
/// }
/// assert_eq!(finish("length"), FinishReason::Length);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model was done.
    #[default]
    Stop,
    /// The output limit was reached: the text is cut off.
    Length,
    /// Any other reason, as the server names it.
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
    /// Text of the reply.
    #[serde(default)]
    pub content: String,
    /// Reasoning, where the server returns it separately.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    /// Tool calls, in the model's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// Reason why the model stopped.
    #[serde(default)]
    pub finish: FinishReason,
    /// Tokens that the reply used.
    #[serde(default)]
    pub usage: Usage,
    /// Is `true` if the tools were [offered by prompt](crate::model::prompted). A reply that is a call and nothing
    /// else then counts as a call, whatever its name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub prompted: bool,
    /// Name of the model that answered, if the model that was asked stands for several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// Tokens and requests that were used.
///
/// ```
/// # use agents_core as agents;
/// use agents::model::Usage;
///
/// let mut usage = Usage { input_tokens: 300, output_tokens: 20, requests: 1 };
/// usage += Usage { input_tokens: 340, output_tokens: 15, requests: 1 };
/// assert_eq!((usage.tokens(), usage.requests), (675, 2));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Number of tokens read by models.
    pub input_tokens: u64,
    /// Number of tokens written by models.
    pub output_tokens: u64,
    /// Number of requests that were answered.
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
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.requests = self.requests.saturating_add(other.requests);
    }
}
