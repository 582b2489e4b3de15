//! The steps of a run: where each is, and when.

use super::{
    Call, CallFact, Cost, EventKind, Node, RunContext, Timestamp, Within,
    node::Path,
    state::{Fact, Replied},
};
use crate::{Json, model::Reply};
use std::{fmt, sync::Arc};

pub(crate) struct CallPath<'a>(Path<'a>, u32);

impl fmt::Display for CallPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/call{:04}", self.0, self.1)
    }
}

impl Node {
    /// The place of a call by name, whatever its attempts; written only when somebody wants to read it.
    pub(crate) fn call_path(&self, seq: u32) -> CallPath<'_> {
        CallPath(self.path(), seq)
    }
}

impl RunContext {
    /// The place, by name: the agent's, or the call's within which this is.
    pub(crate) fn step_place(&self) -> String {
        match self.within {
            Some(Within::Call(seq, _)) => self.node.call_path(seq).to_string(),
            Some(answer @ Within::Answer(_)) => format!("{}/{answer}", self.node.path()),
            None => self.node.path().to_string(),
        }
    }

    /// The call within which this is, as long as its agent is at it.
    pub(crate) fn with_call<R>(&self, f: impl FnOnce(&Call) -> R) -> Option<R> {
        let Some(Within::Call(seq, _)) = self.within else {
            return None;
        };
        self.node.frame(|frame| {
            let mut calls = frame.calls.iter();
            calls.find(|call| call.seq == seq).map(f)
        })
    }

    /// Adds a fact about the call within which this is.
    pub(crate) fn add_to_call(&self, fact: CallFact) {
        if let Some(Within::Call(seq, _)) = self.within {
            self.node.add(Fact::Call { seq, fact });
        }
    }

    /// The arguments of the call within which this is, as they stand.
    pub(crate) fn arguments(&self) -> Option<Json> {
        self.with_call(Call::input)
    }

    /// The agent that works here begins.
    pub(crate) fn began(&self) -> Working<'_> {
        self.emit(|| EventKind::AgentStarted);
        Working {
            cx: self,
            t_start: self.now(format_args!("{}/start", self.node.path())),
            ok: false,
        }
    }

    /// A turn of the agent that works here begins.
    pub(crate) fn asking(&self, turn: u32, model: &str, choosing: bool) -> Asking<'_> {
        Asking {
            cx: self,
            t_start: self.now(format_args!("{}/turn{turn}/start", self.node.path())),
            turn,
            model: model.into(),
            choosing,
            is_over: false,
        }
    }
}

/// An agent at work. It is a step of the run however it ends, also with the run or the work around it.
pub(crate) struct Working<'a> {
    cx: &'a RunContext,
    t_start: Timestamp,
    ok: bool,
}

impl Working<'_> {
    /// It has ended.
    pub(crate) fn ended(mut self, ok: bool) {
        self.ok = ok;
    }
}

impl Drop for Working<'_> {
    fn drop(&mut self) {
        let Working { cx, t_start, ok } = *self;
        cx.emit(|| EventKind::AgentEnded { ok });
        let t_end = cx.now(format_args!("{}/end", cx.node.path()));
        cx.node.add(Fact::Worked { ok, t_start, t_end });
    }
}

/// A model that is asked. It is a step as well, also if nobody waits for its answer any more.
pub(crate) struct Asking<'a> {
    cx: &'a RunContext,
    t_start: Timestamp,
    turn: u32,
    model: Arc<str>,
    choosing: bool,
    /// Whether the fact of its end is added.
    is_over: bool,
}

impl Asking<'_> {
    /// The model has replied.
    pub(crate) fn replied(
        mut self,
        reply: Reply,
        cost: Option<Cost>,
        longest: usize,
        t_end: Timestamp,
    ) {
        self.is_over = true;
        self.cx.node.add(Fact::Replied(Box::new(Replied {
            reply,
            model: self.model.clone(),
            cost,
            t_start: self.t_start,
            t_end,
            choosing: self.choosing,
            longest,
        })));
    }

    pub(crate) fn ends(&self) -> Timestamp {
        let (path, turn) = (self.cx.node.path(), self.turn);
        self.cx.now(format_args!("{path}/turn{turn}/end"))
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        self.cx.node.add(Fact::Unanswered {
            model: self.model.clone(),
            t_start: self.t_start,
            t_end: self.ends(),
            choosing: self.choosing,
        });
    }
}
