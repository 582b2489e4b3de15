//! Skills, messages, budgets.

use super::*;
use crate::world::scripted_agent;
use ::agents::{
    Budget, ErrorKind,
    run::{Limit, Stopped},
};

fn constant(name: &'static str, answer: &'static str) -> Skill<'static, String, String> {
    Skill::native(
        name,
        "Answers.",
        move |_| async move { Ok(answer.to_owned()) },
    )
}

#[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Ticket {
    title: String,
    #[serde(default)]
    done: bool,
}

// 37: there are no partial values. An answer with a missing field is refused, and the model is told why.
#[tokio::test]
async fn an_answer_without_a_required_field_is_none_and_the_model_is_told_which() {
    let (model, handle) = ScriptedModel::new([
        Script::text(r#"{"done": true"#),
        Script::text(r#"{"done": true, "title": "fix it"}"#),
    ]);
    let agent = AgentBuilder::<String, Ticket>::new("a")
        .model(model)
        .build();
    let ticket = agent.run("go").await.unwrap();
    assert_eq!((ticket.title.as_str(), ticket.done), ("fix it", true));
    let told = handle.requests()[1].last().to_owned();
    assert!(
        told.contains("field `title`: required, and missing"),
        "{told}"
    );
}

// 38: a skill of another `Out` than its agent's does not type-check, so none can be missing.
#[tokio::test]
async fn a_skill_answers_what_its_agent_answers() {
    let agent: Plain = AgentBuilder::new("a")
        .skill(constant("greet", "hello"))
        .build();
    assert_eq!(agent.run("go").await.unwrap(), "hello");
}

// 39
#[tokio::test]
async fn no_skill_for_an_input_is_an_error_that_says_so() {
    let agent: Plain = AgentBuilder::new("a")
        .skill(constant("greet", "hello").when(|input: &String| input == "hi"))
        .build();
    assert_eq!(agent.run("hi").await.unwrap(), "hello");
    let error = agent.run("bye").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert_eq!(
        error.message(),
        "agent `a` (skills `greet`): no skill takes this input; give another, or add a skill without `when`"
    );
}

// 40: conditions choose and no model is asked to; of several without one, it is.
#[tokio::test]
async fn conditions_choose_a_skill_without_a_model_call() {
    let (model, handle) = ScriptedModel::new([Script::text("from the model")]);
    let agent: Plain = AgentBuilder::new("a")
        .skill(constant("where", "here").when(|input: &String| input.contains("where")))
        .skill(constant("who", "me").when(|input: &String| input.contains("wh")))
        .skill(Skill::model("think", "Thinks."))
        .model(model)
        .build();
    assert_eq!(
        agent.run("where?").await.unwrap(),
        "here",
        "the first that holds"
    );
    assert_eq!(agent.run("who?").await.unwrap(), "me");
    assert_eq!(handle.count(), 0);
    assert_eq!(agent.run("why?").await.unwrap_or_default(), "me");
    assert_eq!(agent.run("how?").await.unwrap(), "from the model");
    assert_eq!(
        handle.count(),
        1,
        "one candidate: no turn is spent on choosing"
    );
}

#[tokio::test]
async fn two_skills_without_a_condition_need_a_model_to_choose() {
    let agent: Plain = AgentBuilder::new("a")
        .skill(constant("x", "1"))
        .skill(constant("y", "2"))
        .build();
    let error = agent.run("go").outcome().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Build);
    assert_eq!(
        error.message(),
        "agent `a` has no model to choose among its skills `x`, `y`; give all of them but one a `when = |input| ..`, \
         or name one with `#[agent(model = ..)]` or `AgentBuilder::model`, or give one to the whole run with `.run(..).model(..)`"
    );
}

// 41
#[tokio::test]
async fn the_model_reads_the_prompt_and_then_the_input() {
    use ::agents::model::Message;
    let (model, handle) = ScriptedModel::new([Script::text("fine"), Script::text("fine")]);
    let agent: Plain = AgentBuilder::new("a")
        .prompt("Be brief.")
        .model(model.clone())
        .build();
    agent.run("How are you?").await.unwrap();
    let expected = [
        Message::System {
            content: "Be brief.".into(),
        },
        Message::User {
            content: "How are you?".into(),
        },
    ];
    assert_eq!(handle.requests()[0].messages, expected);
    let silent: Plain = AgentBuilder::new("a").model(model).build();
    silent.run("How are you?").await.unwrap();
    assert_eq!(
        handle.requests()[1].messages,
        expected[1..],
        "no prompt, no empty message"
    );
}

// 43
#[tokio::test]
async fn endless_calls_end_with_the_turns() {
    let (model, handle) = ScriptedModel::always(Script::call("job", r#"{"n":1}"#));
    let runs = Arc::new(AtomicU32::new(0));
    let agent: Plain = AgentBuilder::new("a")
        .tool(Job {
            runs: runs.clone(),
            failures: 0,
        })
        .budget(Budget::new().max_turns(3))
        .model(model)
        .build();
    let outcome = agent.run("go").outcome().await.unwrap();
    assert_eq!(
        outcome.stopped,
        Some(Stopped::Budget {
            agent: "a".into(),
            limit: Limit::Turns(3)
        })
    );
    assert_eq!(
        (
            handle.count(),
            runs.load(SeqCst),
            outcome.outputs.tool_order.len()
        ),
        (3, 3, 3)
    );
    assert_eq!(outcome.result.unwrap_err().kind(), ErrorKind::Budget);
}

// 53, as far as it exists: a model's failure is an error of the run and no arm's business.
#[tokio::test]
async fn a_model_s_failure_is_not_for_the_arms() {
    let asked = Arc::new(AtomicU32::new(0));
    let count = asked.clone();
    let arms = move |_: CallError<'_, AnyError>, _: &ErrorContext| {
        count.fetch_add(1, SeqCst);
        None
    };
    let seen = see(0, vec![Script::fail("out of memory")], arms).await;
    let error = seen.outcome.result.unwrap_err();
    assert!(
        error.kind() == ErrorKind::Model && error.to_string().contains("out of memory"),
        "{error}"
    );
    assert_eq!(asked.load(SeqCst), 0);
}

// 54, as far as it exists: the bound on calls belongs to a run, not to an agent.
#[tokio::test]
async fn what_is_used_up_is_counted_for_each_run() {
    let runs = Arc::new(AtomicU32::new(0));
    let script = [
        Script::call("job", r#"{"n":1}"#),
        Script::text("one"),
        Script::call("job", r#"{"n":2}"#),
        Script::text("two"),
    ];
    let agent = scripted_agent("a", script)
        .tool(Job {
            runs: runs.clone(),
            failures: 0,
        })
        .budget(Budget::new().max_tool_calls(1))
        .build();
    assert_eq!(agent.run("go").await.unwrap(), "one");
    assert_eq!(agent.run("go").await.unwrap(), "two");
    assert_eq!(runs.load(SeqCst), 2);
}

// 44: there is no implicit memory. Without an explicit one, a run knows only its input.
#[tokio::test]
async fn a_run_knows_nothing_of_another() {
    let (model, handle) = ScriptedModel::new([Script::text("noted"), Script::text("who?")]);
    let agent: Plain = AgentBuilder::new("a").model(model).build();
    agent.run("My name is Ada.").await.unwrap();
    agent.run("What is my name?").await.unwrap();
    let second = &handle.requests()[1];
    assert_eq!(
        (second.messages.len(), second.last()),
        (1, "What is my name?")
    );
}

// 54: a refused call counts like any other, so that a model which repeats it comes to an end.
#[tokio::test]
async fn a_refused_call_counts_like_any_other() {
    let (model, handle) = ScriptedModel::new([
        Script::calls([("nonsense", "{}"), ("job", r#"{"n":1}"#)]),
        Script::text("end"),
    ]);
    let runs = Arc::new(AtomicU32::new(0));
    let agent: Plain = AgentBuilder::new("a")
        .tool(Job {
            runs: runs.clone(),
            failures: 0,
        })
        .budget(Budget::new().max_tool_calls(1))
        .model(model)
        .build();
    let outcome = agent.run("go").outcome().await.unwrap();
    let codes: Vec<_> = outcome
        .outputs
        .receipts()
        .map(|receipt| receipt.error.as_ref().unwrap().code)
        .collect();
    assert_eq!(codes, [::agents::Code::PolicyDenied; 2]);
    assert_eq!((runs.load(SeqCst), handle.count()), (0, 1));
    assert_eq!(outcome.result.unwrap_err().kind(), ErrorKind::Budget);
}
