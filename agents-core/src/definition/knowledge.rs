use super::wording;
use crate::{
    Json,
    tool::{Effects, FnTool, Prepared, SharedTool, ToolSpec},
};
use serde_json::{Value, json};
use std::{borrow::Cow, sync::Arc};

/// Text that an agent's model can ask for. The model is told that the text exists; the text itself is made when the
/// model asks for it.
#[derive(Clone)]
pub(crate) struct Knowledge<'a> {
    pub(crate) name: Cow<'static, str>,
    pub(crate) description: Cow<'static, str>,
    pub(crate) text: Arc<dyn Fn() -> String + Send + Sync + 'a>,
    /// Further texts, with the names by which the model asks for them.
    pub(crate) files: Arc<[(Cow<'static, str>, Cow<'static, str>)]>,
}

impl Knowledge<'_> {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Makes the text that the model asks for with these arguments: the further text that they name, or else the main
    /// text.
    pub(crate) fn told(&self, prepared: &Prepared) -> Json {
        let args = prepared.0.downcast_ref::<Value>();
        let asked = args.and_then(|args| args["file"].as_str());
        let file = asked.and_then(|asked| self.files.iter().find(|(name, _)| *name == asked));
        match file {
            Some((_, text)) => Json::string(text),
            None => Json::string(&(self.text)()),
        }
    }

    /// Returns the tool that offers the knowledge to the model.
    ///
    /// The tool has no text: a tool owns its data, and knowledge may be lent by its agent. So the run asks the agent
    /// for the text.
    pub(crate) fn tool(&self) -> SharedTool {
        let mut schema = json!({ "type": "object", "properties": {} });
        if !self.files.is_empty() {
            let names: Vec<_> = self.files.iter().map(|(name, _)| name).collect();
            schema["properties"]["file"] =
                json!({ "type": "string", "enum": names, "description": wording::FURTHER_FILE });
        }
        let (name, description) = (self.name.clone(), self.description.clone());
        let spec = ToolSpec::new(name, description, Effects::None, schema).innate();
        Arc::new(FnTool::with_spec(spec, |_, _| async {
            Err::<(), _>(wording::KNOWLEDGE_OF_ANOTHER)
        }))
    }
}
