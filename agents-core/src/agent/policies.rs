//! Policies and error handlers of an agent for tools by their names, also for tools that are not known in advance.

use super::{AgentBuilder, ModelAgent, io::Data, wording};
use crate::{
    error::AnyError,
    place::Defect,
    recovery::{CallError, ErrorContext, Plan},
    tool::{Pattern, ToolPolicy},
};
use schemars::JsonSchema;

impl<'a, I: Data, O: Data + JsonSchema> AgentBuilder<'a, I, O> {
    /// Applies a policy to the tools whose names match `pattern`; later policies build on earlier
    /// ones.
    ///
    /// A pattern that matches no tool of the agent is an error before anything runs. So is a policy that asks for less
    /// approval than a tool itself declares.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{AgentBuilder, tool::{NeedsApproval, ToolPolicy, ToolSet}};
    /// # use std::time::Duration;
    /// # fn triage(github: ToolSet) -> agents::agent::ModelAgent<'static, String, String> {
    /// AgentBuilder::<String, String>::new("triage")
    ///     .prompt("You sort issues.")
    ///     .tools(github)
    ///     .policy("github_*", ToolPolicy::new().timeout(Duration::from_secs(10)))
    ///     .policy("github_label_*", ToolPolicy::new().approval(NeedsApproval::Never))
    ///     .build()
    /// # }
    /// ```
    pub fn policy(mut self, pattern: impl Into<Pattern>, policy: ToolPolicy) -> Self {
        let policies = &mut self.agent.definition.policies;
        policies.push((pattern.into(), policy));
        self
    }

    /// Sets the error handler for the tools whose names match `pattern`.
    ///
    /// This handler is asked before the tool's own handler, and after the one that [`on_error_of`](Self::on_error_of)
    /// sets for a single tool. If several patterns match, their handlers are asked in the order in which they were set.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{AgentBuilder, recovery::*, tool::ToolSet};
    ///
    /// # fn triage(github: ToolSet) -> agents::agent::ModelAgent<'static, String, String> {
    /// AgentBuilder::<String, String>::new("triage")
    ///     .prompt("You sort issues.")
    ///     .tools(github)
    ///     .on_error_of_named("github_*", |error, _| match error {
    ///         CallError::Execution(_) => Some(retry::<Execution>().or(feedback("GitHub does not answer, go on without it")).into()),
    ///         _ => None,
    ///     })
    ///     .build()
    /// # }
    /// ```
    pub fn on_error_of_named(
        mut self,
        pattern: impl Into<Pattern>,
        arms: impl Fn(CallError<'_, AnyError>, &ErrorContext) -> Option<Plan> + Send + Sync + 'a,
    ) -> Self {
        self.agent
            .definition
            .arms
            .add_for_named(pattern.into(), arms);
        self
    }
}

impl<I: Data, O: Data> ModelAgent<'_, I, O> {
    /// Returns a defect for each pattern that matches no tool.
    pub(super) fn idle_patterns(&self) -> Vec<Defect> {
        let arms = self
            .definition
            .arms
            .patterns()
            .map(|pattern| (wording::ARMS_FOR, pattern, true));
        let policies = self
            .definition
            .policies
            .iter()
            .map(|(pattern, _)| (wording::POLICY_FOR, pattern, false));
        arms.chain(policies)
            .filter(|(_, pattern, _)| !self.definition.tools.fits_any(pattern))
            .map(|(what, pattern, for_delegates)| Defect {
                text: wording::idle_pattern(&self.definition.name, what, pattern),
                lacks: for_delegates.then(|| pattern.clone()),
            })
            .collect()
    }
}
