//! Leases: the right of one worker to go on with a run.

use crate::{End, HeldReason, Run};
use agents_core::run::Timestamp;
use std::time::Duration;

/// Request of a worker for a run that it can go on with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Name of the worker that asks for a run.
    pub worker: String,
    /// Names of the agents that the worker has; it is given only runs of these agents.
    pub agents: Vec<String>,
    /// Id of the run to claim; `None` for any run that can go on.
    pub run: Option<String>,
    /// Time after which another worker may claim the run, unless the lease is renewed.
    pub time: Duration,
    /// Maximum number of runs of one tenant that all workers may have under way at the same time; 0 for no limit.
    pub per_tenant: u32,
    /// Number of claims in a row, without a new entry or a wait between them, after which a run may end its workers. From
    /// then on, it is given only to a worker that is [alone](Claim::alone) with it, and is held if that is in vain, too.
    pub most_claims: u32,
    /// Is `true` if the worker has no other run under way.
    pub alone: bool,
}

/// Right of one worker to go on with a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Run as it was when the worker claimed it.
    pub run: Run,
    /// Name of the worker that has the run.
    pub worker: String,
    /// Is `true` if the run may end its workers, so that this one takes no other run meanwhile.
    pub alone: bool,
    /// Fencing token: the later of two leases has the greater one.
    pub fence: u64,
    /// Time from which another worker may claim the run, unless the lease is renewed; by the clock of the store.
    pub until: Timestamp,
}

/// Answer to the renewal of a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renewed {
    /// Time from which another worker may claim the run, unless the lease is renewed; by the clock of the store.
    pub until: Timestamp,
    /// Number of messages for the run so far (decisions, cancellations and the like), by which its worker notices new
    /// ones.
    pub messages: u64,
    /// Principal who has cancelled the run; `None` if nobody has.
    pub cancelled_by: Option<String>,
}

/// State of a run when its worker gives it back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rest {
    /// The run can go on at once, in any worker.
    Ready,
    /// The run waits for messages, or until a time.
    Waiting {
        /// Time at which the run goes on by itself; `None` if it waits for messages alone.
        wake_at: Option<Timestamp>,
        /// Number of messages for the run that the worker has seen. If there are more by now, the run need not wait.
        messages: u64,
    },
    /// The run is over, and no worker gets it again.
    Done {
        /// End of the run: whether it has answered, has failed or was cancelled.
        end: End,
        /// Messages so far in the conversation of the run, encoded and encrypted; `None` if the run does not change its
        /// conversation.
        conversation: Option<Vec<u8>>,
    },
    /// The run cannot go on until somebody releases it, for this reason.
    Held(HeldReason),
}

impl Rest {
    /// Creates the state of a run that is over, and that does not change its conversation.
    pub fn done(end: End) -> Self {
        Rest::Done {
            end,
            conversation: None,
        }
    }
}
