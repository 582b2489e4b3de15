//! What is known of an agent before it runs: what it says of itself, and where it is placed.

mod check;
mod profile;

pub(crate) use check::{Found, check, check_run, found};
pub use profile::Profile;
pub(crate) use profile::{Defect, OwnTool};

use crate::{
    budget::Budget,
    tool::{DynTool, Effects, Pattern, SharedTool},
};
use std::{any::Any, fmt, sync::Arc, time::Duration};

/// What an agent's place in a team says, beside what the agent says of itself.
#[derive(Clone)]
pub(crate) struct Placement {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) profile: Profile,
    /// Nothing was said: it has whatever it has.
    pub(crate) granted: Option<Vec<Pattern>>,
    pub(crate) confirmed: Vec<Pattern>,
    pub(crate) budget: Budget,
    pub(crate) delegates: Vec<Arc<dyn Delegate>>,
}

impl Placement {
    /// Whether the agent may use a tool of this name, if it has one.
    pub(crate) fn admits(&self, tool: &str) -> bool {
        let granted = self.granted.as_ref();
        granted.is_none_or(|granted| meant(granted, tool)) || self.confirms(tool)
    }

    /// Whether somebody has to approve every call of this tool.
    pub(crate) fn confirms(&self, tool: &str) -> bool {
        meant(&self.confirmed, tool)
    }

    /// The agent's own tools that it may use here.
    pub(crate) fn tools(&self) -> impl Iterator<Item = &str> {
        self.usable().map(|tool| &*tool.name)
    }

    /// The same, with what is known of them.
    pub(crate) fn usable(&self) -> impl Iterator<Item = &OwnTool> {
        let tools = self.profile.tools.iter();
        tools.filter(|tool| self.has(tool))
    }

    /// Whether the agent may use this tool of its own.
    pub(crate) fn has(&self, tool: &OwnTool) -> bool {
        tool.innate || self.admits(&tool.name)
    }

    /// What is below: the delegates, and the teams among the agents of which this one is made.
    pub(crate) fn below(&self) -> impl Iterator<Item = &Placement> {
        let delegates = self.delegates.iter().map(|below| &**below.placement());
        delegates.chain(self.profile.teams.iter().map(|team| &**team))
    }

    /// The delegates, as the tools that its model is offered.
    pub(crate) fn delegates(&self) -> impl Iterator<Item = SharedTool> {
        self.delegates
            .iter()
            .cloned()
            .map(|below| below as SharedTool)
    }

    /// The names of these tools.
    pub(crate) fn delegate_names(&self) -> impl Iterator<Item = String> {
        let delegates = self.delegates.iter();
        delegates.map(|below| tool_name(&below.placement().name))
    }

    /// The agent's own bounds within those of its place.
    pub(crate) fn bounds(&self) -> Budget {
        self.profile.budget.tighter(&self.budget)
    }

    /// The most that the agent does to the world, by itself and by those below.
    pub(crate) fn effects(&self) -> Effects {
        let tools = self.profile.tools.iter();
        let tools = tools.filter(|tool| self.has(tool));
        let below = self
            .delegates
            .iter()
            .map(|below| below.placement().effects());
        tools
            .map(|tool| tool.effects)
            .chain(below)
            .fold(self.profile.code, Ord::max)
    }

    /// What is said where the agent is really placed: a team says it of its root itself.
    pub(crate) fn inner(&self) -> &Placement {
        match &self.profile.team {
            Some(root) => root.inner(),
            None => self,
        }
    }

    /// The same, for a team that is placed in another one.
    pub(crate) fn within(&self, outer: &Placement) -> Self {
        Placement {
            budget: self.budget.tighter(&outer.budget),
            ..self.clone()
        }
    }
}

impl fmt::Debug for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Placement")
            .field("agent", &self.name)
            .field("granted", &self.granted)
            .field("confirmed", &self.confirmed)
            .finish_non_exhaustive()
    }
}

/// An agent's place in a team, as the agent that works there finds it.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) placement: Arc<Placement>,
    /// How long the call may take by which its parent asks it.
    pub(crate) allowed: Option<Duration>,
}

/// A delegate, its types hidden.
pub(crate) trait Delegate: DynTool {
    fn placement(&self) -> &Arc<Placement>;

    /// An `Arc<Placed<A>>`, for code of the agent above if the delegate is of this type.
    fn by_type(&self, above: &Placement) -> Arc<dyn Any + Send + Sync>;

    /// The same as an `Arc<dyn Agent<In = A::In, Out = A::Out>>`.
    fn by_signature(&self, above: &Placement) -> Box<dyn Any>;
}

/// Whether one of these stands for `tool`.
fn meant(names: &[Pattern], tool: &str) -> bool {
    names.iter().any(|name| name.matches(tool))
}

/// The name of an agent as models can write it: `parse > plan` becomes `parse_plan`.
pub(crate) fn tool_name(agent: &str) -> String {
    let words = agent
        .split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-' && letter != '_');
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    words.join("_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_can_write_every_name() {
        for (agent, tool) in [
            ("coder", "coder"),
            ("parse > plan", "parse_plan"),
            ("first_of(a, b-c)", "first_of_a_b-c"),
            ("[a; 3]", "a_3"),
        ] {
            assert_eq!(tool_name(agent), tool);
        }
    }
}
