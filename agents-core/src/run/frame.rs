//! A model-driven agent's part of a run, as data: what has been said, and what to do next.
//!
//! [`Frame::next`] looks; [`Frame::on`] is told. Neither waits, asks or runs anything, which is
//! why a run can be put down between any two of them.

use super::{Budget, CallState, Given, Limit, Said, Unsettled, climb::Override, tries::give_up};
use crate::{
    error::{
        escalation::Escalation,
        settlement::{EscalationReceipt, Settlement},
        shorten,
    },
    model::{FinishReason, History, Message, Reply},
    recovery::Progress,
    run::Repairs,
    tool::ReadError,
};
use serde::{Deserialize, Serialize};
use std::{mem, sync::Arc};

/// Where a model-driven agent stands.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Frame {
    pub(crate) history: Arc<History>,
    /// How often the model was asked.
    pub(crate) turns: u32,
    /// How many calls it has made.
    pub(crate) made: u32,
    /// The calls of the last reply that are not answered yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) calls: Vec<CallState>,
    /// The text of the last reply, if it made no calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) answer: Option<String>,
    /// The model's output limit cut that reply off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) cut_off: bool,
    /// What was wrong with the last answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) refused: Option<String>,
    /// What was tried to make the answer at hand fit.
    #[serde(default)]
    pub(crate) progress: Progress,
    /// What is wrong with the answer at hand; the plan that deals with it is in `progress`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fault: Option<ReadError>,
    /// What arms and repair agents made of the answer.
    #[serde(default, skip_serializing_if = "Repairs::is_empty")]
    pub(crate) fixed: Repairs,
    /// What was tried in vain on the answers before it, which went back.
    #[serde(default, skip_serializing_if = "Repairs::is_empty")]
    pub(crate) tried: Repairs,
    /// The answer at hand, if it was given in place of the model's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) replaced: Vec<Given>,
    /// The answers for which these were given: the first is the model's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) unsettled: Vec<Unsettled<ReadError>>,
    /// The model it was given because it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) given: Option<Box<Override>>,
    /// What was decided about escalations of the last reply, which comes true when the model is asked again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) verdicts: Vec<EscalationReceipt>,
    /// The answer was given up, and whoever is above is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) climbing: Option<Box<Escalation>>,
    /// What an arm wants the model to be told beside what is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<String>,
    /// How many turns the conversation took before this run.
    #[serde(default)]
    pub(crate) before: u32,
    /// The skill that answers, once it is chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) skill: Option<Box<str>>,
    /// The model is choosing the skill: this is the conversation in which it does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) choosing: bool,
}

/// What to do next.
#[derive(Debug, PartialEq)]
pub(crate) enum Next {
    /// Ask the model. The answer has to follow its schema now: it was refused before.
    Chat { turn: u32, must_fit: bool },
    /// Carry out the calls.
    Calls,
    /// Read the answer.
    Answer,
    /// The budget is used up.
    Stop(Limit),
    /// The budget is used up, and the last answer did not fit.
    GiveUp(String),
}

/// What has happened.
#[derive(Debug)]
pub(crate) enum Told {
    /// The model replied, and its calls have been given ids. Arguments beyond so many bytes are not
    /// kept for the model to read again.
    Replied(Reply, usize),
    /// All calls are settled; these are the messages that say so, in the model's order.
    Answered(Vec<Message>),
    /// The answer does not fit.
    Refused(String),
}

impl Frame {
    /// Says the first words, after what was said before; unless that has been done.
    pub(crate) fn begin(
        &mut self,
        said: impl FnOnce() -> Said,
        system: impl FnOnce() -> String,
        task: String,
    ) {
        if !self.history.messages().is_empty() {
            return;
        }
        let Said { history, turns } = said();
        self.before = turns;
        self.history = History::led_by(history, &system());
        self.say([Message::User { content: task }]);
    }

    /// The skill is chosen; whether that is news. The conversation about it is over, but what it
    /// took counts.
    pub(crate) fn chosen(&mut self, skill: &str) -> bool {
        if self.choosing {
            *self = Frame {
                turns: self.turns,
                made: self.made,
                ..Frame::default()
            };
        }
        let is_news = self.skill.is_none();
        self.skill.get_or_insert_with(|| skill.into());
        is_news
    }

    pub(crate) fn next(&self, budget: &Budget) -> Next {
        if self.answer.is_some() {
            return Next::Answer;
        }
        if !self.calls.is_empty() {
            return Next::Calls;
        }
        if self.made > budget.tool_calls() {
            return Next::Stop(Limit::ToolCalls(budget.tool_calls()));
        }
        if self.turns < budget.turns() {
            return Next::Chat {
                turn: self.turns + 1,
                must_fit: self.refused.is_some(),
            };
        }
        match &self.refused {
            Some(reason) => Next::GiveUp(reason.clone()),
            None => Next::Stop(Limit::Turns(budget.turns())),
        }
    }

    /// The model is asked again: what was decided about escalations comes true. Of several models that were given, the
    /// last is the one that goes on, for whatever it was given.
    pub(crate) fn gone_on(&mut self) -> Vec<EscalationReceipt> {
        let mut verdicts = mem::take(&mut self.verdicts);
        let is_given = |one: &Settlement| matches!(one, Settlement::RetriedWithModel { .. });
        let given = verdicts.iter().rfind(|one| is_given(&one.settled));
        if let Some(last) = given.map(|one| one.settled.clone()) {
            let given = verdicts.iter_mut().filter(|one| is_given(&one.settled));
            given.for_each(|one| one.settled.clone_from(&last));
        }
        verdicts
    }

    pub(crate) fn on(&mut self, told: Told) {
        match told {
            Told::Replied(reply, longest) => self.replied(reply, longest),
            Told::Answered(messages) => {
                // Nothing is held for them while the model thinks.
                self.calls = Vec::new();
                self.say(messages);
            }
            Told::Refused(reason) => {
                self.answer = None;
                self.fault = None;
                self.climbing = None;
                self.tried = self.all_tried();
                self.fixed = Repairs::default();
                self.replaced.clear();
                self.unsettled.clear();
                self.say([Message::User {
                    content: match self.choosing {
                        true => no_such_skill(&reason),
                        false => refusal(&reason),
                    },
                }]);
                self.refused = Some(reason);
            }
        }
    }

    /// What was tried in vain on every answer so far. The one at hand does not fit.
    pub(crate) fn all_tried(&self) -> Repairs {
        let mut last = self.fixed.clone();
        give_up(&mut last, 0, self.replaced.clone());
        let mut tried = self.tried.clone();
        tried.extend(last);
        tried
    }

    fn replied(&mut self, reply: Reply, longest: usize) {
        let Reply {
            content,
            thinking,
            mut calls,
            finish,
            usage: _,
            prompted: _,
        } = reply;
        self.turns += 1;
        self.cut_off = finish == FinishReason::Length;
        self.refused = None;
        let first = self.made;
        self.made += u32::try_from(calls.len()).unwrap_or(u32::MAX);
        self.calls = (first..)
            .zip(&calls)
            .map(|(seq, call)| CallState::new(seq, call.clone()))
            .collect();
        if calls.is_empty() {
            self.answer = Some(content.clone());
            // What was tried with another answer says nothing about this one.
            self.progress = Progress::default();
        }
        for call in calls
            .iter_mut()
            .filter(|call| call.arguments.len() > longest)
        {
            call.arguments = shorten(&call.arguments);
        }
        self.say([Message::Assistant {
            content,
            thinking,
            calls,
        }]);
    }

    /// Whoever keeps a snapshot keeps this history too; then it goes on as a copy, and what a client
    /// has encoded of it goes with the copy.
    fn say(&mut self, messages: impl IntoIterator<Item = Message>) {
        if Arc::get_mut(&mut self.history).is_none() {
            self.history = Arc::new(self.history.moved());
        }
        if let Some(history) = Arc::get_mut(&mut self.history) {
            messages
                .into_iter()
                .for_each(|message| history.push(message));
        }
    }
}

fn refusal(reason: &str) -> String {
    format!(
        "Your answer cannot be used: {reason}. Answer again, with nothing but JSON that follows the schema."
    )
}

fn no_such_skill(reason: &str) -> String {
    format!("That is none of the skills: {reason}. Say the name of one of them and nothing else.")
}
