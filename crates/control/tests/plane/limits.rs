//! Rates, caps, and the log of usage.

use super::{activate, ask, plane, prices, processes::TempFile, reply, scoring};
use agents_control::{
    BudgetKey, ControlEvent, ControlPlane, Cost, ModelProfile, PurposeKey::Scoring, SqliteStore,
    UsageBy, UsageFilter, per_minute, usd,
};
use agents_core::{
    Agent, AgentBuilder, ErrorKind,
    model::{ModelErrorKind, Purposes},
    run::Timestamp,
    testing::{Script, ScriptedModel},
    tool::Scope,
};
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
};

#[tokio::test]
async fn l10_a_call_beyond_the_cap_is_refused_and_not_sent() {
    let (control, handle) = plane(reply(10, 100)).await;
    // A reply of at most 100 tokens costs at most ten cents.
    let profile = scoring().max_output_tokens(100).daily_cap(usd(0.35));
    activate(&control, profile).await;
    let model = control.model(Scoring, "acme");
    for _ in 0..3 {
        ask(&model).await.unwrap();
    }
    let refused = ask(&model).await.unwrap_err();
    assert_eq!(refused.kind(), ModelErrorKind::OverBudget, "{refused}");
    assert!(refused.to_string().contains("$0.35"), "{refused}");
    assert_eq!(handle.count(), 3);
    let budget = control.budget(&Scoring, "acme").await.unwrap();
    assert_eq!((budget.spent_nanos, budget.held_nanos), (300_000_000, 0));
    // Another tenant has a cap of its own.
    ask(&control.model(Scoring, "other")).await.unwrap();
}

#[tokio::test]
async fn l10_a_run_beyond_the_cap_ends_with_a_budget_error() {
    let (control, _) = plane(reply(10, 100)).await;
    let profile = scoring().max_output_tokens(100).daily_cap(usd(0.15));
    activate(&control, profile).await;
    let agent = AgentBuilder::<String, String>::new("scorer")
        .purpose(Scoring)
        .build();
    let run = || agent.run("Norway").scope("acme").purposes(control.clone());
    let outcome = run().outcome().await.unwrap();
    assert_eq!(
        outcome.cost,
        Some(Cost::of(0.1)),
        "the plane knows the cost"
    );
    let error = run().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Budget, "{error}");
}

#[tokio::test(start_paused = true)]
async fn l9_calls_beyond_the_rate_wait_or_are_refused() {
    let (control, handle) = plane(reply(1, 1)).await;
    activate(&control, scoring().rate(per_minute(3))).await;
    let model = control.model(Scoring, "acme");
    for _ in 0..3 {
        ask(&model).await.unwrap();
    }
    let refused = ask(&model).await.unwrap_err();
    assert_eq!(refused.kind(), ModelErrorKind::Overloaded, "{refused}");
    assert!(refused.retry_after().is_some());
    assert_eq!(handle.count(), 3);
    ask(&control.model(Scoring, "other")).await.unwrap();
}

#[tokio::test]
async fn l26_a_warning_comes_once() {
    let store = SqliteStore::in_memory().await.unwrap();
    let (model, _) = ScriptedModel::always(Script::Reply(reply(1, 100)));
    let told = Arc::new(Mutex::new(Vec::new()));
    let seen = told.clone();
    let control = ControlPlane::open(&store)
        .provider("p", move |_| model.clone())
        .prices(prices())
        .on_event(move |event| seen.lock().unwrap().push(event.clone()));
    let profile = scoring().max_output_tokens(100).daily_cap(usd(1));
    activate(&control, profile).await;
    let model = control.model(Scoring, "acme");
    for calls in 1..=10 {
        ask(&model).await.unwrap();
        let told = told.lock().unwrap();
        assert_eq!(told.len(), usize::from(calls >= 8), "{calls} {told:?}");
    }
    let told = told.lock().unwrap();
    assert_eq!(told[0].name(), "llm.budget.warning");
    assert!(matches!(&told[0], ControlEvent::BudgetWarning { org_id, .. } if org_id == "acme"));
}

#[tokio::test]
async fn l12_each_request_is_a_row_of_usage() {
    let (control, _) = plane(reply(10, 100)).await;
    let version = activate(&control, scoring()).await;
    let agent = AgentBuilder::<String, String>::new("scorer")
        .purpose(Scoring)
        .build();
    let run = agent.run("Norway").scope("acme").purposes(control.clone());
    let outcome = run.outcome().await.unwrap();
    let filter = UsageFilter {
        run_id: Some(outcome.run_id.clone()),
        ..UsageFilter::default()
    };
    let rows = control.usage(&filter).await.unwrap();
    assert_eq!(rows.len(), 1);
    let row = &rows[0];
    assert_eq!((&*row.key.org_id, &*row.key.purpose), ("acme", "scoring"));
    assert_eq!((&*row.provider, &*row.model), ("p", "m"));
    assert_eq!((row.input_tokens, row.output_tokens), (10, 100));
    assert_eq!(
        (row.cost_nanos, row.profile_version),
        (Some(100_000_000), version)
    );
    assert_eq!(&*row.outcome, "answered");
    assert!(row.turn_id.contains("turn"), "{}", row.turn_id);
    let sums = control
        .usage_sums(&UsageFilter::default(), UsageBy::Turn)
        .await
        .unwrap();
    assert_eq!(sums[0].of, row.turn_id);
}

#[tokio::test]
async fn l26_the_next_day_has_its_own_warning() {
    const DAY: u64 = 86_400_000;
    let now = Arc::new(AtomicU64::new(20_000 * DAY));
    let clock = now.clone();
    let store = SqliteStore::in_memory().await.unwrap();
    let store = store.clock(move || Timestamp::from_millis(clock.load(SeqCst)));
    let (model, _) = ScriptedModel::always(Script::Reply(reply(1, 100)));
    let told = Arc::new(AtomicU64::new(0));
    let seen = told.clone();
    let control = ControlPlane::open(&store)
        .provider("p", move |_| model.clone())
        .prices(prices())
        .on_event(move |_| {
            seen.fetch_add(1, SeqCst);
        });
    let profile = scoring().max_output_tokens(100).daily_cap(usd(0.2));
    activate(&control, profile).await;
    for day in 1..=3 {
        for _ in 0..2 {
            ask(&control.model(Scoring, "acme")).await.unwrap();
        }
        ask(&control.model(Scoring, "acme")).await.unwrap_err();
        assert_eq!(told.load(SeqCst), day);
        now.fetch_add(DAY, SeqCst);
    }
}

#[tokio::test]
async fn l13_the_daily_sums_are_those_of_the_rows() {
    type Key = [String; 6];
    let asked = AtomicU64::new(0);
    let (model, _) = ScriptedModel::from_fn(move |_| {
        let nth = asked.fetch_add(1, SeqCst);
        Script::Reply(reply(nth + 1, nth % 7 + 1))
    });
    let store = SqliteStore::in_memory().await.unwrap();
    let control = ControlPlane::open(&store)
        .provider("p", move |_| model.clone())
        .prices(prices())
        .purpose("triage");
    activate(&control, scoring()).await;
    let triage = ModelProfile::global("triage".into()).model("p", "m2");
    activate(&control, triage).await;
    for nth in 0..40 {
        let org = ["acme", "globex"][nth % 2];
        let scope = Scope {
            domain_id: (nth % 3 == 0).then(|| "shop".to_owned()),
            bc: (nth % 5 == 0).then(|| "billing".to_owned()),
            ..Scope::from(org)
        };
        let purpose = if nth % 4 == 0 { "triage" } else { "scoring" };
        ask(&control.model(purpose, scope)).await.unwrap();
    }
    let key = |of: &BudgetKey, bc: &str, model: &str, date: &str| -> Key {
        [&of.org_id, &of.domain_id, bc, &of.purpose, model, date].map(str::to_owned)
    };
    let all = UsageFilter::default();
    let rows = control.usage(&all).await.unwrap();
    assert_eq!(rows.len(), 40);
    let mut summed = BTreeMap::<Key, [u64; 4]>::new();
    for row in &rows {
        let sum = summed.entry(key(&row.key, &row.bc, &row.model, &row.date));
        let cost = row.cost_nanos.unwrap();
        let add = [row.input_tokens, row.output_tokens, cost, 1];
        let sum = sum.or_default().iter_mut();
        sum.zip(add).for_each(|(sum, more)| *sum += more);
    }
    assert!(summed.len() > 8, "{summed:?}");
    for _ in 0..2 {
        let days = control.usage_daily(&all).await.unwrap();
        let days = days.iter().map(|day| {
            let sum = [
                day.input_tokens,
                day.output_tokens,
                day.cost_nanos,
                day.call_count,
            ];
            (key(&day.key, &day.bc, &day.model, &day.date), sum)
        });
        assert_eq!(days.collect::<BTreeMap<_, _>>(), summed);
        // They are the same when they are made anew.
        control.rebuild_budgets().await.unwrap();
    }
}

#[tokio::test]
async fn l11_a_counter_that_is_lost_is_made_anew_from_the_log() {
    let file = TempFile::new("counter");
    let store = SqliteStore::open(&file.0).await.unwrap();
    let (model, _) = ScriptedModel::always(Script::Reply(reply(1, 30)));
    let control = ControlPlane::open(&store)
        .provider("p", move |_| model.clone())
        .prices(prices());
    let profile = scoring().max_output_tokens(100).daily_cap(usd(1));
    activate(&control, profile).await;
    for org in ["acme", "globex", "acme"] {
        ask(&control.model(Scoring, org)).await.unwrap();
    }
    let all = UsageFilter::default();
    let before = (
        control.budgets(None).await.unwrap(),
        control.usage_daily(&all).await.unwrap(),
    );
    assert_eq!(before.0.len(), 2);
    rusqlite::Connection::open(&file.0)
        .unwrap()
        .execute_batch("DELETE FROM llm_budget_state; DELETE FROM llm_usage_daily")
        .unwrap();
    assert_eq!(control.budgets(None).await.unwrap(), []);
    control.rebuild_budgets().await.unwrap();
    let after = (
        control.budgets(None).await.unwrap(),
        control.usage_daily(&all).await.unwrap(),
    );
    assert_eq!(before, after);
}

#[tokio::test]
async fn l9_an_agent_with_a_model_of_its_own_is_refused_unless_it_is_admitted() {
    let (raw, handle) = ScriptedModel::always(Script::text("Oslo"));
    let agent = AgentBuilder::<String, String>::new("geographer")
        .model(raw)
        .build();
    let (control, _) = plane(reply(1, 1)).await;
    let error = agent.run("Norway").purposes(control).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Build, "{error}");
    assert!(error.to_string().contains("not admitted"), "{error}");
    assert_eq!(handle.count(), 0);
    let store = SqliteStore::in_memory().await.unwrap();
    let control = ControlPlane::open(&store).admit("scripted*");
    assert!(Purposes::admits(&control, "scripted"));
    assert_eq!(agent.run("Norway").purposes(control).await.unwrap(), "Oslo");
}
