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

    /// Ends the run's part of the conversation. It is kept if the run has an answer, and forgotten if not, so that no
    /// half of an exchange stays.
    pub(crate) fn settle<T>(&self, node: &Node, outcome: &Outcome<T>) {
        if outcome.result.is_err() {
            return;
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
}

/// Returns `true` if the last message is a model's answer, and no call waits for its result.
fn is_answered(history: &History) -> bool {
    matches!(history.messages().last(), Some(Message::Assistant { calls, .. }) if calls.is_empty())
}
