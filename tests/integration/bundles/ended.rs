//! Runs that ended before their answer: they end so again, and nobody waits for what never came.

use crate::{recording::Tape, world::spec};
use agents::{
    Agent, AgentBuilder, Budget, Effects, Error, ErrorKind, Outcome,
    agent::ModelAgent,
    model::{ModelError, ModelErrorKind},
    record::{Bundle, Recording, Replay},
    recovery::*,
    run::{Limit, Stopped, ToolEnvelope},
    testing::{Script, ScriptedModel},
    tool::FnTool,
};
use std::{io, time::Duration};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// A helper that throws where nothing can be read.
fn thrower() -> ModelAgent<'static, String, u32> {
    AgentBuilder::<String, u32>::new("thrower")
        .on_error(|error, _| match error {
            CallError::InvalidOutput(..) => Some(throw::<InvalidOutput>("no number").into()),
            _ => None,
        })
        .build()
}

fn at_once() -> FnTool {
    FnTool::with_spec(spec("at_once", Effects::Reads), |_, _| async {
        Ok::<_, io::Error>("here")
    })
}

fn never() -> FnTool {
    FnTool::with_spec(spec("never", Effects::Reads), |_, _| async {
        std::future::pending::<io::Result<&str>>().await
    })
}

fn worker() -> ModelAgent<'static, String, String> {
    let delves = FnTool::with_spec(spec("delves", Effects::Reads), |_, _| async {
        let helper = AgentBuilder::<String, String>::new("helper").tool(at_once());
        helper.tool(never()).build().run("delve").await
    });
    let fails = FnTool::with_spec(spec("fails", Effects::Reads), |_, _| async {
        Err::<(), _>(io::Error::other("not yet"))
    });
    let throws = FnTool::with_spec(spec("throws", Effects::Reads), |_, _| async {
        thrower().run("go").await
    });
    AgentBuilder::<String, String>::new("worker")
        .tool(at_once())
        .tool(never())
        .tool(delves)
        .tool(fails)
        .tool(throws)
        .on_error(|error, _| match error {
            CallError::Execution(_) => {
                let hour = exponential().base(Duration::from_secs(3600));
                // Waits are random: of so many, some are long.
                let again: Decision<Execution> = retry().max_attempts(20).backoff(hour);
                Some(again.into())
            }
            _ => None,
        })
        .build()
}

/// What is left of a run, but for its result.
fn left(outcome: &Outcome<String>) -> (String, &Option<Stopped>, String) {
    let error = outcome.result.as_ref().unwrap_err();
    (
        serde_json::to_string_pretty(&outcome.outputs).unwrap(),
        &outcome.stopped,
        error.to_string(),
    )
}

/// Records the run of this script until the token is triggered, and has it again.
async fn twice(script: Vec<Script>, until: Option<Duration>, budget: Budget) -> Outcome<String> {
    let token = CancellationToken::new();
    if let Some(until) = until {
        let token = token.clone();
        tokio::spawn(async move {
            sleep(until).await;
            token.cancel();
        });
    }
    let (model, _) = ScriptedModel::new(script);
    let tape = Tape::default();
    let agent = worker();
    let run = agent.run("go").model(model).budget(budget.clone());
    let run = run.cancel(token).tape(Recording::to(tape.clone()));
    let first = run.outcome().await.unwrap();

    let bundle = Bundle::parse(&tape.text()).unwrap();
    let receipts: Vec<_> = first.outputs.receipts().collect();
    assert_eq!(bundle.envelopes().collect::<Vec<_>>(), receipts);
    let replay = bundle.replay();
    let began = Instant::now();
    let run = agent.run("go").budget(budget).tape(replay.clone());
    let again = run.outcome().await.unwrap();
    assert_eq!(left(&again), left(&first));
    assert_eq!((replay.left(), replay.divergence()), (0, None));
    assert_eq!(began.elapsed(), Duration::ZERO, "nobody waits");
    assert_eq!(again.usage, first.usage);
    again
}

#[tokio::test(start_paused = true)]
async fn one_that_was_cancelled_while_a_tool_ran() {
    let calls = [("never", "{}"), ("at_once", "{}"), ("never", "{}")];
    let script = vec![Script::calls(calls)];
    let until = Some(Duration::from_secs(9));
    let again = twice(script, until, Budget::new()).await;
    assert_eq!(again.stopped, Some(Stopped::Cancelled));
    let ok: Vec<_> = again.outputs.receipts().map(ToolEnvelope::is_ok).collect();
    assert_eq!(ok, [false, true, false]);
}

#[tokio::test(start_paused = true)]
async fn one_that_was_cancelled_while_an_agent_worked_within_a_tool() {
    let within = [("at_once", "{}"), ("never", "{}")];
    let script = vec![Script::call("delves", "{}"), Script::calls(within)];
    let until = Some(Duration::from_secs(9));
    let again = twice(script, until, Budget::new()).await;
    let names: Vec<_> = again.outputs.receipts().map(|r| r.name.clone()).collect();
    assert_eq!(names, ["delves", "at_once", "never"]);
}

#[tokio::test(start_paused = true)]
async fn one_that_was_cancelled_or_out_of_time_between_two_attempts() {
    let script = || vec![Script::calls([("fails", "{}"), ("at_once", "{}")])];
    let until = Some(Duration::from_secs(9));
    let again = twice(script(), until, Budget::new()).await;
    assert_eq!(again.stopped, Some(Stopped::Cancelled));
    let seconds = Duration::from_secs(9);
    let again = twice(script(), None, Budget::new().time(seconds)).await;
    let limit = Limit::Time(seconds);
    assert!(matches!(again.stopped, Some(Stopped::Budget { limit: of, .. }) if of == limit));
}

#[tokio::test(start_paused = true)]
async fn one_that_an_agent_within_a_tool_has_ended() {
    let calls = [("throws", "{}"), ("at_once", "{}")];
    let script = vec![Script::calls(calls), Script::text("no number")];
    let again = twice(script, None, Budget::new()).await;
    assert!(matches!(again.stopped, Some(Stopped::Thrown { .. })));
}

/// Takes a minute, and asks nobody.
#[agents::agent]
async fn thinker(task: String) -> String {
    sleep(Duration::from_secs(60)).await;
    task
}

#[tokio::test(start_paused = true)]
async fn who_lost_a_race_waits_and_ends_nothing() {
    let script = vec![Script::call("never", "{}")];
    let (model, _) = ScriptedModel::new(script);
    let tape = Tape::default();
    let race = || agents::compose::first_of((worker(), Thinker));
    let agent = race();
    let run = agent.run("first").model(model);
    let first = run.tape(Recording::to(tape.clone())).outcome().await;
    let first = first.unwrap();
    let replay = Bundle::parse(&tape.text()).unwrap().replay();
    let agent = race();
    let again = agent.run("first").tape(replay.clone()).outcome().await;
    let again = again.unwrap();
    assert_eq!(again.result.unwrap(), "first");
    assert_eq!((replay.left(), replay.divergence()), (0, None));
    assert_eq!(again.outputs, first.outputs);
}

#[tokio::test(start_paused = true)]
async fn one_that_was_dropped_ends_where_it_was() {
    let (model, _) = ScriptedModel::new([Script::calls([("at_once", "{}"), ("never", "{}")])]);
    let tape = Tape::default();
    let recording = Recording::to(tape.clone());
    let agent = worker();
    let run = agent.run("go").model(model).tape(recording).outcome();
    let late = tokio::time::timeout(Duration::from_secs(1), run).await;
    assert!(late.is_err());
    let replay = Bundle::parse(&tape.text()).unwrap().replay();
    let outcome = worker().run("go").tape(replay.clone()).outcome().await;
    let outcome = outcome.unwrap();
    let reason = "the recording ends here: its run was dropped";
    let diverged = Stopped::Diverged {
        reason: reason.into(),
    };
    assert_eq!(outcome.stopped, Some(diverged));
    assert_eq!(replay.divergence().unwrap().to_string(), reason);
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_what_does_not_come_again_is_told_so() {
    let (model, _) = ScriptedModel::new([
        Script::calls([("at_once", "{}"), ("never", "{}")]),
        Script::text("end"),
    ]);
    let tape = Tape::default();
    let recording = Recording::to(tape.clone());
    let budget = || Budget::new().time(Duration::from_secs(400));
    let agent = worker();
    let run = agent.run("go").model(model).budget(budget());
    // The tool's own time is over before the run's: it fails, backs off, and time is up.
    let first = run.tape(recording).outcome().await.unwrap();
    assert!(first.stopped.is_some());
    // A call fewer: somebody has shortened the tape.
    let text = tape.text();
    let lines = text.lines().filter(|line| !line.contains("/call0000/run1"));
    let cut: Vec<_> = lines.collect();
    let replay = Bundle::parse(&cut.join("\n")).unwrap().replay();
    let run = agent.run("go").budget(budget()).tape(replay.clone());
    let outcome = run.outcome().await.unwrap();
    let Some(Stopped::Diverged { reason }) = outcome.stopped else {
        panic!("{:?}", outcome.stopped)
    };
    assert!(
        reason.starts_with("1 recorded replies and calls do not happen again"),
        "{reason}"
    );
}

#[tokio::test]
async fn a_bound_that_was_there_and_is_no_more_is_where_they_part() {
    let script = || vec![Script::call("at_once", "{}"), Script::text("end")];
    let (model, _) = ScriptedModel::new(script());
    let tape = Tape::default();
    let agent = worker();
    let run = agent
        .run("go")
        .model(model)
        .budget(Budget::new().max_turns(1));
    let first = run.tape(Recording::to(tape.clone())).outcome().await;
    assert!(first.unwrap().result.unwrap_err().is_budget());
    let replay = Bundle::parse(&tape.text()).unwrap().replay();
    let error = agent.run("go").tape(replay).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Replay);
    assert!(
        error.to_string().contains("and this one goes on"),
        "{error}"
    );
}

#[tokio::test]
async fn how_a_model_failed_is_kept() {
    let error = ModelError::new(ModelErrorKind::Unreachable, "nobody listens").with_status(502);
    let (model, _) = ScriptedModel::new([Script::Fail(error.clone())]);
    let tape = Tape::default();
    let agent = worker();
    let run = agent.run("go").model(model);
    let first = run.tape(Recording::to(tape.clone())).outcome().await;
    let first = first.unwrap().result.unwrap_err();
    for replay in [
        Replay::parse(&tape.text()).unwrap(),
        Bundle::parse(&tape.text()).unwrap().replay(),
    ] {
        let again = agent.run("go").tape(replay).outcome().await.unwrap();
        let again: Error = again.result.unwrap_err();
        assert_eq!(again.kind(), ErrorKind::Model);
        assert_eq!(again.to_string(), first.to_string());
        let source = std::error::Error::source(&again).unwrap();
        assert_eq!(source.downcast_ref::<ModelError>(), Some(&error));
    }
}
