use super::{
    delegate::{Delegate, tool_name},
    names::{Named, mean},
};
use crate::{
    Agent,
    agent::{OwnTool, Profile},
    run::Budget,
    tool::{Effects, SharedTool},
};
use std::{fmt, sync::Arc};

/// What an agent's place in a team says, beside what the agent says of itself.
#[derive(Clone)]
pub(crate) struct Placement {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) profile: Profile,
    /// Nothing was said: it has whatever it has.
    pub(crate) granted: Option<Vec<Named>>,
    pub(crate) confirmed: Vec<Named>,
    pub(crate) budget: Budget,
    pub(crate) delegates: Vec<Arc<dyn Delegate>>,
}

impl Placement {
    /// A place that says nothing yet.
    pub(super) fn of(agent: &impl Agent) -> Self {
        Placement {
            name: agent.name().to_owned(),
            description: agent.description().to_owned(),
            profile: agent.profile(),
            granted: None,
            confirmed: Vec::new(),
            budget: Budget::new(),
            delegates: Vec::new(),
        }
    }

    /// Whether the agent may use a tool of this name, if it has one.
    pub(crate) fn admits(&self, tool: &str) -> bool {
        let granted = self.granted.as_ref();
        granted.is_none_or(|granted| mean(granted, tool)) || self.confirms(tool)
    }

    /// Whether somebody has to approve every call of this tool.
    pub(crate) fn confirms(&self, tool: &str) -> bool {
        mean(&self.confirmed, tool)
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
    pub(super) fn below(&self) -> impl Iterator<Item = &Placement> {
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
    pub(super) fn delegate_names(&self) -> impl Iterator<Item = String> {
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
