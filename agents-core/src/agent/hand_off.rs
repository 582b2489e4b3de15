//! Hand-off of a conversation to another agent, which answers in place of the first.

use super::{Agent, Data, ModelAgent, Profile, Skill, wording};
use crate::{
    Error, ErrorKind,
    context::{Earlier, Handover, RunContext},
    journal::{Fact, Frame},
    place::tool_name,
    tool::{Effects, FnTool, SharedTool, ToolSpec},
};
use serde_json::json;
use std::{cell::RefCell, sync::Arc};

/// Agent to which a conversation can be handed.
pub(super) type Successor<I, O> = Arc<dyn Agent<In = I, Out = O>>;

impl<I: Data, O: Data> ModelAgent<'_, I, O> {
    /// Returns the tools by which the agent's model hands the conversation on: one for each successor.
    pub(super) fn hand_off_tools(&self) -> Vec<SharedTool> {
        self.hand_offs.iter().map(|to| tool(&**to)).collect()
    }

    /// Returns the name of the agent to which the conversation was handed in an earlier message of the chat. Returns
    /// `None` if the conversation was not handed on, or if this agent has already begun its own conversation with its
    /// model.
    pub(super) fn handed_before(&self, cx: &RunContext) -> Option<Box<str>> {
        if !cx.node.frame(Frame::is_silent) {
            return None;
        }
        if let Some(to) = cx.earlier().handed_to.first() {
            let to = to.as_str().into();
            cx.node.add(Fact::HandedOff { to });
        }
        cx.node.frame(|frame| frame.handed.clone())
    }

    /// Hands the conversation to the agent `to`, whose answer becomes the answer of this agent.
    pub(super) async fn leave_to(&self, to: &str, cx: &RunContext, input: I) -> Result<O, Error> {
        let name = &self.definition.name;
        let successor = self.hand_offs.iter().find(|one| one.name() == to);
        let successor = successor.ok_or_else(|| {
            let why = wording::handed_off_to_a_stranger(name, to);
            Error::new(ErrorKind::Build, why)
        })?;
        let model = self.definition.model.as_ref();
        let cx = cx.driven(model, None).handing(self.handover(cx));
        successor.run_in(&cx, input).await
    }

    /// Returns the conversation so far in the form in which the next agent gets it.
    fn handover(&self, cx: &RunContext) -> Handover {
        let earlier = cx.earlier();
        let by = cx.handover().map(|before| before.by.clone());
        let mut by = by.unwrap_or_default();
        let (history, turns) = cx.node.frame(|frame| {
            let turns = frame.before.saturating_add(frame.turns);
            (frame.history.clone(), turns)
        });
        if history.messages().is_empty() {
            // This agent has said nothing: the next one goes on with the earlier messages.
            let handed_to = earlier.handed_to.iter().skip(1).cloned().collect();
            let earlier = Earlier {
                handed_to,
                ..earlier
            };
            return Handover {
                earlier,
                by,
                with_place: true,
            };
        }
        by.push(self.definition.name.to_string());
        let earlier = Earlier {
            history,
            turns,
            handed_to: Vec::new(),
            is_said: true,
        };
        Handover {
            earlier,
            by,
            with_place: true,
        }
    }

    /// Returns the profile with those of the agents to which the conversation can be handed, so that a team checks them
    /// too.
    pub(super) fn with_successors(&self, mut profile: Profile) -> Profile {
        let _making = Making::of(&self.definition.name);
        for successor in &self.hand_offs {
            if !Making::is_made(successor.name()) {
                profile = profile.followed_by(successor.profile());
            }
        }
        profile
    }

    /// Returns the defect of an agent whose hand-offs cannot work; `None` if they can.
    pub(super) fn idle_hand_offs(&self) -> Option<String> {
        let name = &self.definition.name;
        let first = self.hand_offs.first()?.name();
        if self.hand_offs.iter().any(|one| *one.name() == **name) {
            return Some(wording::hands_off_to_itself(name));
        }
        let is_code = |skill: &Skill<'_, I, O>| skill.body().is_some();
        let is_idle = !self.skills.is_empty() && self.skills.iter().all(is_code);
        is_idle.then(|| wording::idle_hand_off(name, first))
    }
}

thread_local! {
    /// Names of the agents whose profiles this thread is making, to notice a circle.
    static MAKING: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Guard while the profile of an agent is made: it keeps the agent's name in [`MAKING`]. Agents may hand a conversation
/// to each other, and the profile of each has that of the others; without the names, making them would never end.
struct Making;

impl Making {
    fn of(agent: &str) -> Self {
        MAKING.with_borrow_mut(|names| names.push(agent.to_owned()));
        Making
    }

    fn is_made(agent: &str) -> bool {
        MAKING.with_borrow(|names| names.iter().any(|name| name == agent))
    }
}

impl Drop for Making {
    fn drop(&mut self) {
        MAKING.with_borrow_mut(Vec::pop);
    }
}

/// Returns the tool by which a model hands the conversation to this agent.
fn tool(successor: &dyn Agent<In = impl Data, Out = impl Data>) -> SharedTool {
    let to = successor.name();
    let name = format!("hand_off_to_{}", tool_name(to));
    let description = wording::hands_off(to, successor.description());
    let reason = json!({ "type": "string", "description": wording::WHY_HANDED_OFF });
    let schema = json!({ "type": "object", "properties": { "reason": reason } });
    let spec = ToolSpec::new(name, description, Effects::None, schema).innate();
    let to: Box<str> = to.into();
    let tool = FnTool::with_spec(spec, move |_, context| {
        let to = to.clone();
        async move {
            let cx = &context.cx;
            let had = |before: &Handover| before.by.iter().any(|name| **name == *to);
            if cx.handover().is_some_and(had) {
                return Err(wording::handed_back(&to));
            }
            if cx.node.add(Fact::HandedOff { to: to.clone() }).ignored {
                return Err(wording::HANDED_OFF_ALREADY.to_owned());
            }
            Ok(wording::handed_off(&to))
        }
    });
    Arc::new(tool.part_of_the_run())
}
