//! How long a run, a call and a try to repair one took, as the console says it.

use crate::recording::Tape;
use agents::{
    Agent, AgentBuilder, Budget, Effects,
    agent::Run,
    console,
    prelude::*,
    record::{Recording, Replay},
    recovery::{CallError, Execution, constant, exponential, none, retry},
    run::{Clock, Timestamp},
    testing::{Script, ScriptedModel},
    tool::FnTool,
};
use std::{
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

/// A clock that is read every quarter of a second.
struct Ticking(AtomicU64);

impl Clock for Ticking {
    fn now(&self, _: fmt::Arguments<'_>) -> Timestamp {
        Timestamp::from_millis(self.0.fetch_add(250, SeqCst))
    }
}

/// What the console says of a run.
async fn lines<A: Agent<In = String>>(run: Run<'_, A>) -> Vec<String> {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let sink = lines.clone();
    let run = run.on_event(move |event| sink.lock().unwrap().extend(console::line(event, false)));
    run.outcome().await.unwrap();
    std::mem::take(&mut *lines.lock().unwrap())
}

#[tokio::test]
async fn a_run_without_calls_is_a_line() {
    let (model, _) = ScriptedModel::new([Script::text("4")]);
    let adder = AgentBuilder::<String, u32>::new("adder")
        .model(model)
        .build();
    let run = adder.run("2 + 2").clock(Ticking(AtomicU64::new(0)));
    // The clock is read when the run begins, before and after the turn, and when it ends.
    assert_eq!(lines(run).await, ["▸ adder answered  (15 tokens, 750 ms)"]);
}

/// Says it louder.
#[agent]
fn crier(text: String) -> String {
    text.to_uppercase()
}

#[tokio::test]
async fn a_run_that_asks_no_model_has_no_tokens() {
    let run = Crier.run("here").clock(Ticking(AtomicU64::new(0)));
    assert_eq!(lines(run).await, ["▸ crier answered  (250 ms)"]);
}

#[tokio::test]
async fn a_run_without_an_answer_ends_with_a_line() {
    let (model, _) = ScriptedModel::new([Script::call("nope", "{}")]);
    let adder = AgentBuilder::<String, u32>::new("adder")
        .model(model)
        .budget(Budget::new().max_turns(1))
        .build();
    let run = adder.run("2 + 2").clock(Ticking(AtomicU64::new(0)));
    let lines = lines(run).await;
    let [.., stopped, ended] = &lines[..] else {
        panic!("{lines:?}");
    };
    assert!(stopped.starts_with("✗ stopped: "), "{lines:?}");
    assert_eq!(ended, "✗ adder: no answer  (15 tokens, 1250 ms)");
}

/// Takes its time to repair.
#[agent]
async fn slow_fixer(broken: String) -> String {
    tokio::time::sleep(Duration::from_millis(4)).await;
    match broken.contains("gave nothing") {
        false => "still broken".into(),
        true => r#"{"left": 1, "right": 2}"#.into(),
    }
}

tool! {
    /// Adds.
    #[tool(none)]
    async fn sum(
        /// One.
        left: u32,
        /// Another.
        right: u32,
    ) -> u32 { left + right }

    on_error { invalid_args(_, _) => fix(agent = SlowFixer, retries = 2) }
}

#[tokio::test]
async fn a_try_to_repair_a_call_takes_as_long_when_it_is_replayed() {
    let adder = AgentBuilder::<String, String>::new("adder")
        .tool(Sum)
        .build();
    let (model, _) = ScriptedModel::new([Script::call("sum", "one and two"), Script::text("3")]);
    let tape = Tape::default();
    let run = adder.run("1 + 2").model(model);
    let first = lines(run.tape(Recording::to(tape.clone()))).await;
    let tries: Vec<_> = first
        .iter()
        .filter(|line| line.contains("slow_fixer gave"))
        .collect();
    assert_eq!(tries.len(), 2, "{first:?}");
    for line in tries {
        let took = line
            .strip_suffix(" ms)")
            .and_then(|line| line.rsplit(' ').next());
        let took: u64 = took.unwrap().parse().unwrap();
        assert!(took >= 3, "{line}");
        assert!(line.contains("  (0 tokens, "), "{line}");
    }
    let replay = Replay::parse(&tape.text()).unwrap();
    tokio::time::sleep(Duration::from_millis(20)).await;
    let again = lines(adder.run("1 + 2").tape(replay)).await;
    assert_eq!(again, first);
}

#[tokio::test(start_paused = true)]
async fn the_wait_before_a_retry_is_the_same_figure_in_the_receipt() {
    let schema = serde_json::json!({"type": "object"});
    let look = FnTool::new("look", "Looks.", Effects::Reads, schema, |_, _| async {
        Err::<(), _>("dark")
    });
    for (backoff, again) in [
        (exponential(), None),
        (constant(Duration::from_micros(20_876)), Some("in 21 ms")),
        (none(), Some("at once")),
    ] {
        let (model, _) = ScriptedModel::new([Script::call("look", "{}"), Script::text("no")]);
        let agent = AgentBuilder::<String, String>::new("a")
            .tool(look.clone())
            .on_error(move |error, _| match error {
                CallError::Execution(_) => {
                    Some(retry::<Execution>().max_attempts(2).backoff(backoff).into())
                }
                _ => None,
            })
            .model(model)
            .build();
        let lines = Arc::new(Mutex::new(Vec::new()));
        let sink = lines.clone();
        let run = agent.run("go").on_event(move |event| {
            sink.lock().unwrap().extend(console::line(event, false));
        });
        let outputs = run.outcome().await.unwrap().outputs;
        let receipt = outputs.receipts().next().unwrap();
        let waited = receipt.attempts[1].waited_s;
        let waited = waited.map(|seconds| format!("in {} ms", (seconds * 1e6).round() / 1e3));
        let again = again.map(str::to_owned).or(waited.clone()).unwrap();
        let line = format!("… look again {again}");
        assert!(lines.lock().unwrap().contains(&line), "{line}: {lines:?}");
        assert!(
            waited.as_ref().is_none_or(|waited| *waited == again),
            "{waited:?}"
        );
    }
}
