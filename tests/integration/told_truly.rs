//! Receipts, events and journals are complete, and have the right times.

mod approvals;
mod done;
mod left;
mod runs;
