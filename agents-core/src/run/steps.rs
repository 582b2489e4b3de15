//! The steps of a run: where each is, and when.

use super::{
    CallState, EventKind, Node, RunContext, Timestamp, Within,
    kept::{Kept, What},
    node::Path,
};
use crate::{
    Json,
    model::{Model, Usage},
};
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
    pub(crate) fn with_call<R>(&self, f: impl FnOnce(&mut CallState) -> R) -> Option<R> {
        let Some(Within::Call(seq, _)) = self.within else {
            return None;
        };
        self.node.with_frame(|frame| {
            let mut calls = frame.calls.iter_mut();
            calls.find(|call| call.seq == seq).map(f)
        })
    }

    /// The arguments of the call within which this is, as they stand.
    pub(crate) fn arguments(&self) -> Option<Json> {
        self.with_call(|call| call.input())
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
    pub(crate) fn asking(&self, turn: u32, model: &Arc<dyn Model>, choosing: bool) -> Asking<'_> {
        Asking {
            cx: self,
            t_start: self.now(format_args!("{}/turn{turn}/start", self.node.path())),
            turn,
            model: model.clone(),
            choosing,
            replied: None,
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
        cx.root.step(Kept {
            worker: cx.node.worker(),
            t_start,
            t_end,
            what: What::Agent { ok },
        });
    }
}

/// A model that is asked. It is a step as well, also if nobody waits for its answer any more.
pub(crate) struct Asking<'a> {
    cx: &'a RunContext,
    t_start: Timestamp,
    turn: u32,
    model: Arc<dyn Model>,
    choosing: bool,
    /// When, how many calls it asked for, and what that cost.
    replied: Option<(Timestamp, Option<usize>, Usage)>,
}

impl Asking<'_> {
    /// The model has answered, or failed.
    pub(crate) fn replied(&mut self, usage: Option<Usage>) {
        self.replied = Some((self.ends(), None, usage.unwrap_or_default()));
    }

    /// So many calls stand in its answer, however it made them.
    pub(crate) fn called(&mut self, count: usize) {
        if let Some((_, calls, _)) = &mut self.replied {
            *calls = Some(count);
        }
    }

    fn ends(&self) -> Timestamp {
        let (path, turn) = (self.cx.node.path(), self.turn);
        self.cx.now(format_args!("{path}/turn{turn}/end"))
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let replied = self.replied.take();
        let (t_end, calls, usage) =
            replied.unwrap_or_else(|| (self.ends(), None, Usage::default()));
        self.cx.root.step(Kept {
            worker: self.cx.node.worker(),
            t_start: self.t_start,
            t_end,
            what: What::Turn {
                turn: self.turn,
                model: self.model.clone(),
                calls,
                usage,
                choosing: self.choosing,
                refused: false,
            },
        });
    }
}
