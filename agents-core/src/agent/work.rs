//! Agent at work: the choice of the skill that answers, and the code or the model that carries it out.

use super::{
    Agent, Data, ModelAgent, Profile, Skill,
    escalations::{HandlingAgent, attend},
    prompt_of,
    skill_choice::{Selection, settle},
    unwritable, wording,
};
use crate::{
    Error, ErrorKind, Json,
    context::RunContext,
    definition::AgentDefinition,
    engine::{Driven, drive},
    escalation::{Inbox, Instead, SharedHandler},
    memory,
    panics::{self, guarded_while},
    place::TeamPlace,
    recovery::RepairInput,
};
use async_trait::async_trait;
use futures_util::future::BoxFuture;
use std::sync::{Mutex, PoisonError};

#[async_trait]
#[diagnostic::do_not_recommend]
impl<I: Data, O: Data> Agent for ModelAgent<'_, I, O> {
    type In = I;
    type Out = O;

    fn name(&self) -> &str {
        &self.definition.name
    }

    fn description(&self) -> &str {
        match (self.definition.described(), &self.skills[..]) {
            ("", [only]) => only.description(),
            (described, _) => described,
        }
    }

    fn profile(&self) -> Profile {
        let AgentDefinition { tools, budget, .. } = &self.definition;
        let mut profile = Profile::driven(tools, budget);
        profile.defects = self.own_defects();
        let AgentDefinition { model, purpose, .. } = &self.definition;
        // Whether a run has models for purposes is known when it asks for one.
        profile.brings_model = model.is_some() || purpose.is_some();
        profile.needs_model = self.unmet().into_iter().collect();
        profile.repair_input = self.repair_input.unwrap_or_else(|| self.by_default());
        profile.answer = Some(self.answer.digest());
        profile.claims = self.answer.claims().to_vec();
        if let Some(name) = &self.input_name {
            profile.input_name = name.clone();
        }
        if let Some(memory) = &self.memory {
            profile = profile.with_tools(memory::tools(memory, &self.definition.name));
        }
        let profile = match self.skills.iter().any(|skill| skill.body().is_some()) {
            true => profile.with_code(),
            false => profile,
        };
        let profile = self.with_successors(profile);
        let skills = self.skills.iter();
        skills.fold(profile, |profile, skill| {
            let listed = skill.listed();
            let tools = listed.map(|tools| tools.iter().map(ToString::to_string).collect());
            profile.skill(skill.name(), tools)
        })
    }

    async fn work(&self, cx: &RunContext, input: I) -> Result<O, Error> {
        self.check(cx.place())?;
        let handles = self.on_escalation.is_some();
        let inbox = Inbox::open(&self.definition.name, handles, cx.inbox().cloned());
        let cx = &cx.at(&inbox);
        // Only an escalation makes the agent begin anew, and only with a handler.
        let kept = match &self.on_escalation {
            Some(_) => Some(
                Json::of(&input)
                    .map_err(|error| unwritable(&self.definition.name, "input", &error))?,
            ),
            None => None,
        };
        let given = Mutex::new(Some(input));
        let input = || {
            let first = given.lock().unwrap_or_else(PoisonError::into_inner).take();
            first.or_else(|| kept.as_ref()?.to().ok())
        };
        let carry_out = |instead: Option<Instead<I, O>>| -> BoxFuture<'_, Result<O, Error>> {
            let input = input();
            Box::pin(async move {
                let input = input.ok_or_else(|| self.lost_input())?;
                self.carry_out(cx, instead, input).await
            })
        };
        attend(cx, &inbox, self, carry_out).await
    }
}

impl<I: Data, O: Data> HandlingAgent<I, O> for ModelAgent<'_, I, O> {
    fn handler(&self) -> Option<&SharedHandler<'_, I, O>> {
        self.on_escalation.as_ref()
    }

    fn skills(&self) -> Vec<&str> {
        self.skills.iter().map(Skill::name).collect()
    }

    /// Checks that the other agent may do no more with the work than this agent may, since it takes over this agent's
    /// place.
    fn may_leave_to(
        &self,
        other: &dyn Agent<In = I, Out = O>,
        cx: &RunContext,
    ) -> Result<(), String> {
        let Some(TeamPlace { placement, .. }) = cx.place() else {
            return Ok(());
        };
        let profile = panics::said_by(other.name(), || other.profile());
        let profile = profile.map_err(|error| error.to_string())?;
        // Equipment of that agent itself, such as its memory, needs no grant here either.
        let mut granted = profile.all_tools().filter(|tool| !tool.innate());
        let Some(tool) = granted.find(|tool| !placement.frees(tool)) else {
            return Ok(());
        };
        let agent = &self.definition.name;
        Err(wording::refused::delegate_with_tool(agent, tool.name()))
    }
}

impl<'a, I: Data, O: Data> ModelAgent<'a, I, O> {
    /// Returns the agent's input as a repair agent, if none was set: the text that failed if the agent has skills and
    /// all of them have a body, else the report about it.
    fn by_default(&self) -> RepairInput {
        let is_code = |skill: &Skill<'a, I, O>| skill.body().is_some();
        match !self.skills.is_empty() && self.skills.iter().all(is_code) {
            true => RepairInput::Raw,
            false => RepairInput::Report,
        }
    }

    /// Carries out the agent's own work, or the skill or agent that a handler has put in its place.
    async fn carry_out(
        &self,
        cx: &RunContext,
        instead: Option<Instead<I, O>>,
        input: I,
    ) -> Result<O, Error> {
        match instead {
            None => self.own(cx, input).await,
            Some(Instead::Skill(name)) => {
                let skill = self
                    .skill_named(&name)
                    .ok_or_else(|| self.unselected(&wording::rerouted_skill_missing(&name)))?;
                let cx = anew(cx, &format!("skill:{name}"));
                let working = cx.began();
                let result = self.by(Some(skill), &cx, input).await;
                working.ended(result.is_ok());
                result
            }
            Some(Instead::Agent(other)) => other.run_in(&anew(cx, "reroute"), input).await,
            Some(Instead::Partial(value)) => {
                cx.node.mark_partial();
                Ok(value)
            }
        }
    }

    /// Carries out the agent's own work: chooses the skill, and lets it answer.
    async fn own(&self, cx: &RunContext, input: I) -> Result<O, Error> {
        if let Some(to) = self.handed_before(cx) {
            return Box::pin(self.leave_to(&to, cx, input)).await;
        }
        let candidates = match self.selection(cx, &input)? {
            Selection::Settled(skill) => return self.by(skill, cx, input).await,
            Selection::Open(candidates) => candidates,
        };
        let task = prompt_of(&input);
        let work = async |cx: &RunContext| {
            let skill = self.choose(cx, candidates, &task.text).await?;
            self.by(Some(skill), cx, input).await
        };
        // The agent's time bounds choosing and working together.
        Box::pin(cx.within(self.definition.budget.time, work)).await
    }

    /// Answers the input with this skill; without a skill, with the agent's model.
    async fn by(
        &self,
        skill: Option<&Skill<'a, I, O>>,
        cx: &RunContext,
        input: I,
    ) -> Result<O, Error> {
        // Of one skill without a condition, nothing is chosen.
        if let Some(skill) = skill.filter(|skill| self.skills.len() > 1 || skill.is_conditional()) {
            settle(&self.definition, cx, skill.name());
        }
        match skill.and_then(Skill::body) {
            // Plain code is above the agents that it runs; they are driven by this agent's model unless they bring
            // their own.
            Some(body) => {
                let cx = cx.under_code();
                let cx = match self.definition.own_model(&cx.root.settings) {
                    Some(model) => cx.with_model(model),
                    None => cx,
                };
                let name = skill.map_or("", Skill::name);
                let panicked = |panic| {
                    let what = format!("skill `{name}` of `{}`", self.definition.name);
                    panics::error(what)(panic)
                };
                // The call that makes the future may panic, as well as the future itself.
                let body = async { body(input).await };
                Box::pin(guarded_while(cx.enter(body)))
                    .await
                    .map_err(panicked)?
            }
            None => {
                let task = prompt_of(&input);
                let kept = match self.hand_offs.is_empty() {
                    true => None,
                    false => Some(
                        Json::of(&input)
                            .map_err(|error| unwritable(&self.definition.name, "input", &error))?,
                    ),
                };
                drop(input);
                // On the heap: agents that run each other would fill the stack with it.
                let definition = self.definition_of(skill);
                let driven = drive(definition, &self.answer, &self.validators, cx, task);
                match Box::pin(driven).await? {
                    Driven::Answer(value) => Ok(value),
                    Driven::HandedOff(to) => {
                        let input = kept.and_then(|kept| kept.to().ok());
                        let input = input.ok_or_else(|| self.lost_input())?;
                        Box::pin(self.leave_to(&to, cx, input)).await
                    }
                }
            }
        }
    }

    fn lost_input(&self) -> Error {
        let message = wording::input_lost(&self.definition.name);
        Error::new(ErrorKind::Failed, message)
    }
}

/// Returns a place in the run for work that begins anew after an escalation, a different one each time.
fn anew(cx: &RunContext, what: &str) -> RunContext {
    let count = cx.node.taken().map_or(0, |taken| taken.count);
    cx.beside(&format!("{what}.{count}"))
}
