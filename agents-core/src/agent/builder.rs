use super::{Data, Skill};
use crate::{
    brain::{Answer, Brain},
    error::AnyError,
    escalation::{Escalation, IntoResolution, SharedHandler},
    memory::Memory,
    model::Model,
    recovery::{CallError, ErrorContext, Fixer, Plan},
    run::Budget,
    tool::{IntoTool, Pattern, ToolPolicy, ToolSet},
};
use schemars::JsonSchema;
use std::{borrow::Cow, fmt, sync::Arc};

/// Puts an agent together: what `#[agent]` expands to, and what you write without macros.
///
/// ```
/// # use agents_core as agents;
/// use agents::agent::AgentBuilder;
/// use agents::run::Budget;
///
/// let namer = AgentBuilder::<String, Vec<String>>::new("namer")
///     .prompt("Suggest names for the project that is described to you.")
///     .budget(Budget::new().max_turns(3))
///     .build();
/// ```
#[must_use = "an agent is made by `.build()`"]
pub struct AgentBuilder<'a, I, O> {
    pub(super) agent: ModelAgent<'a, I, O>,
}

impl<'a, I: Data, O: Data + JsonSchema> AgentBuilder<'a, I, O> {
    /// An agent of this name, without prompt, tools or model of its own.
    pub fn new(name: impl Into<Cow<'static, str>>) -> Self {
        AgentBuilder {
            agent: ModelAgent {
                brain: Brain::new(name.into()),
                skills: Vec::new(),
                memory: None,
                policies: Vec::new(),
                defects: Vec::new(),
                answer: Answer::new(),
                on_escalation: None,
            },
        }
    }

    /// What others are told about the agent; they are told its prompt where nothing is said.
    pub fn description(mut self, description: impl Into<Cow<'static, str>>) -> Self {
        self.agent.brain.description = description.into();
        self
    }

    /// What the model is told to be. The text may be lent, as `&self.prompt` is.
    pub fn prompt(mut self, prompt: impl Into<Cow<'a, str>>) -> Self {
        self.agent.brain.prompt = prompt.into();
        self
    }

    /// The model that drives the agent. Without one it is the caller's, else the run's.
    pub fn model(mut self, model: impl Model) -> Self {
        self.agent.brain.model = Some(Arc::new(model));
        self
    }

    /// Adds a tool.
    pub fn tool(mut self, tool: impl IntoTool) -> Self {
        self.agent.brain.tools = self.agent.brain.tools.with(tool);
        self
    }

    /// Sets all the tools.
    pub fn tools(mut self, tools: ToolSet) -> Self {
        self.agent.brain.tools = tools;
        self
    }

    /// Sets the bounds.
    pub fn budget(mut self, budget: Budget) -> Self {
        self.agent.brain.budget = budget;
        self
    }

    /// Reads arguments and answers strictly: nothing is repaired.
    pub fn strict(mut self) -> Self {
        self.agent.brain.strict = true;
        self
    }

    /// What to do about failures of every tool that has no arm of that kind itself, and about final
    /// answers that do not fit. The agent's `on_error!(match error { .. })`.
    pub fn on_error(
        mut self,
        arms: impl Fn(CallError<'_, AnyError>, &ErrorContext) -> Option<Plan> + Send + Sync + 'a,
    ) -> Self {
        self.agent.brain.arms.set_default(arms);
        self
    }

    /// What to do about failures of the tool of this name, whose error type is `E`; asked before the
    /// tool itself. The agent's `on_error!(Tool, match error { .. })`.
    pub fn on_error_of<E: 'static>(
        mut self,
        tool: &str,
        arms: impl Fn(CallError<'_, E>, &ErrorContext) -> Option<Plan> + Send + Sync + 'a,
    ) -> Self {
        self.agent.brain.arms.add_for(tool, arms);
        self
    }

    /// Lists a repair agent that only helpers name, so that a stored run finds it again.
    pub fn fixer(mut self, agent: impl Fixer) -> Self {
        self.agent.brain.fixers.push(Arc::new(agent));
        self
    }

    /// What to do about escalations that come to this agent: from its own tools and repair agents,
    /// and from the agents to which it hands work. See [`escalation`](crate::escalation).
    pub fn on_escalation<R: IntoResolution<I, O>>(
        mut self,
        handler: impl Fn(Escalation) -> R + Send + Sync + 'a,
    ) -> Self {
        self.agent.on_escalation = Some(Arc::new(move |escalation| {
            handler(escalation).into_resolution()
        }));
        self
    }

    /// Adds a skill. Without any, the model does the work. See [`Skill`] for which of several
    /// answers.
    pub fn skill(mut self, skill: Skill<'a, I, O>) -> Self {
        self.agent.skills.push(skill);
        self
    }

    /// What the agent remembers from one run to the next: the model has the tools `memory_read`,
    /// `memory_write` and `memory_search`, which reach this agent's own lines and no other's. An
    /// agent with skills gives them to those that ask for it, with [`Skill::with_memory`].
    pub fn memory(mut self, memory: impl Memory) -> Self {
        self.agent.memory = Some(Arc::new(memory));
        self
    }

    /// The agent.
    pub fn build(self) -> ModelAgent<'a, I, O> {
        self.agent.equipped()
    }
}

/// An agent that a model drives; made by [`AgentBuilder`].
///
/// ```
/// # use agents_core as agents;
/// use agents::agent::ModelAgent;
/// use agents::{Agent, AgentBuilder};
///
/// let clerk: ModelAgent<'_, String, String> = AgentBuilder::new("clerk").prompt("You file things.").build();
/// assert_eq!(clerk.name(), "clerk");
/// ```
pub struct ModelAgent<'a, I, O> {
    pub(crate) brain: Brain<'a>,
    pub(crate) skills: Vec<Skill<'a, I, O>>,
    pub(super) memory: Option<Arc<dyn Memory>>,
    pub(super) policies: Vec<(Pattern, ToolPolicy)>,
    /// What was found wrong while the agent was put together.
    pub(super) defects: Vec<String>,
    pub(crate) answer: Answer<O>,
    pub(crate) on_escalation: Option<SharedHandler<'a, I, O>>,
}

impl<I, O> fmt::Debug for ModelAgent<'_, I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelAgent")
            .field("name", &self.brain.name)
            .field("tools", &self.brain.tools)
            .field("skills", &self.skills)
            .finish_non_exhaustive()
    }
}
