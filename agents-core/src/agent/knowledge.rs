use super::{AgentBuilder, io::Data};
use crate::{
    Json,
    error::{Cause, Code},
    tool::{Effects, FnTool, SharedTool, ToolSpec},
};
use schemars::JsonSchema;
use serde_json::json;
use std::{borrow::Cow, sync::Arc};

/// What an agent can look up in itself. The model is told that it is there; the text is made when the
/// model asks for it.
#[derive(Clone)]
pub(crate) struct Knowledge<'a> {
    name: Cow<'static, str>,
    description: Cow<'static, str>,
    text: Arc<dyn Fn() -> String + Send + Sync + 'a>,
}

impl Knowledge<'_> {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Makes the text.
    pub(crate) fn text(&self) -> Json {
        Json::string(&(self.text)())
    }

    /// What the model is told of it. A tool owns what it is made of, and knowledge may be lent by its
    /// agent: so the run asks the agent for the text, and this tool has none.
    pub(crate) fn tool(&self) -> SharedTool {
        let schema = json!({ "type": "object", "properties": {} });
        let (name, description) = (self.name.clone(), self.description.clone());
        let spec = ToolSpec::new(name, description, Effects::None, schema).innate();
        Arc::new(FnTool::with_spec(spec, |_, _| async {
            Err::<(), _>(Cause::text(
                Code::Unknown,
                "knowledge is told by its own agent",
            ))
        }))
    }
}

impl<'a, I: Data, O: Data + JsonSchema> AgentBuilder<'a, I, O> {
    /// Adds something the agent knows: the model is told its name and description, as of a tool
    /// without arguments, and `text` is asked for only when the model wants it.
    ///
    /// It is for text at hand. What has to be fetched, and so can fail, is a tool.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::AgentBuilder;
    /// let writer = AgentBuilder::<String, String>::new("writer")
    ///     .prompt("You write release notes.")
    ///     .knowledge("house_style", "How release notes are written here.", || "One line a change.")
    ///     .build();
    /// ```
    pub fn knowledge<T: KnowledgeText>(
        mut self,
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        text: impl Fn() -> T + Send + Sync + 'a,
    ) -> Self {
        self.agent.brain.knowledge.push(Knowledge {
            name: name.into(),
            description: description.into(),
            text: Arc::new(move || text().into_text()),
        });
        self
    }
}

/// What knowledge can be given as.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not text that a model could be given",
    label = "expected `&str` or `String`",
    note = "knowledge is text at hand; what has to be fetched and so can fail is a tool, and what has a structure is written out first"
)]
pub trait KnowledgeText {
    /// The text.
    fn into_text(self) -> String;
}

impl KnowledgeText for String {
    fn into_text(self) -> String {
        self
    }
}

impl KnowledgeText for &str {
    fn into_text(self) -> String {
        self.to_owned()
    }
}

impl KnowledgeText for Cow<'_, str> {
    fn into_text(self) -> String {
        self.into_owned()
    }
}
