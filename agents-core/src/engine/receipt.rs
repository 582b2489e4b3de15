//! Receipt of a call, and the callbacks that get it.

use crate::{
    context::{Ending, Node, Root, RunContext},
    deep::deep,
    definition::AgentDefinition,
    engine::climb,
    journal::{CallFact, Fact},
    observe, panics,
    run::ToolEnvelope,
};
use std::sync::Arc;

/// Tells hooks and subscribers that the model has used a tool, or has looked up knowledge of the agent. Without
/// `definition`, the agent is gone already, as for a task that outlives it.
pub(super) fn tell_used(
    definition: Option<&AgentDefinition<'_>>,
    root: &Root,
    receipt: &ToolEnvelope,
) {
    let masker = &root.settings.masker;
    let known =
        definition.and_then(|definition| Some((definition, definition.knowledge(&receipt.name)?)));
    match known {
        Some((definition, knowledge)) if receipt.is_ok() => {
            definition.hooks.knowledge_used(knowledge.name(), masker);
        }
        Some(_) => {}
        None => {
            if let Some(definition) = definition {
                definition.hooks.tool_used(receipt, masker);
            }
            for hook in &root.settings.tool_hooks {
                panics::told("on_tool_use", masker, || hook(receipt));
            }
        }
    }
}

/// Writes the receipts of unsettled calls at this node and below, with this reason. Decisions about escalations that
/// are recorded there have no effect any more. Work within a call ends before the call does.
pub(crate) fn close_all(node: &Arc<Node>, root: &Root, why: &Ending) {
    close(node, root, None, why);
}

/// Ends the unsettled calls of the agent that works at `node`, and of all agents below it, and writes their receipts.
fn close(node: &Arc<Node>, root: &Root, definition: Option<&AgentDefinition<'_>>, why: &Ending) {
    for child in node.children() {
        deep(|| close_all(&child, root, why));
    }
    climb::void(node, why);
    let left = node.machine().look(|state| {
        let id = node.id();
        let frame = state.place(id).frame.iter();
        let calls = frame.flat_map(|frame| frame.under_way());
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
            tell_used(definition, root, &receipt);
            observe::settled(node, root, seq, &receipt);
        }
    }
}

/// Guard of an agent at work. If the agent is dropped or fails, it writes the receipts of the agent's unsettled calls.
pub(crate) struct Leaving<'a> {
    cx: Option<&'a RunContext>,
    definition: Option<&'a AgentDefinition<'a>>,
}

impl<'a> Leaving<'a> {
    /// Creates the guard for the agent that works at `cx`.
    pub(crate) fn of(cx: &'a RunContext) -> Self {
        let (cx, definition) = (Some(cx), None);
        Leaving { cx, definition }
    }

    /// Creates the guard for a model-driven agent, whose own hooks are told of the calls.
    pub(super) fn driven(cx: &'a RunContext, definition: &'a AgentDefinition<'a>) -> Self {
        let (cx, definition) = (Some(cx), Some(definition));
        Leaving { cx, definition }
    }

    /// Releases the guard, since the agent has its answer and no call is unsettled.
    pub(crate) fn done(mut self) {
        self.cx = None;
    }

    /// Releases the guard of an agent that has its answer, or has handed the conversation to another agent. Calls that
    /// still went on in the background have been cancelled: their receipts are written.
    pub(super) fn answered(self) {
        let Some(RunContext { node, .. }) = self.cx else {
            return;
        };
        if node.frame(|frame| frame.under_way().any(|call| call.receipt.is_none())) {
            drop(self);
        } else {
            self.done();
        }
        node.begin_other_work();
    }
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        let Some(RunContext { node, root, .. }) = self.cx else {
            return;
        };
        close(node, root, self.definition, &Ending::of(root, node));
    }
}
