//! Property tests on generated runs, which are recorded and read back.

use super::recorded;
use agents::testing::Script;
use proptest::{
    prelude::*,
    test_runner::{TestCaseError, TestRunner},
};
use std::cell::Cell;

/// Reply of a generated model: a list of calls, each with a tool and its arguments.
pub(super) type Said = Vec<(&'static str, String)>;

const TOOLS: [&str; 13] = [
    "double", "fails", "panics", "long", "clock", "flaky", "deletes", "ends", "ends", "ends",
    "asks", "Double", "no_such",
];

const BROKEN: [&str; 12] = [
    r#"{"n": "7",}"#,
    r#"{"n": "seven"}"#,
    "{}",
    "",
    "null",
    "please mend this",
    "hopeless",
    "[1]",
    r#"{"n": 1, "m": 2}"#,
    r#"{"n": 9007199254740993}"#,
    r#"```json {"n": 3} ```"#,
    r#"{"n": 1.5}"#,
];

pub(super) fn said() -> impl Strategy<Value = Said> {
    let tool = prop::sample::select(TOOLS.to_vec());
    let number = (-500..500_i64).prop_map(|n| format!(r#"{{"n": {n}}}"#));
    let broken = prop::sample::select(BROKEN.to_vec()).prop_map(str::to_owned);
    let arguments = prop_oneof![3 => number, 2 => broken];
    prop::collection::vec((tool, arguments), 0..4)
}

/// Returns a script with a reply for each turn and for each helper that may ask; surplus replies end the run.
pub(super) fn script(turns: &[Said]) -> Vec<Script> {
    let mut script = Vec::new();
    for calls in turns.iter().filter(|calls| !calls.is_empty()) {
        script.push(Script::calls(calls.clone()));
        let helpers = calls.iter().filter(|(tool, _)| *tool == "asks").count();
        script.extend((0..helpers).map(|n| Script::text(format!("helped {n}"))));
    }
    script.extend((0..6).map(|n| Script::text(format!("done {n}"))));
    script
}

/// Checks that a recording gives the same outcome; returns `true` if the run was stopped.
async fn is_told_again(turns: Vec<Said>) -> Result<bool, TestCaseError> {
    let (first, recorded, _) = recorded(script(&turns)).await;
    let again = recorded.outcome::<String>().unwrap();
    prop_assert_eq!(
        serde_json::to_string(&again.outputs).unwrap(),
        serde_json::to_string(&first.outputs).unwrap()
    );
    prop_assert_eq!(&again.trace, &first.trace);
    prop_assert_eq!(&again.repairs, &first.repairs);
    prop_assert_eq!(&again.stopped, &first.stopped);
    prop_assert_eq!(again.escalations, first.escalations);
    prop_assert_eq!(again.usage, first.usage);
    let said = |result: Result<String, agents::Error>| result.map_err(|error| error.to_string());
    prop_assert_eq!(said(again.result), said(first.result));
    Ok(first.stopped.is_some())
}

#[test]
fn k8_s5_13_generated_runs_are_told_again_byte_for_byte() {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().unwrap();
    let cases = agents_needs::cases(1_000);
    let config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(cases)
    };
    let turns = prop::collection::vec(said(), 0..5);
    let stopped = Cell::new(0);
    let result = TestRunner::new(config).run(&turns, |turns| {
        let was_stopped = runtime.block_on(is_told_again(turns))?;
        stopped.set(stopped.get() + u32::from(was_stopped));
        Ok(())
    });
    result.unwrap();
    let some = 1..cases;
    assert!(some.contains(&stopped.get()), "{stopped:?} were stopped");
}
