//! Spawned work that outlives its parent.

use super::{
    own_tools::{Work, asks},
    team::passes_on,
};
use crate::world::{Plain, scripted_agent};
use agents::{
    Agent, AgentBuilder, Effects, Error, ErrorKind, Severity,
    escalation::{Settlement, return_partial_result},
    team::Member,
    testing::{Script, ScriptedModel},
    tool::FnTool,
};
use serde_json::json;
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{sync::Notify, task::JoinHandle};

type Spawned = Arc<Mutex<Option<JoinHandle<Result<String, Error>>>>>;

/// Creates a tool that spawns an agent within the run and does not wait for it.
fn spawns(agent: Plain, spawned: &Spawned) -> FnTool {
    let (agent, spawned) = (Arc::new(agent), spawned.clone());
    let schema = json!({ "type": "object", "properties": {} });
    FnTool::new("spawn", "Begins.", Effects::None, schema, move |_, cx| {
        let (agent, here) = (agent.clone(), cx.run().clone());
        let child = tokio::spawn(async move { agent.run_in(&here, "go".into()).await });
        *spawned.lock().unwrap() = Some(child);
        async { Ok::<_, Error>("begun") }
    })
}

fn taken(spawned: &Spawned) -> JoinHandle<Result<String, Error>> {
    spawned.lock().unwrap().take().unwrap()
}

/// Creates an agent whose work starts on a signal, and then escalates.
fn gives_up(begin: &Arc<Notify>, what: &'static str) -> Plain {
    let begin = begin.clone();
    let (model, _) =
        ScriptedModel::new([Script::call("wait", "{}"), asks(what), Script::text("told")]);
    let schema = json!({ "type": "object", "properties": {} });
    let wait = FnTool::new("wait", "Waits.", Effects::None, schema, move |_, _| {
        let begin = begin.clone();
        async move {
            begin.notified().await;
            Ok::<_, Error>("now")
        }
    });
    AgentBuilder::new("coder")
        .tool(wait)
        .tool(Work)
        .model(model)
        .build()
}

#[tokio::test(start_paused = true)]
async fn with_the_run_ends_all_that_was_spawned_in_it() {
    let (begin, spawned) = (Arc::<Notify>::default(), Spawned::default());
    let script = [Script::call("spawn", "{}"), Script::text("done")];
    let lead = scripted_agent("lead", script)
        .tool(spawns(gives_up(&begin, "high"), &spawned))
        .on_escalation(|_| return_partial_result("half".to_owned()))
        .build();
    assert_eq!(lead.run("go").await.unwrap(), "done");
    let child = tokio::time::timeout(Duration::from_secs(1), taken(&spawned));
    let error = child
        .await
        .expect("nothing waits for ever")
        .unwrap()
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled, "{error}");
    assert!(
        error.message().contains("`coder` is a part is over"),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn what_comes_to_a_desk_that_was_left_climbs_on() {
    for (what, ends) in [("high", false), ("critical", true)] {
        let (begin, spawned) = (Arc::<Notify>::default(), Spawned::default());
        let lead = scripted_agent("lead", [Script::call("spawn", "{}"), Script::text("led")])
            .tool(spawns(gives_up(&begin, what), &spawned))
            .on_escalation(|_| return_partial_result("nobody is here to say so".to_owned()))
            .build();
        // The lead has ended before its child starts.
        let (child, start) = (spawned.clone(), begin.clone());
        let schema = json!({ "type": "object", "properties": {} });
        let join = FnTool::new("join", "Waits.", Effects::None, schema, move |_, _| {
            let (child, start) = (taken(&child), start.clone());
            start.notify_one();
            async move { child.await.unwrap() }
        });
        let [ask, _] = passes_on("lead", "go");
        let script = [ask, Script::call("join", "{}"), Script::text("end")];
        let boss = scripted_agent("boss", script).tool(join).build();
        let team = Member::new(boss).delegate(lead).build();
        let run = tokio::time::timeout(Duration::from_secs(5), team.run("go").outcome());
        let outcome = run.await.expect("nothing waits for ever").unwrap();
        let [receipt] = &outcome.escalations[..] else {
            panic!("{:?}", outcome.escalations)
        };
        assert_eq!(receipt.escalation.path, ["coder", "lead", "boss"]);
        match ends {
            false => {
                assert_eq!(outcome.result.unwrap(), "end");
                assert_eq!(receipt.settled, Settlement::ReportedToModel);
            }
            true => {
                let error = outcome.result.unwrap_err();
                assert_eq!(error.severity(), Some(Severity::Critical));
                assert_eq!(receipt.settled, Settlement::Ended);
            }
        }
    }
}
