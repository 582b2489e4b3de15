use crate::{panics::told, run::ToolEnvelope, secret::Masker};
use std::sync::Arc;

type Named<'a> = Arc<dyn Fn(&str) + Send + Sync + 'a>;
type Called<'a> = Arc<dyn Fn(&ToolEnvelope) + Send + Sync + 'a>;

/// Who is told what an agent uses, in every run of it.
#[derive(Clone, Default)]
pub(crate) struct Hooks<'a> {
    pub(crate) skill: Option<Named<'a>>,
    pub(crate) knowledge: Option<Named<'a>>,
    pub(crate) tool: Option<Called<'a>>,
}

impl Hooks<'_> {
    pub(crate) fn skill_chosen(&self, skill: &str, masker: &Masker) {
        if let Some(hook) = &self.skill {
            told("on_skill_chosen", masker, || hook(skill));
        }
    }

    pub(crate) fn knowledge_used(&self, knowledge: &str, masker: &Masker) {
        if let Some(hook) = &self.knowledge {
            told("on_knowledge_used", masker, || hook(knowledge));
        }
    }

    pub(crate) fn tool_used(&self, receipt: &ToolEnvelope, masker: &Masker) {
        if let Some(hook) = &self.tool {
            told("on_tool_use", masker, || hook(receipt));
        }
    }
}
