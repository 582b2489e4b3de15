//! Part of a model-driven agent in a run, as data: its conversation, and its next action.
//!
//! [`Frame::next`] returns the next action; the fold of the state changes the frame. Neither waits, asks or runs
//! anything.

use super::{
    answer::FinalAnswer,
    call::{Call, Doubt, Ticket, of_answer},
    candidates::Candidates,
    repeated::Repeated,
    wording,
};
use crate::{
    error::shorten,
    escalation::{Escalation, EscalationReceipt, Settlement},
    model::{Content, FinishReason, History, Message, Reply, estimated},
    run::{Budget, Finding, Instruction, Limit, Repairs, Timestamp, ToolEnvelope},
    secret::Masker,
    tool::{ReadError, RemoteTool},
};
use std::{mem, sync::Arc};

/// State of an agent that a model drives (its frame): its conversation, its calls and its answer.
#[derive(Clone, Debug, Default)]
#[cfg_attr(any(test, feature = "testing"), derive(serde::Serialize))]
pub(crate) struct Frame {
    pub(crate) history: Arc<History>,
    /// Number of turns so far: requests of the agent to which a model has replied.
    pub(crate) turns: u32,
    /// Number of calls that the model has made so far.
    pub(crate) made: u32,
    /// Calls of the last reply whose results the model has not got.
    pub(crate) calls: Vec<Call>,
    /// Calls of earlier replies that go on in the background.
    pub(crate) background: Vec<Call>,
    /// Number of tickets that the model has got for calls in the background.
    tickets: u32,
    /// Is `true` if calls in the background have ended for which the answer has to wait, and the model has not been told
    /// their results.
    is_owed_results: bool,
    /// Is `true` if a tool that writes has run for an earlier reply of the model.
    wrote: bool,
    /// Count of calls that the model repeats reply after reply.
    repeated: Repeated,
    /// Last reply as the final answer, if it made no calls.
    pub(crate) answer: Option<FinalAnswer>,
    /// Is `true` if the model's output limit cut the last reply off, or that reply ended for an unknown reason.
    pub(crate) cut_off: bool,
    /// Reason why the last reply is no answer: the model declined, or a filter withheld it.
    declined: Option<String>,
    /// Reason why the run refused the answer in the last reply: the answer did not fit its type, or a validator refused
    /// it. `None` as soon as the model has replied again.
    pub(crate) refused: Option<String>,
    /// Number of answers in a row that the run refused; a reply with calls begins the count anew.
    refusals: u32,
    /// Candidates of earlier answers that were refused and went back to the model.
    earlier: Vec<Candidates<ReadError>>,
    /// Model with which the agent goes on, because its first model failed and a handler of an escalation gave it
    /// another one.
    pub(crate) given: Option<Box<GivenModel>>,
    /// Decisions about escalations of the last reply. They are settled when the model is asked again.
    pub(crate) verdicts: Vec<EscalationReceipt>,
    /// Messages to the model about what happened while its calls ran, or while it was writing. They follow the results of
    /// the calls.
    news: Vec<Content>,
    /// Tokens of the conversation up to the last reply, as the model has counted them, and the number of messages then;
    /// both are 0 if the model has counted nothing, or what it had counted was replaced.
    measured: (u64, usize),
    /// Number of times that the conversation was shortened.
    pub(crate) cuts: u32,
    /// Number of turns that the conversation took before this run.
    pub(crate) before: u32,
    /// Time at which the model was asked; `None` while no request is under way.
    pub(crate) asked: Option<Timestamp>,
    /// Name of the model that was asked last; `None` before the first request.
    pub(crate) model: Option<Arc<str>>,
    /// Name of the agent to which the conversation was handed; `None` if it was not.
    pub(crate) handed: Option<Box<str>>,
    /// Conversation of the agent named in `handed`, once that agent has answered.
    pub(crate) successor: Option<Box<Frame>>,
    /// Lists of tools that the agent's sources have given, each with the pattern of the source's tool names.
    pub(crate) listed: Vec<(Box<str>, Arc<[RemoteTool]>)>,
    /// Name of the skill that answers; `None` until it is chosen.
    pub(crate) skill: Option<Box<str>>,
    /// Is `true` while the model chooses the skill, in a conversation of its own.
    pub(crate) choosing: bool,
    /// Is `true` if the agent is not the one that was run, and people's instructions to the run reach it as well.
    pub(super) is_part: bool,
    /// Instructions of people that another part of the run was told first, and that this agent is told before its next
    /// request.
    pub(crate) owed: Vec<Instruction>,
}

/// Model that an agent was given by a handler, because its own model failed.
#[derive(Clone, Debug)]
#[cfg_attr(any(test, feature = "testing"), derive(serde::Serialize))]
pub(crate) struct GivenModel {
    /// Id of the model that the agent asks, such as `openai/gpt-5`.
    pub(crate) model: String,
    /// Escalation for which the model was given, as it was raised.
    pub(crate) escalation: Escalation,
    /// Number of models that the agent was given so far, this one included. The agent's own model is not counted.
    /// Several models given after one turn are counted once.
    count: u32,
    /// Turn after which the model was given. If several calls of one reply are given a model each, the agent goes on
    /// once.
    turn: u32,
}

/// Maximum number of models that an agent may be given one after the other because it failed.
pub(crate) const MOST_MODELS: u32 = 3;

/// Action that a model-driven agent needs next, which the engine carries out.
#[derive(Debug, PartialEq)]
pub(crate) enum Next {
    /// The agent has to ask its model. With `must_fit`, the reply has to be the answer, held to the schema.
    Chat { turn: u32, must_fit: bool },
    /// The agent has to carry out the calls of the last reply.
    Calls,
    /// The agent has nothing else to do, and has to wait for calls in the background.
    Background,
    /// The agent has to hand the conversation to the agent of this name, which answers instead.
    HandOff(Box<str>),
    /// The agent has to read the last reply as its answer.
    Answer,
    /// The agent's work has to end: the model declined to answer.
    Declined { why: String },
    /// The agent's work has to end: this limit of the budget is used up.
    Stop(Limit),
    /// The agent's work has to end: this limit of the budget is used up, and the last answer was refused.
    GiveUp { reason: String, limit: Limit },
}

impl Frame {
    /// Returns `true` if the last reply has a text that no earlier reply of the conversation had.
    pub(crate) fn has_new_words(&self) -> bool {
        let messages = self.history.messages().iter();
        let mut replies = messages.rev().filter_map(|message| match message {
            Message::Assistant { content, .. } => Some(content.trim()),
            _ => None,
        });
        let last = replies.next().unwrap_or_default();
        !last.is_empty() && replies.all(|earlier| earlier != last)
    }

    /// Begins the agent's conversation, behind the messages of earlier runs.
    pub(super) fn begin(
        &mut self,
        said: Arc<History>,
        before: u32,
        system: &str,
        task: Option<Content>,
    ) {
        self.before = before;
        self.history = History::with_system(said, system);
        self.say(task.map(|content| Message::User { content }));
    }

    /// Returns the tokens of the conversation: the model's count at its last reply, and an estimate of what was added.
    pub(crate) fn tokens(&self) -> u64 {
        let (counted, messages) = self.measured;
        let new = self.history.messages().get(messages..).unwrap_or_default();
        counted.saturating_add(estimated(new))
    }

    /// Replaces `left_out` messages, from the index `from` on, by `put`. Returns `false` if the conversation has no
    /// such messages.
    pub(super) fn shorten(&mut self, from: usize, left_out: usize, put: Vec<Message>) -> bool {
        let messages = self.history.messages();
        let Some(to) = from
            .checked_add(left_out)
            .filter(|to| *to <= messages.len())
        else {
            return false;
        };
        let (counted, of) = self.measured;
        let gone = estimated(&messages[from..to]);
        let counted = counted.saturating_sub(gone).saturating_add(estimated(&put));
        let all = [&messages[..from], &put, &messages[to..]].concat();
        self.measured = match of >= to {
            true => (counted, of - left_out + put.len()),
            // What the model has counted was replaced.
            false => (0, 0),
        };
        self.history = Arc::new(History::from(all));
        self.cuts = self.cuts.saturating_add(1);
        true
    }

    /// Records the agent to which the conversation is handed; returns `false` if it was handed to a different agent
    /// before.
    pub(super) fn hand_off(&mut self, to: &str) -> bool {
        **self.handed.get_or_insert_with(|| to.into()) == *to
    }

    /// Returns the tools that a source has listed; `None` if the source was not asked for its tools yet. `from` is the
    /// pattern of the source's tool names.
    pub(crate) fn listed(&self, from: &str) -> Option<Arc<[RemoteTool]>> {
        let mut lists = self.listed.iter();
        let (_, tools) = lists.find(|(names, _)| **names == *from)?;
        Some(tools.clone())
    }

    /// Returns `true` if the agent's conversation has no messages yet.
    pub(crate) fn is_silent(&self) -> bool {
        self.history.messages().is_empty()
    }

    /// Records the skill that was chosen. If a model chose it, the conversation about the choice is dropped, but its
    /// turns and calls still belong to what the agent has used of its budget.
    pub(super) fn chosen(&mut self, skill: &str) {
        if self.choosing {
            *self = Frame {
                turns: self.turns,
                made: self.made,
                is_part: self.is_part,
                owed: mem::take(&mut self.owed),
                ..Frame::default()
            };
        }
        self.skill.get_or_insert_with(|| skill.into());
    }

    pub(crate) fn next(&self, budget: &Budget) -> Next {
        if let Some(why) = self.declined.clone() {
            return Next::Declined { why };
        }
        let ends = self.answer.is_some() || self.handed.is_some() && self.calls.is_empty();
        if ends && self.waits_for_background() {
            return Next::Background;
        }
        if self.answer.is_some() {
            return Next::Answer;
        }
        if !self.calls.is_empty() {
            return Next::Calls;
        }
        if let Some(to) = &self.handed {
            return Next::HandOff(to.clone());
        }
        if self.made > budget.tool_calls() {
            return Next::Stop(Limit::ToolCalls(budget.tool_calls()));
        }
        if self.repeated.most() > budget.identical_calls() {
            return Next::Stop(Limit::IdenticalCalls(budget.identical_calls()));
        }
        let answers = u32::try_from(self.earlier.len()).unwrap_or(u32::MAX);
        if let (Some(reason), Some(most)) = (&self.refused, budget.answers())
            && answers >= most
        {
            return Next::GiveUp {
                reason: reason.clone(),
                limit: Limit::Answers(most),
            };
        }
        if self.turns < budget.turns() {
            let turn = self.turns + 1;
            return Next::Chat {
                turn,
                must_fit: self.must_fit(turn == budget.turns()),
            };
        }
        match &self.refused {
            Some(reason) => Next::GiveUp {
                reason: reason.clone(),
                limit: Limit::Turns(budget.turns()),
            },
            None => Next::Stop(Limit::Turns(budget.turns())),
        }
    }

    /// Returns `true` if the next reply of the model has to be an answer, without calls.
    ///
    /// A refused answer may be corrected with the help of a tool, so the tools stay. After every second refusal in a
    /// row they are withheld, and also if no turn is left in which a tool's result could be used.
    fn must_fit(&self, is_last: bool) -> bool {
        self.refused.is_some() && (is_last || self.refusals.is_multiple_of(2))
    }

    /// Returns `true` if the agent may go on with another model than the one that has replied.
    pub(crate) fn may_have_another_model(&self) -> bool {
        let given = self.given.as_ref();
        given.is_none_or(|given| given.turn == self.turns || given.count < MOST_MODELS)
    }

    /// Records the model that the agent was given, because of an escalation that it raised.
    pub(super) fn give(&mut self, model: String, escalation: Escalation) {
        let before = self.given.as_ref();
        let is_first = before.is_none_or(|given| given.turn < self.turns);
        let count = before.map_or(0, |given| given.count);
        self.given = Some(Box::new(GivenModel {
            model,
            escalation,
            count: count.saturating_add(u32::from(is_first)),
            turn: self.turns,
        }));
    }

    /// Ends the wait for decisions about escalations when the model is asked again, and returns their receipts. If
    /// several models were given, the last one goes on, and all receipts name that one.
    pub(super) fn gone_on(&mut self) -> Vec<EscalationReceipt> {
        let mut verdicts = mem::take(&mut self.verdicts);
        let is_given = |one: &Settlement| matches!(one, Settlement::RetriedWithModel { .. });
        let given = verdicts.iter().rfind(|one| is_given(&one.settled));
        if let Some(last) = given.map(|one| one.settled.clone()) {
            let given = verdicts.iter_mut().filter(|one| is_given(&one.settled));
            given.for_each(|one| one.settled.clone_from(&last));
        }
        verdicts
    }

    /// Returns the calls that the model has made and that have not ended for it: those of the last reply, and those in
    /// the background.
    pub(crate) fn under_way(&self) -> impl Iterator<Item = &Call> {
        self.calls.iter().chain(&self.background)
    }

    /// Returns the calls of [`under_way`](Frame::under_way) for a change.
    pub(super) fn under_way_mut(&mut self) -> impl Iterator<Item = &mut Call> {
        self.calls.iter_mut().chain(&mut self.background)
    }

    /// Returns `true` if each call of the last reply has its receipt, or a ticket.
    pub(super) fn may_go_on(&self) -> bool {
        let mut calls = self.calls.iter();
        calls.all(|call| call.receipt.is_some() || call.is_in_background())
    }

    /// Gives the model a ticket for the call of this number. Returns `false` if there is no such call, or the call has a
    /// ticket or a receipt.
    pub(super) fn give_ticket(&mut self, seq: u32, until_answer: bool) -> bool {
        let mut calls = self.calls.iter_mut();
        let call = calls.find(|call| call.seq == seq);
        let Some(call) = call.filter(|call| call.ticket.is_none() && call.receipt.is_none()) else {
            return false;
        };
        self.tickets += 1;
        call.ticket = Some(Ticket {
            number: self.tickets,
            until_answer,
        });
        true
    }

    /// Adds the results of the calls to the conversation, in the order of the model's reply, once all calls have their
    /// receipts or a ticket. The model is also told of calls that repeat themselves. Returns the receipts, each with the
    /// number of its call.
    pub(super) fn answered(&mut self) -> Vec<(u32, Arc<ToolEnvelope>)> {
        // The calls are dropped now, so that none is held while the model thinks.
        let mut calls = mem::take(&mut self.calls);
        self.repeated.follow(&mut calls);
        self.wrote |= calls.iter().any(Call::has_written);
        let mut receipts = Vec::with_capacity(calls.len());
        let mut background = mem::take(&mut self.background);
        let mut news = mem::take(&mut self.news);
        self.say(calls.into_iter().map(|mut call| {
            if call.is_in_background() {
                let ticket = call.ticket_message();
                match call.receipt.clone() {
                    None => background.push(call),
                    // It has ended before other calls of the reply.
                    Some(receipt) => {
                        receipts.push((call.seq, receipt));
                        news.push(call.take_told_result());
                    }
                }
                return ticket;
            }
            let content = call.take_content().unwrap_or_default();
            receipts.extend(call.receipt.map(|receipt| (call.seq, receipt)));
            Message::Tool {
                tool_call_id: call.call.id,
                name: call.call.name,
                content,
            }
        }));
        (self.background, self.news) = (background, news);
        self.tell_news();
        receipts
    }

    /// Takes a call with a receipt out of the background, and tells the model its result. If the model has answered and
    /// its answer has waited for this call, the answer is put off: the model is asked again. Returns the number of the
    /// call and its receipt; `None` if no such call is in the background.
    pub(super) fn came_back(&mut self, seq: u32) -> Option<(u32, Arc<ToolEnvelope>)> {
        let mut calls = self.background.iter();
        let at = calls.position(|call| call.seq == seq && call.receipt.is_some())?;
        let mut call = self.background.remove(at);
        self.wrote |= call.has_written();
        self.is_owed_results |= call.ticket.is_some_and(|ticket| !ticket.until_answer);
        self.tell(call.take_told_result());
        self.put_off_answer();
        call.receipt.map(|receipt| (seq, receipt))
    }

    /// Drops the answer of a model that has written it without results for which it has to wait, once these are there:
    /// the model is told them, and asked again.
    fn put_off_answer(&mut self) {
        if self.is_owed_results && !self.waits_for_background() {
            self.answer = None;
            self.tell_news();
        }
    }

    /// Returns `true` if a call goes on in the background that the agent's answer waits for.
    fn waits_for_background(&self) -> bool {
        self.background.iter().any(Call::holds_up_the_answer)
    }

    /// Adds a message for the model. If the model is writing, it follows the reply; if calls are under way, it follows
    /// their results.
    pub(super) fn tell(&mut self, content: Content) {
        self.news.push(content);
        self.tell_news();
    }

    /// Adds the messages that have waited to the conversation, unless they have to wait longer.
    pub(super) fn tell_news(&mut self) {
        let may_be_told = self.calls.is_empty() && self.answer.is_none() && self.asked.is_none();
        if may_be_told && !self.news.is_empty() {
            let news = mem::take(&mut self.news).into_iter();
            self.say(news.map(|content| Message::User { content }));
            self.is_owed_results = false;
        }
    }

    /// Forgets a request that was under way in an earlier process: it is made again.
    pub(super) fn ask_again(&mut self) {
        self.asked = None;
        self.tell_news();
    }

    /// Adds an instruction of a person, as a message of the user.
    pub(super) fn instruct(&mut self, text: String) {
        let content = text.into();
        self.say([Message::User { content }]);
    }

    /// Adds an instruction to those that the agent is to be told, if it is a part of the run and has not handed its
    /// conversation on.
    pub(super) fn owe(&mut self, instruction: &Instruction) {
        if self.is_part && self.handed.is_none() {
            self.owed.push(instruction.clone());
        }
    }

    /// Takes an instruction off the list of those that the agent is to be told. Returns `false` if it is not there.
    pub(super) fn repaid(&mut self, instruction: &Instruction) -> bool {
        let at = self.owed.iter().position(|owed| owed == instruction);
        at.map(|at| self.owed.remove(at)).is_some()
    }

    /// Returns `true` if a tool that writes has begun to run for a call of this agent.
    pub(crate) fn has_written(&self) -> bool {
        self.wrote || self.under_way().any(Call::has_written)
    }

    /// Returns the results of the calls that the model has not been given, for a conversation that ends here.
    pub(crate) fn results_left(&self) -> Vec<Message> {
        let result = |call: &Call| Message::Tool {
            tool_call_id: call.call.id.clone(),
            name: call.call.name.clone(),
            content: call
                .clone()
                .take_content()
                .unwrap_or_else(|| match call.has_written() {
                    true => wording::IN_DOUBT.into(),
                    false => wording::NOT_RUN.into(),
                }),
        };
        self.calls.iter().map(result).collect()
    }

    /// Refuses an answer: it goes back to the model with the reason.
    pub(super) fn refuse(&mut self, reason: String, is_text: bool) {
        let answer = self.answer.take();
        self.earlier.extend(answer.map(|answer| answer.candidates));
        self.say([told(match self.choosing {
            true => wording::skill_refused(&reason),
            false => wording::refused(&reason, is_text),
        })]);
        self.tell_news();
        self.refused = Some(reason);
        self.refusals = self.refusals.saturating_add(1);
    }

    /// Returns the repairs of every answer so far: changes and tries.
    pub(crate) fn repairs(&self, masker: &Masker) -> Repairs {
        let last = self.answer.iter().map(|answer| &answer.candidates);
        let mut repairs = Repairs::default();
        for candidates in self.earlier.iter().chain(last) {
            repairs.extend(of_answer(candidates, masker));
        }
        repairs
    }

    pub(super) fn replied(&mut self, reply: Reply, longest: usize) {
        self.declined = reply.declined();
        let Reply {
            content,
            thinking,
            mut calls,
            changes,
            finish,
            usage,
            ..
        } = reply;
        self.turns += 1;
        // Nobody knows whether a reply is whole that ended for a reason that the client does not know.
        self.cut_off = matches!(finish, FinishReason::Length | FinishReason::Other(_));
        self.refused = None;
        let first = self.made;
        let made = u32::try_from(calls.len()).unwrap_or(u32::MAX);
        self.made = self.made.saturating_add(made);
        self.calls = (first..)
            .zip(&calls)
            .map(|(seq, call)| Call::new(seq, call.clone()))
            .collect();
        for (call, changes) in self.calls.iter_mut().zip(changes) {
            call.changes = changes;
        }
        match calls.is_empty() {
            true => self.answer = Some(FinalAnswer::new(content.clone())),
            false => self.refusals = 0,
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
        if usage.input_tokens > 0 {
            self.measured = (usage.tokens(), self.history.messages().len());
        }
        self.put_off_answer();
    }

    /// Adds messages to the history. If the history has another holder, such as a request under way, that holder keeps
    /// it unchanged: the frame goes on with a copy. The copy includes what a client has encoded of the history.
    fn say(&mut self, messages: impl IntoIterator<Item = Message>) {
        if Arc::get_mut(&mut self.history).is_none() {
            self.history = Arc::new(self.history.with_slots());
        }
        if let Some(history) = Arc::get_mut(&mut self.history) {
            messages
                .into_iter()
                .for_each(|message| history.push(message));
        }
    }
}

fn told(text: String) -> Message {
    Message::User {
        content: Content::told(text),
    }
}

/// Returns the message which tells the model that a person has found out whether a call in doubt took effect.
pub(super) fn finding(doubt: &Doubt, finding: &Finding, masker: &Masker) -> String {
    let Doubt { tool, args, .. } = doubt;
    let args = masker.seen(args);
    wording::found_out(tool, args.as_str(), finding)
}

#[cfg(test)]
mod tests;
