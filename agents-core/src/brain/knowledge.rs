use crate::{
    Json,
    tool::{Effects, FnTool, SharedTool, ToolSpec},
};
use serde_json::json;
use std::{borrow::Cow, sync::Arc};

/// What an agent can look up in itself. The model is told that it is there; the text is made when the
/// model asks for it.
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
            Err::<(), _>("knowledge is told by its own agent")
        }))
    }
}
