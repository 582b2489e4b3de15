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

use agents_needs::Need;
use std::{
    io::Write,
    process::{Command, Stdio},
};

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

/// Formats code with rustfmt; returns `None` if there is no rustfmt.
fn formatted(code: &str) -> Option<String> {
    let version = Command::new("rustfmt").arg("--version").output().ok()?;
    version.status.success().then_some(())?;
    let mut rustfmt = Command::new("rustfmt")
        .args(["--edition", "2024"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it has told its version");
    let mut stdin = rustfmt.stdin.take().expect("it is piped");
    stdin.write_all(code.as_bytes()).expect("it is read");
    drop(stdin);
    let output = rustfmt.wait_with_output().expect("it ends");
    assert!(output.status.success(), "rustfmt cannot read the code");
    Some(String::from_utf8(output.stdout).expect("code is UTF-8"))
}

#[test]
fn rustfmt_formats_all_but_the_block_of_a_tool() {
    let written = "\
tool! {
  /// Reads.
   #[tool(reads)] async fn read( )->u32 { 3 }
}
on_error!(Read, match error { invalid_args(_, _)=>fix(agent=JsonFixer,retries=2),
execution_error(_) => retry(max_attempts=3), });
/// You read.
#[agent] async   fn reader(  page: u32 )->String;
#[agent(prompt=\"You lead.\")]
impl Lead { fn lead(&self,page: u32)->u32{page}
on_escalation!(match escalation.severity { Low|Medium=>inherit(), High | Critical => throw(\"no\") });
}
fn team() { let _ = structure!(Lead.delegates( Reader.grants([Read]) )); }
";
    let Some(code) = formatted(written) else {
        return Need::Rustfmt.missing("there is no rustfmt");
    };
    // A block in braces stays as it was written.
    let (block, _) = written.split_once("on_error!").unwrap();
    let expected = format!(
        "{block}\
on_error!(
    Read,
    match error {{
        invalid_args(_, _) => fix(agent = JsonFixer, retries = 2),
        execution_error(_) => retry(max_attempts = 3),
    }}
);
/// You read.
#[agent]
async fn reader(page: u32) -> String;
#[agent(prompt = \"You lead.\")]
impl Lead {{
    fn lead(&self, page: u32) -> u32 {{
        page
    }}
    on_escalation!(match escalation.severity {{
        Low | Medium => inherit(),
        High | Critical => throw(\"no\"),
    }});
}}
fn team() {{
    let _ = structure!(Lead.delegates(Reader.grants([Read])));
}}
"
    );
    assert_eq!(code, expected);
}
