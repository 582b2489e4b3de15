//! Bad input, and bad luck.

use super::{
    activate, ask, ask_about, operator, plane, prices, processes::TempFile, reply, scoring,
};
use agents_control::{
    Budget, ControlEvent, ControlPlane, ModelProfile, PurposeKey::Scoring, SqliteStore,
    UsageFilter, usd,
};
use agents_core::{
    model::{Capabilities, Content, Media, ModelError, ModelErrorKind as Kind},
    testing::{Script, ScriptedModel},
};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

fn capped() -> ModelProfile {
    scoring().max_output_tokens(100).daily_cap(usd(1))
}

fn spent(spent_nanos: u64) -> Budget {
    Budget {
        spent_nanos,
        held_nanos: 0,
    }
}

/// Cost of a reply of 100 tokens: the most that is held for one.
const MOST: u64 = 100_000_000;

/// Creates a plane whose first model fails with this error, and whose second model answers.
async fn failing(error: ModelError) -> (ControlPlane, ScriptedModel, ScriptedModel) {
    let store = SqliteStore::in_memory().await.unwrap();
    let (bad, failed) = ScriptedModel::always(Script::Fail(error));
    let (good, answered) = ScriptedModel::always(Script::Reply(reply(1, 50)));
    let control = ControlPlane::open(&store)
        .provider("p", move |target| match target.model {
            "m" => bad.clone(),
            _ => good.clone(),
        })
        .prices(prices());
    (control, failed, answered)
}

#[tokio::test]
async fn l14_a_model_without_a_price_is_refused_where_a_cap_holds() {
    let (control, handle) = plane(reply(1, 1)).await;
    let unpriced = ModelProfile::global(Scoring).model("unknown", "m");
    activate(&control, unpriced.clone().daily_cap(usd(1))).await;
    let error = ask(&control.model(Scoring, "acme")).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Setup);
    assert_eq!(handle.count(), 0);
    // A provider that is there, and a model that has no price.
    let store = SqliteStore::in_memory().await.unwrap();
    let (model, handle) = ScriptedModel::always(Script::Reply(reply(1, 1)));
    let control = ControlPlane::open(&store).provider("unknown", move |_| model.clone());
    activate(&control, unpriced.clone().daily_cap(usd(1))).await;
    let error = ask(&control.model(Scoring, "acme")).await.unwrap_err();
    assert!(error.to_string().contains("has no price"), "{error}");
    assert_eq!(handle.count(), 0);
    activate(&control, unpriced).await;
    ask(&control.model(Scoring, "acme")).await.unwrap();
    let rows = control.usage(&UsageFilter::default()).await.unwrap();
    assert_eq!(rows[0].cost_nanos, None, "unknown is never 0");
}

#[tokio::test]
async fn a_provider_that_reports_no_usage_costs_what_was_held() {
    let (control, _) = plane(reply(0, 0)).await;
    activate(&control, capped()).await;
    ask(&control.model(Scoring, "acme")).await.unwrap();
    let budget = control.budget(&Scoring, "acme").await.unwrap();
    assert_eq!(budget, spent(MOST));
}

#[tokio::test]
async fn a_provider_that_reports_absurd_usage_costs_what_was_held() {
    let (control, _) = plane(reply(u64::MAX, u64::MAX)).await;
    activate(&control, capped()).await;
    for _ in 0..3 {
        ask(&control.model(Scoring, "acme")).await.unwrap();
    }
    let budget = control.budget(&Scoring, "acme").await.unwrap();
    assert_eq!(budget, spent(3 * MOST));
}

#[tokio::test]
async fn a_stream_that_breaks_off_costs_what_was_held_and_a_refusal_nothing() {
    for (error, cost) in [
        (ModelError::new(Kind::Malformed, "cut"), MOST),
        (ModelError::new(Kind::TimedOut, "silent"), MOST),
        (ModelError::new(Kind::TooLong, "long").with_status(400), 0),
        (ModelError::new(Kind::NotFound, "gone").with_status(404), 0),
    ] {
        let (control, failed, _) = failing(error.clone()).await;
        activate(&control, capped().fallback("p", "good")).await;
        ask(&control.model(Scoring, "acme")).await.unwrap();
        assert_eq!(failed.count(), 1);
        let budget = control.budget(&Scoring, "acme").await.unwrap();
        assert_eq!(budget, spent(cost + MOST / 2), "{error}");
    }
}

#[tokio::test]
async fn l16_a_request_that_fails_for_now_is_sent_three_times_again() {
    let busy = ModelError::new(Kind::Overloaded, "busy").with_status(503);
    let (control, failed, answered) = failing(busy).await;
    activate(&control, scoring().fallback("p", "good")).await;
    tokio::time::pause();
    let reply = ask(&control.model(Scoring, "acme")).await.unwrap();
    assert_eq!((failed.count(), answered.count()), (4, 1));
    assert!(reply.model.is_some());
    let rows = control.usage(&UsageFilter::default()).await.unwrap();
    let outcomes: Vec<_> = rows.iter().rev().map(|row| &*row.outcome).collect();
    assert_eq!(
        outcomes,
        [
            "overloaded",
            "overloaded",
            "overloaded",
            "overloaded",
            "answered"
        ]
    );
}

#[tokio::test]
async fn a_lone_model_has_a_circuit_too() {
    let store = SqliteStore::in_memory().await.unwrap();
    let busy = ModelError::new(Kind::Overloaded, "busy").with_status(503);
    let (bad, failed) = ScriptedModel::always(Script::Fail(busy));
    let told = Arc::new(Mutex::new(Vec::new()));
    let seen = told.clone();
    let control = ControlPlane::open(&store)
        .provider("p", move |_| bad.clone())
        .on_event(move |event| seen.lock().unwrap().push(event.clone()));
    activate(&control, scoring()).await;
    tokio::time::pause();
    let model = control.model(Scoring, "acme");
    for _ in 0..5 {
        ask(&model).await.unwrap_err();
    }
    assert_eq!(failed.count(), 5, "the circuit has opened");
    let error = ask(&model).await.unwrap_err();
    assert!(error.to_string().contains("again and again"), "{error}");
    assert!(error.retry_after().is_some());
    assert!(matches!(
        &told.lock().unwrap()[..],
        [ControlEvent::CircuitOpened { .. }]
    ));
}

/// A store's clock and the clock of the test, which go together.
struct Clocks(Arc<AtomicU64>);

impl Clocks {
    async fn new() -> (Self, SqliteStore) {
        let now = Arc::new(AtomicU64::new(1_000_000));
        let clock = now.clone();
        let store = SqliteStore::in_memory().await.unwrap();
        let store =
            store.clock(move || agents_core::run::Timestamp::from_millis(clock.load(SeqCst)));
        (Clocks(now), store)
    }

    async fn advance(&self, secs: u64) {
        self.0.fetch_add(secs * 1_000, SeqCst);
        tokio::time::advance(Duration::from_secs(secs)).await;
    }
}

#[tokio::test]
async fn a_request_that_is_not_sent_does_not_close_a_circuit() {
    let (clocks, store) = Clocks::new().await;
    let failure = Arc::new(Mutex::new(
        ModelError::new(Kind::Overloaded, "busy").with_status(503),
    ));
    let now = failure.clone();
    let (text_only, asked) =
        ScriptedModel::from_fn(move |_| Script::Fail(now.lock().unwrap().clone()));
    let text_only = text_only.capable_of(Capabilities::default());
    let told = Arc::new(Mutex::new(Vec::new()));
    let seen = told.clone();
    let control = ControlPlane::open(&store)
        .provider("p", move |_| text_only.clone())
        .on_event(move |event| seen.lock().unwrap().push(event.name()));
    activate(&control, scoring()).await;
    tokio::time::pause();
    let model = control.model(Scoring, "acme");
    for _ in 0..5 {
        ask(&model).await.unwrap_err();
    }
    assert_eq!(*told.lock().unwrap(), ["llm.circuit.opened"]);
    clocks.advance(11).await;
    // The model cannot read images, so nothing is held or sent.
    let rows = control.usage(&UsageFilter::default()).await.unwrap().len();
    let picture = Content::from("What is this?").with(Media::bytes("image/png", b"PNG").unwrap());
    let error = ask_about(&model, picture).await.unwrap_err();
    assert!(error.to_string().contains("cannot read"), "{error}");
    assert_eq!(
        control.usage(&UsageFilter::default()).await.unwrap().len(),
        rows
    );
    assert_eq!(asked.count(), 5);
    // The client has no key, say.
    *failure.lock().unwrap() = ModelError::new(Kind::Setup, "no key");
    let error = ask(&model).await.unwrap_err();
    assert_eq!((error.kind(), asked.count()), (Kind::Setup, 6));
    assert_eq!(*told.lock().unwrap(), ["llm.circuit.opened"]);
    // The next request is the probe.
    *failure.lock().unwrap() = ModelError::new(Kind::NotFound, "gone").with_status(404);
    for _ in 0..100 {
        if ask(&model).await.unwrap_err().kind() == Kind::NotFound {
            break;
        }
        clocks.advance(1).await;
    }
    assert_eq!(
        *told.lock().unwrap(),
        ["llm.circuit.opened", "llm.circuit.closed"]
    );
}

#[tokio::test]
async fn a_profile_that_cannot_be_read_is_not_taken_for_a_store_that_is_down() {
    use agents_control::{ControlStore, PurposeKey::Reasoning};

    let store = SqliteStore::in_memory().await.unwrap();
    let (model, handle) = ScriptedModel::always(Script::Reply(reply(1, 1)));
    let control = ControlPlane::open(&store).provider("p", move |_| model.clone());
    activate(&control, scoring()).await;
    let later = agents_store::NewProfile {
        purpose: "reasoning".to_owned(),
        profile: r#"{"tier": "galaxy"}"#.to_owned(),
        ..agents_store::NewProfile::default()
    };
    let version = store.activate_profile(&later).await.unwrap().version;
    for purpose in [Scoring, Reasoning] {
        let error = ask(&control.model(purpose, "acme")).await.unwrap_err();
        assert_eq!(error.kind(), Kind::Setup, "{error}");
        let text = error.to_string();
        let row = format!("version {version} of the profiles, for `reasoning`");
        assert!(
            text.contains(&row) && text.contains("no model is asked"),
            "{text}"
        );
        assert!(!text.contains("does not answer"), "{text}");
    }
    assert_eq!(handle.count(), 0);
}

#[tokio::test]
async fn a_request_that_is_cut_off_costs_what_was_held() {
    let store = SqliteStore::in_memory().await.unwrap();
    let (slow, _) = ScriptedModel::from_async_fn(|_| async {
        tokio::time::sleep(Duration::from_secs(3_600)).await;
        Script::Reply(reply(1, 1))
    });
    let control = ControlPlane::open(&store)
        .provider("p", move |_| slow.clone())
        .prices(prices());
    activate(&control, capped()).await;
    let model = control.model(Scoring, "acme");
    let asked = tokio::time::timeout(Duration::from_millis(200), ask(&model)).await;
    assert!(asked.is_err());
    for _ in 0..100 {
        if control.budget(&Scoring, "acme").await.unwrap() == spent(MOST) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("nobody has settled the hold");
}

#[tokio::test]
async fn s5_6_midnight_begins_a_new_cap_and_a_clock_that_goes_back_ends_none() {
    /// Milliseconds of a day.
    const DAY: u64 = 86_400_000;
    let now = Arc::new(AtomicU64::new(20_000 * DAY + DAY - 1_000));
    let clock = now.clone();
    let store = SqliteStore::in_memory().await.unwrap();
    let store = store.clock(move || agents_core::run::Timestamp::from_millis(clock.load(SeqCst)));
    let (model, handle) = ScriptedModel::always(Script::Reply(reply(1, 100)));
    let control = ControlPlane::open(&store)
        .provider("p", move |_| model.clone())
        .prices(prices());
    activate(
        &control,
        scoring().max_output_tokens(100).daily_cap(usd(0.1)),
    )
    .await;
    let model = control.model(Scoring, "acme");
    ask(&model).await.unwrap();
    assert_eq!(ask(&model).await.unwrap_err().kind(), Kind::OverBudget);
    now.fetch_add(2_000, SeqCst);
    ask(&model).await.unwrap();
    assert_eq!(ask(&model).await.unwrap_err().kind(), Kind::OverBudget);
    // The store's time never goes back, so yesterday's cap is not spent again.
    now.fetch_sub(4_000, SeqCst);
    assert_eq!(ask(&model).await.unwrap_err().kind(), Kind::OverBudget);
    assert_eq!(handle.count(), 2);
    let days = control.usage_daily(&UsageFilter::default()).await.unwrap();
    assert_eq!(days.len(), 2);
}

#[tokio::test]
async fn a_store_that_is_down_closes_the_way_to_the_models() {
    let path = std::env::temp_dir().join(format!("agents-control-down-{}.db", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let store = SqliteStore::open(&path).await.unwrap();
    let (model, handle) = ScriptedModel::always(Script::Reply(reply(1, 1)));
    let control = ControlPlane::open(&store).provider("p", move |_| model.clone());
    control.activate(scoring()).by(&operator()).await.unwrap();
    ask(&control.model(Scoring, "acme")).await.unwrap();
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{end}", path.display()));
    }
    let error = ask(&control.model(Scoring, "acme")).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Unreachable, "{error}");
    assert!(error.to_string().contains("no model is asked"), "{error}");
    assert_eq!(handle.count(), 1);
}

#[tokio::test]
async fn l17_a_store_that_goes_down_in_a_call_refuses_its_retries() {
    let file = TempFile::new("down-in-a-call");
    let path = file.0.display().to_string();
    let store = SqliteStore::open(&file.0).await.unwrap();
    let (model, handle) = ScriptedModel::from_fn(move |_| {
        for end in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{path}{end}"));
        }
        let busy = ModelError::new(Kind::Overloaded, "busy").with_status(503);
        Script::Fail(busy.with_retry_after(Duration::from_millis(1)))
    });
    let control = ControlPlane::open(&store).provider("p", move |_| model.clone());
    activate(&control, scoring()).await;
    let error = ask(&control.model(Scoring, "acme")).await.unwrap_err();
    // It is not the hold of a second request that was refused.
    assert_eq!(error.to_string(), "busy");
    assert_eq!(handle.count(), 1);
}

/// Runs an agent whose model for scores never gives a number, and returns who answered.
async fn degraded(control: &ControlPlane) -> Result<String, agents_core::Error> {
    use agents_core::{Agent, AgentBuilder, Budget};

    let agent = AgentBuilder::<String, u32>::new("scorer")
        .purpose(Scoring)
        .budget(Budget::new().max_answers(10))
        .build();
    let run = agent.run("Norway").scope("acme").purposes(control.clone());
    let outcome = run.outcome().await?;
    outcome.result.map(|score| score.to_string())
}

#[tokio::test]
async fn c21_an_answer_that_is_repaired_or_asked_for_again_comes_before_another_model() {
    use agents_control::PurposeKey::Reasoning;
    use agents_core::{Agent, AgentBuilder, recovery::*};

    let store = SqliteStore::in_memory().await.unwrap();
    // The first agent: one answer that no repair can mend, and one that a repair mends. The second agent: the same.
    let says = ["rather a lot", "seven", "rather a lot", "seven"];
    let (weak, asked) = ScriptedModel::new(says.map(Script::text));
    let (strong, answered) = ScriptedModel::always(Script::text("8"));
    let control = ControlPlane::open(&store).provider("p", move |target| match target.model {
        "m" => weak.clone(),
        _ => strong.clone(),
    });
    let hour = Duration::from_secs(3_600);
    activate(&control, scoring().upgrade_after(2, hour, Reasoning)).await;
    let better = ModelProfile::global(Reasoning).model("p", "strong");
    activate(&control, better).await;
    let repairs = |error: CallError<'_, AnyError>| match error {
        CallError::InvalidOutput(raw, _) => {
            let digits = raw.contains("seven").then(|| "7".to_owned());
            Some(
                fix::<InvalidOutput>(digits)
                    .or(feedback("digits only"))
                    .into(),
            )
        }
        _ => None,
    };
    let first = AgentBuilder::<String, u32>::new("scorer")
        .purpose(Scoring)
        .on_error(move |error, _| repairs(error))
        .build();
    let second = AgentBuilder::<u32, u32>::new("checker")
        .purpose(Scoring)
        .on_error(move |error, _| repairs(error))
        .build();
    let both = first.then(second);
    let run = both.run("Norway").scope("acme").purposes(control.clone());
    assert_eq!(run.await.unwrap(), 7);
    // Each agent was told what is wrong, and neither had two failures in a row.
    assert_eq!((asked.count(), answered.count()), (4, 0));
    assert!(asked.requests()[1].last().contains("digits only"));
}

#[tokio::test]
async fn l18_five_answers_that_no_repair_could_mend_upgrade_the_run_and_no_other() {
    use agents_control::PurposeKey::Reasoning;

    let store = SqliteStore::in_memory().await.unwrap();
    let (weak, asked) = ScriptedModel::always(Script::text("rather a lot"));
    let (strong, answered) = ScriptedModel::always(Script::text("7"));
    let control = ControlPlane::open(&store).provider("p", move |target| match target.model {
        "m" => weak.clone(),
        _ => strong.clone(),
    });
    let hour = Duration::from_secs(3_600);
    activate(&control, scoring().upgrade_after(5, hour, Reasoning)).await;
    activate(
        &control,
        ModelProfile::global(Reasoning).model("p", "strong"),
    )
    .await;
    assert_eq!(degraded(&control).await.unwrap(), "7");
    assert_eq!((asked.count(), answered.count()), (5, 1));
    // A new run begins with the model of its purpose.
    assert_eq!(degraded(&control).await.unwrap(), "7");
    assert_eq!((asked.count(), answered.count()), (10, 2));
    let itself = scoring().upgrade_after(5, hour, Scoring);
    control.activate(itself).by(&operator()).await.unwrap_err();
}
