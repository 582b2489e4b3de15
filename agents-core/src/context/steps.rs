//! Steps of a run: the place and the time of each.

use super::{Node, RunContext, Within, node::Path};
use crate::{
    Json,
    journal::{Call, CallFact, Fact, Given, Replied},
    model::{ModelError, Reply},
    run::{Cost, Timestamp},
    secret::SecretScope,
};
use std::{fmt, sync::Arc};

pub(crate) struct CallPath<'a>(Path<'a>, u32);

impl fmt::Display for CallPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/call{:04}", self.0, self.1)
    }
}

/// Path of a turn in the run, as records name it: the path of its agent, and the number of the turn.
pub(crate) struct TurnPath<'a>(Path<'a>, u32);

impl fmt::Display for TurnPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/turn{:04}", self.0, self.1)
    }
}

impl Node {
    /// Returns the path of a turn of the agent here.
    pub(crate) fn turn_path(&self, turn: u32) -> TurnPath<'_> {
        TurnPath(self.path(), turn)
    }

    /// Returns the path of a call of the agent here, the same for all its attempts; it is put together when it is
    /// formatted.
    pub(crate) fn call_path(&self, seq: u32) -> CallPath<'_> {
        CallPath(self.path(), seq)
    }
}

impl RunContext {
    /// Returns the path of this place: that of the agent, or of the call or the turn within which this place is.
    pub(crate) fn step_place(&self) -> String {
        match self.within {
            Some(Within::Call(seq, _)) => self.node.call_path(seq).to_string(),
            Some(answer @ Within::Answer(_)) => format!("{}/{answer}", self.node.path()),
            None => self.node.path().to_string(),
        }
    }

    /// Calls `f` with the call around this place, as long as its agent still handles it. Returns `None` afterwards and
    /// outside of a call.
    pub(crate) fn with_call<R>(&self, f: impl FnOnce(&Call) -> R) -> Option<R> {
        let Some(Within::Call(seq, _)) = self.within else {
            return None;
        };
        self.node.frame(|frame| {
            let mut calls = frame.under_way();
            calls.find(|call| call.seq == seq).map(f)
        })
    }

    /// Adds a fact about the call around this place; does nothing outside of a call.
    pub(crate) fn add_to_call(&self, fact: CallFact) {
        if let Some(Within::Call(seq, _)) = self.within {
            self.node.add(Fact::Call { seq, fact });
        }
    }

    /// Adds the fact that the tool here asked for a secret. `found` has the secret's scope and whether it is a fallback, or
    /// the reason why there is none.
    pub(crate) fn asked_for_secret(&self, name: &str, found: Result<(SecretScope, bool), String>) {
        let found = found.map(|(scope, fallback)| Given { scope, fallback });
        let name = name.to_owned();
        self.add_to_call(CallFact::Secret { name, found });
    }

    /// Returns the arguments with which the call around this place runs; `None` outside of a call, and once its agent
    /// no longer handles the call.
    pub(crate) fn arguments(&self) -> Option<Json> {
        self.with_call(Call::input)
    }

    /// Adds the fact that the agent here begins to work; the returned value adds the fact that the work has ended.
    pub(crate) fn began(&self) -> Working<'_> {
        let since = self.now();
        self.node.add(Fact::Working);
        Working {
            cx: self,
            since,
            ok: false,
        }
    }

    /// Begins a request to a model here; the returned value adds the fact that the request has ended.
    pub(crate) fn asking(&self, model: Arc<str>, choosing: bool) -> Asking<'_> {
        Asking {
            cx: self,
            model,
            choosing,
            error: None,
            is_over: false,
        }
    }
}

/// Agent at work, from its begin to its end. Its work becomes a step of the run's trace however it ends, also if the
/// run or the work around it ends first.
pub(crate) struct Working<'a> {
    cx: &'a RunContext,
    since: Timestamp,
    ok: bool,
}

impl Working<'_> {
    /// Ends the agent's step in the trace; `ok` tells whether it has succeeded.
    pub(crate) fn ended(mut self, ok: bool) {
        self.ok = ok;
    }
}

impl Drop for Working<'_> {
    fn drop(&mut self) {
        let Working { cx, since, ok } = *self;
        cx.node.add(Fact::Worked { ok, since });
    }
}

/// Request to a model, from its begin to its end. It becomes a step of the run's trace, also if its answer is no longer
/// waited for.
pub(crate) struct Asking<'a> {
    cx: &'a RunContext,
    model: Arc<str>,
    choosing: bool,
    error: Option<ModelError>,
    /// Is `true` once the fact that the request has ended is added.
    is_over: bool,
}

impl Asking<'_> {
    /// Records that the request to the model has ended with this error.
    pub(crate) fn failed(mut self, error: ModelError) {
        self.error = Some(error);
    }

    /// Ends the request with the model's reply, which becomes a fact.
    pub(crate) fn replied(mut self, mut reply: Reply, cost: Option<Cost>, longest: usize) {
        self.is_over = true;
        self.cx.node.add(Fact::Replied(Box::new(Replied {
            model: reply
                .model
                .take()
                .map_or_else(|| self.model.clone(), Arc::from),
            reply,
            cost,
            choosing: self.choosing,
            longest,
        })));
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        self.cx.node.add(Fact::Unanswered {
            model: self.model.clone(),
            error: self.error.take(),
            choosing: self.choosing,
        });
    }
}
