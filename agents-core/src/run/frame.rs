//! A model-driven agent's part of a run, as data: what has been said, and what to do next.
//!
//! [`Frame::next`] looks; [`Frame::on`] is told. Neither waits, asks or runs anything, which is
//! why a run can be put down between any two of them.

use super::{Budget, CallState, Limit};
use crate::{
    error::shorten,
    model::{History, Message, Reply},
    reader::Repairs,
    recovery::Progress,
    tool::Misfit,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

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
    /// What was wrong with the last answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) refused: Option<String>,
    /// What was tried to make the answer at hand fit.
    #[serde(default)]
    pub(crate) progress: Progress,
    /// What is wrong with the answer at hand; the plan that deals with it is in `progress`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fault: Option<Misfit>,
    /// What arms and repair agents made of the answer.
    #[serde(default, skip_serializing_if = "Repairs::is_empty")]
    pub(crate) fixed: Repairs,
    /// What an arm wants the model to be told beside what is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<String>,
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
    pub(crate) fn begin(system: &str, task: String) -> Frame {
        let mut history = History::new();
        if !system.is_empty() {
            history.push(Message::System {
                content: system.to_owned(),
            });
        }
        history.push(Message::User { content: task });
        Frame {
            history: Arc::new(history),
            ..Frame::default()
        }
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

    pub(crate) fn on(&mut self, told: Told) {
        match told {
            Told::Replied(reply, longest) => self.replied(reply, longest),
            Told::Answered(messages) => {
                self.calls.clear();
                self.say(messages);
            }
            Told::Refused(reason) => {
                self.answer = None;
                self.fault = None;
                self.fixed = Repairs::default();
                self.say([Message::User {
                    content: refusal(&reason),
                }]);
                self.refused = Some(reason);
            }
        }
    }

    fn replied(&mut self, reply: Reply, longest: usize) {
        let Reply {
            content,
            thinking,
            mut calls,
            finish: _,
            usage: _,
        } = reply;
        self.turns += 1;
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
