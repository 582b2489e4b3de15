//! Places of calls, and calls within calls.

use super::{Node, State};
use std::sync::{Arc, atomic::Ordering::Relaxed};

impl State {
    /// How many calls the agents that ran within this call have made, settled or not.
    pub(crate) fn calls_within(&self, seq: u32) -> usize {
        self.within(seq).map(|child| child.calls()).sum()
    }

    /// Whether what ended the run was within this call.
    pub(crate) fn ended_run(&self, seq: u32) -> bool {
        self.within(seq).any(|child| child.ended_run())
    }

    /// The tokens that were spent within this call.
    pub(crate) fn spent_within(&self, seq: u32) -> u64 {
        self.within(seq).map(|child| child.spent()).sum()
    }

    /// The places within this call, one for each round.
    fn within(&self, seq: u32) -> impl Iterator<Item = &Arc<Node>> {
        let call = format!("call{seq:04}.");
        let children = self.children.iter();
        let within = children.filter(move |(key, _)| key.starts_with(&call));
        within.map(|(_, child)| child)
    }

    /// How many calls the agent here has made.
    fn made(&self) -> usize {
        let open = self.frame.iter().flat_map(|frame| &frame.calls);
        self.receipts.len() + open.count()
    }
}

impl Node {
    /// Whether this is a call's place.
    pub(super) fn is_call(&self) -> bool {
        self.call().is_some()
    }

    /// The call whose place this is; that of an agent has a digest in its name.
    pub(super) fn call(&self) -> Option<u32> {
        let (call, attempt) = self.key.strip_prefix("call")?.split_once('.')?;
        (!attempt.contains('#')).then(|| call.parse().ok())?
    }

    /// Whether what ended the run was here or below.
    pub(crate) fn ended_run(&self) -> bool {
        self.ended_run.load(Relaxed)
    }

    /// How many calls were made here and below.
    fn calls(&self) -> usize {
        let state = self.state();
        let below = state.children.values().map(|child| child.calls());
        state.made() + below.sum::<usize>()
    }
}
