//! Compiler messages about mistakes, with a file for each mistake, named after it.
//!
//! `TRYBUILD=overwrite cargo test -p agents-ui` accepts the current messages. `cargo test -p agents-ui -- ui
//! trybuild=borrowed` runs the cases whose path contains `borrowed`.

use agents_needs::Need;

#[test]
fn ui() {
    let is_blessed = rustversion::cfg!(stable(1.95));
    if !is_blessed {
        return Need::Toolchain.missing("the messages are those of 1.95");
    }
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tool/*.rs");
    cases.compile_fail("agent/*.rs");
    cases.compile_fail("branch/*.rs");
    cases.compile_fail("compose/*.rs");
    cases.compile_fail("in_doubt/*.rs");
    cases.compile_fail("on_error/*.rs");
    cases.compile_fail("on_escalation/*.rs");
    cases.compile_fail("team/*.rs");
    cases.compile_fail("types/*.rs");
    cases.compile_fail("undo/*.rs");
}
