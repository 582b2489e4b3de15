use super::{Content, Media, Thinking};
use serde::{Deserialize, Serialize};

/// Message of a conversation with a model, by its author.
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
    /// System prompt, which tells the model how to work.
    System {
        /// Text of the system prompt.
        content: String,
    },
    /// A message to the model: the task, a further message of the user, or feedback on an answer.
    User {
        /// Text of the user's message, with images and files.
        content: Content,
    },
    /// Reply of the model: text, calls or both.
    Assistant {
        /// Text of the model's reply, besides its calls.
        content: String,
        /// Reasoning of the model, where the server returns it separately; `None` if it does not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thinking: Option<Thinking>,
        /// Tool calls that the model asks for.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<ToolCall>,
    },
    /// Result of one tool call, for the model.
    Tool {
        /// Id that the model gave the call, or that the run created for it.
        tool_call_id: String,
        /// Name of the tool that was called.
        name: String,
        /// Output of the tool, or a description of what went wrong; with images and files.
        content: Content,
    },
}

impl Message {
    /// Returns the text of the message, without calls, images and files.
    pub fn text(&self) -> &str {
        match self {
            Message::System { content } | Message::Assistant { content, .. } => content,
            Message::User { content } | Message::Tool { content, .. } => content,
        }
    }

    /// Returns the images and files of the message; a message of the system or the model has none.
    pub fn media(&self) -> &[Media] {
        match self {
            Message::System { .. } | Message::Assistant { .. } => &[],
            Message::User { content } | Message::Tool { content, .. } => &content.media,
        }
    }
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
    /// Id that the model gave the call; empty if the model gave no id, in which case the run creates one.
    #[serde(default)]
    pub id: String,
    /// Name of the tool, as the model spelled it.
    pub name: String,
    /// Arguments of the call as text, which should be a JSON object but may be anything.
    pub arguments: String,
}
