//! Equipment with which a model-driven agent takes its turns, whatever its `In` and `Out`.

mod answer;
mod arms;
mod context;
mod hooks;
mod knowledge;
mod listed;
mod policies;
mod prompt;
mod scalar_answer;
mod validator;
mod wording;

pub(crate) use answer::Answer;
pub(crate) use arms::Arms;
pub use context::ContextPolicy;
pub(crate) use hooks::Hooks;
pub(crate) use knowledge::Knowledge;
pub use prompt::IntoPrompt;
pub(crate) use prompt::Prompt;
pub use validator::IntoVerdict;
pub(crate) use validator::Validators;

use crate::{
    budget::Budget,
    context::Settings,
    model::{Model, PurposeKey},
    place::{Placement, TeamPlace},
    recovery::SharedFixer,
    shared::Shared,
    tool::{IntoTool, Pattern, SharedTool, ToolPolicy, ToolSet, ToolSpec},
};
use std::{borrow::Cow, sync::Arc};

/// Settings of a model-driven agent that the engine needs, without the types `In` and `Out`.
#[derive(Clone)]
pub(crate) struct AgentDefinition<'a> {
    pub(crate) name: Cow<'static, str>,
    pub(crate) description: Cow<'static, str>,
    pub(crate) prompt: Prompt<'a>,
    pub(crate) model: Option<Arc<dyn Model>>,
    /// Purpose of the agent's model, if it has no model of its own and the run knows models for purposes.
    pub(crate) purpose: Option<PurposeKey>,
    /// Name of the skill that `purpose` comes from; `None` if it is the agent's own, or if there is none.
    pub(crate) purposed_skill: Option<String>,
    pub(crate) tools: ToolSet,
    /// Policies for tools by their names, in the order in which they apply.
    pub(crate) policies: Vec<(Pattern, ToolPolicy)>,
    pub(crate) budget: Budget,
    /// Rule by which the conversation is shortened while the agent works; `None` if it is not shortened.
    pub(crate) context: Option<ContextPolicy>,
    pub(crate) strict: bool,
    /// Is `true` if a call like one that was denied is refused without a question.
    pub(crate) refuses_denied: bool,
    pub(crate) arms: Arms<'a>,
    pub(crate) fixers: Vec<SharedFixer>,
    /// Place of the agent in a team; `None` if it has none.
    placement: Option<Shared<Placement>>,
    /// Patterns of the tools that the agent's current skill lists; `None` if it lists none. The list applies to
    /// delegates too.
    pub(crate) listed: Option<Vec<Pattern>>,
    pub(crate) knowledge: Vec<Knowledge<'a>>,
    pub(crate) hooks: Hooks<'a>,
    /// Skills among which the model has to choose before it gets any tools.
    pub(crate) open: Vec<String>,
}

impl AgentDefinition<'_> {
    /// Creates the data of an agent with this name, without prompt, tools or model of its own.
    pub(crate) fn new(name: Cow<'static, str>) -> Self {
        AgentDefinition {
            name,
            description: Cow::Borrowed(""),
            prompt: Prompt::default(),
            model: None,
            purpose: None,
            purposed_skill: None,
            tools: ToolSet::new(),
            policies: Vec::new(),
            budget: Budget::new(),
            context: None,
            strict: false,
            refuses_denied: false,
            arms: Arms::default(),
            fixers: Vec::new(),
            placement: None,
            listed: None,
            knowledge: Vec::new(),
            hooks: Hooks::default(),
            open: Vec::new(),
        }
    }

    /// Returns the description that other agents are shown; if it is empty, the fixed text of the prompt, which is
    /// known before a run.
    pub(crate) fn described(&self) -> &str {
        match self.description.is_empty() {
            true => self.prompt.known(),
            false => &self.description,
        }
    }

    /// Returns this definition with these tools in addition.
    pub(crate) fn with_tools<T: IntoTool>(&self, tools: impl IntoIterator<Item = T>) -> Self {
        let mut definition = self.clone();
        definition.tools = definition.tools.with_all(tools);
        definition
    }

    /// Returns this definition with the tool that searches its deferred tools; `None` if it defers none and needs no
    /// such tool.
    pub(crate) fn searchable(&self) -> Option<Self> {
        self.tools.defers_any().then(|| {
            let mut definition = self.clone();
            definition.tools = definition.tools.with_search();
            definition
        })
    }

    /// Returns this definition at its place in a team: with the tools that the place admits, and with the delegates. If
    /// the skill lists tools, only the delegates that it lists are added.
    ///
    /// The budget of the place tightens that of this agent. The bounds that also apply to all agents below are set
    /// elsewhere, with [`Node::bound_place`](crate::context::Node::bound_place).
    pub(crate) fn placed(&self, place: &TeamPlace) -> Self {
        let TeamPlace { placement, allowed } = place;
        let mut definition = self.clone();
        // Tools of the agent's own equipment, such as memory, need no grant.
        let admits = |spec: &ToolSpec| spec.innate || placement.admits(&spec.name);
        definition.tools = self.tools.only(admits);
        let withheld = |name: &str| {
            let own = self.tools.get(name);
            own.is_some_and(|tool| !admits(tool.spec()))
        };
        definition.arms.retain(|name| !withheld(name));
        let is_listed = |delegate: &SharedTool| {
            let name = &delegate.spec().name;
            let listed = self.listed.as_ref();
            listed.is_none_or(|listed| listed.iter().any(|pattern| pattern.matches(name)))
        };
        let delegates = placement.delegates().filter(is_listed);
        definition.tools = definition.tools.with_all(delegates);
        definition.budget = self.budget.tighter(&placement.budget);
        // Otherwise the deadline of the call is the bound; it stands still while people decide.
        definition.budget.time = definition
            .budget
            .time
            .filter(|own| allowed.is_none_or(|call| *own < call));
        definition.placement = Some(placement.clone());
        definition
    }

    /// Returns `true` if the agent's place in a team demands that a person approves every call of this tool.
    pub(crate) fn confirms(&self, tool: &str) -> bool {
        let placement = self.placement.as_ref();
        placement.is_some_and(|placement| placement.confirms(tool))
    }

    /// Returns this definition with its budget tightened by the bounds that the run sets for each of its agents.
    pub(crate) fn within(&self, run: &Budget) -> Self {
        AgentDefinition {
            budget: self.budget.within(run),
            ..self.clone()
        }
    }

    /// Returns the agent's knowledge of this name; `None` if the agent has no such knowledge.
    pub(crate) fn knowledge(&self, name: &str) -> Option<&Knowledge<'_>> {
        self.knowledge.iter().find(|one| one.name() == name)
    }

    /// Returns the model that the agent brings: its own, or the one that stands for its purpose in this run. Returns
    /// `None` if it has neither, or if the run knows no models for purposes.
    pub(crate) fn own_model(&self, settings: &Settings) -> Option<Arc<dyn Model>> {
        let own = self.model.clone();
        own.or_else(|| settings.model_of(self.purpose.as_ref()?))
    }

    /// Returns the text of the error for an agent without a model. If the agent has no purpose, the text also names the
    /// repair agents of its arms and of its tools, which need a model for the same reason.
    pub(crate) fn undriven(&self) -> String {
        if let Some(purpose) = &self.purpose {
            return wording::no_model_for(&self.name, self.purposed_skill.as_deref(), purpose);
        }
        let of_tools = self.tools.specs().filter_map(|spec| {
            let tool = self.tools.get(&spec.name)?;
            Some(tool.fixers())
        });
        let fixers = self.fixers.iter().cloned().chain(of_tools.flatten());
        let mut fixers: Vec<_> = fixers
            .map(|fixer| format!("`{}`", fixer.fixer_name()))
            .collect();
        fixers.sort();
        fixers.dedup();
        wording::no_model(&self.name, &fixers)
    }
}
