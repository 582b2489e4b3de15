//! Static knowledge about agents before a run: the profile of each agent, and its place in a team.

mod check;
mod profile;
mod wording;

pub(crate) use check::{Found, check, check_run, found};
pub(crate) use profile::{Defect, OwnTool};
pub use profile::{KnownTool, Profile};

use crate::{
    budget::Budget,
    shared::Shared,
    tool::{Background, DynTool, Effects, Pattern, SharedTool},
};
use std::{any::Any, fmt, sync::Arc, time::Duration};

/// Settings of an agent's place in a team, together with the profile of the agent itself.
#[derive(Clone)]
pub(crate) struct Placement {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) profile: Profile,
    /// Tools that are granted at this place; `None` if the place has no grants, so that the agent has all its own
    /// tools.
    pub(crate) granted: Option<Vec<Pattern>>,
    pub(crate) confirmed: Vec<Pattern>,
    pub(crate) budget: Budget,
    /// Behaviour of the agent as a delegate in the background; `None` if its parent waits for its results.
    pub(crate) background: Option<Background>,
    pub(crate) delegates: Vec<Arc<dyn Delegate>>,
}

impl Placement {
    /// Returns `true` if the grants and confirmations of this place admit a tool of this name.
    pub(crate) fn admits(&self, tool: &str) -> bool {
        let granted = self.granted.as_ref();
        granted.is_none_or(|granted| meant(granted, tool)) || self.confirms(tool)
    }

    /// Returns `true` if every call of this tool needs approval here.
    pub(crate) fn confirms(&self, tool: &str) -> bool {
        meant(&self.confirmed, tool)
    }

    /// Returns the names of the agent's own tools that it may use here.
    pub(crate) fn tools(&self) -> impl Iterator<Item = &str> {
        self.usable().map(OwnTool::name)
    }

    /// Returns the agent's own tools that it may use here.
    pub(crate) fn usable(&self) -> impl Iterator<Item = &OwnTool> {
        let tools = self.profile.tools.iter();
        tools.filter(|tool| self.has(tool))
    }

    /// Returns `true` if the agent may use this tool of its own at this place.
    pub(crate) fn has(&self, tool: &OwnTool) -> bool {
        let Some(granted) = &self.granted else {
            return true;
        };
        let mut admitted = granted.iter().chain(&self.confirmed);
        tool.innate() || admitted.any(|pattern| tool.may_match(pattern))
    }

    /// Returns `true` if this place lets the agent use the tool and demands no approval of its calls. For tools that a
    /// source will list, this is so for each of them.
    pub(crate) fn frees(&self, tool: &OwnTool) -> bool {
        let mut confirmed = self.confirmed.iter();
        self.admits(tool.name()) && !confirmed.any(|pattern| tool.may_match(pattern))
    }

    /// Returns the places below: the delegates, and the teams among the parts of a composite.
    pub(crate) fn below(&self) -> impl Iterator<Item = &Placement> {
        let delegates = self.delegates.iter().map(|below| &**below.placement());
        delegates.chain(self.profile.teams.iter().map(|team| &**team))
    }

    /// Returns the delegates as tools, as the agent's model is offered them.
    pub(crate) fn delegates(&self) -> impl Iterator<Item = SharedTool> {
        self.delegates
            .iter()
            .cloned()
            .map(|below| below as SharedTool)
    }

    /// Returns the names by which a model calls the delegates.
    pub(crate) fn delegate_names(&self) -> impl Iterator<Item = String> {
        let delegates = self.delegates.iter();
        delegates.map(|below| tool_name(&below.placement().name))
    }

    /// Returns the bounds that apply to the agent: its own, and the bounds of its place where they are tighter.
    pub(crate) fn bounds(&self) -> Budget {
        self.profile.budget.tighter(&self.budget)
    }

    /// Returns the strongest effect that the agent has on the outside world, by itself and through
    /// the agents below.
    pub(crate) fn effects(&self) -> Effects {
        let tools = self.profile.tools.iter();
        let tools = tools.filter(|tool| self.has(tool));
        let below = self
            .delegates
            .iter()
            .map(|below| below.placement().effects());
        tools
            .map(OwnTool::effects)
            .chain(below)
            .fold(self.profile.code, Ord::max)
    }

    /// Returns the placement of the agent that does the work: if a team stands at this place, that of the team's root.
    pub(crate) fn inner(&self) -> &Placement {
        match &self.profile.team {
            Some(root) => root.inner(),
            None => self,
        }
    }

    /// Returns the placement of a team's root within the budget of the place where the team stands.
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

/// Place of an agent in a team, as the agent finds it at run time.
#[derive(Clone)]
pub(crate) struct TeamPlace {
    pub(crate) placement: Shared<Placement>,
    /// Time that the call to this agent may take, as the agent above allows it; `None` if no call runs the agent.
    pub(crate) allowed: Option<Duration>,
}

/// Delegate in a team, as a tool of the agent above. Its input and output types are hidden.
pub(crate) trait Delegate: DynTool {
    fn placement(&self) -> &Shared<Placement>;

    /// Returns the delegate as an `Arc<Placed<A>>`, for code of the agent above that asks for it by its type.
    fn by_type(&self, above: &Placement) -> Arc<dyn Any + Send + Sync>;

    /// Returns the delegate as an `Arc<dyn Agent<In = A::In, Out = A::Out>>`, for code that asks for it by its input
    /// and output.
    fn by_signature(&self, above: &Placement) -> Box<dyn Any>;
}

/// Returns `true` if one of the patterns matches the name `tool`.
fn meant(names: &[Pattern], tool: &str) -> bool {
    names.iter().any(|name| name.matches(tool))
}

/// Returns the name by which models call an agent, in characters that they can write: `parse > plan` becomes
/// `parse_plan`.
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
