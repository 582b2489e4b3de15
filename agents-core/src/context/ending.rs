//! Reasons for which work is dropped before it is done.

use super::{Node, Root};
use std::sync::Arc;

/// Reason for which work is dropped.
pub(crate) enum Ending {
    /// The run has ended.
    Run,
    /// The work was left with this reason, for instance because another arm took over.
    Abandoned(Arc<str>),
    /// The work was dropped without a reason: its future was dropped, or its agent has failed.
    Unexplained,
}

impl Ending {
    /// Returns the reason for which the work at this node is being dropped.
    pub(crate) fn of(root: &Root, node: &Node) -> Self {
        match (root.stopped(), node.reason_abandoned()) {
            (Some(_), _) => Ending::Run,
            (None, Some(why)) => Ending::Abandoned(why),
            (None, None) => Ending::Unexplained,
        }
    }

    /// Returns the text that says why a call is left unsettled; `by_it` if the end of the run came from within the
    /// call.
    pub(crate) fn of_call(&self, by_it: bool) -> &str {
        match self {
            Ending::Run if by_it => "the run was ended from within this call",
            Ending::Run => "the run ended before this call did",
            Ending::Abandoned(why) => why,
            Ending::Unexplained => "the agent was dropped before this call ended",
        }
    }

    /// Returns the text that says why an escalation is closed.
    pub(crate) fn of_escalation(&self) -> &str {
        match self {
            Ending::Run => "the run ended",
            Ending::Abandoned(why) => why,
            Ending::Unexplained => "the work that it was a part of ended",
        }
    }
}
