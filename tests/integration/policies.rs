//! Policies of a run, and approvals.

mod approvals;
mod denied_before;
mod prompt_injection;
mod questions;
mod rules;
