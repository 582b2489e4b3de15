//! Hand-offs of an agent with a place in a team.

use crate::world::Add;
use agents::{
    Agent, AgentBuilder, ErrorKind,
    agent::ModelAgent,
    team::Member,
    testing::{Script, ScriptedModel},
};

fn triage(model: ScriptedModel) -> ModelAgent<'static, String, String> {
    let adder = AgentBuilder::<String, String>::new("adder")
        .prompt("You add.")
        .tool(Add)
        .build();
    AgentBuilder::new("triage")
        .prompt("You find out.")
        .model(model)
        .hand_off(adder)
        .build()
}

fn script() -> [Script; 3] {
    [
        Script::call("hand_off_to_adder", "{}"),
        Script::call("add", r#"{"left": 1, "right": 2}"#),
        Script::text("3"),
    ]
}

#[tokio::test]
async fn the_grants_of_the_place_hold_for_who_takes_over() {
    let (model, handle) = ScriptedModel::new(script());
    let team = Member::new(triage(model)).grant::<Add>().build();
    assert_eq!(team.run("1 + 2").await.unwrap(), "3");
    assert_eq!(handle.requests()[1].tools, ["add"]);

    let (model, handle) = ScriptedModel::new(script());
    let team = Member::new(triage(model)).grant_nothing().build();
    let outcome = team.run("1 + 2").outcome().await.unwrap();
    assert!(handle.requests()[1].tools.is_empty());
    let refused = outcome.outputs.receipts().nth(1).unwrap();
    assert!(!refused.is_ok(), "{refused:?}");
}

#[tokio::test]
async fn a_grant_that_nobody_can_use_is_found_before_the_run() {
    let (model, _) = ScriptedModel::new(script());
    let team = Member::new(triage(model)).grant_named("subtract").build();
    let error = team.run("1 - 2").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Build);
    assert!(error.to_string().contains("subtract"), "{error}");
}

#[tokio::test]
async fn who_takes_over_has_the_delegates_of_the_place() {
    let (model, handle) = ScriptedModel::new([
        Script::call("hand_off_to_adder", "{}"),
        Script::call("helper", r#"{"input": "help"}"#),
        Script::text("helped"),
        Script::text("done"),
    ]);
    let helper = AgentBuilder::<String, String>::new("helper")
        .prompt("You help.")
        .build();
    let team = Member::new(triage(model)).delegate(helper).build();
    assert_eq!(team.run("?").await.unwrap(), "done");
    assert_eq!(handle.requests()[1].tools, ["add", "helper"]);
}
