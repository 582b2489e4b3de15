//! Conversation of which a run is one part.

use super::Node;
use crate::{
    journal::{PlaceId, State},
    model::{History, Message},
    run::Outcome,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Conversation so far, lent to the run that continues it.
#[derive(Clone)]
pub(crate) struct Exchange {
    earlier: Arc<Mutex<Earlier>>,
    /// Task that the user says now.
    task: String,
}

/// Conversation so far.
#[derive(Clone, Default)]
pub(crate) struct Earlier {
    pub(crate) history: Arc<History>,
    /// Number of model turns that the conversation took.
    pub(crate) turns: u32,
    /// Names of the agents to which the conversation was handed, one after the other.
    pub(crate) handed_to: Vec<String>,
}

/// Conversation that one agent hands to another.
#[derive(Clone, Default)]
pub(crate) struct Handover {
    pub(crate) earlier: Earlier,
    /// Is `true` if the user's words are among the messages already.
    pub(crate) is_said: bool,
    /// Names of the agents that had the conversation in this run, and handed it on.
    pub(crate) by: Vec<String>,
}

/// Conversation of a run at its end, as the agent has it that had it last.
struct Last {
    history: Arc<History>,
    /// Number of model turns that the whole conversation took.
    turns: u32,
    /// Results of calls that the model was not given.
    results: Vec<Message>,
    /// Names of the agents to which the conversation was handed, one after the other.
    handed_to: Vec<String>,
    /// Is `true` if a tool that writes has run for one of these agents.
    has_written: bool,
}

impl Last {
    /// Returns the conversation that began at the place `id`.
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
    pub(crate) fn new(earlier: &Arc<Mutex<Earlier>>, task: String) -> Self {
        Exchange {
            earlier: earlier.clone(),
            task,
        }
    }

    pub(super) fn earlier(&self) -> MutexGuard<'_, Earlier> {
        self.earlier.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the run's part of the conversation. It is kept if the run has an answer. Without one it is kept if a tool
    /// that writes has run, so that the model knows of the effect, and forgotten otherwise.
    pub(crate) fn settle<T>(&self, node: &Node, outcome: &Outcome<T>) {
        if let Err(error) = &outcome.result {
            return self.keep_effects(node, &error.to_string());
        }
        let last = node.machine().look(|state| Last::of(state, node.id()));
        let mut earlier = self.earlier();
        if let Some(last) = last {
            earlier.turns = earlier.turns.max(last.turns);
            earlier.handed_to = last.handed_to;
            // A history that was abandoned for another arm is not continued.
            if is_answered(&last.history) && node.taken().is_none() {
                earlier.history = last.history;
                return;
            }
        }
        // The answer does not come from the model: only the exchange is known.
        let mut history = earlier.history.with_slots();
        history.push(Message::User {
            content: self.task.clone(),
        });
        history.push(Message::Assistant {
            content: outcome.outputs.response.clone(),
            thinking: None,
            calls: Vec::new(),
        });
        earlier.history = Arc::new(history);
    }

    /// Keeps a part of the conversation that has no answer, if a tool that writes has run in it. Every call gets a
    /// result, and the missing answer a remark with the reason.
    fn keep_effects(&self, node: &Node, reason: &str) {
        let last = node.machine().look(|state| Last::of(state, node.id()));
        let last = last.filter(|last| last.has_written && node.taken().is_none());
        let Some(last) = last else {
            return;
        };
        let mut history = last.history.with_slots();
        let results = last.results.into_iter();
        results.for_each(|result| history.push(result));
        history.push(Message::Assistant {
            content: format!("[no answer: {reason}]"),
            thinking: None,
            calls: Vec::new(),
        });
        let mut earlier = self.earlier();
        earlier.turns = earlier.turns.max(last.turns);
        earlier.handed_to = last.handed_to;
        earlier.history = Arc::new(history);
    }

    /// Returns a guard that keeps effects if the run at this place is dropped.
    pub(crate) fn until_settled<'a>(&'a self, node: &'a Node) -> UntilSettled<'a> {
        UntilSettled {
            exchange: Some(self),
            node,
        }
    }
}

/// Guard of an exchange whose run goes on. If the run is dropped, the exchange is kept or forgotten like one that failed.
pub(crate) struct UntilSettled<'a> {
    exchange: Option<&'a Exchange>,
    node: &'a Node,
}

impl UntilSettled<'_> {
    /// Ends the exchange with the outcome of its run.
    pub(crate) fn settle<T>(mut self, outcome: &Outcome<T>) {
        if let Some(exchange) = self.exchange.take() {
            exchange.settle(self.node, outcome);
        }
    }
}

impl Drop for UntilSettled<'_> {
    fn drop(&mut self) {
        if let Some(exchange) = self.exchange {
            exchange.keep_effects(self.node, "the send was dropped");
        }
    }
}

/// Returns `true` if the last message is a model's answer, and no call waits for its result.
fn is_answered(history: &History) -> bool {
    matches!(history.messages().last(), Some(Message::Assistant { calls, .. }) if calls.is_empty())
}
