//! Identical calls with identical results: the model is told, and then the run is stopped.

use crate::world::{Plain, put_down, recorded, same, spec, tells_the_same};
use agents::{
    Agent, AgentBuilder, Budget, Effects, ErrorKind, Outcome,
    journal::MemoryJournal,
    prelude::agent,
    run::{Limit, Stopped},
    structure,
    testing::{Script, ScriptedModel},
    tool,
    tool::{FnTool, ToolSpec},
};
use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
};

const THIRD: &str = "[This is the third call in a row with the same arguments and the same result. Use the result, or call something else.]";

/// Looks.
#[tool(none)]
async fn look(
    /// Where.
    place: String,
    /// How far, in metres.
    #[serde(default)]
    far: u32,
) -> String {
    format!("{place}: dark, {far} m")
}

/// Fails.
#[tool(none)]
async fn fail() -> Result<String, io::Error> {
    Err(io::Error::other("broken"))
}

/// Returns the state of the build.
#[tool(reads, polls)]
async fn build_state() -> &'static str {
    "it runs"
}

fn watcher() -> AgentBuilder<'static, String, String> {
    AgentBuilder::new("watcher")
        .tool(Look)
        .tool(Fail)
        .tool(BuildState)
}

fn at(place: &str) -> Script {
    Script::call("look", format!(r#"{{"place":"{place}"}}"#))
}

/// Runs the watcher on this script.
async fn outcome(script: impl IntoIterator<Item = Script>) -> (Outcome<String>, ScriptedModel) {
    let (model, handle) = ScriptedModel::new(script);
    let run = watcher().build().run("go").model(model).outcome().await;
    (run.unwrap(), handle)
}

/// The results of all calls, as the model saw them.
fn results(handle: &ScriptedModel) -> Vec<String> {
    let requests = handle.requests();
    let results = requests.iter().skip(1).flat_map(|asked| asked.results());
    results.map(|(_, text)| text.to_owned()).collect()
}

fn stopped(agent: &str, calls: u32) -> Option<Stopped> {
    Some(Stopped::Budget {
        agent: agent.into(),
        limit: Limit::IdenticalCalls(calls),
    })
}

#[tokio::test]
async fn the_model_is_told_from_the_third_on_and_the_sixth_ends_the_run() {
    let (model, handle) = ScriptedModel::always(at("cellar"));
    let outcome = watcher()
        .build()
        .run("go")
        .model(model)
        .outcome()
        .await
        .unwrap();
    assert_eq!(outcome.stopped, stopped("watcher", 5));
    let error = outcome.result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Budget);
    assert_eq!(
        error.to_string(),
        "agent `watcher`: 5 identical calls in a row are used up (`max_identical_calls`)"
    );
    let plain = "cellar: dark, 0 m";
    let told = |nth: &str| format!("{plain}\n{}", THIRD.replace("third", nth));
    assert_eq!(
        results(&handle),
        [
            plain.into(),
            plain.into(),
            told("third"),
            told("fourth"),
            told("fifth")
        ]
    );
    assert_eq!(handle.count(), 6);
    // Receipts have the results alone.
    let receipts: Vec<_> = outcome.outputs.receipts().collect();
    assert_eq!(receipts.len(), 6);
    for receipt in receipts {
        assert_eq!(
            receipt.output.as_ref().unwrap().as_str(),
            format!("{plain:?}")
        );
    }
}

#[tokio::test]
async fn e13_a_model_that_heeds_it_goes_on() {
    let script = [at("cellar"), at("cellar"), at("cellar"), at("attic")];
    let (outcome, handle) = outcome(script.into_iter().chain([Script::text("dark")])).await;
    assert_eq!(outcome.result.unwrap(), "dark");
    let results = results(&handle);
    assert!(results[2].ends_with(THIRD), "{results:?}");
    assert_eq!(results[3], "attic: dark, 0 m");
}

#[tokio::test]
async fn the_same_failure_counts_and_is_told_in_other_words() {
    let script = (0..3).map(|_| Script::call("fail", "{}"));
    let (_, handle) = outcome(script.chain([Script::text("no")])).await;
    let results = results(&handle);
    assert!(!results[1].contains("in a row"), "{results:?}");
    assert!(
        results[2].ends_with("\n[This is the third call in a row with the same arguments and the same failure. Change the arguments, or do something else.]"),
        "{results:?}"
    );
    let (model, _) = ScriptedModel::always(Script::call("nothing", "{}"));
    let run = watcher().build().run("go").model(model).outcome().await;
    assert_eq!(
        run.unwrap().stopped,
        stopped("watcher", 5),
        "an unknown tool"
    );
}

#[tokio::test]
async fn the_order_of_the_arguments_does_not_matter() {
    let args = [
        r#"{"place":"attic","far":1}"#,
        r#"{"far": 1, "place": "attic"}"#,
        r#"{ "place": "attic", "far": 1 }"#,
    ];
    let script = args.map(|args| Script::call("look", args));
    let (_, handle) = outcome(script.into_iter().chain([Script::text("dark")])).await;
    assert!(results(&handle)[2].ends_with(THIRD));
}

#[tokio::test]
async fn another_call_in_between_begins_anew() {
    let script = [
        at("cellar"),
        at("cellar"),
        at("attic"),
        at("cellar"),
        at("cellar"),
    ];
    let (outcome, handle) = outcome(script.into_iter().chain([Script::text("dark")])).await;
    assert_eq!(outcome.result.unwrap(), "dark");
    assert!(
        results(&handle)
            .iter()
            .all(|text| !text.contains("in a row"))
    );
}

#[tokio::test]
async fn each_call_of_a_reply_is_compared_and_twins_count_once() {
    let both = || {
        Script::calls([
            ("look", r#"{"place":"a"}"#),
            ("look", r#"{"place":"a"}"#),
            ("fail", "{}"),
        ])
    };
    let (_, handle) = outcome([both(), both(), both(), Script::text("dark")]).await;
    let requests = handle.requests();
    let told: Vec<_> = requests[1..]
        .iter()
        .map(|asked| {
            let results = asked.results();
            results
                .iter()
                .filter(|(_, text)| text.contains("the third call in a row"))
                .count()
        })
        .collect();
    assert_eq!(told, [0, 0, 3]);
}

#[tokio::test]
async fn tools_that_poll_and_results_that_differ_are_not_affected() {
    let (model, handle) = ScriptedModel::always(Script::call("build_state", "{}"));
    let run = watcher()
        .build()
        .run("go")
        .model(model)
        .outcome()
        .await
        .unwrap();
    assert!(matches!(
        run.stopped,
        Some(Stopped::Budget {
            limit: Limit::Turns(10),
            ..
        })
    ));
    assert!(results(&handle).iter().all(|text| text == "it runs"));

    let (tick, _) = crate::world::counted(spec("tick", Effects::Reads));
    let clock: Plain = AgentBuilder::new("clock").tool(tick).build();
    let (model, handle) = ScriptedModel::always(Script::call("tick", "{}"));
    let run = clock.run("go").model(model).outcome().await.unwrap();
    assert!(matches!(
        run.stopped,
        Some(Stopped::Budget {
            limit: Limit::Turns(10),
            ..
        })
    ));
    assert!(
        results(&handle)
            .iter()
            .all(|text| !text.contains("in a row"))
    );
}

/// You watch.
#[agent(tools = [Look], budget(max_identical_calls = 2))]
async fn patient_watcher(what: String) -> String;

#[tokio::test]
async fn the_limit_is_set_like_the_others() {
    let always = || ScriptedModel::always(at("cellar")).0;
    let by = async |run: agents::agent::Run<'_, Plain>| run.outcome().await.unwrap().stopped;
    // By the attribute.
    let run = PatientWatcher.run("go").model(always()).outcome().await;
    assert_eq!(run.unwrap().stopped, stopped("patient_watcher", 2));
    // By the builder, where more than the default is allowed too.
    let loose = watcher()
        .budget(Budget::new().max_identical_calls(8))
        .build();
    assert_eq!(
        by(loose.run("go").model(always())).await,
        stopped("watcher", 8)
    );
    // By the run, which only tightens.
    let tight = Budget::new().max_identical_calls(1);
    assert_eq!(
        by(loose.run("go").model(always()).budget(tight)).await,
        stopped("watcher", 1)
    );
    let wide = Budget::new().max_identical_calls(9);
    assert_eq!(
        by(loose.run("go").model(always()).budget(wide)).await,
        stopped("watcher", 8)
    );
    // By the place in a team.
    let team = structure!(
        watcher()
            .build()
            .budget(Budget::new().max_identical_calls(3))
    );
    let run = team.run("go").model(always()).outcome().await;
    assert_eq!(run.unwrap().stopped, stopped("watcher", 3));
}

/// Creates an agent with a tool that always returns the same, and the count of its executions.
fn counting(spec: ToolSpec) -> (Plain, Arc<AtomicU32>) {
    let runs = Arc::new(AtomicU32::new(0));
    let count = runs.clone();
    let tool = FnTool::with_spec(spec, move |_, _| {
        count.fetch_add(1, SeqCst);
        async { Ok::<_, io::Error>("the same") }
    });
    (AgentBuilder::new("looper").tool(tool).build(), runs)
}

#[tokio::test]
async fn a_run_that_goes_on_counts_what_was_before() {
    let (looper, _) = counting(spec("write", Effects::Writes).idempotent());
    let journal = MemoryJournal::new();
    let script = || Script::call("write", "{}");
    let run = looper.run("go").model(ScriptedModel::always(script()).0);
    let whole = run.journal(journal.clone()).outcome().await.unwrap();
    assert_eq!(whole.stopped, stopped("looper", 5));
    for stored in put_down(&journal) {
        let (looper, runs) = counting(spec("write", Effects::Writes).idempotent());
        let (model, _) = ScriptedModel::always(script());
        let run = looper.run("go").model(model).journal(stored.journal());
        let outcome = run.outcome().await.unwrap();
        assert_eq!(outcome.stopped, whole.stopped, "{stored}");
        if stored.count("begun") == stored.count("ended") {
            same(&outcome, &whole, &stored);
        }
        assert!(runs.load(SeqCst) <= 6, "{stored}");
    }
}

#[tokio::test]
async fn a_recording_tells_the_same_and_is_replayed() {
    let (looper, _) = counting(spec("look", Effects::Reads));
    let script = (0..4).map(|_| Script::call("look", "{}"));
    let (model, handle) = ScriptedModel::new(script.chain([Script::text("done")]));
    let (outcome, recording) = recorded(looper.run("go").model(model)).await;
    tells_the_same(&recording, &outcome);
    // The recorded model compares each request with the recorded one, remarks and all.
    let again = looper
        .run("go")
        .model(recording.model())
        .outcome()
        .await
        .unwrap();
    assert_eq!(again.result.unwrap(), "done");
    assert!(
        handle.requests()[4]
            .last()
            .contains("the fourth call in a row")
    );
}
