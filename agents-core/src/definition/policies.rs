//! Policies of an agent for tools by their names.

use super::{AgentDefinition, wording};
use crate::tool::{Pattern, ToolPolicy, ToolSet};

impl AgentDefinition<'_> {
    /// Returns the tools as the agent's policies change them.
    pub(crate) fn governed(&self, mut tools: ToolSet) -> ToolSet {
        for (pattern, policy) in &self.policies {
            tools = tools.mapped(|tool| match pattern.matches(&tool.spec().name) {
                true => policy.over(tool),
                false => tool,
            });
        }
        tools
    }

    /// Returns a defect for each policy that would loosen a tool's own demand for approval.
    pub(crate) fn loosened(&self, tools: &ToolSet) -> Vec<String> {
        let each = |(pattern, policy): &(Pattern, ToolPolicy)| {
            let loosened = tools
                .specs()
                .filter(|spec| pattern.matches(&spec.name) && policy.loosens(spec));
            let names: Vec<_> = loosened.map(|spec| format!("`{}`", spec.name)).collect();
            (!names.is_empty()).then(|| wording::loosened(&self.name, pattern, &names))
        };
        self.policies.iter().filter_map(each).collect()
    }
}
