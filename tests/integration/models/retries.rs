//! Models that do not answer: retries, and other models as replacements.

use agents::{
    Agent, AgentBuilder, Budget, ErrorKind, Model, async_trait,
    model::{Delta, ModelError, ModelErrorKind as Kind, Reply, Request},
    recovery::{constant, none},
    run::{Event, EventKind},
    testing::{Script, ScriptedModel},
};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

const MINUTE: Duration = Duration::from_secs(60);

fn busy() -> Script {
    Script::Fail(ModelError::new(Kind::Overloaded, "busy").with_status(503))
}

fn clerk(model: impl Model) -> impl Agent<In = String, Out = String> {
    AgentBuilder::<String, String>::new("clerk")
        .model(model)
        .build()
}

#[tokio::test(start_paused = true)]
async fn one_request_unless_somebody_says_otherwise() {
    let (model, handle) = ScriptedModel::new([busy(), Script::text("late")]);
    let error = clerk(model).run("go").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Model);
    assert_eq!(handle.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn asked_again_after_the_wait_and_with_the_same() {
    let (model, handle) = ScriptedModel::new([busy(), busy(), Script::text("here")]);
    let start = Instant::now();
    let model = model.retry(3).backoff(constant(MINUTE));
    assert_eq!(clerk(model).run("go").await.unwrap(), "here");
    assert_eq!(start.elapsed(), 2 * MINUTE);
    let requests = handle.requests();
    assert_eq!(requests.len(), 3);
    assert_eq!(requests[2].messages, requests[0].messages);
}

#[tokio::test(start_paused = true)]
async fn so_often_in_all_and_then_the_last_failure() {
    for (most, asked) in [(0, 1), (1, 1), (2, 2), (5, 5)] {
        let (model, handle) = ScriptedModel::new(std::iter::repeat_with(busy).take(9));
        let error = clerk(model.retry(most)).run("go").await.unwrap_err();
        assert!(error.to_string().contains("busy"), "{error}");
        assert_eq!(handle.count(), asked);
    }
}

#[tokio::test]
async fn what_will_fail_again_is_not_asked_again() {
    for kind in [Kind::Setup, Kind::NotFound, Kind::Refused, Kind::Malformed] {
        let fails = Script::Fail(ModelError::new(kind, "no"));
        let (model, handle) = ScriptedModel::new([fails, Script::text("late")]);
        clerk(model.retry(9)).run("go").await.unwrap_err();
        assert_eq!(handle.count(), 1, "{kind:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_says_when_is_asked_then() {
    let often = ModelError::new(Kind::Overloaded, "too often").with_retry_after(MINUTE / 2);
    let (model, _) = ScriptedModel::new([Script::Fail(often), Script::text("here")]);
    let start = Instant::now();
    clerk(model.retry(2).backoff(none()))
        .run("go")
        .await
        .unwrap();
    assert_eq!(start.elapsed(), MINUTE / 2);
}

#[tokio::test(start_paused = true)]
async fn a_wait_ends_with_the_run() {
    let patient = || {
        let (model, _) = ScriptedModel::new([busy(), Script::text("late")]);
        clerk(model.retry(2).backoff(constant(60 * MINUTE)))
    };
    let start = Instant::now();
    let agent = patient();
    let run = agent.run("go").budget(Budget::new().time(MINUTE));
    assert_eq!(run.await.unwrap_err().kind(), ErrorKind::Budget);
    assert_eq!(start.elapsed(), MINUTE);

    let (token, start, agent) = (CancellationToken::new(), Instant::now(), patient());
    let run = agent.run("go").cancel(token.clone());
    let stop = async {
        tokio::time::sleep(MINUTE).await;
        token.cancel();
    };
    let (error, ()) = tokio::join!(async { run.await.unwrap_err() }, stop);
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    assert_eq!(start.elapsed(), MINUTE);
}

/// A model that breaks off its first reply within a word.
#[derive(Clone, Default)]
struct Stammers(Arc<AtomicUsize>);

#[async_trait]
impl Model for Stammers {
    fn id(&self) -> &str {
        "mine/stammers"
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        let say = |text: &str| {
            if let Some(sink) = request.sink() {
                sink(Delta::Text(text));
            }
        };
        if self.0.fetch_add(1, SeqCst) == 0 {
            say("Os");
            return Err(ModelError::new(Kind::Interrupted, "broke off"));
        }
        say("Oslo");
        Ok(Reply {
            content: "Oslo".into(),
            ..Reply::default()
        })
    }
}

/// Returns a listener and the text of the answer that it was shown.
fn shown() -> (Arc<Mutex<String>>, impl Fn(&Event) + Send + Sync + 'static) {
    let shown = Arc::<Mutex<String>>::default();
    let also = shown.clone();
    (shown, move |event: &Event| {
        if let EventKind::Text(text) = &event.kind {
            also.lock().unwrap().push_str(text);
        }
    })
}

#[tokio::test(start_paused = true)]
async fn nobody_is_shown_two_beginnings() {
    // Without a listener, the model is retried or replaced.
    let model = Stammers::default();
    let retried = model.clone().retry(2);
    assert_eq!(clerk(retried).run("go").await.unwrap(), "Oslo");
    let model = Stammers::default();
    let either = model.clone().or(model);
    assert_eq!(clerk(either).run("go").await.unwrap(), "Oslo");

    // With a listener that has seen half of the reply, there is no retry.
    let model = Stammers::default();
    let ((seen, watch), agent) = (shown(), clerk(model.clone().retry(2)));
    let error = agent.run("go").on_event(watch).await.unwrap_err();
    assert!(error.to_string().contains("broke off"), "{error}");
    assert_eq!((&**seen.lock().unwrap(), model.0.load(SeqCst)), ("Os", 1));
    let model = Stammers::default();
    let ((_, watch), agent) = (shown(), clerk(model.clone().or(model.clone())));
    agent.run("go").on_event(watch).await.unwrap_err();
    assert_eq!(model.0.load(SeqCst), 1);

    // With a listener that has seen nothing yet, there is a retry.
    let (first, _) = ScriptedModel::new([busy()]);
    let (second, _) = ScriptedModel::new([busy(), Script::text("Oslo")]);
    let ((seen, watch), agent) = (shown(), clerk(first.or(second.retry(2))));
    agent.run("go").on_event(watch).await.unwrap();
    assert_eq!(&**seen.lock().unwrap(), "Oslo");
}

#[tokio::test]
async fn another_model_answers_what_the_first_does_not() {
    for kind in [
        Kind::Unreachable,
        Kind::NotFound,
        Kind::Refused,
        Kind::Malformed,
    ] {
        let fails = Script::Fail(ModelError::new(kind, "no"));
        let (large, first) = ScriptedModel::new([fails, Script::text("large")]);
        let (small, second) = ScriptedModel::new([Script::text("small")]);
        let agent = clerk(large.or(small));
        assert_eq!(agent.run("go").await.unwrap(), "small");
        assert_eq!(second.requests()[0].messages, first.requests()[0].messages);
        assert_eq!(agent.run("go").await.unwrap(), "large", "each time anew");
        assert_eq!((first.count(), second.count()), (2, 1));
    }
}

#[tokio::test]
async fn two_models_have_one_name_and_one_price() {
    let models = || {
        let (large, _) = ScriptedModel::new([busy()]);
        let (small, handle) = ScriptedModel::new([Script::text("small")]);
        (clerk(large.or(small)), handle)
    };
    let (agent, handle) = models();
    let bounded = || Budget::new().cost(1.0);
    let run = agent.run("go").price("scripted", 1.0, 1.0);
    let error = run.budget(bounded()).await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("`scripted|scripted` has no price"),
        "{error}"
    );
    assert_eq!(handle.count(), 0, "what has no price is not asked");
    let (agent, handle) = models();
    let run = agent.run("go").price("scripted|scripted", 1.0, 1.0);
    assert_eq!(run.budget(bounded()).await.unwrap(), "small");
    assert_eq!(handle.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn each_request_that_failed_is_a_fact_and_recorded_replies_do_not_wait() {
    let (large, _) = ScriptedModel::new([busy(), busy()]);
    let (small, _) = ScriptedModel::new([Script::text("here")]);
    let agent = clerk(large.retry(2).or(small));
    let (outcome, recorded) = crate::world::recorded(agent.run("go")).await;
    assert_eq!(outcome.result.unwrap(), "here");
    let tried: Vec<_> = recorded
        .entries()
        .iter()
        .filter(|one| one.kind() == "tried")
        .collect();
    assert_eq!(tried.len(), 2);
    for entry in tried {
        let fact: serde_json::Value = serde_json::from_str(entry.fact()).unwrap();
        assert_eq!(fact["tried"]["model"], "scripted");
        assert_eq!(fact["tried"]["error"]["kind"], "overloaded");
    }
    // The journal names the model that has answered.
    let replied = recorded
        .entries()
        .iter()
        .find(|one| one.kind() == "replied");
    let fact: serde_json::Value = serde_json::from_str(replied.unwrap().fact()).unwrap();
    assert_eq!(fact["replied"]["model"], "scripted");

    let (silent, handle) = ScriptedModel::new([Script::text("made up")]);
    let agent = clerk(silent.clone().or(silent));
    let start = Instant::now();
    let run = agent.run("go").override_model(recorded.model());
    assert_eq!(run.await.unwrap(), "here");
    assert_eq!(start.elapsed(), Duration::ZERO);
    // Without a recorded reply, no model is asked.
    let error = agent.run("stop").override_model(recorded.model()).await;
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Replay);
    assert_eq!(handle.count(), 0);
}

#[tokio::test(start_paused = true)]
async fn whoever_failed_is_in_the_error() {
    let fails = |kind, said: &str| Script::Fail(ModelError::new(kind, said));
    let gone = || fails(Kind::Unreachable, "nobody answers");
    let (large, _) = ScriptedModel::new([gone(), gone()]);
    let (small, _) = ScriptedModel::new([fails(Kind::NotFound, "no such model")]);
    let error = clerk(large.retry(2).or(small)).run("go").await.unwrap_err();
    let said = "no such model; `scripted` before it: nobody answers; the model was asked 2 times";
    assert_eq!(error.message(), said);
    // The source of the error is the failure of the last model.
    let cause = std::error::Error::source(&error).unwrap();
    let cause = cause.downcast_ref::<ModelError>().unwrap();
    assert_eq!(cause.kind(), Kind::NotFound);
}
