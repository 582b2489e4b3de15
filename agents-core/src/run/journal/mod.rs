//! Facts of a run, in order; the state that follows from them; and the stores of the facts.
//!
//! ```text
//! facts, in order ── State::fold ──► State ── next ──► what comes next   (Frame, Call, FinalAnswer)
//!      │                               │
//!      ▼ writer                        ▼ project, recorded
//!   Journal: memory, file, yours     receipts, messages, outcome
//! ```
//!
//! But for the writer and the journals nothing here waits, reads a clock or calls user code.

pub(crate) mod answer;
pub(crate) mod call;
pub(crate) mod candidates;
mod entry;
mod fact;
mod fold;
mod frame;
mod project;
mod recorded;
mod state;
mod steps;
mod terms;
#[cfg(test)]
mod tests;
mod writer;

pub use entry::{Entry, Journal, JournalError, MemoryJournal};
pub use recorded::{Difference, Recorded, RecordedCall, RecordedModel, WhatIf};

pub(crate) use fact::{Decided, Fact, Finished, Offer, Raiser, Replied, Started};
pub(crate) use fold::{After, Projection};
pub(crate) use frame::{Frame, Next};
pub(crate) use state::{Open, Place, PlaceId, State};
pub(crate) use steps::{Kept, What};
pub(crate) use terms::Terms;
pub(crate) use writer::{Going, Stored, Writer};
