//! Names of the inputs of delegates.

use agents::{
    Agent, AgentBuilder,
    prelude::*,
    team::Member,
    testing::{Script, ScriptedModel},
};

/// You research.
#[agent]
async fn researcher(question: String) -> String;

/// Counts.
#[agent]
fn count(_words: Vec<String>) -> usize {
    _words.len()
}

fn lead(model: ScriptedModel) -> agents::agent::ModelAgent<'static, String, String> {
    AgentBuilder::new("lead")
        .prompt("You lead.")
        .model(model)
        .build()
}

#[tokio::test]
async fn the_name_is_that_of_the_parameter() {
    let (model, handle) = ScriptedModel::new([
        Script::call("researcher", r#"{"question": "Who was it?"}"#),
        Script::text("Ada."),
        Script::call("count", r#"{"words": ["a", "b"]}"#),
        Script::text("Two."),
    ]);
    let team = Member::new(lead(model))
        .delegate(Researcher)
        .delegate(Count)
        .build();
    let outcome = team.run("?").outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap(), "Two.");
    assert!(
        outcome
            .outputs
            .tools_by_id
            .values()
            .all(|receipt| receipt.is_ok())
    );
    assert_eq!(handle.requests()[1].last(), "Who was it?");
    let declared = handle.requests()[0].declarations.to_string();
    assert!(
        declared.contains(r#""required":["question"]"#),
        "{declared}"
    );
    assert!(declared.contains(r#""required":["words"]"#), "{declared}");
}

#[tokio::test]
async fn errors_have_the_name_that_the_model_knows() {
    let (model, handle) = ScriptedModel::new([
        Script::call("count", r#"{"words": {"a": 1}}"#),
        Script::call("researcher", "{}"),
        Script::text("I cannot."),
    ]);
    let team = Member::new(lead(model))
        .delegate(Researcher)
        .delegate(Count)
        .build();
    team.run("?").await.unwrap();
    let requests = handle.requests();
    assert!(
        requests[1].last().contains("field `words`"),
        "{}",
        requests[1].last()
    );
    assert!(
        requests[2]
            .last()
            .contains("field `question`: required, and missing"),
        "{}",
        requests[2].last()
    );
}

#[tokio::test]
async fn the_builder_names_it_and_composites_have_the_name_of_their_first_part() {
    let (model, handle) = ScriptedModel::new([Script::text("Fine.")]);
    let named = AgentBuilder::<String, String>::new("named")
        .input_name("topic")
        .build();
    let chain = Researcher.then(AgentBuilder::<String, String>::new("writer").build());
    let team = Member::new(lead(model))
        .delegate(named)
        .delegate(chain)
        .build();
    team.run("?").await.unwrap();
    let declared = handle.requests()[0].declarations.to_string();
    assert!(declared.contains(r#""required":["topic"]"#), "{declared}");
    assert!(
        declared.contains(r#""required":["question"]"#),
        "{declared}"
    );
}
