//! Receipts, events and tapes say what happened, all of it, when it did.

mod approvals;
mod left;
mod runs;
