//! The steps of a run: where each is, and when.

use super::{
    CallState, EventKind, Node, RunContext, Timestamp, Within,
    kept::{Kept, What},
    node::Path,
};
use crate::Json;
use std::fmt;

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

    /// The arguments of the call within which this is, as they stand.
    pub(crate) fn arguments(&self) -> Option<Json> {
        let Some(Within::Call(seq, _)) = self.within else {
            return None;
        };
        self.node.with_frame(|frame| {
            let mut calls = frame.calls.iter();
            calls.find(|call| call.seq == seq).map(CallState::input)
        })
    }

    /// The agent that works here begins.
    pub(crate) fn began(&self) -> Timestamp {
        self.emit(|| EventKind::AgentStarted);
        self.now(format_args!("{}/start", self.node.path()))
    }

    /// The agent that works here has ended.
    pub(crate) fn ended(&self, t_start: Timestamp, ok: bool) {
        self.emit(|| EventKind::AgentEnded { ok });
        let t_end = self.now(format_args!("{}/end", self.node.path()));
        self.root.step(Kept {
            worker: self.node.worker(),
            t_start,
            t_end,
            what: What::Agent { ok },
        });
    }
}
