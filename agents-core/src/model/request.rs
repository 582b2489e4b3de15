use super::{History, Message};
use crate::{
    secret::Masker,
    tool::{ToolSet, ToolSpec},
};
use serde_json::Value;

/// A piece of an answer that is still being written.
///
/// ```
/// # use agents_core as agents;
/// use agents::model::{Delta, Request};
///
/// // In a `Model` of your own: whoever listens is told each piece as it arrives.
/// fn arrived(request: &Request<'_>, piece: &str, thinking: bool) {
///     if let Some(sink) = request.sink() {
///         sink(if thinking { Delta::Thinking(piece) } else { Delta::Text(piece) });
///     }
/// }
/// # let _ = arrived;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delta<'a> {
    /// Text.
    Text(&'a str),
    /// Reasoning.
    Thinking(&'a str),
}

/// What a model is asked: a history, the tools it may call, and the shape of the answer.
///
/// ```
/// # use agents_core as agents;
/// use agents::model::{History, Message, Request};
/// use serde_json::json;
///
/// let mut history = History::default();
/// history.push(Message::User { content: "How old is the universe?".into() });
/// let schema = json!({"type": "integer"});
/// let request = Request::new(&history).with_format(&schema);
/// assert_eq!(request.messages().len(), 1);
/// assert_eq!(request.format(), Some(&schema));
/// ```
#[derive(Clone, Copy)]
pub struct Request<'a> {
    history: &'a History,
    tools: Option<&'a ToolSet>,
    format: Option<&'a Value>,
    sink: Option<&'a (dyn Fn(Delta<'_>) + Send + Sync)>,
    masker: Option<&'a Masker>,
    place: &'a str,
}

impl<'a> Request<'a> {
    /// Asks for the message that follows `history`.
    pub fn new(history: &'a History) -> Self {
        Request {
            history,
            tools: None,
            format: None,
            sink: None,
            masker: None,
            place: "",
        }
    }

    /// Offers tools.
    #[must_use]
    pub fn with_tools(mut self, tools: &'a ToolSet) -> Self {
        self.tools = tools.offered().next().is_some().then_some(tools);
        self
    }

    /// Asks for an answer that follows a JSON Schema. Never together with tools: a model that must
    /// follow a schema cannot call.
    #[must_use]
    pub fn with_format(mut self, schema: &'a Value) -> Self {
        self.format = Some(schema);
        self
    }

    /// Asks for the answer as it is written.
    #[must_use]
    pub fn with_sink(mut self, sink: &'a (dyn Fn(Delta<'_>) + Send + Sync)) -> Self {
        self.sink = Some(sink);
        self
    }

    /// Says which secrets must not be written down.
    #[must_use]
    pub fn with_masker(mut self, masker: &'a Masker) -> Self {
        self.masker = Some(masker);
        self
    }

    /// What hides the run's secrets: for whoever writes the conversation down. The model itself is told
    /// what it is told.
    pub fn masker(&self) -> Option<&'a Masker> {
        self.masker.filter(|masker| !masker.is_empty())
    }

    /// Says where in the run it is made.
    #[must_use]
    pub fn with_place(mut self, place: &'a str) -> Self {
        self.place = place;
        self
    }

    /// Where in the run it is made: the agent's place and the turn; empty where nobody needs to know.
    pub fn place(&self) -> &'a str {
        self.place
    }

    /// The conversation, with the client's slot for what it has encoded.
    pub fn history(&self) -> &'a History {
        self.history
    }

    /// The messages of the conversation.
    pub fn messages(&self) -> &'a [Message] {
        self.history.messages()
    }

    /// Whether the model may call.
    pub fn has_tools(&self) -> bool {
        self.tools.is_some()
    }

    /// The tools the model may call.
    pub fn tools(&self) -> impl Iterator<Item = &'a ToolSpec> {
        self.tools.into_iter().flat_map(ToolSet::offered)
    }

    /// The tools as a JSON array of function declarations, the shape that Ollama and most other
    /// servers take. Serialised once for each set.
    pub fn tools_json(&self) -> Option<&'a str> {
        self.tools.map(ToolSet::declarations)
    }

    /// The schema the answer has to follow.
    pub fn format(&self) -> Option<&'a Value> {
        self.format
    }

    /// Where pieces of the answer go; `None` asks for the whole at once.
    pub fn sink(&self) -> Option<&'a (dyn Fn(Delta<'_>) + Send + Sync)> {
        self.sink
    }
}
