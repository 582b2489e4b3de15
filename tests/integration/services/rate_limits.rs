//! Calls that a limiter holds back: they have not run, and a retry waits until they are allowed.

use crate::world::{Plain, scripted_agent, scripted_model};
use agents::{
    Agent, AgentBuilder, Code, Effects, async_trait, console,
    journal::{CallStep, Follower, MemoryJournal},
    rate::{MemoryLimiter, Rate, RateLimiter},
    recovery::*,
    run::RepairKind,
    run::{AgentOutputs, ToolEnvelope},
    testing::{Script, ScriptedModel},
    tool::{FnTool, ToolSpec},
};
use serde_json::json;
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

/// Returns the number of its execution, as its context has it.
fn sounder(runs: &Arc<AtomicU32>) -> Plain {
    let runs = runs.clone();
    let spec = ToolSpec::new(
        "sound",
        "Sounds.",
        Effects::Reads,
        json!({"type": "object"}),
    );
    let sound = FnTool::with_spec(spec, move |_, cx| {
        runs.fetch_add(1, SeqCst);
        async move { Ok::<_, String>(cx.attempt()) }
    });
    AgentBuilder::new("pilot")
        .tool(sound)
        .on_error(|error, _| match error {
            CallError::Execution(_) => Some(retry::<Execution>().max_attempts(3).into()),
            _ => None,
        })
        .build()
}

fn two_calls() -> ScriptedModel {
    let calls = Script::calls([("sound", r#"{"n":1}"#), ("sound", r#"{"n":2}"#)]);
    scripted_model([calls, Script::text("deep")])
}

fn receipts(outputs: &AgentOutputs) -> Vec<&ToolEnvelope> {
    outputs.receipts().collect()
}

/// A limiter that refuses for a certain time after the first request, and counts the requests.
struct Tide {
    low_for: Duration,
    began: Mutex<Option<Instant>>,
    asked: AtomicU32,
}

impl Tide {
    fn low_for(low_for: Duration) -> Arc<Tide> {
        let (began, asked) = (Mutex::default(), AtomicU32::new(0));
        Arc::new(Tide {
            low_for,
            began,
            asked,
        })
    }
}

#[async_trait]
impl RateLimiter for Tide {
    async fn try_acquire(&self, _: &str, _: &ToolSpec) -> Result<(), Duration> {
        self.asked.fetch_add(1, SeqCst);
        let began = *self.began.lock().unwrap().get_or_insert_with(Instant::now);
        match self.low_for.checked_sub(began.elapsed()) {
            Some(left) if !left.is_zero() => Err(left),
            _ => Ok(()),
        }
    }
}

/// A limiter that announces a shorter wait than the real one.
struct Shut(Arc<Tide>);

#[async_trait]
impl RateLimiter for Shut {
    async fn try_acquire(&self, tenant: &str, tool: &ToolSpec) -> Result<(), Duration> {
        let leave = self.0.try_acquire(tenant, tool).await;
        leave.map_err(|_| Duration::from_millis(1))
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_held_back_is_no_attempt() {
    let runs = Arc::default();
    let limiter = MemoryLimiter::new().limit("*", Rate::new(1, Duration::from_secs(5)));
    let agent = sounder(&runs);
    let run = agent.run("go").model(two_calls()).rate_limits(limiter);
    let (outcome, recorded) = crate::world::recorded(run).await;
    assert_eq!(runs.load(SeqCst), 2);
    let [at_once, waited] = receipts(&outcome.outputs)[..] else {
        panic!("{:?}", outcome.outputs);
    };
    assert_eq!(
        (at_once.attempts.len(), at_once.attempts[0].waited_s),
        (1, None)
    );
    let [attempt] = &waited.attempts[..] else {
        panic!("it ran once: {:?}", waited.attempts);
    };
    assert_eq!((attempt.number, &attempt.error), (1, &None));
    assert!(
        (4.9..5.1).contains(&attempt.waited_s.unwrap()),
        "{attempt:?}"
    );
    assert_eq!(
        waited.output.as_ref().unwrap().as_str(),
        "1",
        "the tool knows of one execution"
    );
    assert!(!console::receipt(waited, false).contains("attempts"));

    crate::world::tells_the_same(&recorded, &outcome);
}

#[tokio::test]
async fn a_limiter_that_never_gives_leave_is_asked_as_often_as_the_retry_allows() {
    let (runs, tide) = (Arc::default(), Tide::low_for(Duration::from_secs(9)));
    let (model, handle) = ScriptedModel::new([Script::call("sound", "{}"), Script::text("no")]);
    let agent = sounder(&runs);
    let run = agent.run("go").model(model).rate_limits(Shut(tide.clone()));
    let outcome = run.outcome().await.unwrap();
    assert_eq!((tide.asked.load(SeqCst), runs.load(SeqCst)), (3, 0));
    let receipt = receipts(&outcome.outputs)[0];
    assert!(receipt.attempts.is_empty());
    assert_eq!(receipt.error.as_ref().unwrap().code, Code::RateLimit);
    assert_eq!(handle.count(), 2);
}

#[tokio::test]
async fn a_retry_is_not_a_moment_too_early() {
    for micros in (0..24).map(|n| 2_000 + n * 130) {
        let (runs, tide) = (Arc::default(), Tide::low_for(Duration::from_micros(micros)));
        let (model, _) = ScriptedModel::new([Script::call("sound", "{}"), Script::text("deep")]);
        let agent = sounder(&runs);
        let run = agent.run("go").model(model).rate_limits(tide.clone());
        let outcome = run.outcome().await.unwrap();
        assert_eq!(tide.asked.load(SeqCst), 2, "after {micros} µs");
        assert!(receipts(&outcome.outputs)[0].is_ok());
    }
}

#[tokio::test]
async fn after_an_execution_that_failed_it_is_its_failure_that_is_told() {
    let schema = json!({"type": "object"});
    let load = FnTool::new("load", "Loads.", Effects::Reads, schema, |_, _| async {
        Err::<(), _>("half of it is aboard")
    });
    let (model, handle) = ScriptedModel::new([Script::call("load", "{}"), Script::text("oh")]);
    let agent = AgentBuilder::<String, String>::new("mate")
        .tool(load)
        .on_error(|error, _| match error {
            CallError::Execution(_) => {
                Some(retry::<Execution>().max_attempts(2).backoff(none()).into())
            }
            _ => None,
        })
        .model(model)
        .build();
    let limiter = MemoryLimiter::new().limit("*", Rate::per_minute(1));
    let journal = MemoryJournal::new();
    let run = agent.run("go").rate_limits(limiter);
    let outcome = run.journal(journal.clone()).outcome().await.unwrap();
    let receipt = receipts(&outcome.outputs)[0];
    assert_eq!(receipt.attempts.len(), 1);
    let error = receipt.error.as_ref().unwrap();
    assert_eq!(
        (error.code, &*error.message),
        (Code::Unknown, "half of it is aboard")
    );
    let remark = "it was to run again, but the rate limit refused that";
    assert_eq!((error.remark(), error.retry_after_s), (Some(remark), None));
    assert_eq!(
        handle.requests()[1].last(),
        format!("ERROR UNKNOWN (Terminal) in `load`: half of it is aboard; {remark}")
    );
    // Whoever follows the journal hears of the end of the one execution once.
    let (mut follower, mut begun, mut ended) = (Follower::new(), Vec::new(), Vec::new());
    for entry in journal.entries() {
        match follower.on(&entry).unwrap().step {
            Some(CallStep::Began(began)) => begun.push(began.attempt),
            Some(CallStep::Ended(end)) => ended.push(end.attempt),
            _ => {}
        }
    }
    assert_eq!((begun, ended), (vec![1], vec![1]));
}

/// A replacement that a limiter held back never ran, so it is recorded as an attempt.
#[tokio::test]
async fn a_repair_that_is_held_back_was_a_try() {
    let schema = json!({"type": "object"});
    let load = FnTool::new("load", "Loads.", Effects::Reads, schema, |_, _| async {
        Err::<(), _>("too heavy")
    });
    let script = [Script::call("load", r#"{"n":3}"#), Script::text("oh")];
    let (model, handle) = ScriptedModel::new(script);
    let agent = AgentBuilder::<String, String>::new("mate")
        .tool(load)
        .on_error(|error, _| match error {
            CallError::Execution(_) => Some(fix::<Execution>(r#"{"n":2}"#).into()),
            _ => None,
        })
        .model(model)
        .build();
    let limiter = MemoryLimiter::new().limit("*", Rate::per_minute(1));
    let outcome = agent.run("go").rate_limits(limiter).outcome().await;
    let outputs = outcome.unwrap().outputs;
    let receipt = receipts(&outputs)[0];
    assert_eq!(
        (receipt.input.as_str(), receipt.attempts.len()),
        (r#"{"n":3}"#, 1)
    );
    let [change] = &receipt.repairs.0[..] else {
        panic!("{:?}", receipt.repairs)
    };
    assert_eq!(change.kind, RepairKind::Tried);
    assert!(
        change
            .note
            .starts_with(r#"`fix` tried `{"n":2}` in vain: it was called too often"#),
        "{change}"
    );
    let told = handle.requests()[1].last().to_owned();
    assert!(
        told.contains("`load`: too heavy; it was to run again"),
        "{told}"
    );
}

/// A limiter that allows the requests with these numbers, counted from 1.
struct Leaves(&'static [u32], AtomicU32);

#[async_trait]
impl RateLimiter for Leaves {
    async fn try_acquire(&self, _: &str, _: &ToolSpec) -> Result<(), Duration> {
        match self.0.contains(&(self.1.fetch_add(1, SeqCst) + 1)) {
            true => Ok(()),
            false => Err(Duration::from_secs(60)),
        }
    }
}

/// Replacement arguments that never ran are recorded as attempts, including those given for the limit.
#[tokio::test]
async fn all_that_was_given_for_a_limit_is_told() {
    for (second, ended) in [("rubbish", 2), (r#"{"n":1}"#, 3)] {
        let schema = json!({"type": "object"});
        let load = FnTool::new("load", "Loads.", Effects::Reads, schema, |_, _| async {
            Err::<(), _>("too heavy")
        });
        let script = [Script::call("load", r#"{"n":3}"#), Script::text("oh")];
        let agent = scripted_agent("mate", script)
            .tool(load)
            .on_error(move |error, _| match error {
                CallError::Execution(Failure::Returned(e)) if e.code() == Code::RateLimit => {
                    Some(fix::<Execution>(second).into())
                }
                CallError::Execution(_) => Some(fix::<Execution>(r#"{"n":2}"#).into()),
                _ => None,
            })
            .build();
        let limiter = Leaves(&[1], AtomicU32::new(0));
        let outcome = agent.run("go").rate_limits(limiter).outcome().await;
        let outputs = outcome.unwrap().outputs;
        let receipt = receipts(&outputs)[0];
        assert_eq!(receipt.error.as_ref().unwrap().message, "too heavy");
        assert_eq!(receipt.attempts.len(), 1, "{ended}");
        assert_eq!(receipt.input.as_str(), r#"{"n":3}"#);
        let told: Vec<_> = receipt.repairs.iter().collect();
        assert!(
            !told.is_empty() && told.iter().all(|change| change.kind == RepairKind::Tried),
            "{told:?}"
        );
        for given in [r#"`{"n":2}`"#.to_owned(), format!("`{second}`")] {
            let by = told.iter().filter(|change| change.note.contains(&given));
            assert_eq!(by.count(), 1, "{given} in {told:?}");
        }
    }
}
