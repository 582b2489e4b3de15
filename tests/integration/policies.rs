//! Policies of a run, and approvals.

mod approvals;
mod prompt_injection;
mod questions;
mod rules;
