//! Reasons for which work is dropped before it is done.

use super::{Node, Root};
use std::sync::Arc;

/// Reason for which work is dropped.
pub(crate) enum Ending {
    /// The run has ended.
    Run,
    /// The work was left with this reason, for instance because another arm took over.
    Left(Arc<str>),
    /// The work was dropped without a reason: its future was dropped, or its agent has failed.
    Unsaid,
}

impl Ending {
    /// Returns the reason for which the work at this node is being dropped.
    pub(crate) fn of(root: &Root, node: &Node) -> Self {
        match (root.stopped(), node.why_left()) {
            (Some(_), _) => Ending::Run,
            (None, Some(why)) => Ending::Left(why),
            (None, None) => Ending::Unsaid,
        }
    }

    /// Returns the text that says why a call is left unsettled; `by_it` if the end of the run came from within the
    /// call.
    pub(crate) fn of_call(&self, by_it: bool) -> &str {
        match self {
            Ending::Run if by_it => "the run was ended from within this call",
            Ending::Run => "the run ended before this call did",
            Ending::Left(why) => why,
            Ending::Unsaid => "the agent was dropped before this call ended",
        }
    }

    /// Returns the text that says why an escalation is closed.
    pub(crate) fn of_escalation(&self) -> &str {
        match self {
            Ending::Run => "the run ended",
            Ending::Left(why) => why,
            Ending::Unsaid => "the work that it was a part of ended",
        }
    }
}
