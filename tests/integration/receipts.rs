//! Receipts of calls, and their serialised forms.

mod approvals;
mod executions;
mod failures;
mod fields;
mod pinned_handles;
mod stored_forms;
