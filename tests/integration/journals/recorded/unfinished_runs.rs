//! Recordings of runs that ended before their answer.

use super::thrower;
use crate::world::{Plain, recorded, spec, tells_the_same};
use agents::{
    Agent, AgentBuilder, Budget, Effects, Outcome,
    journal::{MemoryJournal, Recorded},
    recovery::*,
    run::{Limit, Stopped, ToolEnvelope},
    testing::{Script, ScriptedModel},
    tool::FnTool,
};
use std::{io, time::Duration};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

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

fn worker() -> Plain {
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
                // Waits are random; among 20, some are long.
                let again: Decision<Execution> = retry().max_attempts(20).backoff(hour);
                Some(again.into())
            }
            _ => None,
        })
        .build()
}

/// Records the run of this script until the token is triggered.
async fn ended(script: Vec<Script>, until: Option<Duration>, budget: Budget) -> Outcome<String> {
    let token = CancellationToken::new();
    if let Some(until) = until {
        let token = token.clone();
        tokio::spawn(async move {
            sleep(until).await;
            token.cancel();
        });
    }
    let (model, _) = ScriptedModel::new(script);
    let agent = worker();
    let run = agent.run("go").model(model).budget(budget).cancel(token);
    let (outcome, recorded) = recorded(run).await;
    tells_the_same(&recorded, &outcome);
    recorded.outcome().unwrap()
}

#[tokio::test(start_paused = true)]
async fn one_that_was_cancelled_while_a_tool_ran() {
    let calls = [("never", "{}"), ("at_once", "{}"), ("never", "{}")];
    let script = vec![Script::calls(calls)];
    let until = Some(Duration::from_secs(9));
    let again = ended(script, until, Budget::new()).await;
    assert_eq!(again.stopped, Some(Stopped::Cancelled));
    let ok: Vec<_> = again.outputs.receipts().map(ToolEnvelope::is_ok).collect();
    assert_eq!(ok, [false, true, false]);
}

#[tokio::test(start_paused = true)]
async fn one_that_was_cancelled_while_an_agent_worked_within_a_tool() {
    let within = [("at_once", "{}"), ("never", "{}")];
    let script = vec![Script::call("delves", "{}"), Script::calls(within)];
    let until = Some(Duration::from_secs(9));
    let again = ended(script, until, Budget::new()).await;
    let names: Vec<_> = again.outputs.receipts().map(|r| r.name.clone()).collect();
    assert_eq!(names, ["delves", "at_once", "never"]);
}

#[tokio::test(start_paused = true)]
async fn one_that_was_cancelled_or_out_of_time_between_two_attempts() {
    let script = || vec![Script::calls([("fails", "{}"), ("at_once", "{}")])];
    let until = Some(Duration::from_secs(9));
    let again = ended(script(), until, Budget::new()).await;
    assert_eq!(again.stopped, Some(Stopped::Cancelled));
    let seconds = Duration::from_secs(9);
    let again = ended(script(), None, Budget::new().time(seconds)).await;
    let limit = Limit::Time(seconds);
    assert!(matches!(again.stopped, Some(Stopped::Budget { limit: of, .. }) if of == limit));
}

#[tokio::test(start_paused = true)]
async fn one_that_an_agent_within_a_tool_has_ended() {
    let calls = [("throws", "{}"), ("at_once", "{}")];
    let script = vec![Script::calls(calls), Script::text("no number")];
    let again = ended(script, None, Budget::new()).await;
    assert!(matches!(again.stopped, Some(Stopped::Thrown { .. })));
}

/// Works for a minute without a request.
#[agents::agent]
async fn thinker(task: String) -> String {
    sleep(Duration::from_secs(60)).await;
    task
}

#[tokio::test(start_paused = true)]
async fn who_lost_a_race_waits_and_ends_nothing() {
    let (model, _) = ScriptedModel::new([Script::call("never", "{}")]);
    let race = || agents::compose::first_of((worker(), Thinker));
    let agent = race();
    let (first, recorded) = recorded(agent.run("first").model(model)).await;
    tells_the_same(&recorded, &first);
    let model = recorded.model();
    let again = race().run("first").model(model.clone()).await;
    assert_eq!(again.unwrap(), "first");
    assert_eq!((model.left(), model.difference()), (0, None));
}

#[tokio::test(start_paused = true)]
async fn one_that_was_dropped_has_no_end() {
    let (model, _) = ScriptedModel::new([Script::calls([("at_once", "{}"), ("never", "{}")])]);
    let (journal, agent) = (MemoryJournal::new(), worker());
    let run = agent.run("go").model(model).journal(journal.clone());
    let late = tokio::time::timeout(Duration::from_secs(1), run).await;
    assert!(late.is_err());
    tokio::task::yield_now().await;
    let recorded = Recorded::of(journal.entries()).unwrap();
    assert!(recorded.outcome::<String>().is_none());
    // The message has no receipt of the finished call, since its reply was never answered.
    assert_eq!(recorded.messages().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn one_whose_call_goes_on_has_the_receipts_of_the_calls_beside_it() {
    let within = [("never", "{}"), ("at_once", "{}")];
    let calls = [("at_once", "{}"), ("delves", "{}"), ("at_once", "{}")];
    let (model, _) = ScriptedModel::new([Script::calls(calls), Script::calls(within)]);
    let journal = MemoryJournal::new();
    let agent = worker();
    let run = agent.run("go").model(model).journal(journal.clone());
    let run = tokio::time::timeout(Duration::from_secs(9), run.outcome());
    assert!(run.await.is_err());
    let recorded = Recorded::of(journal.entries()).unwrap();
    let names: Vec<_> = recorded
        .receipts()
        .iter()
        .map(|one| one.name.clone())
        .collect();
    assert_eq!(names, ["at_once", "at_once", "at_once"]);
    let open: Vec<_> = recorded
        .open_calls()
        .into_iter()
        .map(|call| call.tool)
        .collect();
    assert_eq!(open, ["delves", "never"]);
}
