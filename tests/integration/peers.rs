//! Regression tests for defects of other frameworks, one turn each.

use crate::world::{Add, Plain, always_adds, told, work};
use agents::{
    Agent, AgentBuilder, Code, ErrorKind,
    testing::{Script, ScriptedModel},
};

/// Malformed arguments that end the run; arguments replaced by `{}`.
#[tokio::test]
async fn malformed_arguments_neither_end_the_run_nor_become_an_empty_object() {
    let (outcome, handle) = work([
        Script::call("add", "{left: 1 right; what?"),
        Script::text("sorry"),
    ])
    .await;
    assert_eq!(outcome.result.unwrap(), "sorry");
    let receipt = outcome.outputs.tools_by_id.values().next().unwrap();
    assert_ne!(receipt.input.as_str(), "{}");
    assert!(receipt.attempts.is_empty());
    assert!(told(&handle)[0].starts_with("ERROR VALIDATION_ERROR"));
}

/// Wrong types re-run with the same arguments out of a retry budget.
#[tokio::test]
async fn arguments_of_a_wrong_type_are_not_run_at_all() {
    let (outcome, _) = work([
        Script::call("add", r#"{"left":"x","right":1}"#),
        Script::text("sorry"),
    ])
    .await;
    assert!(
        outcome
            .outputs
            .receipts()
            .next()
            .unwrap()
            .attempts
            .is_empty()
    );
}

/// A hook denies `delete_all`; results zipped by position put another call's answer in its place.
#[tokio::test]
async fn results_are_never_paired_by_position() {
    let calls = [
        ("write_file", r#"{"path":"all"}"#),
        ("add", r#"{"left":6,"right":6}"#),
    ];
    let (_, handle) = work([Script::calls(calls), Script::text("ok")]).await;
    let request = handle.requests().pop().unwrap();
    let results = request.results();
    assert_eq!(results.len(), 2);
    assert!(
        results[0].0 == "write_file" && results[0].1.contains("POLICY_DENIED"),
        "{results:?}"
    );
    assert_eq!(results[1], ("add", "12"));
}

/// An unknown tool that ends the run, or stays unanswered.
#[tokio::test]
async fn an_unknown_tool_is_answered() {
    let (outcome, handle) = work([Script::call("nope", "{}"), Script::text("ok")]).await;
    assert!(outcome.result.is_ok());
    assert_eq!(told(&handle).len(), 1);
}

/// A tool call needs two turns. With a default of one, the run would fail after the tool has run.
#[tokio::test]
async fn the_default_budget_is_enough_for_a_tool_call() {
    let (outcome, _) = work([
        Script::call("add", r#"{"left":1,"right":1}"#),
        Script::text("2"),
    ])
    .await;
    assert_eq!(outcome.result.unwrap(), "2");
}

/// Running out of turns that looks like an empty answer.
#[tokio::test]
async fn running_out_of_turns_is_an_error() {
    let (model, _) = always_adds();
    let agent: Plain = AgentBuilder::new("a").tool(Add).model(model).build();
    assert_eq!(agent.run("go").await.unwrap_err().kind(), ErrorKind::Budget);
}

/// The error inside a debug print inside JSON.
#[tokio::test]
async fn e12_the_model_reads_the_error_and_not_its_debug_print() {
    let (_, handle) = work([
        Script::call("read_file", r#"{"path":"missing"}"#),
        Script::text("ok"),
    ])
    .await;
    let told = &told(&handle)[0];
    assert!(
        told.contains("no such file") && !told.contains("Custom {") && !told.contains("\\\""),
        "{told}"
    );
}

/// A panic that unwinds the caller's task.
#[tokio::test]
async fn a_panicking_tool_does_not_unwind_the_caller() {
    let (outcome, _) = work([Script::call("panics", "{}"), Script::text("ok")]).await;
    assert_eq!(
        outcome
            .outputs
            .receipts()
            .next()
            .unwrap()
            .error
            .as_ref()
            .unwrap()
            .code,
        Code::Unknown
    );
}

/// Only the first of several calls executed; the others dropped.
#[tokio::test]
async fn several_calls_in_one_reply_are_all_answered() {
    let calls = (0..5).map(|n| ("add", format!(r#"{{"left":{n},"right":0}}"#)));
    let (_, handle) = work([Script::calls(calls), Script::text("ok")]).await;
    assert_eq!(told(&handle), ["0", "1", "2", "3", "4"]);
}

/// A call printed as JSON text that nothing executes.
#[tokio::test]
async fn a_call_printed_as_json_is_executed() {
    let printed = r#"{"name": "add", "arguments": {"left": 2, "right": 3}}"#;
    let (_, handle) = work([Script::text(printed), Script::text("5")]).await;
    assert_eq!(told(&handle), ["5"]);
}

/// A schema forced on every turn, so that the model cannot call.
#[tokio::test]
async fn a_schema_is_not_forced_while_tools_are_offered() {
    let (model, handle) = ScriptedModel::new([Script::text("7")]);
    let agent: Plain<String, u32> = AgentBuilder::new("a").tool(Add).model(model).build();
    assert_eq!(agent.run("go").await.unwrap(), 7);
    assert!(handle.requests()[0].format.is_none());
}

/// A call that is only mentioned in a sentence was executed.
#[tokio::test]
async fn a_call_in_the_middle_of_a_sentence_is_not_made() {
    let prose = r#"You would call it like this: {"name": "add", "arguments": {"left": 2, "right": 3}} and then read the sum."#;
    let (outcome, handle) = work([Script::text(prose)]).await;
    assert_eq!(outcome.result.unwrap(), prose);
    assert_eq!(handle.count(), 1);
}
