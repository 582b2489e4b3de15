//! A stored run goes on with the models that it had.

use crate::world::{Named, Plain, PutDown, counted, put_down, put_down_after, spec};
use agents::{
    Agent, AgentBuilder, Effects, Error, ErrorKind, Model, Outcome,
    journal::{Entry, Journal, MemoryJournal},
    testing::{Script, ScriptedModel},
};
use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering::SeqCst},
};

fn named(name: &'static str, script: impl IntoIterator<Item = Script>) -> (Named, ScriptedModel) {
    let (model, handle) = ScriptedModel::new(script);
    (Named(name, model), handle)
}

fn worker() -> (Plain, Arc<AtomicU32>) {
    let (write, writes) = counted(spec("write", Effects::Writes));
    (AgentBuilder::new("worker").tool(write).build(), writes)
}

fn work() -> [Script; 2] {
    [Script::call("write", "{}"), Script::text("done")]
}

fn rest() -> [Script; 1] {
    [Script::text("done")]
}

/// The journal of a whole run with this model.
async fn journal(model: impl Model) -> MemoryJournal {
    let journal = MemoryJournal::new();
    let (worker, _) = worker();
    let run = worker.run("go").model(model).journal(journal.clone());
    assert_eq!(run.await.unwrap(), "done");
    journal
}

async fn go_on(stored: impl Journal, model: impl Model) -> Result<Outcome<String>, Error> {
    let (worker, _) = worker();
    let run = worker.run("go").model(model).journal(stored);
    run.outcome().await
}

/// Why the run does not go on with this model.
async fn refusal(stored: &PutDown, model: impl Model) -> String {
    let journal = stored.journal();
    let outcome = go_on(journal.clone(), model).await.unwrap();
    let error = outcome.result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Journal, "{error}");
    let last = journal.entries();
    let kinds: Vec<_> = last.iter().map(Entry::kind).collect();
    assert!(
        !kinds.contains(&"finished") && !kinds.contains(&"stopped"),
        "the stored run has not ended: {kinds:?}"
    );
    // It goes on with its own.
    let (own, _) = named("large", rest());
    let outcome = go_on(journal, own).await.unwrap();
    assert_eq!(outcome.result.unwrap(), "done");
    error.to_string()
}

#[tokio::test]
async fn another_model_is_refused_and_both_are_named() {
    let (large, _) = named("large", work());
    let journal = journal(large).await;
    for stored in put_down(&journal) {
        let asked = stored.count("asked");
        if asked == 0 || stored.count("replied") == 2 {
            continue;
        }
        let (small, handle) = named("small", work());
        assert_eq!(
            refusal(&stored, small).await,
            "agent `worker` of the stored run used the model `large`, and now has `small`; give it `large` again, or allow the change with `.allow_model_change(..)`",
            "{stored}"
        );
        assert_eq!(handle.count(), 0, "{stored}");
    }
}

#[tokio::test]
async fn another_model_may_go_on_if_that_is_said() {
    let (large, _) = named("large", work());
    let stored = put_down_after(&journal(large).await, "replied", 1);
    let (small, handle) = named("small", rest());
    let (worker, writes) = worker();
    let run = worker.run("go").override_model(small);
    assert_eq!(run.journal(stored.journal()).await.unwrap(), "done");
    assert_eq!((handle.count(), writes.load(SeqCst)), (1, 1));
}

#[tokio::test]
async fn a_run_that_has_asked_nobody_is_bound_to_no_model() {
    let (large, _) = named("large", work());
    let stored = put_down_after(&journal(large).await, "said", 1);
    let (small, _) = named("small", work());
    let outcome = go_on(stored.journal(), small).await.unwrap();
    assert_eq!(outcome.result.unwrap(), "done");
}

#[tokio::test]
async fn a_finished_run_needs_none() {
    let (large, _) = named("large", work());
    let (small, handle) = named("small", []);
    let outcome = go_on(journal(large).await, small).await.unwrap();
    assert_eq!(outcome.result.unwrap(), "done");
    assert_eq!(handle.count(), 0);
}

/// Checks that the model that was asked counts, if another model has answered.
#[tokio::test]
async fn a_model_with_another_behind_it_is_bound_as_the_two() {
    let both = |script: Vec<Script>| {
        let (large, _) = named(
            "large",
            [Script::fail("too busy"), Script::fail("too busy")],
        );
        let (small, _) = named("small", script);
        large.or(small)
    };
    let stored = put_down_after(&journal(both(work().into())).await, "replied", 1);
    assert!(
        stored.text().contains(r#""model":"small""#),
        "{}",
        stored.text()
    );
    let (small, handle) = named("small", rest());
    let outcome = go_on(stored.journal(), small).await.unwrap();
    let why = outcome.result.unwrap_err().to_string();
    assert!(
        why.contains("used the model `large|small`, and now has `small`"),
        "{why}"
    );
    assert_eq!(handle.count(), 0);
    let outcome = go_on(stored.journal(), both(rest().into())).await.unwrap();
    assert_eq!(outcome.result.unwrap(), "done");
}

/// Two agents, one after the other, the second with a model of that name.
fn two(
    first: impl IntoIterator<Item = Script>,
    name: &'static str,
    second: impl IntoIterator<Item = Script>,
) -> impl Agent<In = String, Out = String> {
    let writer = AgentBuilder::<String, String>::new("writer").model(named("a", first).0);
    let (write, _) = counted(spec("write", Effects::Writes));
    let sender = AgentBuilder::<String, String>::new("sender").tool(write);
    let sender = sender.model(named(name, second).0);
    writer.build().then(sender.build())
}

#[tokio::test]
async fn each_agent_of_a_run_is_bound_to_what_it_has_asked() {
    let journal = MemoryJournal::new();
    let agents = two([Script::text("dear all")], "b", work());
    let run = agents.run("go".to_owned());
    run.journal(journal.clone()).await.unwrap();

    // The second has asked nobody yet.
    let stored = put_down_after(&journal, "replied", 1);
    let agents = two([], "c", work());
    let run = agents.run("go".to_owned());
    assert_eq!(run.journal(stored.journal()).await.unwrap(), "done");

    let stored = put_down_after(&journal, "replied", 2);
    let agents = two([], "c", rest());
    let run = agents.run("go".to_owned());
    let why = run.journal(stored.journal()).await.unwrap_err().to_string();
    assert!(
        why.contains("agent `sender` of the stored run used the model `b`, and now has `c`"),
        "{why}"
    );
}
