//! The loop, driven by a scripted model.
#![cfg(feature = "testing")]
use agents_core::{
    Agent, AgentBuilder, Effects,
    testing::{Script, ScriptedModel},
    tool::FnTool,
};
use serde_json::json;

#[tokio::test]
async fn two_calls_then_an_answer() {
    let schema = json!({"type":"object","properties":{"left":{"type":"integer"},"right":{"type":"integer"}},"required":["left","right"]});
    let add = FnTool::new(
        "add",
        "Adds.",
        Effects::None,
        schema,
        |args, _| async move {
            Ok::<_, std::convert::Infallible>(
                args["left"].as_i64().unwrap() + args["right"].as_i64().unwrap(),
            )
        },
    );
    let (model, handle) = ScriptedModel::new([
        Script::calls([("add", r#"{"left":1,"right":2}"#), ("ad", "{}")]),
        Script::text("3"),
    ]);
    let agent = AgentBuilder::<String, u32>::new("math")
        .prompt("Add.")
        .tool(add)
        .model(model)
        .build();
    let outcome = agent.run("1+2").outcome().await.unwrap();
    println!(
        "{}",
        serde_json::to_string_pretty(&outcome.outputs).unwrap()
    );
    println!("{:#?}", handle.requests().last().unwrap().messages);
    assert_eq!(outcome.result.unwrap(), 3);
}
