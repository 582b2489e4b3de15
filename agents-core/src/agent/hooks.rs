use super::{AgentBuilder, io::Data};
use crate::{Json, error::ErrorReceipt, run::ToolEnvelope};
use schemars::JsonSchema;
use std::sync::Arc;

/// What the agent uses, told to you in every run of it. What happens in one run is told by
/// [`Run::on_event`](crate::agent::Run::on_event), to which all of this belongs as well.
///
/// Hooks add up. One that panics is logged, and the run goes on.
impl<'a, I: Data, O: Data + JsonSchema> AgentBuilder<'a, I, O> {
    /// Is told which skill answers, whenever that is settled.
    pub fn on_skill_chosen(mut self, hook: impl Fn(&str) + Send + Sync + 'a) -> Self {
        self.agent.brain.hooks.skill.push(Arc::new(hook));
        self
    }

    /// Is told which knowledge the model was given.
    pub fn on_knowledge_used(mut self, hook: impl Fn(&str) + Send + Sync + 'a) -> Self {
        self.agent.brain.hooks.knowledge.push(Arc::new(hook));
        self
    }

    /// Is told of every call of a tool once, when it is settled: the tool's name, the arguments as
    /// they ran, repairs included, and what came of it. See [`Run::on_tool_use`](crate::agent::Run::on_tool_use) for a
    /// single run.
    pub fn on_tool_use(
        mut self,
        hook: impl Fn(&str, &Json, Result<&Json, &ErrorReceipt>) + Send + Sync + 'a,
    ) -> Self {
        let hook = move |receipt: &ToolEnvelope| {
            if let Some(result) = receipt.result() {
                hook(&receipt.name, &receipt.input, result);
            }
        };
        self.agent.brain.hooks.tool.push(Arc::new(hook));
        self
    }
}
