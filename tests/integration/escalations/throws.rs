//! A throw ends the run through everything: code that ignores errors, separate runs, and journals.

use super::{
    own_tools::{Work, asks},
    team::passes_on,
};
use crate::world::{Plain, scripted_agent};
use agents::{
    Agent, AgentBuilder, Effects, Error, ErrorKind, Outcome,
    compose::{first_of, settled},
    prelude::*,
    run::Stopped,
    team::Member,
    testing::{Script, ScriptedModel},
    tool::FnTool,
};
use serde_json::json;

/// Throws.
#[agent]
fn alarmed(task: String) -> Result<String, Error> {
    Err(Error::thrown(format!("{task}: the safe is open")).context("on patrol"))
}

/// Creates a tool with this body.
fn tool<Fut>(body: impl Fn() -> Fut + Send + Sync + 'static) -> FnTool
where
    Fut: Future<Output = Result<String, Error>> + Send + 'static,
{
    let schema = json!({ "type": "object", "properties": {} });
    FnTool::new("patrol", "Looks.", Effects::None, schema, move |_, _| {
        body()
    })
}

/// Creates an agent that calls the tool, and would continue after any result.
fn guard(tool: FnTool) -> (Plain, ScriptedModel) {
    let (model, handle) =
        ScriptedModel::new([Script::call("patrol", "{}"), Script::text("all quiet")]);
    let guard = AgentBuilder::new("guard")
        .tool(tool)
        .model(model)
        .on_error(|_, _| Some(agents::recovery::retry::<agents::recovery::Execution>().into()))
        .build();
    (guard, handle)
}

#[track_caller]
fn is_thrown(outcome: &Outcome<String>, by: &str, why: &str) {
    let stopped = Stopped::Thrown {
        source: by.into(),
        reason: why.into(),
    };
    assert_eq!(outcome.stopped, Some(stopped));
    let error = outcome.result.as_ref().unwrap_err();
    assert!(
        error.kind() == ErrorKind::Thrown && error.message() == why,
        "{error}"
    );
}

#[tokio::test]
async fn what_a_tool_gives_back_as_thrown_is_no_failure_of_the_call() {
    let (guard, handle) = guard(tool(|| async { Err(Error::thrown("the keys are gone")) }));
    let outcome = guard.run("go").outcome().await.unwrap();
    is_thrown(&outcome, "patrol", "the keys are gone");
    assert_eq!(handle.count(), 1, "the model is not asked again");
    let receipts: Vec<_> = outcome.outputs.receipts().collect();
    assert_eq!(receipts.len(), 1);
    assert_eq!(receipts[0].attempts.len(), 1, "and the arms are not asked");
    assert!(receipts[0].error.is_some());
}

#[tokio::test]
async fn any_other_error_of_a_tool_is_one() {
    let (guard, _) = guard(tool(|| async {
        Err(Error::new(ErrorKind::Failed, "the light is out"))
    }));
    assert_eq!(guard.run("go").await.unwrap(), "all quiet");
}

#[tokio::test]
async fn code_that_looks_away_does_not_stop_it() {
    let (guard, _) = guard(tool(|| async {
        Ok(Alarmed.run("night").await.unwrap_or_default())
    }));
    let outcome = guard.run("go").outcome().await.unwrap();
    is_thrown(&outcome, "alarmed", "night: the safe is open");
}

#[tokio::test]
async fn a_run_of_its_own_ends_the_run_around_it() {
    // This agent has a model, and the arms of its tool throw.
    let inner = || -> Plain {
        scripted_agent("inner", [asks("low")])
            .tool(Work)
            .on_error_of::<String>("work", |_, _| {
                Some(agents::recovery::throw::<agents::recovery::Execution>("no").into())
            })
            .build()
    };
    let (guard, handle) = guard(tool(move || async move {
        let outcome = inner().run("go").outcome().await?;
        Ok(format!("ended well: {}", outcome.result.is_ok()))
    }));
    let outcome = guard.run("go").outcome().await.unwrap();
    is_thrown(&outcome, "inner", "no");
    assert_eq!(handle.count(), 1);
    assert_eq!(outcome.usage.requests, 2, "what it cost is charged");
}

#[tokio::test]
async fn at_the_top_it_is_the_end_of_the_run_as_anywhere() {
    let outcome = Alarmed.run("day").outcome().await.unwrap();
    is_thrown(&outcome, "alarmed", "day: the safe is open");
    let error = outcome.result.unwrap_err();
    assert_eq!(error.to_string(), "on patrol: day: the safe is open");
}

#[tokio::test]
async fn no_composite_and_no_parent_goes_on_over_it() {
    /// Repeats its task.
    #[agent]
    async fn calm(task: String) -> String {
        tokio::task::yield_now().await;
        task
    }
    let race = first_of((Calm, Alarmed)).run("a").outcome().await.unwrap();
    is_thrown(&race, "alarmed", "a: the safe is open");
    // An answer at the same moment does not help either.
    let at_once: Plain = AgentBuilder::new("at_once")
        .skill(agents::agent::Skill::native(
            "echo",
            "Echoes.",
            |task| async { Ok(task) },
        ))
        .build();
    let race = first_of((Alarmed, at_once)).run("d").outcome().await;
    is_thrown(&race.unwrap(), "alarmed", "d: the safe is open");
    let all = settled((Calm, Alarmed)).run("b").outcome().await.unwrap();
    assert_eq!(all.result.unwrap_err().kind(), ErrorKind::Thrown);
    assert!(matches!(all.stopped, Some(Stopped::Thrown { .. })));

    let boss = scripted_agent("boss", passes_on("alarmed", "c")).build();
    let team = Member::new(boss).delegate(Alarmed).build();
    let outcome = team.run("go").outcome().await.unwrap();
    is_thrown(&outcome, "alarmed", "c: the safe is open");
}

#[tokio::test]
async fn a_journal_tells_of_a_throw() {
    let (first, _) = guard(tool(|| async { Err(Error::thrown("the keys are gone")) }));
    let (outcome, recorded) = crate::world::recorded(first.run("go")).await;
    is_thrown(&outcome, "patrol", "the keys are gone");
    crate::world::tells_the_same(&recorded, &outcome);
}
