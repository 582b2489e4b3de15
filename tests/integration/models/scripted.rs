//! Models for tests: scripts that repeat, and answers by functions.

use crate::world::{Plain, counted, spec};
use agents::{
    Agent, AgentBuilder, Effects, ErrorKind,
    model::Reply,
    run::EventKind,
    testing::{Script, ScriptedModel},
};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::time::{Instant, sleep};

fn echo(model: ScriptedModel) -> Plain {
    AgentBuilder::new("echo").model(model).build()
}

fn said(text: String) -> Reply {
    Reply {
        content: text,
        ..Reply::default()
    }
}

#[tokio::test]
async fn a_script_repeats_what_it_is_made_of() {
    let (model, handle) = ScriptedModel::always(Script::text("7"));
    let (computed, _) =
        ScriptedModel::always(Script::with(|asked| said(asked.last().to_uppercase())));
    let (down, fails) = ScriptedModel::always(Script::fail("out of memory"));
    let (model, computed, down) = (echo(model), echo(computed), echo(down));
    for word in ["one", "two", "three"] {
        assert_eq!(model.run(word).await.unwrap(), "7");
        assert_eq!(computed.run(word).await.unwrap(), word.to_uppercase());
        let error = down.run(word).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Model);
        assert!(format!("{error:#}").contains("out of memory"), "{error:#}");
    }
    assert_eq!((handle.count(), fails.count()), (3, 3));
}

#[tokio::test]
async fn a_computed_answer_may_count() {
    let mut nth = 0;
    let (model, _) = ScriptedModel::always(Script::with(move |_| {
        nth += 1;
        said(nth.to_string())
    }));
    let counter = echo(model);
    for expected in ["1", "2", "3"] {
        assert_eq!(counter.run("?").await.unwrap(), expected);
    }
}

#[tokio::test]
async fn a_function_calls_answers_and_fails() {
    let (look, looks) = counted(spec("look", Effects::Reads));
    let (model, handle) = ScriptedModel::from_fn(|asked| match asked.results()[..] {
        _ if asked.last() == "fail" => Script::fail("no"),
        [] => Script::call("look", "{}"),
        [(tool, found), ..] => Script::text(format!("{tool}: {found}")),
    });
    let watcher: Plain = AgentBuilder::new("watcher").tool(look).model(model).build();
    assert_eq!(watcher.run("go").await.unwrap(), "look: {} #1");
    assert_eq!(
        watcher.run("fail").await.unwrap_err().kind(),
        ErrorKind::Model
    );
    assert_eq!(handle.count(), 3);
    assert_eq!(looks.load(std::sync::atomic::Ordering::SeqCst), 1);
}

#[tokio::test]
async fn the_words_of_a_function_are_streamed() {
    let (model, _) = ScriptedModel::from_fn(|_| Script::text("one by one"));
    let pieces = Arc::new(Mutex::new(Vec::new()));
    let heard = pieces.clone();
    let echo = echo(model);
    let run = echo.run("?").on_event(move |event| {
        if let EventKind::Text(piece) = &event.kind {
            heard.lock().unwrap().push(piece.clone());
        }
    });
    run.await.unwrap();
    assert_eq!(pieces.lock().unwrap().concat(), "one by one");
    assert!(pieces.lock().unwrap().len() > 1);
}

#[tokio::test(start_paused = true)]
async fn an_async_function_answers_requests_at_the_same_time() {
    let (slow, handle) = ScriptedModel::from_async_fn(|asked| async move {
        sleep(Duration::from_secs(60)).await;
        Script::text(asked.last().to_uppercase())
    });
    let echo = echo(slow);
    let began = Instant::now();
    let (one, other) = tokio::join!(echo.run("one"), echo.run("other"));
    assert_eq!(
        (one.unwrap(), other.unwrap()),
        ("ONE".into(), "OTHER".into())
    );
    assert_eq!(began.elapsed().as_secs(), 60);
    assert_eq!(handle.count(), 2);
}
