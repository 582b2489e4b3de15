use super::{AgentBuilder, io::Data};
use crate::definition::Knowledge;
use schemars::JsonSchema;
use std::{borrow::Cow, sync::Arc};

impl<'a, I: Data, O: Data + JsonSchema> AgentBuilder<'a, I, O> {
    /// Adds a document that the model can load on demand, by name and description.
    ///
    /// The model sees the document as a tool without arguments. `text` is only called when the model calls that tool.
    ///
    /// The text has to be at hand. A text that has to be fetched, and so can fail, is a job for a tool.
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
        self.agent.definition.knowledge.push(Knowledge {
            name: name.into(),
            description: description.into(),
            text: Arc::new(move || text().into_text()),
            files: Arc::default(),
        });
        self
    }
}

/// Conversion of a knowledge function's return value into the text that the model is given.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not text that a model could be given",
    label = "expected `&str` or `String`",
    note = "knowledge is text at hand; what has to be fetched and so can fail is a tool, and what has a structure is written out first"
)]
#[doc(hidden)] // Public because `knowledge` names it, for the message of a wrong type.
pub trait KnowledgeText {
    /// Converts the value into the text that the model is given.
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
