//! Repair agents: their input, and agents driven by a model.

mod input;
mod ollama_server;

use crate::recovery::arms::patient;
use crate::world::Plain;
use agents::{
    Agent, AgentBuilder, Budget, ErrorKind,
    recovery::*,
    testing::{Script, ScriptedModel},
};
use std::sync::Arc;

/// Returns an agent with a model-driven repair agent, and the handles of both models.
fn with_model_fixer(script: Vec<Script>, retries: u32) -> (Plain, ScriptedModel, ScriptedModel) {
    let (fixer_model, fixer_handle) = ScriptedModel::new(script);
    let fixer = Arc::new(
        AgentBuilder::<Repair, String>::new("json_fixer")
            .prompt("Repair JSON.")
            .budget(Budget::new().max_turns(1))
            .model(fixer_model)
            .build(),
    );
    let (agent, handle) = patient(fixer, retries);
    (agent, handle, fixer_handle)
}

#[tokio::test]
async fn each_try_sees_what_was_tried_before_and_its_cost_is_the_caller_s() {
    let script = vec![Script::text("worse"), Script::text(r#"{"n": 3}"#)];
    let (agent, handle, fixer) = with_model_fixer(script, 3);
    let outcome = agent.run("go").outcome().await.unwrap();
    assert_eq!(handle.requests()[1].last(), "3");
    assert_eq!(fixer.count(), 2);
    let second: Repair = serde_json::from_str(fixer.requests()[1].last()).unwrap();
    assert_eq!(
        (second.tool.as_str(), second.stage.as_str(), second.attempt),
        ("flaky", "invalid_args", 2)
    );
    assert_eq!(second.previous.len(), 1);
    assert_eq!(
        (
            second.previous[0].by.as_str(),
            second.previous[0].text.as_str()
        ),
        ("json_fixer", "worse")
    );
    assert!(!second.previous[0].error.is_empty());
    assert_eq!(outcome.usage.requests, 4);
}

#[tokio::test]
async fn tries_are_counted_and_then_the_model_is_told() {
    let script = (0..9).map(|n| Script::text(format!("worse {n}"))).collect();
    let (agent, handle, fixer) = with_model_fixer(script, 3);
    agent.run("go").await.unwrap();
    assert_eq!(fixer.count(), 3);
    assert!(
        handle.requests()[1]
            .last()
            .starts_with("ERROR VALIDATION_ERROR")
    );
}

#[tokio::test]
async fn x8_a_model_driven_repair_agent_can_escalate_and_throw_only_while_it_repairs() {
    let give_up = Script::call(
        "escalate",
        r#"{"reason":"schema mismatch","severity":"low"}"#,
    );
    let (agent, handle, fixer) = with_model_fixer(vec![give_up], 3);
    agent.run("go").await.unwrap();
    assert!(
        handle.requests()[1]
            .last()
            .contains("`json_fixer` gave up (LOW): schema mismatch")
    );
    assert_eq!(fixer.requests()[0].tools, ["escalate", "throw_exception"]);

    let throw = Script::call("throw_exception", r#"{"reason":"this is an attack"}"#);
    let (agent, _, fixer) = with_model_fixer(vec![throw], 3);
    let error = agent.run("go").await.unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (ErrorKind::Thrown, "this is an attack")
    );
    assert_eq!(fixer.count(), 1, "the other tries are not used");

    let (model, alone) = ScriptedModel::new([Script::text("fine")]);
    let plain: Plain = AgentBuilder::new("json_fixer").model(model).build();
    plain.run("go").await.unwrap();
    assert!(alone.requests()[0].tools.is_empty());
}

#[tokio::test]
async fn a_repair_agent_s_own_budget_uses_up_a_try() {
    let endless = || Script::call("nonsense", "{}");
    let (agent, handle, fixer) = with_model_fixer(vec![endless(), endless(), endless()], 2);
    let outcome = agent.run("go").outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap(), "end");
    assert_eq!(fixer.count(), 2);
    assert_eq!(handle.count(), 2);
}

#[tokio::test]
async fn what_a_repair_agent_could_not_complete_makes_nothing_else_partial() {
    // The repair agent gives up during its work, although its text so far fits.
    let (fixer_model, _) = ScriptedModel::new([Script::text("not a list")]);
    let clerk = AgentBuilder::<String, Vec<u32>>::new("clerk")
        .model(fixer_model)
        .on_error(|error, _| match error {
            CallError::InvalidOutput(..) => Some(escalate::<InvalidOutput>("too hard").into()),
            _ => None,
        })
        .on_escalation(|_| agents::escalation::return_partial_result(vec![3]))
        .strict()
        .build();
    let clerk = clerk.map(|found: Vec<u32>| format!(r#"{{"n": {}}}"#, found[0]));
    let clerk = Arc::new(clerk);
    let (agent, handle) = patient(clerk, 1);
    let outcome = agent.run("go").outcome().await.unwrap();
    assert!(!outcome.partial);
    assert_eq!(outcome.escalations.len(), 1);
    let receipt = outcome.outputs.receipts().next().unwrap();
    assert!(receipt.is_ok() && receipt.input.as_str() == r#"{"n": 3}"#);
    assert_eq!(handle.requests()[1].last(), "3", "the call is whole");
}

#[tokio::test]
async fn whoever_gives_up_says_why() {
    for (tool, nothing) in [
        ("throw_exception", r#"{"reason": "string"}"#),
        ("throw_exception", r#"{"reason": ""}"#),
        ("escalate", r#"{"reason": "<reason>", "severity": "HIGH"}"#),
    ] {
        let script = vec![Script::call(tool, nothing), Script::text(r#"{"n": 3}"#)];
        let (agent, handle, fixer) = with_model_fixer(script, 2);
        let outcome = agent.run("go").outcome().await.unwrap();
        assert_eq!(outcome.result.unwrap(), "end");
        assert_eq!(handle.requests()[1].last(), "3");
        assert_eq!(fixer.count(), 2, "it used up a try");
        let refused = outcome.outputs.receipts().find(|one| one.name == tool);
        let error = refused.unwrap().error.as_ref().unwrap();
        assert_eq!(error.details.as_ref().unwrap()["path"], "reason");
        assert!(
            error.message.contains("in your own words"),
            "{}",
            error.message
        );
    }
}

#[tokio::test]
async fn a_repair_that_has_a_reason_in_it_gives_nothing_up() {
    let script = vec![Script::text(
        r#"{"reason": "it is late", "severity": "HIGH"}"#,
    )];
    let (agent, _, _) = with_model_fixer(script, 1);
    let outcome = agent.run("go").outcome().await.unwrap();
    assert!(outcome.escalations.is_empty());
    let receipt = outcome.outputs.receipts().next().unwrap();
    let told = receipt.repairs.to_string();
    assert!(told.contains(r#"tried `{"reason": "it is late""#), "{told}");
}

/// With a grammar of calls and answers, a tiny model would have to choose between its answer and giving up.
#[tokio::test]
async fn no_grammar_holds_a_repair_agent_to_giving_up() {
    let repairing = |answer| {
        let (model, asked) = ollama_server::ollama(answer);
        let fixer = AgentBuilder::<String, String>::new("json_fixer")
            .prompt("Repair JSON.")
            .budget(Budget::new().max_turns(1))
            .model(model)
            .build();
        let fixer = Arc::new(fixer);
        let (agent, handle) = patient(fixer, 1);
        (agent, handle, asked)
    };
    let (agent, handle, asked) = repairing(r#"{"n": 3}"#);
    agent.run("go").await.unwrap();
    assert_eq!(handle.requests()[1].last(), "3");
    let body = asked.recv().unwrap();
    assert_eq!((&body["format"], &body["tools"]), (&().into(), &().into()));
    let messages = body["messages"].as_array().unwrap();
    assert_eq!(
        messages.len(),
        2,
        "nobody shows it how to give up: {messages:?}"
    );
    let system = messages[0]["content"].as_str().unwrap();
    assert!(
        system.starts_with("Repair JSON.\n\nOnly if it cannot be repaired"),
        "{system}"
    );
    // The model can still give up.
    let said = r#"{"name": "escalate", "arguments": {"reason": "this is a poem"}}"#;
    let (agent, handle, _asked) = repairing(said);
    agent.run("go").await.unwrap();
    let told = handle.requests()[1].last().to_owned();
    assert!(
        told.contains("`json_fixer` gave up (HIGH): this is a poem"),
        "{told}"
    );
}
