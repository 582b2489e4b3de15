//! Equipment of a model for each skill, and checks that all parts of an agent fit together.

use super::{ModelAgent, Skill, io::Data, wording};
use crate::{
    Error, ErrorKind,
    definition::{AgentDefinition, Knowledge},
    memory::{self, Memory},
    place::{Defect, TeamPlace},
    tool::{ErrorType, Pattern},
};
use std::sync::Arc;

impl<'a, I: Data, O: Data> ModelAgent<'a, I, O> {
    /// Gives the agent, and each skill that needs tools of its own, the tools that the model gets: those of the agent
    /// under its policies, and those for search, knowledge, hand-offs and memory.
    pub(super) fn equipped(mut self) -> Self {
        if !self.definition.policies.is_empty() {
            let tools = std::mem::take(&mut self.definition.tools);
            self.defects = self.definition.loosened(&tools);
            self.definition.tools = self.definition.governed(tools);
        }
        if self.definition.tools.defers_any() {
            self.definition.tools = std::mem::take(&mut self.definition.tools).with_search();
        }
        let known: Vec<_> = self
            .definition
            .knowledge
            .iter()
            .map(Knowledge::tool)
            .collect();
        if !known.is_empty() {
            self.definition.tools = std::mem::take(&mut self.definition.tools).with_all(known);
        }
        let hand_offs = self.hand_off_tools();
        if !hand_offs.is_empty() {
            self.definition = self.definition.with_tools(hand_offs);
        }
        if let (Some(memory), true) = (&self.memory, self.skills.is_empty()) {
            self.definition = self
                .definition
                .with_tools(memory::tools(memory, &self.definition.name));
        }
        for skill in &mut self.skills {
            skill.definition = definition_for(&self.definition, self.memory.as_ref(), skill);
        }
        self
    }

    /// Returns the definition by which a model works: that of the skill if it has one of its own, else the agent's.
    pub(super) fn definition_of<'s>(
        &'s self,
        skill: Option<&'s Skill<'a, I, O>>,
    ) -> &'s AgentDefinition<'a> {
        skill
            .and_then(|skill| skill.definition.as_ref())
            .unwrap_or(&self.definition)
    }

    /// Checks the agent at its place before a run of it begins; the error lists all defects because of which it cannot
    /// work.
    pub(super) fn check(&self, place: Option<&TeamPlace>) -> Result<(), Error> {
        let delegates = place.map(|place| place.placement.delegates());
        let delegates: Vec<_> = delegates.into_iter().flatten().collect();
        let own = self.own_defects().into_iter();
        let defects: Vec<_> = own
            .filter_map(|defect| {
                let mut names = delegates.iter().map(|one| &*one.spec().name);
                (!names.any(|name| defect.is_mended_by(name))).then_some(defect.text)
            })
            .collect();
        match defects.is_empty() {
            true => Ok(()),
            false => Err(Error::new(ErrorKind::Build, defects.join("; "))),
        }
    }

    /// Returns the agent's defects, such as arms for unknown tools. Some prevent it from working anywhere, others only where
    /// certain delegates are missing.
    pub(super) fn own_defects(&self) -> Vec<Defect> {
        let whole = self.defects.iter().cloned().map(Defect::from);
        let mut defects: Vec<_> = whole.chain(self.name_twice().map(Defect::from)).collect();
        let of_budget = self
            .definition
            .budget
            .defect(&wording::of_agent(&self.definition.name));
        defects.extend(of_budget.map(Defect::from));
        let context = self.definition.context.as_ref();
        let of_context =
            context.and_then(|context| context.defect(&wording::of_agent(&self.definition.name)));
        defects.extend(of_context.map(Defect::from));
        defects.extend(self.stray_arms());
        defects.extend(self.idle_patterns());
        defects.extend(self.idle_memory().map(Defect::from));
        defects.extend(self.idle_hand_offs().map(Defect::from));
        defects.extend(self.idle_arms().map(Defect::from));
        for (at, skill) in self.skills.iter().enumerate() {
            let own = self.skill_defects(at, skill).into_iter();
            defects.extend(own.map(Defect::from).chain(self.unlisted(skill)));
        }
        defects
    }

    fn name_twice(&self) -> Option<String> {
        let AgentDefinition {
            tools, knowledge, ..
        } = &self.definition;
        let defect = tools.check().err()?;
        let is_known = knowledge.iter().any(|one| {
            let named = tools.specs().filter(|spec| spec.name == one.name());
            named.count() > 1
        });
        Some(wording::tools_defect(
            &self.definition.name,
            &defect,
            is_known,
        ))
    }

    /// Returns a defect for each error handler of a tool that the agent does not have, or that fails with another error
    /// type.
    fn stray_arms(&self) -> impl Iterator<Item = Defect> {
        let AgentDefinition {
            name, arms, tools, ..
        } = &self.definition;
        arms.tools().filter_map(move |(tool, written_for)| {
            // Arms for another type would never be told of a returned error.
            let of_another = |own| wording::arms_for_another_error(name, tool, written_for, own);
            let of_delegates = ErrorType::of::<Error>();
            match tools.get(tool) {
                Some(own) => {
                    let own = own.error_type().filter(|own| *own != written_for)?;
                    Some(of_another(own).into())
                }
                // What a source will list is not known yet.
                None if tools.may_list(tool) => None,
                None if written_for == of_delegates => Some(Defect {
                    text: wording::arms_for_no_tool_or_delegate(name, tool),
                    lacks: Some(Pattern::from(tool.to_owned())),
                }),
                None => Some(Defect::from(wording::arms_for_no_tool(
                    name,
                    tool,
                    written_for,
                    of_delegates,
                ))),
            }
        })
    }

    /// Returns a defect for each error handler of a skill that does not exist, or that has a body, so that no model
    /// makes calls.
    fn idle_arms(&self) -> impl Iterator<Item = String> {
        let agent = &self.definition.name;
        self.definition
            .arms
            .skills()
            .filter_map(move |name| match self.skill_named(name) {
                Some(skill) if skill.body().is_none() => None,
                Some(_) => Some(wording::arms_for_a_body(agent, name)),
                None => Some(wording::arms_for_no_skill(agent, name)),
            })
    }

    fn idle_memory(&self) -> Option<String> {
        let asks = |skill: &Skill<'a, I, O>| skill.memory;
        let idle =
            self.memory.is_some() && !self.skills.is_empty() && !self.skills.iter().any(asks);
        idle.then(|| wording::idle_memory(&self.definition.name))
    }

    fn skill_defects(&self, at: usize, skill: &Skill<'a, I, O>) -> Vec<String> {
        let (agent, name) = (&self.definition.name, skill.name());
        let mut defects = Vec::new();
        if self.skills[..at].iter().any(|other| other.name() == name) {
            defects.push(wording::two_skills(agent, name));
        }
        let for_models = [
            (skill.listed().is_some(), wording::LISTS_TOOLS),
            (skill.memory, wording::ASKS_FOR_MEMORY),
            (skill.purpose.is_some(), wording::NAMES_A_PURPOSE),
        ];
        if skill.body().is_some() {
            defects.extend(
                for_models
                    .iter()
                    .filter(|(said, _)| *said)
                    .map(|(_, what)| wording::model_equipment_for_a_body(agent, name, what)),
            );
        }
        if skill.memory && self.memory.is_none() {
            defects.push(wording::no_memory(agent, name));
        }
        defects
    }

    /// Returns a defect for each tool or pattern that the skill lists and the agent lacks.
    fn unlisted(&self, skill: &Skill<'a, I, O>) -> impl Iterator<Item = Defect> {
        let (agent, name) = (&self.definition.name, skill.name());
        let listed = skill.listed().unwrap_or_default().iter();
        let missing = listed.filter(|pattern| !self.definition.tools.fits_any(pattern));
        missing.map(move |pattern| {
            let text = wording::skill_lists_no_tool(agent, name, pattern, pattern.is_name());
            Defect {
                text,
                lacks: Some(pattern.clone()),
            }
        })
    }
}

/// Returns a definition for one skill, if it needs one that differs from the agent's; else `None`.
fn definition_for<'a, I, O>(
    agent: &AgentDefinition<'a>,
    memory: Option<&Arc<dyn Memory>>,
    skill: &Skill<'a, I, O>,
) -> Option<AgentDefinition<'a>> {
    let memory = memory.filter(|_| skill.memory);
    let has_arms = agent.arms.skills().any(|name| name == skill.name());
    let is_its_own = has_arms
        || skill.listed().is_some()
        || skill.purpose.is_some()
        || memory.is_some()
        || !skill.description().is_empty();
    if skill.body().is_some() || !is_its_own {
        return None;
    }
    let mut definition = agent.clone();
    definition.arms.at(skill.name());
    if let Some(listed) = skill.listed() {
        // Tools of the agent's own equipment, such as memory, need not be listed.
        definition.listed = Some(listed.to_vec());
        definition.tools = agent
            .tools
            .only(|spec| spec.innate || listed.iter().any(|pattern| pattern.matches(&spec.name)));
    }
    if let Some(purpose) = &skill.purpose {
        (definition.model, definition.purpose) = (None, Some(purpose.clone()));
        definition.purposed_skill = Some(skill.name().to_owned());
    }
    if let Some(memory) = memory {
        definition = definition.with_tools(memory::tools(memory, &agent.name));
    }
    // The skill's description is given to the model, also if there is no other skill.
    definition.prompt = agent.prompt.with(skill.description());
    Some(definition)
}
