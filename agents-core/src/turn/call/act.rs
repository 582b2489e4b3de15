//! Between a call and its driver: what is to be done, and what has happened.

use crate::{
    Json,
    error::{Cause, escalation::Escalation},
    recovery::{FixerRef, Repair},
    run::{Approval, Stop, climb::Climbed},
    tool::Prepared,
    turn::recover,
};
use std::time::Duration;

/// What to do next.
pub(crate) enum Act {
    /// Ask whether it may run.
    Approve(Json),
    /// Run it.
    Execute(Prepared),
    /// Wait so long, of which this is left.
    Sleep { wait: Duration, left: Duration },
    /// Ask a repair agent.
    Ask(FixerRef, Box<Repair>),
    /// Ask whoever is above.
    Climb(Box<Escalation>),
    /// End the whole run.
    Stop(Stop),
    /// Nothing: it is settled.
    Done,
}

/// What has happened.
pub(crate) enum Event {
    /// Somebody decided.
    Decided(Approval),
    /// It ran.
    Executed(Result<Json, Cause>),
    /// It did not have to run: this is what it gave before.
    Cached(Json),
    /// The wait is over.
    Woke,
    /// A repair agent answered.
    Answered(FixerRef, recover::Repaired),
    /// Whoever is above was asked; the agent goes on.
    Climbed(Climbed),
}
