//! Runs with a changed result of a call, also called what-if runs.

use super::{Runs, busy, goes_on, recorded, tool};
use crate::world::{Plain, spec_with_n};
use agents::{
    Agent, AgentBuilder, Code, Effects, ErrorKind, Severity,
    journal::{Recorded, WhatIf},
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
    let (_, recorded, _) = recorded(script()).await;
    let what_if = recorded.what_if().output(0, json!({ "doubled": 5 }));
    let model = recorded.model();
    let (outcome, runs) = goes_on(what_if.journal().unwrap(), &model).await;
    let error = outcome.result.as_ref().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Replay);
    let difference = model.difference().unwrap();
    assert_eq!(
        (difference.place.as_str(), difference.message),
        ("/turn0002", Some(4))
    );
    assert_eq!(
        (difference.recorded.as_str(), difference.now.as_str()),
        (r#"{"doubled":4}"#, r#"{"doubled":5}"#)
    );
    assert_eq!(runs.count(), 0, "the call beside it is as it was");
    let receipts: Vec<_> = outcome.outputs.receipts().collect();
    let output = receipts[0].output.as_ref().unwrap();
    assert_eq!(output.as_str(), r#"{"doubled":5}"#);
    assert_eq!(*receipts[1], *recorded.receipts()[1]);
    let ends = "it ends where the model would have to say something new";
    assert_eq!(receipts.len(), 2, "{ends}");
}

#[tokio::test]
async fn a_failure_instead_by_the_receipt_s_id() {
    let (first, recorded, _) = recorded(script()).await;
    let id = first.outputs.tool_order[2].to_string();
    let what_if = recorded.what_if();
    let what_if = what_if.error(id.as_str(), Code::Timeout, "the disk sleeps");
    let model = recorded.model();
    let (outcome, _) = goes_on(what_if.journal().unwrap(), &model).await;
    let difference = model.difference().unwrap();
    assert_eq!(difference.place, "/turn0003");
    assert!(
        difference.now.starts_with("ERROR TIMEOUT"),
        "{difference:?}"
    );
    let receipt = outcome.outputs.receipts().nth(2).unwrap();
    assert_eq!(receipt.error.as_ref().unwrap().code, Code::Timeout);
}

#[tokio::test]
async fn what_changes_nothing_differs_nowhere() {
    let (first, recorded, _) = recorded(script()).await;
    let what_if = recorded.what_if().output(0, json!({ "doubled": 4 }));
    let model = recorded.model();
    let (outcome, _) = goes_on(what_if.journal().unwrap(), &model).await;
    assert_eq!(model.difference(), None);
    assert_eq!(outcome.result.unwrap(), first.result.unwrap());
}

#[tokio::test]
async fn a_live_model_goes_on_from_the_change() {
    let (_, recorded, _) = recorded(script()).await;
    let journal = recorded.what_if().output(0, "nothing").journal().unwrap();
    let (model, handle) = ScriptedModel::new([
        Script::call("double", r#"{"n": 21}"#),
        Script::text("another way"),
    ]);
    let runs = Runs::default();
    let agent = busy(&runs);
    let run = agent.run("go").model(model).journal(journal);
    let outcome = run.outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap(), "another way");
    let first = "the first request was answered in the recorded run";
    assert_eq!(handle.count(), 2, "{first}");
    assert_eq!(runs.count(), 1, "the first calls were not made again");
    let last = outcome.outputs.last_tool.unwrap();
    assert_eq!(last.output.as_ref().unwrap().as_str(), r#"{"doubled":42}"#);
}

#[tokio::test]
async fn another_word_of_the_arms() {
    let (first, recorded, _) = recorded(script()).await;
    assert_eq!(first.escalations.len(), 1);
    // The model would have got another result.
    let told: Decision<Execution> = feedback("use double instead");
    let (what_if, model) = (recorded.what_if().plan(1, told), recorded.model());
    let (outcome, runs) = goes_on(what_if.journal().unwrap(), &model).await;
    assert!(outcome.escalations.is_empty());
    let difference = model.difference().unwrap();
    assert_eq!(difference.place, "/turn0002");
    assert!(
        difference.now.contains("use double instead"),
        "{difference:?}"
    );
    assert_eq!(runs.count(), 0);
    // The tool runs again, and the arms decide about its next failure as usual.
    let tried: Decision<Execution> = retry().max_attempts(3).backoff(none());
    let plan = tried.or(escalate("really").severity(Severity::Low));
    let journal = recorded.what_if().plan(1, plan).journal().unwrap();
    let (model, _) = ScriptedModel::new([Script::text("so be it")]);
    let runs = Runs::default();
    let agent = busy(&runs);
    let run = agent.run("go").model(model).journal(journal);
    let outcome = run.outcome().await.unwrap();
    let receipt = outcome.outputs.receipts().nth(1).unwrap();
    assert_eq!(receipt.attempts.len(), 2);
    assert_eq!(runs.count(), 1);
}

/// Creates an agent with a tool whose body runs another agent, which makes a call.
fn delver(runs: &Runs) -> Plain {
    let within = runs.clone();
    let delve = FnTool::with_spec(spec_with_n("delve", Effects::Reads), move |_, _| {
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
async fn a_change_within_a_tool_s_body_runs_the_tool_again() {
    let (model, _) = ScriptedModel::new([
        Script::call("delve", r#"{"n": 1}"#),
        Script::call("double", r#"{"n": 2}"#),
        Script::text("it is 4"),
        Script::text("done"),
    ]);
    let runs = Runs::default();
    let agent = delver(&runs);
    let (_, recorded) = crate::world::recorded(agent.run("go").model(model)).await;
    assert_eq!(runs.count(), 2);
    let journal = recorded.what_if().output(1, "seven").journal().unwrap();

    let runs = Runs::default();
    let (model, handle) = ScriptedModel::new([Script::text("it is seven"), Script::text("so")]);
    let agent = delver(&runs);
    let run = agent.run("go").model(model).journal(journal);
    assert_eq!(run.await.unwrap(), "so");
    assert_eq!(runs.count(), 1, "`delve` alone");
    assert_eq!(handle.requests()[0].last(), "seven");
}

#[tokio::test]
async fn a_call_that_there_is_not() {
    let (_, recorded, _) = recorded(script()).await;
    let told: Decision<Execution> = feedback("use double instead");
    let fails = |what_if: WhatIf<'_>| what_if.journal().unwrap_err().to_string();
    let what_if = || recorded.what_if();
    let missing = "the recording has no call 7, counted from 0; it has 3";
    assert_eq!(fails(what_if().output(7, 1)), missing);
    assert_eq!(fails(what_if().error(7, Code::Timeout, "")), missing);
    assert_eq!(fails(what_if().plan(7, told.clone())), missing);
    let both = what_if().output("nobody", 1).output(7, 1);
    assert_eq!(fails(both), "the recording has no call `nobody`; it has 3");
    let odd = what_if().output(0, HashMap::from([((), 1)]));
    assert!(fails(odd).starts_with("the output cannot be written as JSON:"));
    assert_eq!(
        fails(what_if().plan(0, told)),
        "no arm was asked about the call 0, counted from 0, so that it has no decision to change"
    );
    let twice = what_if().output(0, 1).output(2, 1);
    assert_eq!(
        fails(twice),
        "the call 2, counted from 0 comes after an earlier change, which may have changed it; change the earlier one alone"
    );
}

#[tokio::test]
async fn what_goes_on_beside_a_change_stays() {
    // One reply asks two delegates; the result of a call in one of them changes.
    let clerk = |name: &str| {
        let double = tool(&Runs::default(), "double", |n, _| {
            Ok(json!({ "doubled": n * 2 }))
        });
        AgentBuilder::<String, String>::new(name.to_owned())
            .tool(double)
            .build()
    };
    let team = |model: ScriptedModel| {
        let boss = AgentBuilder::<String, String>::new("boss")
            .model(model)
            .build();
        agents::team::Member::new(boss)
            .delegate(clerk("anna"))
            .delegate(clerk("otto"))
            .build()
    };
    let input = r#"{"input": "go"}"#;
    let (model, _) = ScriptedModel::new([
        Script::calls([("anna", input), ("otto", input)]),
        Script::call("double", r#"{"n": 2}"#),
        Script::call("double", r#"{"n": 3}"#),
        Script::text("4"),
        Script::text("6"),
        Script::text("done"),
    ]);
    let (_, recorded) = crate::world::recorded(team(model).run("go")).await;
    let names: Vec<_> = recorded
        .receipts()
        .iter()
        .map(|one| one.name.clone())
        .collect();
    assert_eq!(names, ["anna", "double", "otto", "double"]);
    let changed = recorded.what_if().output(1, "five").journal().unwrap();
    let part = Recorded::of(changed.entries()).unwrap();
    let names: Vec<_> = part.receipts().iter().map(|one| one.name.clone()).collect();
    assert_eq!(
        names,
        ["otto", "double"],
        "of otto; the reply of the boss is not dealt with"
    );
    let (model, handle) = ScriptedModel::new([Script::text("5"), Script::text("eleven")]);
    let outcome = team(model)
        .run("go")
        .journal(changed)
        .outcome()
        .await
        .unwrap();
    assert_eq!(outcome.result.unwrap(), "eleven");
    assert_eq!(handle.requests()[0].last(), "five");
    let results = handle.requests()[1]
        .results()
        .iter()
        .map(|(_, text)| text.to_string())
        .collect::<Vec<_>>();
    assert_eq!(results.len(), 2);
    assert!(results.contains(&"5".to_owned()), "{results:?}");
    assert_eq!(handle.count(), 2, "what the other has said stays");
}
