//! Needs for a model, and the error text for an agent that has none.

use super::{Data, ModelAgent, Skill};

impl<I: Data, O: Data> ModelAgent<'_, I, O> {
    /// Returns what this agent cannot do without a model: work at all, or choose among several skills that take any
    /// input.
    ///
    /// The result is `None` if the agent brings a model or can do without one.
    pub(super) fn unmet(&self) -> Option<String> {
        if self.definition.model.is_some() {
            return None;
        }
        let open: Vec<_> = self
            .skills
            .iter()
            .filter(|skill| !skill.is_conditional())
            .map(Skill::name)
            .collect();
        if open.len() > 1 {
            return Some(undecided(&self.definition.name, &open));
        }
        let is_driven = self.skills.iter().all(|skill| skill.body().is_none());
        is_driven.then(|| self.definition.undriven())
    }
}

/// Returns the error text for an agent without a model to choose one of these skills.
pub(super) fn undecided(agent: &str, skills: &[&str]) -> String {
    let skills: Vec<_> = skills.iter().map(|skill| format!("`{skill}`")).collect();
    format!(
        "agent `{agent}` has no model to choose among its skills {}; give all of them but one a `when = |input| ..`, or name one with `#[agent(model = ..)]` or `AgentBuilder::model`, or give one to the whole run with `.run(..).model(..)`",
        skills.join(", ")
    )
}
