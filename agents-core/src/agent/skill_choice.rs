//! Choice of the skill that answers: by condition, else the only one, else the one that the model names.

use super::{ModelAgent, Skill, io::Data, wording};
use crate::{
    Error, ErrorKind,
    context::RunContext,
    definition::AgentDefinition,
    engine,
    error::shorten,
    journal::{Fact, Frame, Next},
    model::{History, Message},
    panics::{self, guarded},
    reader,
    run::Limit,
    tool::ToolSet,
};
use serde_json::{Value, json};
use std::sync::Arc;

/// Maximum number of times that a model is asked to choose a skill before the run fails.
const TRIES: u32 = 2;

/// Result of choosing the skill by conditions alone, before any model is asked.
pub(super) enum Selection<'s, 'a, I, O> {
    /// The skill is chosen; `None` if the agent has no skills at all.
    Settled(Option<&'s Skill<'a, I, O>>),
    /// The model has to choose one of these skills.
    Open(Vec<&'s Skill<'a, I, O>>),
}

impl<'a, I: Data, O: Data> ModelAgent<'a, I, O> {
    /// Returns the skill that answers `input`, or the skills among which a model has to choose.
    pub(super) fn selection(
        &self,
        cx: &RunContext,
        input: &I,
    ) -> Result<Selection<'_, 'a, I, O>, Error> {
        if self.skills.is_empty() {
            return Ok(Selection::Settled(None));
        }
        // A skill that a stored run has chosen stays chosen, whatever its condition would say now.
        let (chosen, choosing) = cx.node.frame(|frame| (frame.skill.clone(), frame.choosing));
        if let Some(chosen) = chosen {
            let skill = self
                .skill_named(&chosen)
                .ok_or_else(|| self.unselected(&wording::stored_skill_missing(&chosen)))?;
            return Ok(Selection::Settled(Some(skill)));
        }
        let mut wanting = self.skills.iter().filter(|_| !choosing);
        for skill in wanting.by_ref() {
            match guarded(|| skill.wants(input)) {
                Ok(true) => return Ok(Selection::Settled(Some(skill))),
                Ok(false) => {}
                Err(panic) => {
                    let name = skill.name();
                    let what = wording::condition_of(name);
                    return Err(panics::error(what)(panic)
                        .context(wording::of_agent(&self.definition.name)));
                }
            }
        }
        let rest: Vec<_> = self
            .skills
            .iter()
            .filter(|skill| !skill.is_conditional())
            .collect();
        match rest[..] {
            [] => Err(self.unwanted()),
            [only] => Ok(Selection::Settled(Some(only))),
            _ => Ok(Selection::Open(rest)),
        }
    }

    /// Asks the agent's model which one of `candidates` shall do `task`, and returns that skill.
    pub(super) async fn choose<'s>(
        &'s self,
        cx: &RunContext,
        candidates: Vec<&'s Skill<'a, I, O>>,
        task: &str,
    ) -> Result<&'s Skill<'a, I, O>, Error> {
        let listed: Vec<_> = candidates
            .iter()
            .map(|skill| (skill.name(), skill.description()))
            .collect();
        let name = ask(&self.definition, cx, &listed, task).await?;
        candidates
            .into_iter()
            .find(|skill| skill.name() == name)
            .ok_or_else(|| self.unselected(wording::NAMED_NONE))
    }

    pub(super) fn skill_named(&self, name: &str) -> Option<&Skill<'a, I, O>> {
        self.skills.iter().find(|skill| skill.name() == name)
    }

    /// Creates the error for a choice of a skill that the agent, as it is built now, cannot follow; `why` is the
    /// reason.
    pub(super) fn unselected(&self, why: &str) -> Error {
        Error::new(ErrorKind::Build, self.of_skills(why))
    }

    /// Creates the error for an input that no skill of the agent takes: another input may find a skill.
    fn unwanted(&self) -> Error {
        Error::new(
            ErrorKind::InvalidInput,
            self.of_skills(wording::NO_SKILL_FOR_THIS),
        )
    }

    fn of_skills(&self, why: &str) -> String {
        let names = names(self.skills.iter().map(Skill::name));
        format!("agent `{}` (skills {names}): {why}", self.definition.name)
    }
}

/// Records which skill answers, and tells the agent's callbacks if no skill was recorded before.
pub(super) fn settle(definition: &AgentDefinition<'_>, cx: &RunContext, skill: &str) {
    let is_news = cx.node.frame(|frame| frame.skill.is_none());
    if is_news || cx.node.frame(|frame| frame.choosing) {
        cx.node.add(Fact::Chosen {
            skill: skill.into(),
        });
    }
    if is_news {
        definition.hooks.skill_chosen(skill, cx.masker());
    }
}

/// Asks the model for the name of one skill, in a separate conversation at the agent's place. Its turns are turns of
/// the agent, stored and recorded like any other.
async fn ask(
    agent: &AgentDefinition<'_>,
    cx: &RunContext,
    skills: &[(&str, &str)],
    task: &str,
) -> Result<String, Error> {
    let listed: Vec<_> = skills.iter().map(|(name, _)| *name).collect();
    let definition = &chooser(agent, cx, &listed);
    cx.node.bound(&definition.budget);
    if let Some(passed) = cx.node.too_deep() {
        match cx.exceed(passed).await {}
    }
    let schema = json!({ "type": "string", "enum": listed });
    let strict = definition.strict || cx.root.settings.strict;
    let turns = definition.budget.turns();
    let said = cx.earlier().history;
    let tries = definition.budget.clone().max_turns(TRIES.min(turns));
    if cx.node.frame(Frame::is_silent) {
        cx.node.add(Fact::Said {
            system: wording::CHOOSE.to_owned(),
            said: Arc::default(),
            before: 0,
            task: Some(question(skills, &said, task).into()),
            choosing: true,
            part: engine::is_part(cx),
        });
    }
    loop {
        engine::paused(cx).await;
        match cx.node.frame(|frame| frame.next(&tries)) {
            Next::Chat { turn, must_fit } => {
                let settings = &cx.root.settings;
                let own = definition.own_model(settings);
                if settings
                    .model_for(own.or_else(|| cx.model().cloned()))
                    .is_none()
                {
                    let why = match &definition.purpose {
                        Some(_) => definition.undriven(),
                        None => wording::no_model_to_choose(&definition.name, &listed),
                    };
                    return Err(Error::new(ErrorKind::Build, why));
                }
                engine::model::ask(definition, cx, turn, Some(&schema), must_fit).await?;
            }
            // Nothing was handed off, and nothing is in the background: the model had no tool for that.
            Next::HandOff(_) | Next::Background => {
                return Err(no_choice(definition, skills, wording::LEFT_FOR_A_SKILL));
            }
            // The model was offered no tool: each call is answered by saying so.
            Next::Calls => engine::calls(definition, cx).await,
            Next::Answer => {
                let said = cx.node.frame(|frame| {
                    let answer = frame.answer.as_ref();
                    answer.map_or_else(String::new, |answer| answer.text().to_owned())
                });
                match read(&said, &schema, strict) {
                    Ok(name) => return Ok(name),
                    Err(reason) => {
                        cx.node.add(Fact::Refused {
                            reason,
                            is_text: false,
                        });
                    }
                }
            }
            Next::Stop(Limit::Turns(tried)) if tried < turns => {
                return Err(no_choice(definition, skills, wording::CALLED_FOR_A_SKILL));
            }
            Next::Stop(limit) => match cx.exceed(cx.node.passed(limit)).await {},
            Next::Declined { why } => return Err(engine::model::declined(definition, &why)),
            Next::GiveUp { reason, .. } => return Err(no_choice(definition, skills, &reason)),
        }
    }
}

/// Returns the question to the model which skill to choose, in the form that a small model needs: the list, the
/// request, and last what to say.
fn question(skills: &[(&str, &str)], said: &History, task: &str) -> String {
    let skills: Vec<_> = skills
        .iter()
        .map(|(name, description)| {
            (
                *name,
                description.split_whitespace().collect::<Vec<_>>().join(" "),
            )
        })
        .collect();
    wording::which_skill(&skills, &latest(said), task)
}

/// Returns the last two exchanges of a conversation as text, since a request such as "and theirs?" may refer to them.
fn latest(said: &History) -> String {
    const EXCHANGES: usize = 2;
    let texts = said.messages().iter().filter_map(|message| match message {
        Message::User { content } => Some(("user", &**content)),
        Message::Assistant { content, .. } if !content.is_empty() => {
            Some(("assistant", &**content))
        }
        _ => None,
    });
    let mut lines: Vec<_> = texts
        .rev()
        .take(EXCHANGES * 2)
        .map(|(who, text)| format!("{who}: {}\n", shorten(text)))
        .collect();
    lines.reverse();
    lines.concat()
}

/// Reads the name of a skill from the model's reply, however it is spelled; the error says what is wrong, with the
/// list.
fn read(said: &str, schema: &Value, strict: bool) -> Result<String, String> {
    if strict {
        let said = said.trim();
        let said = serde_json::from_str(said).unwrap_or_else(|_| said.to_owned());
        return reader::fits(&Value::from(&*said).to_string(), schema)
            .map(|()| said)
            .map_err(|refusal| refusal.to_string());
    }
    // Text in which a model thought aloud before is no answer, and marks around a name are no part of the name.
    let said = said.rsplit("</think>").next().unwrap_or(said);
    let said = said.trim_matches(|c: char| c.is_whitespace() || "*`#-.".contains(c));
    let reading = reader::read(said, schema).map_err(|refusal| refusal.to_string())?;
    serde_json::from_str(&reading.json).map_err(|error| error.to_string())
}

/// Returns the agent's definition without the tools for its work, for the request in which the model chooses one of
/// these skills.
fn chooser<'a>(
    agent: &AgentDefinition<'a>,
    cx: &RunContext,
    skills: &[&str],
) -> AgentDefinition<'a> {
    let mut definition = match &cx.root.settings.budget {
        Some(run) => agent.within(run),
        None => agent.clone(),
    };
    definition.tools = ToolSet::new();
    definition.open = skills.iter().map(|&name| name.to_owned()).collect();
    definition
}

fn no_choice(definition: &AgentDefinition<'_>, skills: &[(&str, &str)], why: &str) -> Error {
    let names: Vec<_> = skills.iter().map(|(name, _)| *name).collect();
    let message = wording::no_skill_chosen(&names, why);
    Error::new(ErrorKind::InvalidOutput, message).context(wording::of_agent(&definition.name))
}

fn names<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<_> = names.map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

impl<I: Data, O: Data> ModelAgent<'_, I, O> {
    /// Returns what this agent needs a model for and has none: to work at all, or to choose among several skills that
    /// take any input.
    ///
    /// The result is `None` if the agent brings a model or can do without one.
    pub(super) fn unmet(&self) -> Option<String> {
        if self.definition.model.is_some() || self.definition.purpose.is_some() {
            return None;
        }
        let open: Vec<_> = self
            .skills
            .iter()
            .filter(|skill| !skill.is_conditional())
            .map(Skill::name)
            .collect();
        if open.len() > 1 {
            return Some(wording::no_model_to_choose(&self.definition.name, &open));
        }
        let mut skills = self.skills.iter();
        let is_driven = skills.all(|skill| skill.body().is_none() && skill.purpose.is_none());
        is_driven.then(|| self.definition.undriven())
    }
}
