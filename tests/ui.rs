//! What the compiler says about mistakes: a file for each mistake, named after it.
//!
//! `TRYBUILD=overwrite cargo test --test ui` blesses what it says now; `cargo test --test ui -- ui
//! trybuild=borrowed` runs the cases whose path contains `borrowed`.

#[rustversion::attr(not(stable(1.95)), ignore = "blessed on 1.95")]
#[test]
fn ui() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass/*.rs");
    cases.compile_fail("tests/ui/tool/*.rs");
    cases.compile_fail("tests/ui/agent/*.rs");
    cases.compile_fail("tests/ui/branch/*.rs");
    cases.compile_fail("tests/ui/compose/*.rs");
    cases.compile_fail("tests/ui/on_error/*.rs");
    cases.compile_fail("tests/ui/on_escalation/*.rs");
    cases.compile_fail("tests/ui/team/*.rs");
    cases.compile_fail("tests/ui/types/*.rs");
}
