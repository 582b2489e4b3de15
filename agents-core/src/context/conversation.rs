//! Conversation of which a run is one part.

use super::Node;
use crate::{
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
        let turns = node.frame(|frame| frame.turns);
        let history = node.machine().take_history(node.id()).unwrap_or_default();
        let mut earlier = self.earlier();
        earlier.turns += turns;
        // A history that was abandoned for another arm is not continued.
        if is_answered(&history) && node.taken().is_none() {
            earlier.history = history;
            return;
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
        let (has_written, turns, results) = node.frame(|frame| {
            let results = frame.results_left();
            (frame.has_written(), frame.turns, results)
        });
        if !has_written || node.taken().is_some() {
            return;
        }
        let history = node.machine().take_history(node.id()).unwrap_or_default();
        let mut history = history.with_slots();
        results.into_iter().for_each(|result| history.push(result));
        history.push(Message::Assistant {
            content: format!("[no answer: {reason}]"),
            thinking: None,
            calls: Vec::new(),
        });
        let mut earlier = self.earlier();
        earlier.turns += turns;
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
