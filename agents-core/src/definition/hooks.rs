use crate::{panics::told, run::ToolEnvelope, secret::Masker};
use std::sync::Arc;

type Named<'a> = Arc<dyn Fn(&str) + Send + Sync + 'a>;
type Called<'a> = Arc<dyn Fn(&ToolEnvelope) + Send + Sync + 'a>;

/// Callbacks of the user for what an agent does in each of its runs: it chooses a skill, uses knowledge, or calls a
/// tool.
#[derive(Clone, Default)]
pub(crate) struct Hooks<'a> {
    pub(crate) skill: Vec<Named<'a>>,
    pub(crate) knowledge: Vec<Named<'a>>,
    pub(crate) tool: Vec<Called<'a>>,
}

impl Hooks<'_> {
    pub(crate) fn skill_chosen(&self, skill: &str, masker: &Masker) {
        for hook in &self.skill {
            told("on_skill_chosen", masker, || hook(skill));
        }
    }

    pub(crate) fn knowledge_used(&self, knowledge: &str, masker: &Masker) {
        for hook in &self.knowledge {
            told("on_knowledge_used", masker, || hook(knowledge));
        }
    }

    pub(crate) fn tool_used(&self, receipt: &ToolEnvelope, masker: &Masker) {
        for hook in &self.tool {
            told("on_tool_use", masker, || hook(receipt));
        }
    }
}
