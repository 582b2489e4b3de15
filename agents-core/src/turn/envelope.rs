//! Stage 5: the receipt, and who is told of it.

use crate::{
    observe,
    run::{CallFact, Ending, EventKind, Fact, Node, Root, RunContext, ToolEnvelope},
};
use std::sync::Arc;

/// A call has its receipt: that is a line in the log and a step of the run, and those who listen are told.
pub(super) fn tell(node: &Node, root: &Root, seq: u32, receipt: Arc<ToolEnvelope>) {
    observe::settled(node, root, seq, &receipt);
    root.emit_at(
        node,
        || node.call_path(seq).to_string(),
        || EventKind::CallEnded(receipt),
    );
}

/// Writes the receipts of calls that are left unsettled, here and below, for this reason; what was decided about
/// escalations has not come true. What is within a call ends before it does.
pub(crate) fn close_all(node: &Arc<Node>, root: &Root, why: &Ending) {
    for child in node.children() {
        close_all(&child, root, why);
    }
    root.void(node, why);
    let left = node.machine().look(|state| {
        let id = node.id();
        let calls = state.place(id).frame.iter().flat_map(|frame| &frame.calls);
        let left = calls.filter(|call| call.receipt.is_none()).map(|call| {
            let why = why.of_call(state.ended_within(id, call.seq));
            (call.seq, state.calls_within(id, call.seq), why.to_owned())
        });
        left.collect::<Vec<_>>()
    });
    for (seq, calls, why) in left {
        let fact = CallFact::Abandoned { why, calls };
        node.add(Fact::Call { seq, fact });
        // If a stored run comes back to this agent, its model has been told.
        if let Some(receipt) = node.add(Fact::Settled { seq }).receipt {
            tell(node, root, seq, receipt);
        }
    }
}

/// Writes the receipts of calls that an agent leaves unsettled which is dropped or fails, as soon as it is.
pub(crate) struct Leaving<'a>(Option<&'a RunContext>);

impl<'a> Leaving<'a> {
    /// Those of the agent that works at `cx`.
    pub(crate) fn of(cx: &'a RunContext) -> Self {
        Leaving(Some(cx))
    }

    /// It has its answer.
    pub(crate) fn done(mut self) {
        self.0 = None;
    }
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        let Some(RunContext { node, root, .. }) = self.0 else {
            return;
        };
        close_all(node, root, &Ending::of(root, node));
    }
}
