//! Panics in user code: only the part that panics fails.

use crate::world::{Add, Plain, scripted_agent, told};
use agents::{
    Agent, AgentBuilder, Error, ErrorKind, Outcome,
    agent::{Data, Skill},
    branch,
    compose::{Step, routed},
    prelude::*,
    run::RunContext,
    team::Member,
    testing::{Script, ScriptedModel},
};
use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering::SeqCst},
};

/// Returns its input.
#[agent]
fn echo(text: String) -> String {
    text
}

/// Panics.
#[agent]
fn stumbles(text: String) -> String {
    panic!("over {text}")
}

/// Panics after its first await.
#[agent]
async fn falls(text: String) -> String {
    tokio::task::yield_now().await;
    panic!("over {text}")
}

fn adds() -> [Script; 3] {
    [
        Script::call("add", r#"{"left": 1, "right": 2}"#),
        Script::call("style", "{}"),
        Script::text("three"),
    ]
}

#[tokio::test]
async fn who_only_looks_on_stops_nothing() {
    let seen = Arc::new(AtomicU32::new(0));
    let count = || {
        let seen = seen.clone();
        move || {
            seen.fetch_add(1, SeqCst);
            panic!("I cannot look")
        }
    };
    let (skill, knowledge, used) = (count(), count(), count());
    let agent = scripted_agent("worker", adds())
        .tool(Add)
        .knowledge("style", "How to write.", || "Briefly.")
        .skill(Skill::model("work", "Works."))
        .on_skill_chosen(move |_| skill())
        .on_knowledge_used(move |_| knowledge())
        .on_tool_use(move |_, _, _| used())
        .build();
    let (event, tool) = (count(), count());
    let outcome = agent
        .run("go")
        .on_event(move |_| event())
        .on_tool_use(move |_, _, _| tool())
        .outcome()
        .await
        .unwrap();
    assert_eq!(outcome.result.unwrap(), "three");
    assert_eq!(outcome.outputs.receipts().count(), 2);
    assert!(seen.load(SeqCst) > 10, "all of them were told");
}

/// Runs an agent that panics, and returns the outcome and the error.
async fn left<A: Agent<In = String>>(agent: A) -> (Outcome<A::Out>, Error)
where
    A::Out: std::fmt::Debug + Clone,
{
    let outcome = agent.run("it").outcome().await.unwrap();
    let error = outcome.result.clone().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Panicked, "{error}");
    assert!(outcome.stopped.is_none());
    (outcome, error)
}

async fn says<A: Agent<In = String>>(agent: A) -> String
where
    A::Out: std::fmt::Debug + Clone,
{
    left(agent).await.1.to_string()
}

fn native<O: Data + schemars::JsonSchema>(body: fn(String) -> O) -> Plain<String, O> {
    AgentBuilder::new("clerk")
        .skill(Skill::native("work", "Works.", move |task: String| {
            let now = body(task);
            async { Ok(now) }
        }))
        .build()
}

/// An agent that implements the trait without macros.
struct ByHand;

#[agents::async_trait]
impl Agent for ByHand {
    type In = String;
    type Out = String;
    fn name(&self) -> &str {
        "by_hand"
    }
    async fn work(&self, _: &RunContext, input: String) -> Result<String, Error> {
        panic!("over {input}")
    }
}

#[tokio::test]
async fn what_was_to_give_data_is_an_error_that_names_the_place() {
    assert_eq!(says(Stumbles).await, "agent `stumbles` panicked: over it");
    assert_eq!(says(Falls).await, "agent `falls` panicked: over it");
    assert_eq!(says(ByHand).await, "agent `by_hand` panicked: over it");
    assert_eq!(
        says(native(|task| -> u32 { panic!("over {task}") })).await,
        "skill `work` of `clerk` panicked: over it"
    );
    assert_eq!(
        says(Echo.map(|text| -> u32 { panic!("over {text}") })).await,
        "the function that maps what `echo` gives panicked: over it"
    );
    let until = Echo.until(|text| -> Step<String, String> { panic!("over {text}") });
    assert_eq!(
        says(until).await,
        "the function of `until(echo)` panicked: over it"
    );
    let handed_on = routed(Echo, (Echo,), |cx, text, (echo,)| {
        assert!(text.is_empty(), "over {text}");
        echo.run_in(cx, text)
    });
    assert_eq!(
        says(handed_on).await,
        "the function of `routed(echo)` panicked: over it"
    );
    let waits = routed(Echo, (Echo,), |cx, text, (echo,)| {
        Box::pin(async move {
            let text = echo.run_in(cx, text).await?;
            panic!("over {text}, later")
        })
    });
    let waits = waits.map(|text: String| text);
    assert_eq!(
        says(waits).await,
        "the function of `routed(echo)` panicked: over it, later"
    );
    let branched = branch!(
        Echo,
        match text {
            text if text.len() > 100 => Echo.run(text),
            text => Echo.run(text.chars().nth(7).map(String::from).unwrap()),
        }
    );
    let said = says(branched).await;
    assert!(
        said.starts_with("the function of `routed(echo)` panicked"),
        "{said}"
    );
}

#[tokio::test]
async fn a_part_that_panics_is_a_part_that_fails() {
    assert_eq!(
        says((Echo, Stumbles)).await,
        "agent `stumbles` panicked: over it"
    );
    let race = agents::compose::first_of((Stumbles, Falls, Echo));
    assert_eq!(race.run("it").await.unwrap(), "it");
    let all = agents::compose::settled((Stumbles, Echo));
    let (stumbled, said) = all.run("it").await.unwrap();
    assert_eq!(said.unwrap(), "it");
    assert_eq!(stumbled.unwrap_err().kind, ErrorKind::Panicked);
}

#[tokio::test]
async fn a_delegate_that_panics_has_panicked_as_a_tool_does() {
    use agents::recovery::{CallError, Execution, Failure, feedback, retry};
    let (model, handle) = ScriptedModel::new([
        Script::call("stumbles", r#"{"input":"this"}"#),
        Script::text("so be it"),
    ]);
    let lead: Plain = AgentBuilder::new("lead")
        .model(model)
        .on_error_of::<Error>("stumbles", |error, _| match error {
            CallError::Execution(Failure::Panicked(_)) => {
                Some(feedback::<Execution>("it stumbled").into())
            }
            _ => Some(retry::<Execution>().into()),
        })
        .build();
    let team = Member::new(lead).delegate(Stumbles).build();
    let outcome = team.run("go").outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap(), "so be it");
    let told = told(&handle);
    assert!(
        told[0].contains("agent `stumbles` panicked: over this") && told[0].contains("it stumbled"),
        "{told:?}"
    );
}

#[tokio::test]
async fn nothing_is_left_in_disorder() {
    // The same agent runs again after a run in which it panicked.
    let fussy: Plain<String, usize> = AgentBuilder::new("fussy")
        .skill(Skill::native(
            "count",
            "Counts.",
            |task: String| async move {
                assert!(task != "it", "not that");
                Ok(task.len())
            },
        ))
        .build();
    let fussy = Arc::new(fussy);
    left(fussy.clone()).await;
    assert_eq!(fussy.run("four").await.unwrap(), 4);
}

struct Careless {
    prompt: Option<String>,
}

#[agent(prompt = self.prompt.clone().expect("a prompt"))]
impl Careless {
    /// Answers.
    #[skill]
    async fn answer(&self, request: String) -> String;
}

#[tokio::test]
async fn an_expression_in_an_attribute_is_a_part_of_the_agent() {
    let (model, _) = ScriptedModel::always(Script::text("done"));
    let error = Careless { prompt: None }.run("go").model(model).await;
    let error = error.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Panicked);
    assert_eq!(error.to_string(), "agent `careless` panicked: a prompt");
}
