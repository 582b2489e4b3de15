//! A conversation of which a run is one part.

use super::{Node, RunContext};
use crate::{
    model::{History, Message},
    run::Outcome,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What has been said, lent to the run that goes on with it.
#[derive(Clone)]
pub(crate) struct Talk {
    said: Arc<Mutex<Said>>,
    /// What is said now.
    task: String,
}

/// What has been said.
#[derive(Clone, Default)]
pub(crate) struct Said {
    pub(crate) history: Arc<History>,
    /// How many turns of a model that took.
    pub(crate) turns: u32,
}

impl Talk {
    pub(crate) fn new(said: &Arc<Mutex<Said>>, task: String) -> Self {
        Talk {
            said: said.clone(),
            task,
        }
    }

    fn said(&self) -> MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The run is over. What it said belongs to the conversation if it has an answer, and is
    /// forgotten if not: nothing half-said stays.
    pub(crate) fn settle<T>(&self, node: &Node, outcome: &Outcome<T>) {
        if outcome.result.is_err() {
            return;
        }
        let turns = node.frame(|frame| frame.turns);
        let history = node.machine().take_history(node.id()).unwrap_or_default();
        let mut said = self.said();
        said.turns += turns;
        // What was given up for another way is not what the conversation goes on with.
        if is_answered(&history) && node.taken().is_none() {
            said.history = history;
            return;
        }
        // The answer is not the model's: the exchange alone is known.
        let mut history = said.history.moved();
        history.push(Message::User {
            content: self.task.clone(),
        });
        history.push(Message::Assistant {
            content: outcome.outputs.response.clone(),
            thinking: None,
            calls: Vec::new(),
        });
        said.history = Arc::new(history);
    }
}

/// Whether the last word is a model's answer, and no call waits for its result.
fn is_answered(history: &History) -> bool {
    matches!(history.messages().last(), Some(Message::Assistant { calls, .. }) if calls.is_empty())
}

impl RunContext {
    /// What was said before in the conversation of which this agent's run is a part.
    pub(crate) fn said(&self) -> Said {
        let talk = self.root.settings.talk.as_ref();
        match talk.filter(|_| self.node.continues(&self.root.node)) {
            Some(talk) => talk.said().clone(),
            None => Said::default(),
        }
    }
}
