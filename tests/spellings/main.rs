//! Code as users may write it, with the lints that they may have. Each file compiles without a warning, and runs.

#![allow(
    missing_docs,
    reason = "a file that checks documentation denies it itself"
)]
#![allow(
    clippy::todo,
    clippy::unimplemented,
    clippy::uninlined_format_args,
    clippy::redundant_closure_for_method_calls,
    clippy::ptr_arg,
    reason = "users may write so, and the macros take it"
)]

pub mod arms_to_come;
pub mod as_in_rust;
pub mod conditional;
pub mod deny_warnings;
pub mod everything_at_once;
pub mod front_page;
pub mod in_doubt;
pub mod named;
pub mod one_spelling_of_budgets;
pub mod organisation;
pub mod undo;

#[test]
fn arms_to_come_runs() {
    arms_to_come::main();
}

#[test]
fn as_in_rust_runs() {
    as_in_rust::main();
}

#[test]
fn conditional_runs() {
    conditional::main();
}

#[test]
fn deny_warnings_runs() {
    deny_warnings::main();
}

#[test]
fn everything_at_once_runs() {
    everything_at_once::main();
}

#[test]
fn front_page_runs() {
    front_page::main();
}

#[test]
fn in_doubt_runs() {
    in_doubt::main();
}

#[test]
fn named_runs() {
    named::main();
}

#[test]
fn one_spelling_of_budgets_runs() {
    one_spelling_of_budgets::main();
}

#[test]
fn organisation_runs() {
    organisation::main();
}

#[test]
fn undo_runs() {
    undo::main();
}
