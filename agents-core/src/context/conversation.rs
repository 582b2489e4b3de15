//! Conversation that a run continues.

use super::{Node, RunContext, wording};
use crate::{
    Error, ErrorKind, Json,
    journal::{Frame, PlaceId, State},
    model::{Content, History, Message, Shorten, check_results},
    run::Outcome,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Message of a chat and its answer: the run continues the conversation, and adds to it.
#[derive(Clone)]
pub(crate) struct Exchange {
    talk: Arc<Mutex<Talk>>,
    /// Conversation from which the run goes on; `None` if the run goes on from the conversation in `talk`.
    from: Option<Earlier>,
    /// Input of the run from the user; `task` is the same input as the model gets it.
    input: Option<Json>,
    task: Content,
    shorten: Option<Arc<dyn Shorten>>,
}

/// Conversation of a chat as it is after each message.
#[derive(Clone, Default)]
pub(crate) struct Talk {
    pub(crate) earlier: Earlier,
    /// Last message, if its run ended without an answer and the chat can go on with it; else `None`.
    pub(crate) unfinished: Option<Unfinished>,
}

/// Message whose run ended without an answer, kept so that the chat can go on with the message.
#[derive(Clone)]
pub(crate) struct Unfinished {
    /// Input of the run that ended without an answer.
    pub(crate) input: Json,
    /// Conversation up to the point at which the run broke off.
    pub(crate) until: Earlier,
}

/// Conversation so far, with which the next run of a chat begins.
#[derive(Clone, Default)]
pub(crate) struct Earlier {
    pub(crate) history: Arc<History>,
    /// Number of model turns that the conversation has taken so far.
    pub(crate) turns: u32,
    /// Names of the agents to which the conversation was handed, one after the other. If an agent got it back, the
    /// agents after that one are left out.
    pub(crate) handed_to: Vec<String>,
    /// Is `true` if the user's words are among the messages already.
    pub(crate) is_said: bool,
}

/// Conversation that one agent hands to another, which answers in its place.
#[derive(Clone, Default)]
pub(crate) struct Handover {
    pub(crate) earlier: Earlier,
    /// Names of the agents that had the conversation in this run, and handed it on.
    pub(crate) by: Vec<String>,
    /// Is `true` for a hand-off: the next agent also gets the place in a team. Is `false` if the next agent answers for
    /// the agent here, as the last agent of a chain does.
    pub(crate) with_place: bool,
}

/// Conversation at the end of a run, as the last agent that took part in it has it.
struct Last {
    history: Arc<History>,
    /// Number of model turns that the whole conversation took.
    turns: u32,
    /// Results of calls that the model was not given, since the run ended before.
    results: Vec<Message>,
    /// Names of the agents to which the conversation was handed, one after the other. If an agent got it back, the
    /// agents after that one are left out.
    handed_to: Vec<String>,
    /// Is `true` if a tool that writes has run for one of the agents that took part in the conversation.
    has_written: bool,
}

impl Last {
    /// Returns the conversation that began at the place `id`, followed through all hand-offs; `None` if no model had a
    /// conversation there.
    fn of(state: &State, id: PlaceId) -> Option<Self> {
        let mut place = state.place(id);
        let first = place.agent.clone();
        let mut frame = place.frame.as_deref()?;
        let mut handed_to: Vec<String> = Vec::new();
        let mut has_written = frame.has_written();
        while let Some(to) = frame.handed.as_deref() {
            frame = match &frame.successor {
                Some(successor) => successor,
                // The other agent has not answered.
                None => {
                    let children = place.children.values();
                    let below = children.filter(|id| *state.place(**id).agent == *to);
                    let Some(below) = below.max() else { break };
                    place = state.place(*below);
                    let Some(frame) = place.frame.as_deref() else {
                        break;
                    };
                    frame
                }
            };
            has_written |= frame.has_written();
            // An agent that gets the conversation back has it as before.
            let before = handed_to.iter().position(|name| name == to);
            match (before, *first == *to) {
                (_, true) => handed_to.clear(),
                (Some(before), _) => handed_to.truncate(before + 1),
                (None, _) => handed_to.push(to.to_owned()),
            }
        }
        Some(Last {
            history: frame.history.clone(),
            turns: frame.before.saturating_add(frame.turns),
            results: frame.results_left(),
            handed_to,
            has_written,
        })
    }
}

impl Exchange {
    /// Creates the exchange that begins with this input, which the model gets as `task`.
    pub(crate) fn new(talk: &Arc<Mutex<Talk>>, input: Option<Json>, task: Content) -> Self {
        Exchange {
            talk: talk.clone(),
            from: None,
            input,
            task,
            shorten: None,
        }
    }

    /// Makes the exchange go on from this conversation instead of the conversation in `talk`.
    pub(crate) fn from(mut self, earlier: Earlier) -> Self {
        self.from = Some(earlier);
        self
    }

    /// Sets the code that shortens the conversation before the message is sent, if the chat has some.
    pub(crate) fn shorten(mut self, shorten: Option<Arc<dyn Shorten>>) -> Self {
        self.shorten = shorten;
        self
    }

    /// Returns the conversation before the run, with which the run begins.
    pub(crate) fn earlier(&self) -> Earlier {
        let kept = || self.talk().earlier.clone();
        self.from.clone().unwrap_or_else(kept)
    }

    fn talk(&self) -> MutexGuard<'_, Talk> {
        self.talk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shortens the conversation before the run, if the chat has code for that. A run that goes on with an unfinished
    /// message leaves the conversation as it is.
    async fn shortened(&self) -> Result<(), Error> {
        let Some(shorten) = self.shorten.as_ref().filter(|_| self.from.is_none()) else {
            return Ok(());
        };
        let history = self.talk().earlier.history.clone();
        // The prompt stays the agent's own.
        let messages = match history.messages() {
            [Message::System { .. }, messages @ ..] | messages => messages,
        };
        if let Some(messages) = shorten.shorten(messages).await? {
            check_results(&messages).map_err(|problem| Error::new(ErrorKind::Build, problem))?;
            self.talk().earlier.history = Arc::new(History::from(messages));
        }
        Ok(())
    }

    /// Adds the run's messages to the conversation, or drops them. The messages are kept if the run has an answer. If
    /// that answer does not come from the agent's own model, only the user's words and the answer are added. Without an
    /// answer they are kept if a tool that writes has run, so that the model knows of the effect, and dropped
    /// otherwise.
    pub(crate) fn settle<T>(&self, node: &Node, outcome: &Outcome<T>) {
        if let Err(error) = &outcome.result {
            return self.keep_effects(node, &error.to_string());
        }
        let last = node.machine().look(|state| Last::of(state, node.id()));
        let mut talk = self.talk();
        talk.unfinished = None;
        let earlier = &mut talk.earlier;
        if let Some(last) = last {
            earlier.turns = earlier.turns.max(last.turns);
            earlier.handed_to = last.handed_to;
            // A history that was abandoned for another arm is not continued.
            if is_answered(&last.history) && node.taken().is_none() {
                earlier.history = last.history;
                return;
            }
        }
        // The answer does not come from the agent's own model: only the exchange is known.
        self.push(earlier, outcome.outputs.response.clone());
    }

    /// Adds the user's words and this answer to the conversation.
    fn push(&self, earlier: &mut Earlier, answer: String) {
        let mut history = earlier.history.with_slots();
        history.push(Message::User {
            content: self.task.clone(),
        });
        history.push(reply(answer));
        earlier.history = Arc::new(history);
    }

    /// Keeps the messages of a run without an answer in the conversation if a tool that writes has run. Every call gets
    /// a result, and a remark with the reason stands in place of the answer. If no model had the conversation, or other
    /// work took its place after an escalation, only the user's words and the remark are kept. Whether a tool has
    /// written or not, the messages are also kept apart as `unfinished` if the chat can go on with them: a model was
    /// told of the message, and its reply does not come last.
    fn keep_effects(&self, node: &Node, reason: &str) {
        let (last, has_written) = node.machine().look(|state| {
            let has_written = state.place(node.id()).wrote;
            (Last::of(state, node.id()), has_written)
        });
        let mut talk = self.talk();
        talk.unfinished = None;
        let Some(last) = last.filter(|_| node.taken().is_none()) else {
            if has_written {
                let remark = wording::no_answer_after_writing(reason);
                self.push(&mut talk.earlier, remark);
            }
            return;
        };
        let mut history = last.history.with_slots();
        let results = last.results.into_iter();
        results.for_each(|result| history.push(result));
        let until = Earlier {
            is_said: !matches!(
                history.messages().last(),
                Some(Message::Assistant { .. }) | None
            ),
            history: Arc::new(history),
            turns: last.turns,
            handed_to: last.handed_to,
        };
        if last.has_written {
            let mut history = until.history.with_slots();
            history.push(reply(wording::no_answer(reason)));
            talk.earlier = Earlier {
                history: Arc::new(history),
                is_said: false,
                ..until.clone()
            };
        }
        let input = self.input.clone().filter(|_| until.is_said);
        talk.unfinished = input.map(|input| Unfinished { input, until });
    }

    /// Returns a guard that decides about the messages if the run at this place is dropped.
    pub(crate) fn until_settled<'a>(&'a self, node: &'a Node) -> UntilSettled<'a> {
        UntilSettled {
            exchange: Some(self),
            node,
        }
    }
}

impl RunContext {
    /// Shortens the conversation that the run continues, before the agent of the run begins.
    pub(crate) async fn shorten_conversation(&self) -> Result<(), Error> {
        let exchange = self.root.settings.exchange.as_ref();
        let exchange = exchange.filter(|exchange| exchange.shorten.is_some());
        match exchange.filter(|_| self.node.frame(Frame::is_silent)) {
            // Agents that sum up do not write the answer.
            Some(exchange) => Box::pin(self.in_answer(0).enter(exchange.shortened())).await,
            None => Ok(()),
        }
    }
}

fn reply(content: String) -> Message {
    Message::Assistant {
        content,
        thinking: None,
        calls: Vec::new(),
    }
}

/// Guard while the run of a message goes on. If the run is dropped, its messages are kept or dropped like those of a
/// run that failed.
pub(crate) struct UntilSettled<'a> {
    exchange: Option<&'a Exchange>,
    node: &'a Node,
}

impl UntilSettled<'_> {
    /// Ends the guard: the messages are kept or dropped by the outcome of the run.
    pub(crate) fn settle<T>(mut self, outcome: &Outcome<T>) {
        if let Some(exchange) = self.exchange.take() {
            exchange.settle(self.node, outcome);
        }
    }
}

impl Drop for UntilSettled<'_> {
    fn drop(&mut self) {
        if let Some(exchange) = self.exchange {
            exchange.keep_effects(self.node, wording::SEND_DROPPED);
        }
    }
}

/// Returns `true` if a conversation can go on with a new message: it ends with a model's answer, and no call waits for
/// its result.
fn is_answered(history: &History) -> bool {
    matches!(history.messages().last(), Some(Message::Assistant { calls, .. }) if calls.is_empty())
}
