//! Runners: an agent of one context asks an agent of another.

use crate::observation::traces::{traced, tree};
use agents::{
    Agent, AgentBuilder, Code, Error, ErrorKind, Outcome,
    agent::AgentRunner,
    run::RunContext,
    testing::{Script, ScriptedModel},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex};

/// World that a question is about.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct World {
    /// Id of the world.
    world_id: u32,
}

/// Runner of an agent, which writes down for whom it works.
struct Worlds<A> {
    agent: A,
    tenants: Arc<Mutex<Vec<String>>>,
}

#[agents::async_trait]
impl<A: Agent<In = String, Out = String> + 'static> AgentRunner for Worlds<A> {
    type About = World;

    async fn ask(&self, question: &str, about: &World) -> Result<String, Error> {
        let cx = RunContext::current().map(|cx| cx.scope().tenant_id().to_owned());
        self.tenants.lock().unwrap().extend(cx);
        self.agent
            .run(format!("{}: {question}", about.world_id))
            .await
    }

    async fn chat(&self, message: &str, session_id: &str, about: &World) -> Result<String, Error> {
        self.ask(&format!("{session_id}: {message}"), about).await
    }
}

/// Runs a clerk who asks the agent of another context, which plays this script.
async fn asked(
    world: impl IntoIterator<Item = Script>,
    arguments: &str,
) -> (Outcome<String>, Vec<String>, Vec<String>) {
    let (model, world) = ScriptedModel::new(world);
    let tenants = Arc::default();
    let runner: Arc<dyn AgentRunner<About = World>> = Arc::new(Worlds {
        agent: AgentBuilder::<String, String>::new("world")
            .model(model)
            .build(),
        tenants: Arc::clone(&tenants),
    });
    let ask_world = runner.tool("ask_world", "Asks the agent that knows the worlds.");
    let (model, _) = ScriptedModel::new([
        Script::call("ask_world", arguments),
        Script::text("It is told."),
    ]);
    let clerk = AgentBuilder::<String, String>::new("clerk").model(model);
    let clerk = clerk.tool(ask_world).build();
    let outcome = clerk.run("Ask.").scope("acme").outcome().await.unwrap();
    let questions = world.requests();
    let questions = questions
        .iter()
        .map(|request| format!("{request:?}"))
        .collect();
    let tenants = tenants.lock().unwrap().clone();
    (outcome, questions, tenants)
}

#[tokio::test]
async fn d3_the_agent_of_another_context_answers_within_the_same_trace_and_scope() {
    let arguments = r#"{"question": "How many suns?", "world_id": 7}"#;
    let ((outcome, questions, tenants), spans) =
        traced(asked([Script::text("Two.")], arguments)).await;
    assert_eq!(outcome.result.unwrap(), "It is told.");
    assert_eq!(tenants, ["acme"]);
    assert_eq!(questions.len(), 1);
    assert!(
        questions[0].contains("7: How many suns?"),
        "{}",
        questions[0]
    );
    let receipt = outcome.outputs.receipts().next().unwrap();
    assert_eq!(receipt.output.as_ref().unwrap().as_str(), "\"Two.\"");
    // `tree` fails if there is more than one trace.
    let drawn = tree(&spans);
    let mut lines = drawn.lines();
    assert!(
        lines.any(|line| line.contains("execute_tool ask_world")),
        "{drawn}"
    );
    assert!(
        lines.any(|line| line.contains("invoke_agent world")),
        "{drawn}"
    );
}

#[tokio::test]
async fn the_arguments_of_a_bridge_are_read_like_those_of_every_tool() {
    let (outcome, questions, _) =
        asked([Script::text("Two.")], r#"{"question": "How many?"}"#).await;
    assert!(questions.is_empty());
    let receipt = outcome.outputs.receipts().next().unwrap();
    let error = receipt.error.as_ref().unwrap();
    assert_eq!(error.code, Code::ValidationError);
    assert!(error.message.contains("world_id"), "{}", error.message);
}

#[tokio::test]
async fn a_failure_of_the_other_agent_is_told_to_the_caller() {
    let failed = [Script::fail("no such model")];
    let arguments = r#"{"question": "How many suns?", "world_id": 7}"#;
    let (outcome, ..) = asked(failed, arguments).await;
    assert_eq!(outcome.result.unwrap(), "It is told.");
    let receipt = outcome.outputs.receipts().next().unwrap();
    let error = receipt.error.as_ref().unwrap();
    assert!(error.message.contains("no such model"), "{}", error.message);
}

#[tokio::test]
async fn a_session_belongs_to_the_callee() {
    let (model, world) = ScriptedModel::new([Script::text("Hello.")]);
    let runner: Arc<dyn AgentRunner<About = World>> = Arc::new(Worlds {
        agent: AgentBuilder::<String, String>::new("world")
            .model(model)
            .build(),
        tenants: Arc::default(),
    });
    let answer = runner.chat("Hello?", "s1", &World { world_id: 7 }).await;
    assert_eq!(answer.unwrap(), "Hello.");
    assert!(format!("{:?}", world.requests()[0]).contains("7: s1: Hello?"));
}

/// What a bridge cannot tell from its own argument.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Asking {
    question: String,
}

struct Never;

#[agents::async_trait]
impl AgentRunner for Never {
    type About = Asking;

    async fn ask(&self, _: &str, _: &Asking) -> Result<String, Error> {
        Err(Error::new(ErrorKind::Failed, "never"))
    }

    async fn chat(&self, _: &str, _: &str, _: &Asking) -> Result<String, Error> {
        Err(Error::new(ErrorKind::Failed, "never"))
    }
}

#[test]
#[should_panic(expected = "rename the field")]
fn a_field_named_question_is_refused() {
    let runner: Arc<dyn AgentRunner<About = Asking>> = Arc::new(Never);
    let _ = runner.tool("ask", "Asks.");
}
