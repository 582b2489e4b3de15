//! Why work is dropped before it is done.

use super::{Node, Root};
use std::sync::Arc;

/// What ends the work.
pub(crate) enum Ending {
    /// The run has ended.
    Run,
    /// Somebody has taken over, and said so.
    Left(Arc<str>),
    /// Nobody waits for it any more, or its agent has failed.
    Unsaid,
}

impl Ending {
    /// What ends the work at this node, which is being dropped.
    pub(crate) fn of(root: &Root, node: &Node) -> Self {
        match (root.stopped(), node.why_left()) {
            (Some(_), _) => Ending::Run,
            (None, Some(why)) => Ending::Left(why),
            (None, None) => Ending::Unsaid,
        }
    }

    /// Why a call is left unsettled; `by_it` if what ended the run was within this call.
    pub(crate) fn of_call(&self, by_it: bool) -> &str {
        match self {
            Ending::Run if by_it => "the run was ended from within this call",
            Ending::Run => "the run ended before this call did",
            Ending::Left(why) => why,
            Ending::Unsaid => "the agent was dropped before this call ended",
        }
    }

    /// Why an escalation is.
    pub(crate) fn of_escalation(&self) -> &str {
        match self {
            Ending::Run => "the run ended",
            Ending::Left(why) => why,
            Ending::Unsaid => "the work that it was a part of ended",
        }
    }
}
