//! A run and the runs within it have one clock.

use crate::world::{agent_with, scripted_agent, spec};
use agents::{
    Agent, AgentBuilder, Effects,
    journal::{Entry, MemoryJournal},
    recovery::{Execution, constant, retry},
    run::{Clock, Timestamp},
    testing::{Script, ScriptedModel},
    tool::FnTool,
};
use serde_json::Value;
use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};

/// A clock that stands at this time.
#[derive(Clone, Copy)]
struct Stands(u64);

impl Clock for Stands {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0)
    }
}

const THEN: u64 = 1_000_000_000_000;

#[tokio::test]
async fn a_run_within_a_run_has_the_time_of_the_run_around_and_an_id_of_its_own() {
    let (inner, _) = ScriptedModel::new([Script::text("yes")]);
    let ask = FnTool::with_spec(spec("ask", Effects::None), move |_, _| {
        let model = inner.clone();
        async move {
            let colleague = AgentBuilder::<String, String>::new("colleague").model(model);
            let outcome = colleague
                .build()
                .run("help")
                .scope("acme")
                .outcome()
                .await?;
            assert_eq!(outcome.trace.steps[0].t_end, Timestamp::from_millis(THEN));
            Ok::<_, agents::Error>(outcome.run_id)
        }
    });
    let (agent, _) = agent_with([ask], [Script::call("ask", "{}"), Script::text("done")]);
    let journal = MemoryJournal::new();
    let run = agent.run("go").clock(Stands(THEN)).journal(journal.clone());
    let outcome = run.outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap(), "done");
    let receipt = outcome.outputs.receipts().next().unwrap();
    let inner_id: String = receipt.output.as_ref().expect("it answers").to().unwrap();
    assert_ne!(inner_id, outcome.run_id);
    let times: Vec<_> = journal.entries().iter().map(Entry::at).collect();
    assert!(times.iter().all(|at| at.as_millis() == THEN), "{times:?}");
}

#[tokio::test(start_paused = true)]
async fn a_wait_is_measured_by_the_clock_of_the_run() {
    let wait = Duration::from_secs(60);
    let ran = Arc::new(AtomicU32::new(0));
    let agent = || {
        let ran = ran.clone();
        let look = FnTool::with_spec(spec("look", Effects::Reads), move |_, _| {
            let nth = ran.fetch_add(1, SeqCst);
            async move {
                match nth {
                    0 => Err("not yet"),
                    _ => Ok("light"),
                }
            }
        });
        let script = [Script::call("look", "{}"), Script::text("done")];
        scripted_agent("worker", script)
            .tool(look)
            .on_error(move |_, _| {
                let again = retry::<Execution>().max_attempts(3);
                Some(again.backoff(constant(wait)).into())
            })
            .build()
    };
    let journal = MemoryJournal::new();
    let run = agent();
    let run = run.run("go").clock(Stands(THEN)).journal(journal.clone());
    assert_eq!(run.await.unwrap(), "done");
    let entries = journal.entries();
    let waits = entries
        .iter()
        .position(|entry| entry.kind() == "waits")
        .unwrap();
    let fact: Value = serde_json::from_str(entries[waits].fact()).unwrap();
    let until = fact["call"]["fact"]["waits"]["until"].as_u64().unwrap();
    let over = THEN + 60_000;
    assert!((over..=over + 1).contains(&until), "{until}");

    // It goes on when half of the wait is over by that clock: the other half is left.
    let cut = MemoryJournal::of(entries[..=waits].to_vec());
    let (model, _) = ScriptedModel::new([Script::text("done")]);
    let began = tokio::time::Instant::now();
    let agent = agent();
    let run = agent
        .run("go")
        .override_model(model)
        .clock(Stands(THEN + 30_000));
    assert_eq!(run.journal(cut).await.unwrap(), "done");
    let waited = began.elapsed();
    let half = Duration::from_secs(30);
    assert!(
        (half..half + Duration::from_secs(1)).contains(&waited),
        "{waited:?}"
    );
}
