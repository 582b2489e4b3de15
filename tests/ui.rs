//! Compiler messages about mistakes, with a file for each mistake, named after it.
//!
//! `TRYBUILD=overwrite cargo test --test ui` accepts the current messages. `cargo test --test ui -- ui
//! trybuild=borrowed` runs the cases whose path contains `borrowed`.

use agents_needs::Need;

#[test]
fn ui() {
    let is_blessed = rustversion::cfg!(stable(1.95));
    if !is_blessed {
        return Need::Toolchain.missing("the messages are those of 1.95");
    }
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/tool/*.rs");
    cases.compile_fail("tests/ui/agent/*.rs");
    cases.compile_fail("tests/ui/branch/*.rs");
    cases.compile_fail("tests/ui/compose/*.rs");
    cases.compile_fail("tests/ui/in_doubt/*.rs");
    cases.compile_fail("tests/ui/on_error/*.rs");
    cases.compile_fail("tests/ui/on_escalation/*.rs");
    cases.compile_fail("tests/ui/team/*.rs");
    cases.compile_fail("tests/ui/types/*.rs");
    cases.compile_fail("tests/ui/undo/*.rs");
}
