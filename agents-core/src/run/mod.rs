//! A run and its results: budgets, approvals, events, receipts and the outcome.
//!
//! These types are plain data. The settings of a run are methods of [`Run`](crate::agent::Run); its facts and journals
//! are in [`journal`](crate::journal).

mod approval;
mod approval_reason;
mod clock;
mod event;
mod finding;
mod log;
mod masking;
mod metadata;
mod outcome;
mod pin;
mod repairs;
mod serialized;
mod steering;
mod stop;
pub(crate) mod trace;

pub use crate::budget::{Budget, Cost, Limit, hours, minutes, tokens};
pub use crate::context::RunContext;
pub use approval::{Approval, ApprovalDecision, ApprovalRequest, Approver, Question};
pub use approval_reason::{ApprovalReason, EarlierExecution, EarlierOutcome};
pub use clock::{Clock, SystemClock, Timestamp};
pub use event::{Event, EventKind};
pub use finding::{Finding, Findings};
pub use indexmap::IndexMap;
pub use metadata::ToolCallMetadata;
pub use outcome::{
    AgentOutputs, Attachment, AttachmentKind, Attempt, Outcome, Stopped, ToolEnvelope,
};
pub use pin::{OnMissing, PinnedHandle, Selector, Strategy};
pub use repairs::{RepairKind, RepairStep, Repairs};
pub use steering::{Instruction, Steering};

pub(crate) use log::{log, logs};
pub(crate) use outcome::{HANDED_UP, THROWN, WAYS_OUT};
pub(crate) use repairs::in_short;
pub(crate) use stop::Stop;
