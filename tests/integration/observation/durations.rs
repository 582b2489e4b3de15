//! Durations of runs, calls and repair attempts, as the console shows them.

use crate::world::scripted_agent;
use agents::{
    Agent, AgentBuilder, Budget, Effects,
    agent::Run,
    console,
    model::{Reply, ToolCall, Usage},
    prelude::*,
    recovery::{CallError, Execution, constant, exponential, none, retry},
    run::{Clock, Timestamp},
    testing::{Script, ScriptedModel},
    tool::FnTool,
};
use std::{
    sync::{
        Arc, LazyLock, Mutex,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

/// A clock that tests advance themselves.
#[derive(Clone, Default)]
struct Hands(Arc<AtomicU64>);

impl Hands {
    fn forward(&self, millis: u64) {
        self.0.fetch_add(millis, SeqCst);
    }

    /// A reply that takes three quarters of a second.
    fn late(&self, reply: Reply) -> Script {
        let hands = self.clone();
        Script::with(move |_| {
            hands.forward(750);
            let usage = Usage {
                input_tokens: 10,
                output_tokens: 5,
                requests: 1,
                ..Usage::default()
            };
            Reply {
                usage,
                ..reply.clone()
            }
        })
    }
}

impl Clock for Hands {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(SeqCst))
    }
}

/// Runs an agent and returns the console's lines.
async fn lines<A: Agent<In = String>>(run: Run<'_, A>) -> Vec<String> {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let sink = lines.clone();
    let run = run.on_event(move |event| sink.lock().unwrap().extend(console::line(event, false)));
    run.outcome().await.unwrap();
    std::mem::take(&mut *lines.lock().unwrap())
}

#[tokio::test]
async fn a_run_without_calls_is_a_line() {
    let hands = Hands::default();
    let (model, _) = ScriptedModel::new([hands.late(Reply {
        content: "4".into(),
        ..Reply::default()
    })]);
    let adder = AgentBuilder::<String, u32>::new("adder")
        .model(model)
        .build();
    let run = adder.run("2 + 2").clock(hands);
    assert_eq!(lines(run).await, ["▸ adder answered  (15 tokens, 750 ms)"]);
}

static CRIED: LazyLock<Hands> = LazyLock::new(Hands::default);

/// Repeats a text in capital letters.
#[agent]
fn crier(text: String) -> String {
    CRIED.forward(250);
    text.to_uppercase()
}

#[tokio::test]
async fn a_run_that_asks_no_model_has_no_tokens() {
    let run = Crier.run("here").clock(CRIED.clone());
    assert_eq!(lines(run).await, ["▸ crier answered  (250 ms)"]);
}

#[tokio::test]
async fn a_run_without_an_answer_ends_with_a_line() {
    let hands = Hands::default();
    let call = ToolCall {
        id: String::new(),
        name: "nope".into(),
        arguments: "{}".into(),
    };
    let (model, _) = ScriptedModel::new([hands.late(Reply {
        calls: vec![call],
        ..Reply::default()
    })]);
    let adder = AgentBuilder::<String, u32>::new("adder")
        .model(model)
        .budget(Budget::new().max_turns(1))
        .build();
    let run = adder.run("2 + 2").clock(hands);
    let lines = lines(run).await;
    let [.., stopped, ended] = &lines[..] else {
        panic!("{lines:?}");
    };
    assert!(stopped.starts_with("✗ stopped: "), "{lines:?}");
    assert_eq!(ended, "✗ adder: no answer  (15 tokens, 750 ms)");
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
        /// Left operand.
        left: u32,
        /// Right operand.
        right: u32,
    ) -> u32 { left + right }

    on_error { invalid_args(_, _) => fix(agent = SlowFixer, retries = 2) }
}

#[tokio::test]
async fn a_try_to_repair_a_call_says_how_long_it_took() {
    let adder = AgentBuilder::<String, String>::new("adder")
        .tool(Sum)
        .build();
    let (model, _) = ScriptedModel::new([Script::call("sum", "one and two"), Script::text("3")]);
    let first = lines(adder.run("1 + 2").model(model)).await;
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
        let agent = scripted_agent("a", [Script::call("look", "{}"), Script::text("no")])
            .tool(look.clone())
            .on_error(move |error, _| match error {
                CallError::Execution(_) => {
                    Some(retry::<Execution>().max_attempts(2).backoff(backoff).into())
                }
                _ => None,
            })
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
