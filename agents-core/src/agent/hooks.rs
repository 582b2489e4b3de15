use super::{AgentBuilder, io::Data};
use crate::{Json, error::ErrorRecord, run::ToolEnvelope};
use schemars::JsonSchema;
use std::sync::Arc;

/// Callbacks for what the agent uses, in every run of it. [`Run::on_event`](crate::agent::Run::on_event) reports the
/// events of a single run, and these are among them.
///
/// Hooks add up. A panic in a hook is logged, and the run goes on.
impl<'a, I: Data, O: Data + JsonSchema> AgentBuilder<'a, I, O> {
    /// Registers a callback for the choice of the skill that answers an input.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::AgentBuilder;
    ///
    /// let clerk = AgentBuilder::<String, String>::new("clerk")
    ///     .on_skill_chosen(|skill| println!("answers with {skill}"))
    ///     .on_knowledge_used(|name| println!("reads {name}"))
    ///     .build();
    /// ```
    pub fn on_skill_chosen(mut self, hook: impl Fn(&str) + Send + Sync + 'a) -> Self {
        self.agent.definition.hooks.skill.push(Arc::new(hook));
        self
    }

    /// Registers a callback for each piece of knowledge the model is given.
    pub fn on_knowledge_used(mut self, hook: impl Fn(&str) + Send + Sync + 'a) -> Self {
        self.agent.definition.hooks.knowledge.push(Arc::new(hook));
        self
    }

    /// Registers a callback that gets every tool call once, when it has ended: the tool's name, the arguments as they
    /// ran (repairs included), and the result. A call that was refused, or cut off by the end of its run or agent, has
    /// ended as well.
    ///
    /// [`Run::on_tool_use`](crate::agent::Run::on_tool_use) does the same for a single run. In a task that outlives its
    /// run, only the callbacks of the run get the calls.
    pub fn on_tool_use(
        mut self,
        hook: impl Fn(&str, &Json, Result<&Json, &ErrorRecord>) + Send + Sync + 'a,
    ) -> Self {
        let hook = move |receipt: &ToolEnvelope| {
            if let Some(result) = receipt.result() {
                hook(&receipt.name, &receipt.input, result);
            }
        };
        self.agent.definition.hooks.tool.push(Arc::new(hook));
        self
    }
}
