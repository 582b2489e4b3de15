//! Choice among several skills, and the tools and prompts of each.

mod choice_by_model;
mod default_arms;
mod single_job;

use crate::world::{
    Add, Plain, ReadFile, WriteFile, put_down, put_down_after, recorded, same, tells_the_same,
};
use agents::{
    Agent, AgentBuilder, Budget, ErrorKind, agent,
    agent::Skill,
    journal::MemoryJournal,
    run::{Limit, Stopped},
    testing::{Script, ScriptedModel},
};
use std::sync::{Arc, Mutex};

/// Creates an agent with three skills, among which only a model can choose.
fn clerk() -> AgentBuilder<'static, String, String> {
    AgentBuilder::new("clerk")
        .prompt("You are a clerk.")
        .tool(Add)
        .tool(ReadFile)
        .tool(WriteFile)
        .skill(Skill::model("read_notes", "Reads the notes.\nOf anybody.").tools(["read_file"]))
        .skill(Skill::model("do_sums", "Does sums."))
        .skill(Skill::native(
            "say_hello",
            "Greets.",
            |name: String| async move { Ok(format!("hello, {name}")) },
        ))
}

fn script() -> Vec<Script> {
    vec![
        Script::text("whichever"),
        Script::text("do_sums"),
        Script::call("add", r#"{"left": 1, "right": 2}"#),
        Script::text("three"),
    ]
}

/// Returns the system prompt of a request.
fn system(asked: &agents::testing::ReceivedRequest) -> &str {
    match &asked.messages[0] {
        agents::model::Message::System { content } => content,
        _ => panic!("no system message"),
    }
}

#[tokio::test]
async fn what_is_said_of_a_skill_is_told_to_the_model_also_if_there_is_one_alone() {
    struct Guide;

    #[agent(prompt = "You are a guide.")]
    impl Guide {
        /// Always answer in French.
        #[skill]
        async fn answer(&self, question: String) -> String;

        /// Repeats a question about a place.
        #[skill(when = |question| question.contains("where"))]
        fn place(&self, question: String) -> String {
            question
        }
    }

    let (model, handle) = ScriptedModel::new([Script::text("oui")]);
    Guide.run("Is it far?").model(model).await.unwrap();
    assert_eq!(
        system(&handle.requests()[0]),
        "You are a guide.\n\nAlways answer in French."
    );
    // The agent's description is its own, not that of a skill.
    assert_eq!(Guide.description(), "You are a guide.");
}

#[tokio::test]
async fn a_choice_is_stored_and_not_made_again() {
    let journal = MemoryJournal::new();
    let (agent, (model, _)) = (clerk().build(), ScriptedModel::new(script()));
    let run = agent.run("1 + 2").model(model).journal(journal.clone());
    let whole = run.outcome().await.unwrap();
    for at in put_down(&journal) {
        let (model, handle) = ScriptedModel::new(script().into_iter().skip(at.replies()));
        let run = agent.run("1 + 2").model(model).journal(at.journal());
        let resumed = run.outcome().await.unwrap();
        same(&resumed, &whole, &at);
        assert_eq!(handle.count(), 4 - at.replies(), "{at}");
    }
}

#[tokio::test]
async fn a_stored_choice_that_the_agent_no_longer_has_is_an_error() {
    let journal = MemoryJournal::new();
    let (model, _) = ScriptedModel::new(script());
    let first = clerk().build();
    let run = first.run("1 + 2").model(model).journal(journal.clone());
    run.await.unwrap();
    let other: Plain = AgentBuilder::new("clerk")
        .skill(Skill::model("dream", "Dreams."))
        .build();
    let chosen = put_down_after(&journal, "chosen", 1);
    let (model, _) = ScriptedModel::new([]);
    let run = other.run("1 + 2").model(model).journal(chosen.journal());
    let error = run.await.unwrap_err();
    assert_eq!(
        error.message(),
        "agent `clerk` (skills `dream`): the stored run has chosen `do_sums`, which is not among them"
    );
}

#[tokio::test]
async fn a_choice_is_repeated_on_recorded_replies() {
    let (model, _) = ScriptedModel::new(script());
    let agent = clerk().build();
    let (first, recorded) = recorded(agent.run("1 + 2").model(model)).await;
    tells_the_same(&recorded, &first);
    let model = recorded.model();
    let again = agent.run("1 + 2").model(model.clone()).await;
    assert_eq!(again.unwrap(), first.result.unwrap());
    assert_eq!(model.left(), 0);
}

#[tokio::test(start_paused = true)]
async fn choosing_and_working_share_the_agent_s_time() {
    use std::time::Duration;
    /// Answers after six seconds.
    struct Slow(ScriptedModel);
    #[agents::async_trait]
    impl agents::Model for Slow {
        fn id(&self) -> &str {
            "slow"
        }
        async fn chat(
            &self,
            request: agents::model::Request<'_>,
        ) -> Result<agents::model::Reply, agents::model::ModelError> {
            tokio::time::sleep(Duration::from_secs(6)).await;
            self.0.chat(request).await
        }
    }
    let (model, _) = ScriptedModel::always(Script::text("do_sums"));
    let ten = Duration::from_secs(10);
    let agent = clerk()
        .budget(Budget::new().time(ten))
        .model(Slow(model))
        .build();
    let outcome = agent.run("1 + 2").outcome().await.unwrap();
    let stopped = Stopped::Budget {
        agent: "clerk".into(),
        limit: Limit::Time(ten),
    };
    assert_eq!(outcome.stopped, Some(stopped));
}

#[tokio::test]
async fn what_does_not_fit_together_is_said_at_once() {
    let agent = clerk()
        .skill(Skill::model("do_sums", "Again.").tools(["multiply", "read_*", "github_*"]))
        .skill(Skill::native("idle", "Idles.", |_| async { Ok(String::new()) }).tools(["add"]))
        .on_error_of::<std::io::Error>("divide", |_, _| None)
        .build();
    let error = agent.run("1 + 2").outcome().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Build);
    assert_eq!(
        error.message().split("; ").collect::<Vec<_>>(),
        [
            "agent `clerk` has `on_error` arms for `divide`, which is not among its tools (arms for a delegate are written for `agents_core::error::Error`, and these for `std::io::error::Error`)",
            "agent `clerk` has two skills called `do_sums`",
            "rename one or remove it",
            "skill `do_sums` lists the tool `multiply`, and agent `clerk` has none",
            "add it to the agent's tools, or remove it from the list",
            "skill `do_sums` lists the tools by the pattern `github_*`, and agent `clerk` has none",
            "add it to the agent's tools, or remove it from the list",
            "skill `idle` of agent `clerk` lists tools, and it has a body: no model is there to use that",
            "remove the one or the other",
            "agent `clerk` has no model to choose among its skills `read_notes`, `do_sums`, `say_hello`, `do_sums`, `idle`",
            "give all of them but one a `when = |input| ..`, or name one with `#[agent(model = ..)]` or `AgentBuilder::model`, or give one to the whole run with `.run(..).model(..)`",
        ]
    );
}

#[tokio::test]
async fn agents_in_a_skill_without_a_model_have_the_agent_s_model() {
    let (model, handle) = ScriptedModel::new([Script::text("from the clerk's model")]);
    let agent: Plain = AgentBuilder::new("clerk")
        .model(model)
        .skill(Skill::native(
            "ask",
            "Asks a colleague.",
            |input: String| async move {
                AgentBuilder::<String, String>::new("colleague")
                    .build()
                    .run(input)
                    .await
            },
        ))
        .build();
    assert_eq!(agent.run("go").await.unwrap(), "from the clerk's model");
    assert_eq!(handle.count(), 1);
}
