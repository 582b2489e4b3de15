use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// One message of a conversation.
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
    /// What the agent is told to be.
    System {
        /// The prompt.
        content: String,
    },
    /// The task, and what is said to the model about its answers.
    User {
        /// The text.
        content: String,
    },
    /// What the model said.
    Assistant {
        /// The text beside its calls, or the answer.
        content: String,
        /// Its reasoning, where the server hands it out separately.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thinking: Option<String>,
        /// The tools it wants called.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<ToolCall>,
    },
    /// What became of one call.
    Tool {
        /// The id of the call this answers.
        call_id: String,
        /// The tool's name.
        name: String,
        /// Its output, or what went wrong.
        content: String,
    },
}

/// A call as the model asked for it.
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
    /// The id by which the answer is matched. Empty when the model gave none: the run mints one.
    #[serde(default)]
    pub id: String,
    /// The tool's name, as the model spelled it.
    pub name: String,
    /// The arguments, as text: JSON if all is well.
    pub arguments: String,
}

/// Why a model stopped.
///
/// ```
/// # use agents_core as agents;
/// use agents::model::Finish;
///
/// // In a `Model` of your own: what the server calls it.
/// fn finish(done_reason: &str) -> Finish {
///     match done_reason {
///         "stop" => Finish::Stop,
///         "length" => Finish::Length,
///         other => Finish::Other(other.to_owned()),
///     }
/// }
/// assert_eq!(finish("length"), Finish::Length);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// It was done.
    #[default]
    Stop,
    /// It ran into its output limit: the text is cut.
    Length,
    /// Something else, in the server's words.
    Other(String),
}

/// A model's answer to one request.
///
/// ```
/// # use agents_core as agents;
/// use agents::model::{Finish, Reply};
///
/// let reply = Reply { content: "42".into(), ..Reply::default() };
/// assert!(reply.calls.is_empty());
/// assert_eq!(reply.finish, Finish::Stop);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The text.
    #[serde(default)]
    pub content: String,
    /// The reasoning, where the server hands it out separately.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    /// The calls, in the model's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// Why it stopped.
    #[serde(default)]
    pub finish: Finish,
    /// What it cost.
    #[serde(default)]
    pub usage: Usage,
}

/// Tokens used.
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
    /// Tokens read by the model.
    pub input_tokens: u64,
    /// Tokens written by the model.
    pub output_tokens: u64,
    /// Requests that were answered.
    #[serde(default)]
    pub requests: u64,
}

impl Usage {
    /// Input and output together.
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
