//! A run and what it leaves behind: budgets, approvals, events, receipts, snapshots and the
//! outcome.
//!
//! ```text
//! agent.run(input) ─► Run ─► Root { Node { Frame { history, calls: [CallState] } } }   (agent/run/)
//!                              drive: next() ─► do it ─► on(..)      (turn/driver.rs)
//!                              one call: next() ─► do it ─► on(..)   (turn/mod.rs)
//! ```
//!
//! `Frame` and `CallState` are data: they say what comes next and are told what happened.
//! Everything that waits is outside of them, so a run can be stored between any two steps. The settings of
//! a run are methods of [`Run`](crate::agent::Run).

mod abandoned;
mod approval;
mod call;
pub(crate) mod climb;
mod clock;
mod cx;
mod desk;
mod effects;
mod ending;
mod event;
mod executor;
mod frame;
mod in_place;
mod kept;
mod masked;
mod metadata;
mod node;
mod outcome;
mod pin;
mod raised;
mod ready;
mod repair;
mod repairs;
mod root;
mod settings;
mod snapshot;
mod steps;
mod stop;
mod stopwatch;
mod taken;
mod talk;
mod tape;
mod terms;
pub(crate) mod trace;
mod tries;
mod watched;
mod ways_out;
mod within;
mod written;

pub use crate::budget::{Budget, Cost, Limit, minutes, tokens};
pub use approval::{Approval, ApprovalRequest, Approver, Signed};
pub use clock::{Clock, SystemClock, Timestamp};
pub use cx::RunContext;
pub use event::{Event, EventKind};
pub use indexmap::IndexMap;
pub use metadata::ToolCallMetadata;
pub use outcome::{
    AgentOutputs, Attachment, AttachmentKind, Attempt, Outcome, Stopped, ToolEnvelope,
};
pub use pin::{OnMissing, PinnedHandle, Selector, Strategy};
pub use repairs::{RepairKind, RepairStep, Repairs};
pub use snapshot::Snapshot;
pub use tape::Tape;
#[doc(hidden)]
pub use tape::{Begun, Happened, Inside, Moment, Recalled};

pub(crate) use call::{CallState, Stage};
pub(crate) use desk::{Desk, Letter, Question, Reply};
pub(crate) use ending::Ending;
pub(crate) use executor::Executor;
pub(crate) use frame::{Frame, Next, Told};
pub(crate) use kept::{Kept, What};
pub(crate) use node::Node;
pub(crate) use raised::{Ticket, Waiting};
pub(crate) use ready::Ready;
pub(crate) use repair::{Passed, RepairScope};
pub(crate) use repairs::in_short;
pub(crate) use root::Root;
pub(crate) use settings::{Settings, ToolHook};
pub(crate) use stop::Stop;
pub(crate) use stopwatch::Stopwatch;
pub(crate) use taken::{Taken, To};
pub(crate) use talk::{Said, Talk};
pub(crate) use tries::{Given, Unsettled, gave_none, give_up_replaced, withheld};
pub(crate) use within::Within;
