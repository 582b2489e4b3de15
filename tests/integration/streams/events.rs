//! A run as a stream of its events.

use super::typing::Typing;
use crate::world::worker;
use agents::{
    Agent, AgentBuilder, Error, ErrorKind,
    agent::{ModelAgent, RunStream},
    async_trait,
    run::{Event, EventKind, RunContext},
    testing::{Script, ScriptedModel},
};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{sync::Notify, time::timeout};

fn writer(model: Typing) -> ModelAgent<'static, String, String> {
    AgentBuilder::new("writer").model(model).build()
}

#[tokio::test]
async fn a_stream_has_what_a_subscriber_is_told_and_then_the_outcome() {
    let (model, _) = ScriptedModel::new([
        Script::call("add", r#"{"left":"1","right":2}"#),
        Script::text("three it is"),
    ]);
    let told = Arc::new(Mutex::new(Vec::new()));
    let sink = told.clone();
    let worker = worker::<String>();
    let mut stream = worker
        .run("go")
        .model(model)
        .on_event(move |event: &Event| {
            let line = serde_json::to_string(event).unwrap();
            sink.lock().unwrap().push(line);
        })
        .stream();
    let mut read = Vec::new();
    let mut numbers = Vec::new();
    while let Some(event) = stream.next().await {
        numbers.push(event.seq);
        read.push(serde_json::to_string(&event).unwrap());
    }
    assert!(stream.next().await.is_none(), "it stays at its end");
    let outcome = stream.outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap(), "three it is");
    assert_eq!(outcome.outputs.tool_order.len(), 1);
    assert_eq!(read, *told.lock().unwrap());
    assert!(numbers.iter().copied().eq(1..=13), "{numbers:?}");
}

#[tokio::test]
async fn a_slow_reader_holds_the_run_back_and_loses_nothing() {
    let model = Typing::new([&["one ", "two ", "three ", "four"]]);
    let writer = writer(model.clone());
    let mut stream = writer.run("go").stream();
    assert_eq!(model.written(), 0, "nothing begins before the first read");
    let mut text = String::new();
    while let Some(event) = stream.next().await {
        if let EventKind::Text(piece) = event.kind {
            text.push_str(&piece);
            let pieces = text.split_whitespace().count();
            assert_eq!(model.written(), pieces, "the model waits for the reader");
            tokio::time::sleep(Duration::from_millis(5)).await;
            assert_eq!(model.written(), pieces);
        }
    }
    assert_eq!(text, "one two three four");
}

#[tokio::test]
async fn dropping_the_stream_ends_the_run() {
    let model = Typing::new([&["one ", "two ", "three"]]);
    let writer = writer(model.clone());
    let mut stream = writer.run("go").stream();
    while let Some(event) = stream.next().await {
        if matches!(event.kind, EventKind::Text(_)) {
            break;
        }
    }
    assert_eq!(model.dropped(), 0);
    drop(stream);
    assert_eq!((model.written(), model.dropped()), (1, 1));
}

#[tokio::test]
async fn the_outcome_may_be_asked_for_before_the_end() {
    let writer = writer(Typing::new([&["one ", "two"]]));
    let mut stream = writer.run("go").stream();
    assert!(matches!(
        stream.next().await.unwrap().kind,
        EventKind::RunStarted { .. }
    ));
    assert_eq!(stream.outcome().await.unwrap().result.unwrap(), "one two");
}

#[tokio::test]
async fn a_run_that_cannot_start_is_an_error_of_the_outcome() {
    let undriven = AgentBuilder::<String, String>::new("undriven").build();
    let mut stream = undriven.run("go").stream();
    assert!(stream.next().await.is_none());
    let error = stream.outcome().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Build);
}

/// The handler of a web server: what it returns outlives it.
fn handler<A: Agent<In = String> + 'static>(agent: &Arc<A>) -> RunStream<'static, A::Out> {
    agent.run("go").owned().stream()
}

#[tokio::test]
async fn an_owned_stream_moves_to_another_task() {
    let agent = Arc::new(writer(Typing::new([&["one ", "two"]])));
    let stream = handler(&agent);
    drop(agent);
    let task = tokio::spawn(async move {
        let mut stream = stream;
        let mut count = 0;
        while stream.next().await.is_some() {
            count += 1;
        }
        (count, stream.outcome().await.unwrap().result.unwrap())
    });
    assert_eq!(task.await.unwrap(), (6, "one two".to_owned()));
}

/// Runs a helper in a task, and then waits until the reader of the stream has seen its end.
struct Spawning(Arc<Notify>);

#[async_trait]
impl Agent for Spawning {
    type In = String;
    type Out = String;

    fn name(&self) -> &str {
        "spawning"
    }

    async fn work(&self, cx: &RunContext, input: String) -> Result<String, Error> {
        let cx = cx.clone();
        tokio::spawn(async move {
            // By now the run itself is idle.
            tokio::time::sleep(Duration::from_millis(5)).await;
            let helper = AgentBuilder::<String, String>::new("helper")
                .model(Typing::new([&["done"]]))
                .build();
            helper.run_in(&cx, input).await
        });
        self.0.notified().await;
        Ok("seen".to_owned())
    }
}

#[tokio::test]
async fn events_of_other_tasks_wake_the_reader() {
    let seen = Arc::new(Notify::new());
    let agent = Spawning(seen.clone());
    let mut stream = agent.run("go").stream();
    let read = async {
        while let Some(event) = stream.next().await {
            if matches!(event.kind, EventKind::AgentEnded { ok: true }) {
                seen.notify_one();
            }
        }
        stream.outcome().await.unwrap().result.unwrap()
    };
    let answer = timeout(Duration::from_secs(20), read).await;
    assert_eq!(answer.expect("the reader is woken"), "seen");
}

#[tokio::test]
async fn a_model_that_reports_no_usage_was_asked_all_the_same() {
    let writer = writer(Typing::new([&["one ", "two"]]));
    let outcome = writer.run("go").outcome().await.unwrap();
    assert_eq!((outcome.usage.requests, outcome.usage.tokens()), (1, 0));
}
