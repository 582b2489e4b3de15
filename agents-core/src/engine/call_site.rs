//! Place of a call in the engine: the agent that makes it, and its number.

use crate::{
    context::RunContext,
    definition::AgentDefinition,
    journal::{Call, CallFact, Fact, call_path},
};
use tokio::sync::Semaphore;

/// Call that is being handled: the agent that makes it, and the number of the call.
pub(super) struct CallSite<'a> {
    pub(super) definition: &'a AgentDefinition<'a>,
    pub(super) cx: &'a RunContext,
    pub(super) seq: u32,
    /// Semaphore that bounds how many calls of the reply run side by side; `None` if there is no bound.
    pub(super) gate: Option<&'a Semaphore>,
}

impl CallSite<'_> {
    /// Passes the call to `f`. If the call is no longer under way, `f` gets a placeholder that needs no action.
    pub(super) fn with_call<R>(&self, f: impl FnOnce(&Call) -> R) -> R {
        self.cx.node.frame(|frame| {
            let mut calls = frame.under_way();
            match calls.find(|call| call.seq == self.seq) {
                Some(call) => f(call),
                None => f(&Call::closed(self.seq)),
            }
        })
    }

    /// Returns the path of the call in the run.
    pub(super) fn path(&self) -> String {
        call_path(&self.cx.node.path().to_string(), self.seq)
    }

    /// Adds a fact. If the fact ends the run, this call never returns.
    pub(super) async fn add(&self, fact: CallFact) {
        let seq = self.seq;
        let after = self.cx.node.add(Fact::Call { seq, fact });
        if let Some(stop) = after.stop {
            match self.cx.stop(*stop).await {}
        }
    }

    pub(super) fn name(&self) -> String {
        self.with_call(|call| self.cx.masker().text(&call.call.name).into_owned())
    }
}
