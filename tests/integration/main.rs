//! What a run does, from outside. The model is scripted: these are tests of what is around it.

mod answers;
mod approvals;
mod bad_input;
mod budgets;
mod calls;
mod cancelling;
mod events;
mod nesting;
mod peers;
mod receipts;
mod recording;
mod recovery;
mod spans;
mod storing;
mod world;
