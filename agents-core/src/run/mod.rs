//! A run and what it leaves behind: budgets, approvals, events, receipts, journals and the outcome.
//!
//! ```text
//! agent.run(input) ─► Run ─► Root { Node { Frame { history, calls: [Call] } } }   (agent/run/)
//!                              drive: next() ─► do it ─► on(..)      (engine/drive.rs)
//!                              one call: next() ─► do it ─► on(..)   (engine/call.rs)
//! ```
//!
//! `Frame` and `Call` are data: they say what comes next and are told what happened.
//! Everything that waits is outside of them, so a run can be stored between any two steps. The settings of
//! a run are methods of [`Run`](crate::agent::Run).

mod approval;
pub(crate) mod climb;
mod clock;
mod cx;
mod desk;
mod ending;
mod event;
mod executor;
pub(crate) mod journal;
mod machine;
mod masked;
mod metadata;
mod node;
mod outcome;
mod pin;
mod raised;
mod repair;
mod repairs;
mod root;
mod settings;
mod steps;
mod stop;
mod stopwatch;
mod taken;
mod talk;
pub(crate) mod trace;
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
pub use journal::{
    Difference, Entry, Journal, JournalError, MemoryJournal, Recorded, RecordedCall, RecordedModel,
    WhatIf,
};
pub use metadata::ToolCallMetadata;
pub use outcome::{
    AgentOutputs, Attachment, AttachmentKind, Attempt, Outcome, Stopped, ToolEnvelope,
};
pub use pin::{OnMissing, PinnedHandle, Selector, Strategy};
pub use repairs::{RepairKind, RepairStep, Repairs};

pub(crate) use climb::Override;
pub(crate) use desk::{Desk, Letter, Question, Reply};
pub(crate) use ending::Ending;
pub(crate) use executor::Executor;
pub(crate) use journal::{
    Fact, Finished, Frame, Going, Next, Raiser, Stored, Writer,
    answer::{AnswerFact, AnswerStage, FinalAnswer},
    call::{
        Accepted, Action, Call, CallFact, Called, Intent, Interrupted, News, Refused, again,
        of_answer, of_call,
    },
    candidates::{FAILED_ALREADY, Failed},
};
pub(crate) use node::Node;
pub(crate) use raised::{Ticket, Waiting};
pub(crate) use repair::{Passed, RepairScope};
pub(crate) use repairs::in_short;
pub(crate) use root::Root;
pub(crate) use settings::Settings;
pub(crate) use stop::Stop;
pub(crate) use stopwatch::Stopwatch;
pub(crate) use taken::{Taken, To};
pub(crate) use talk::{Said, Talk};
pub(crate) use within::Within;
