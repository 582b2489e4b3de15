//! Facts of a run, in order; the state that follows from them; and the stores of the facts.
//!
//! ```text
//! facts, in order ── State::fold ──► State ── next ──► what comes next   (Frame, Call, FinalAnswer)
//!      │                               │
//!      ▼ writer                        ▼ project, recorded
//!   Journal: memory, file, yours     receipts, messages, outcome
//! ```
//!
//! Except for the journals, the recorded model and the replay, no code here waits, reads a clock or calls user code.
//! The task that stores the facts of a run is in `context/writer.rs`.

pub(crate) mod answer;
pub(crate) mod call;
pub(crate) mod candidates;
mod entry;
mod events;
mod executions;
mod fact;
mod fold;
#[cfg(feature = "recordings")]
mod follower;
mod frame;
mod key;
#[cfg(not(feature = "recordings"))]
mod no_replay;
mod outcome;
mod projection;
#[cfg(feature = "recordings")]
mod recorded;
mod refold;
mod repeated;
mod replayed;
mod state;
mod steps;
mod terms;
#[cfg(test)]
mod tests;
mod wording;

pub use entry::{Entry, Journal, JournalError, MemoryJournal};
#[cfg(feature = "recordings")]
#[cfg_attr(docsrs, doc(cfg(feature = "recordings")))]
pub use follower::{Asked, Began, CallStep, Ended, Followed, Follower};
#[cfg(feature = "recordings")]
#[cfg_attr(docsrs, doc(cfg(feature = "recordings")))]
pub use recorded::{Difference, OpenCall, Recorded, RecordedCall, RecordedModel, WhatIf};

pub(crate) use answer::{AnswerFact, AnswerStage, FinalAnswer, Misread};
pub(crate) use call::{
    Accepted, Action, Call, CallFact, Called, Doubt, Given, Intent, Interrupted, Refused,
};
pub(crate) use candidates::Failed;
pub(crate) use events::FactEvents;
pub(crate) use executions::{ArgsDigest, ExecutionNews, Executions, args_digest};
pub(crate) use fact::{Fact, Finished, Offer, Raiser, Replied, Started};
pub(crate) use fold::{After, Projection};
pub(crate) use frame::{Frame, MOST_MODELS, Next};
pub(crate) use key::RunKey;
#[cfg(not(feature = "recordings"))]
pub(crate) use no_replay::Replay;
#[cfg(feature = "recordings")]
pub(crate) use recorded::Replay;
pub(crate) use refold::{Stored, refold};
pub(crate) use replayed::{Dropped, call_path, is_given_again, of_an_execution};
pub(crate) use state::{Open, Place, PlaceId, State, Taken};
pub(crate) use steps::{Kept, What};
pub(crate) use terms::Terms;
