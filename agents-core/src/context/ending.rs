//! Reasons for which work is dropped before it is done.

use super::{Node, Root, wording};
use std::sync::Arc;

/// Reason for which work in progress is dropped, as its calls and escalations record it.
pub(crate) enum Ending {
    /// The run has ended, and all work in it is dropped.
    Run,
    /// The work was given up for this reason, for instance because an escalation lets other work take its place.
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

    /// Returns the reason that the receipt of a dropped call gives. `by_it` is `true` if the end of the run came from
    /// within the call.
    pub(crate) fn of_call(&self, by_it: bool) -> &str {
        match self {
            Ending::Run if by_it => wording::ENDED_FROM_WITHIN,
            Ending::Run => wording::RUN_ENDED_BEFORE,
            Ending::Abandoned(why) => why,
            Ending::Unexplained => wording::AGENT_DROPPED,
        }
    }

    /// Returns the reason that the receipt of a dropped escalation gives.
    pub(crate) fn of_escalation(&self) -> &str {
        match self {
            Ending::Run => wording::RUN_ENDED,
            Ending::Abandoned(why) => why,
            Ending::Unexplained => wording::WORK_AROUND_ENDED,
        }
    }
}
