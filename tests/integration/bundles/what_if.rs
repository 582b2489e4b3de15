//! Where a run would have gone.

use super::{Runs, again, busy, recorded, spec, tool};
use crate::recording::Tape;
use agents::{
    Agent, AgentBuilder, Code, Effects, ErrorKind, Severity,
    agent::ModelAgent,
    record::{Bundle, Recording, WhatIf},
    recovery::*,
    testing::{Script, ScriptedModel},
    tool::FnTool,
};
use serde_json::json;
use std::collections::HashMap;

fn script() -> Vec<Script> {
    vec![
        Script::calls([("double", r#"{"n": 2}"#), ("fails", r#"{"n": 1}"#)]),
        Script::call("double", r#"{"n": 3}"#),
        Script::text("done"),
    ]
}

#[tokio::test]
async fn another_output_and_the_first_request_that_differs() {
    let (_, bundle, _) = recorded(script()).await;
    let replay = bundle
        .what_if()
        .output(0, json!({ "doubled": 5 }))
        .replay()
        .unwrap();
    let (outcome, runs) = again(&bundle, replay.clone()).await;
    let error = outcome.result.as_ref().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Replay);
    let parted = replay.divergence().unwrap();
    assert_eq!(
        (parted.place.as_str(), parted.message),
        ("/turn0002", Some(4))
    );
    assert_eq!(
        (parted.recorded.as_str(), parted.now.as_str()),
        (r#"{"doubled":4}"#, r#"{"doubled":5}"#)
    );
    assert_eq!(runs.count(), 0);
    let receipts: Vec<_> = outcome.outputs.receipts().collect();
    let output = receipts[0].output.as_ref().unwrap();
    assert_eq!(output.as_str(), r#"{"doubled":5}"#);
    let ends = "it ends where the model would have to say something new";
    assert_eq!(receipts.len(), 2, "{ends}");
}

#[tokio::test]
async fn a_failure_instead_by_the_receipt_s_id() {
    let (first, bundle, _) = recorded(script()).await;
    let id = first.outputs.tool_order[2].to_string();
    let what_if = bundle.what_if();
    let what_if = what_if.error(id.as_str(), Code::Timeout, "the disk sleeps");
    let replay = what_if.replay().unwrap();
    let (outcome, _) = again(&bundle, replay.clone()).await;
    let parted = replay.divergence().unwrap();
    assert_eq!(parted.place, "/turn0003");
    assert!(parted.now.starts_with("ERROR TIMEOUT"), "{parted:?}");
    let receipt = outcome.outputs.receipts().nth(2).unwrap();
    assert_eq!(receipt.error.as_ref().unwrap().code, Code::Timeout);
}

#[tokio::test]
async fn what_changes_nothing_parts_nowhere() {
    let (first, bundle, _) = recorded(script()).await;
    let replay = bundle
        .what_if()
        .output(0, json!({ "doubled": 4 }))
        .replay()
        .unwrap();
    let (outcome, _) = again(&bundle, replay.clone()).await;
    assert_eq!(replay.divergence(), None);
    assert_eq!(outcome.result.unwrap(), first.result.unwrap());
}

#[tokio::test]
async fn live_from_where_it_parts() {
    let (_, bundle, _) = recorded(script()).await;
    let replay = bundle
        .what_if()
        .output(0, "nothing")
        .live()
        .replay()
        .unwrap();
    let (model, handle) = ScriptedModel::new([
        Script::call("double", r#"{"n": 21}"#),
        Script::text("another way"),
    ]);
    let runs = Runs::default();
    let agent = busy(&runs);
    let run = agent.run("go").model(model).tape(replay.clone());
    let outcome = run.outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap(), "another way");
    let first = "the first request was answered by the recording";
    assert_eq!(handle.count(), 2, "{first}");
    assert_eq!(runs.count(), 1, "the first calls were not made again");
    assert!(replay.divergence().is_some());
    let last = outcome.outputs.last_tool.unwrap();
    assert_eq!(last.output.as_ref().unwrap().as_str(), r#"{"doubled":42}"#);
}

#[tokio::test]
async fn another_word_of_the_arms() {
    let (first, bundle, _) = recorded(script()).await;
    assert_eq!(first.escalations.len(), 1);
    // The model would have been told something else.
    let told: Decision<Execution> = feedback("use double instead");
    let replay = bundle.what_if().plan(1, told).replay().unwrap();
    let (outcome, runs) = again(&bundle, replay.clone()).await;
    assert!(outcome.escalations.is_empty());
    let parted = replay.divergence().unwrap();
    assert_eq!(parted.place, "/turn0002");
    assert!(parted.now.contains("use double instead"), "{parted:?}");
    assert_eq!(runs.count(), 0);
    // The tool would have run again: that is not recorded.
    let tried: Decision<Execution> = retry().max_attempts(3).backoff(none());
    let plan = tried.or(escalate("really").severity(Severity::Low));
    let replay = bundle.what_if().plan(1, plan.clone()).replay().unwrap();
    let (outcome, runs) = again(&bundle, replay.clone()).await;
    assert_eq!(runs.count(), 0);
    assert!(outcome.stopped.is_some());
    let parted = replay.divergence().unwrap();
    assert_eq!((parted.place.as_str(), parted.message), ("/call0001", None));
    // Live it does run, twice more.
    let replay = bundle.what_if().plan(1, plan).live().replay().unwrap();
    let (model, _) = ScriptedModel::new([Script::text("so be it")]);
    let runs = Runs::default();
    let agent = busy(&runs);
    let run = agent.run("go").model(model).tape(replay);
    let outcome = run.outcome().await.unwrap();
    let receipt = outcome.outputs.receipts().nth(1).unwrap();
    assert_eq!(receipt.attempts.len(), 3);
    assert_eq!(runs.count(), 2);
}

/// An agent with a tool in whose body another agent makes a call.
fn delver(runs: &Runs) -> ModelAgent<'static, String, String> {
    let within = runs.clone();
    let delve = FnTool::with_spec(spec("delve", Effects::Reads), move |_, _| {
        let double = tool(&within, "double", |n, _| Ok(json!({ "doubled": n * 2 })));
        within.one();
        async move {
            let helper = AgentBuilder::<String, String>::new("helper").tool(double);
            helper.build().run("delve").await
        }
    });
    AgentBuilder::new("delver").tool(delve).build()
}

#[tokio::test]
async fn what_is_changed_within_a_tool_s_body_shows_where_the_tool_runs() {
    let (model, _) = ScriptedModel::new([
        Script::call("delve", r#"{"n": 1}"#),
        Script::call("double", r#"{"n": 2}"#),
        Script::text("it is 4"),
        Script::text("done"),
    ]);
    let (tape, runs) = (Tape::default(), Runs::default());
    let agent = delver(&runs);
    let run = agent.run("go").model(model);
    run.tape(Recording::to(tape.clone())).await.unwrap();
    assert_eq!(runs.count(), 2);
    let bundle = Bundle::parse(&tape.text()).unwrap();
    let changed = || bundle.what_if().output(1, "seven");

    let (replay, runs) = (changed().replay().unwrap(), Runs::default());
    let error = delver(&runs).run("go").tape(replay.clone()).await;
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Replay);
    assert_eq!(runs.count(), 0);
    let parted = replay.divergence().unwrap();
    assert_eq!(parted.place, "/call0000");
    let said = "a tool would run again, for what is changed lies within it:";
    assert!(parted.to_string().starts_with(said), "{parted}");

    // Live it does, and the call within it gives what it is to give.
    let (replay, runs) = (changed().live().replay().unwrap(), Runs::default());
    let (model, handle) = ScriptedModel::new([Script::text("it is seven"), Script::text("so")]);
    let agent = delver(&runs);
    let run = agent.run("go").model(model).tape(replay);
    assert_eq!(run.await.unwrap(), "so");
    assert_eq!(runs.count(), 1, "`delve` alone");
    assert_eq!(handle.requests()[0].last(), "seven");
}

#[tokio::test]
async fn a_call_that_there_is_not() {
    let (_, bundle, _) = recorded(script()).await;
    let told: Decision<Execution> = feedback("use double instead");
    let fails = |what_if: WhatIf| {
        let error = what_if.replay().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Replay);
        error.to_string()
    };
    let missing = "the recording has no call 7, counted from 0; it has 3";
    assert_eq!(fails(bundle.what_if().output(7, 1)), missing);
    assert_eq!(fails(bundle.what_if().error(7, Code::Timeout, "")), missing);
    assert_eq!(fails(bundle.what_if().plan(7, told)), missing);
    let both = bundle.what_if().output("nobody", 1).output(7, 1);
    assert_eq!(fails(both), "the recording has no call `nobody`; it has 3");
    let odd = bundle.what_if().output(0, HashMap::from([((), 1)]));
    assert!(fails(odd).starts_with("the output cannot be written as JSON:"));
}
