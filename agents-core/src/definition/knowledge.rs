use super::wording;
use crate::{
    Json,
    tool::{Effects, FnTool, SharedTool, ToolSpec},
};
use serde_json::json;
use std::{borrow::Cow, sync::Arc};

/// Text that an agent's model can ask for. The model is told that it exists; the text is made when the model asks for
/// it.
#[derive(Clone)]
pub(crate) struct Knowledge<'a> {
    pub(crate) name: Cow<'static, str>,
    pub(crate) description: Cow<'static, str>,
    pub(crate) text: Arc<dyn Fn() -> String + Send + Sync + 'a>,
}

impl Knowledge<'_> {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the text of the knowledge, by calling the user's function.
    pub(crate) fn text(&self) -> Json {
        Json::string(&(self.text)())
    }

    /// Returns the tool that offers the knowledge to the model.
    ///
    /// The tool has no text: a tool owns its data, and knowledge may be lent by its agent. So the run asks the agent
    /// for the text.
    pub(crate) fn tool(&self) -> SharedTool {
        let schema = json!({ "type": "object", "properties": {} });
        let (name, description) = (self.name.clone(), self.description.clone());
        let spec = ToolSpec::new(name, description, Effects::None, schema).innate();
        Arc::new(FnTool::with_spec(spec, |_, _| async {
            Err::<(), _>(wording::KNOWLEDGE_OF_ANOTHER)
        }))
    }
}
