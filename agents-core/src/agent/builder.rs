use super::{Agent, Answer, Data, Profile, Skill, prompt_of};
use crate::{
    Error, ErrorKind, Json,
    error::AnyError,
    escalation::{Desk, Escalation, IntoResolution, Job, SharedHandler, attend},
    model::Model,
    recovery::{Arms, CallError, ErrorContext, Fixer, Plan, SharedFixer},
    run::{Budget, Cx, Place, drive},
    team::Placement,
    tool::{IntoTool, ToolSet},
};
use async_trait::async_trait;
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use std::{
    borrow::Cow,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

/// Puts an agent together: what `#[agent]` expands to, and what you write without macros.
///
/// ```
/// use agents_core::agent::AgentBuilder;
/// use agents_core::run::Budget;
///
/// let namer = AgentBuilder::<String, Vec<String>>::new("namer")
///     .prompt("Suggest names for the project that is described to you.")
///     .budget(Budget::new().max_turns(3))
///     .build();
/// ```
#[must_use = "an agent is made by `.build()`"]
pub struct AgentBuilder<'a, I, O> {
    agent: ModelAgent<'a, I, O>,
}

impl<'a, I: Data, O: Data + JsonSchema> AgentBuilder<'a, I, O> {
    /// An agent of this name, without prompt, tools or model of its own.
    pub fn new(name: impl Into<Cow<'static, str>>) -> Self {
        AgentBuilder {
            agent: ModelAgent {
                brain: Brain {
                    name: name.into(),
                    description: Cow::Borrowed(""),
                    prompt: Cow::Borrowed(""),
                    model: None,
                    tools: ToolSet::new(),
                    budget: Budget::new(),
                    strict: false,
                    arms: Arms::default(),
                    fixers: Vec::new(),
                    placement: None,
                },
                skills: Vec::new(),
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

    /// What the model is told to be.
    pub fn prompt(mut self, prompt: impl Into<Cow<'static, str>>) -> Self {
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

    /// Adds a skill. Without any, the model does the work.
    pub fn skill(mut self, skill: Skill<'a, I, O>) -> Self {
        self.agent.skills.push(skill);
        self
    }

    /// The agent.
    pub fn build(self) -> ModelAgent<'a, I, O> {
        self.agent
    }
}

/// What the run needs to know of a model-driven agent; nothing in it depends on `In` and `Out`.
#[derive(Clone)]
pub(crate) struct Brain<'a> {
    pub(crate) name: Cow<'static, str>,
    pub(crate) description: Cow<'static, str>,
    pub(crate) prompt: Cow<'static, str>,
    pub(crate) model: Option<Arc<dyn Model>>,
    pub(crate) tools: ToolSet,
    pub(crate) budget: Budget,
    pub(crate) strict: bool,
    pub(crate) arms: Arms<'a>,
    pub(crate) fixers: Vec<SharedFixer>,
    /// Where it is placed in a team.
    placement: Option<Arc<Placement>>,
}

impl Brain<'_> {
    /// The same, with more tools.
    pub(crate) fn with_tools<T: IntoTool>(&self, tools: impl IntoIterator<Item = T>) -> Self {
        let mut brain = self.clone();
        brain.tools = brain.tools.with_all(tools);
        brain
    }

    /// The same, at its place in a team: of its tools those that the place admits, and the delegates.
    ///
    /// What the place bounds for all below it is bounded there; here is what belongs to this agent.
    pub(crate) fn placed(&self, place: &Place) -> Self {
        let Place { placement, allowed } = place;
        let mut brain = self.clone();
        brain.tools.retain(|name| placement.admits(name));
        let withheld = |name: &str| self.tools.get(name).is_some() && !placement.admits(name);
        brain.arms.retain(|name| !withheld(name));
        brain.tools = brain.tools.with_all(placement.delegates());
        brain.budget = self.budget.tighter(&placement.budget);
        // The deadline of the call is what bounds it then, and stands still while people decide.
        brain.budget.time = brain
            .budget
            .time
            .filter(|own| allowed.is_none_or(|call| *own < call));
        brain.placement = Some(placement.clone());
        brain
    }

    /// Whether its place demands that somebody approves every call of this tool.
    pub(crate) fn confirms(&self, tool: &str) -> bool {
        let placement = self.placement.as_ref();
        placement.is_some_and(|placement| placement.confirms(tool))
    }

    /// The same, in a run that bounds each of its agents.
    pub(crate) fn within(&self, run: &Budget) -> Self {
        Brain {
            budget: self.budget.within(run),
            ..self.clone()
        }
    }

    /// What cannot work, said before anything runs.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.tools.check()?;
        let name = &self.name;
        let mut defects = Vec::new();
        for (tool, written_for) in self.arms.tools() {
            let Some(found) = self.tools.get(tool) else {
                defects.push(format!("`{tool}`, which is not among its tools"));
                continue;
            };
            if let Some(fails_with) = found.error_type().filter(|own| *own != written_for) {
                // Such arms would never be told of a returned error.
                defects.push(format!(
                    "`{tool}` that are written for errors of type `{written_for}`, but it fails with `{fails_with}`"
                ));
            }
        }
        if defects.is_empty() {
            return Ok(());
        }
        let defects = defects.join("; and for ");
        let message = format!("agent `{name}` has `on_error` arms for {defects}");
        Err(Error::new(ErrorKind::Build, message))
    }
}

/// An agent that a model drives; made by [`AgentBuilder`].
pub struct ModelAgent<'a, I, O> {
    pub(crate) brain: Brain<'a>,
    pub(crate) skills: Vec<Skill<'a, I, O>>,
    pub(crate) answer: Answer<O>,
    pub(crate) on_escalation: Option<SharedHandler<'a, I, O>>,
}

impl<'a, I: Data, O: Data> ModelAgent<'a, I, O> {
    /// The skill that answers `input`: the first whose condition holds, else the only one without.
    fn select(&self, input: &I) -> Result<Option<&Skill<'a, I, O>>, Error> {
        if let Some(skill) = self.skills.iter().find(|skill| skill.wants(input)) {
            return Ok(Some(skill));
        }
        let mut rest = self.skills.iter().filter(|skill| !skill.is_conditional());
        match (rest.next(), rest.next()) {
            (only, None) if only.is_some() || self.skills.is_empty() => Ok(only),
            (None, _) => Err(self.unselected("no skill takes this input; add one without `when`")),
            _ => Err(self
                .unselected("several skills could answer; give all but one a `when = |input| ..`")),
        }
    }

    /// Does one job: what the agent always does, or what an escalation has brought it to.
    async fn carry_out(&self, cx: &Cx, job: Job<I, O>, input: I) -> Result<O, Error> {
        let (skill, place) = match job {
            Job::Own => (self.select(&input)?, None),
            Job::Skill(name) => (
                Some(self.named(&name)?),
                Some(cx.beside(&format!("skill:{name}"))),
            ),
            Job::Agent(other) => return other.run_in(cx, input).await,
            Job::Partial(value) => return Ok(value),
        };
        let cx = place.as_ref().unwrap_or(cx);
        match skill.and_then(Skill::body) {
            Some(body) => cx.under_code().enter(body(input)).await,
            None => {
                let task = prompt_of(&input);
                drop(input);
                drive(&self.brain, &self.answer, cx, task).await
            }
        }
    }

    fn named(&self, name: &str) -> Result<&Skill<'a, I, O>, Error> {
        let known = self.skills.iter().find(|skill| skill.name() == name);
        known.ok_or_else(|| self.unselected(&format!("there is no skill `{name}` to reroute to")))
    }

    fn lost_input(&self) -> Error {
        let message = format!(
            "the input of agent `{}` cannot be read back",
            self.brain.name
        );
        Error::new(ErrorKind::Failed, message)
    }

    fn unselected(&self, why: &str) -> Error {
        let names: Vec<_> = self.skills.iter().map(Skill::name).collect();
        let message = format!(
            "agent `{}` (skills `{}`): {why}",
            self.brain.name,
            names.join("`, `")
        );
        Error::new(ErrorKind::Build, message)
    }
}

#[async_trait]
#[diagnostic::do_not_recommend]
impl<I: Data, O: Data> Agent for ModelAgent<'_, I, O> {
    type In = I;
    type Out = O;

    fn name(&self) -> &str {
        &self.brain.name
    }

    fn description(&self) -> &str {
        if self.brain.description.is_empty() {
            &self.brain.prompt
        } else {
            &self.brain.description
        }
    }

    fn profile(&self) -> Profile {
        let Brain { tools, budget, .. } = &self.brain;
        let profile = Profile::driven(tools, budget);
        let profile = match self.skills.iter().any(|skill| skill.body().is_some()) {
            true => profile.with_code(),
            false => profile,
        };
        let skills = self.skills.iter();
        skills.fold(profile, |profile, skill| profile.skill(skill.name(), None))
    }

    async fn work(&self, cx: &Cx, input: I) -> Result<O, Error> {
        let desk = Desk::open(cx, &self.brain.name, self.on_escalation.is_some());
        let cx = &cx.at(&desk);
        let kept = match &self.on_escalation {
            Some(_) => Some(
                Json::of(&input)
                    .map_err(|error| super::unwritable(&self.brain.name, "input", &error))?,
            ),
            None => None,
        };
        let given = Mutex::new(Some(input));
        let input = || {
            let first = given.lock().unwrap_or_else(PoisonError::into_inner).take();
            first.or_else(|| kept.as_ref()?.to().ok())
        };
        let carry_out = |job: Job<I, O>| -> BoxFuture<'_, Result<O, Error>> {
            let input = input();
            Box::pin(async move {
                let input = input.ok_or_else(|| self.lost_input())?;
                self.carry_out(cx, job, input).await
            })
        };
        attend(cx, &desk, self.on_escalation.as_ref(), carry_out).await
    }
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
