//! Start times, ids and cancellation of runs.

use crate::world::{Plain, agent_with, put_down_after, spec, worker};
use agents::{
    Agent, AgentBuilder, Effects, ErrorKind,
    journal::MemoryJournal,
    observe::StepKind,
    run::EventKind,
    testing::{Script, ScriptedModel},
    tool::FnTool,
};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio_util::sync::CancellationToken;

/// Creates an agent whose tool runs two agents in separate runs; also records the ids of those runs.
fn outer(ids: Arc<Mutex<Vec<String>>>) -> Plain {
    let ask = FnTool::with_spec(spec("ask", Effects::Reads), move |_, _| {
        let ids = ids.clone();
        async move {
            for task in ["one", "two"] {
                let inner = AgentBuilder::<String, String>::new("inner").build();
                let outcome = inner.run(task).outcome().await?;
                ids.lock().unwrap().push(outcome.run_id);
            }
            Ok::<_, agents::Error>("asked")
        }
    });
    AgentBuilder::new("outer").tool(ask).build()
}

#[tokio::test]
async fn runs_within_a_run_keep_their_ids_when_it_goes_on() {
    let (journal, then, now) = (MemoryJournal::new(), Arc::default(), Arc::default());
    let agent = outer(Arc::clone(&then));
    let (model, _) = ScriptedModel::new([
        Script::call("ask", "{}"),
        Script::text("1"),
        Script::text("2"),
        Script::text("done"),
    ]);
    let run = agent.run("go").model(model).journal(journal.clone());
    let first = run.outcome().await.unwrap();
    // The process ends while the tool runs: the runs in it have ended.
    let stored = put_down_after(&journal, "replied", 3);
    let (model, _) = ScriptedModel::new([Script::text("done")]);
    let again = outer(Arc::clone(&now));
    let run = again.run("go").model(model).journal(stored.journal());
    let again = run.outcome().await.unwrap();
    assert_eq!(again.run_id, first.run_id);
    let then: Vec<String> = then.lock().unwrap().clone();
    assert_eq!(then, *now.lock().unwrap());
    assert_eq!(then.len(), 2);
    assert!(
        then[0] != then[1] && !then.contains(&first.run_id),
        "{then:?}"
    );
    assert!(then.iter().all(|id| id.len() == 36), "{then:?}");
}

#[tokio::test]
async fn a_run_that_goes_on_began_when_it_began() {
    let journal = MemoryJournal::new();
    let (model, _) = ScriptedModel::new([Script::call("add", r#"{"left":1,"right":1}"#)]);
    let agent = worker::<String>();
    let run = agent.run("go").model(model);
    let first = run.journal(journal.clone()).outcome().await.unwrap();
    let began = first
        .trace
        .steps
        .iter()
        .map(|step| step.t_start)
        .min()
        .unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;

    let stored = put_down_after(&journal, "settled", 1);
    let (model, _) = ScriptedModel::new([Script::text("done")]);
    let took = Arc::<Mutex<Duration>>::default();
    let noted = took.clone();
    let outcome = agent
        .run("go")
        .journal(stored.journal())
        .model(model)
        .on_event(move |event| {
            if let EventKind::RunEnded { took, .. } = event.kind {
                *noted.lock().unwrap() = took;
            }
        })
        .outcome()
        .await
        .unwrap();
    let of_run = |step: &&agents::observe::TraceStep| {
        step.place.is_empty() && matches!(step.kind, StepKind::Agent { .. })
    };
    let root = outcome.trace.steps.iter().rfind(of_run).unwrap();
    assert_eq!(root.t_start, began);
    assert!(
        outcome
            .trace
            .steps
            .iter()
            .all(|step| step.t_start >= root.t_start)
    );
    assert!(
        *took.lock().unwrap() < Duration::from_millis(250),
        "since it goes on"
    );
}

#[tokio::test]
async fn of_several_tokens_each_ends_the_run() {
    for which in 0..3 {
        let tokens = [(); 3].map(|()| CancellationToken::new());
        let trigger = tokens[which].clone();
        let freed = Arc::<Mutex<Option<CancellationToken>>>::default();
        let handed = freed.clone();
        let wait = FnTool::with_spec(spec("wait", Effects::None), move |_, cx| {
            *handed.lock().unwrap() = Some(cx.cancellation().clone());
            trigger.cancel();
            std::future::pending::<Result<(), std::io::Error>>()
        });
        let (agent, _) = agent_with([wait], [Script::call("wait", "{}")]);
        let [a, b, c] = tokens;
        let run = agent.run("go").cancel(a).cancel(b).cancel(c);
        let error = run.await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Cancelled);
        let token = freed.lock().unwrap().clone().unwrap();
        assert!(token.is_cancelled(), "what the tool has spawned is told");
    }
}
