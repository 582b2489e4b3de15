//! Receipts, events and tapes say what happened, all of it, when it did.

mod approvals;
mod done;
mod left;
mod runs;
