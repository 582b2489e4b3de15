//! Property tests of the executor, for all rules, caches, rate limits, size limits and degrees of parallelism.

use crate::world::spec;
use agents::{
    Agent, AgentBuilder, Budget, Effects, Outcome,
    blob::MemoryBlobs,
    model::Message,
    policy::{Action, Verdict},
    rate::{MemoryLimiter, Rate},
    run::{Approval, ToolEnvelope},
    testing::{Script, ScriptedModel},
    tool::{Cache, FnTool, ToolSet, ToolSpec},
};
use proptest::prelude::*;
use std::{future::Future, io, time::Duration};
use tokio::time::sleep;

const TOOLS: [&str; 5] = ["read", "write", "alone", "old", "blocked"];

/// Arguments that decide what a call does.
const DEEDS: [&str; 5] = [
    r#"{"do":"work"}"#,
    r#"{"do":"fail"}"#,
    r#"{"do":"panic"}"#,
    r#"{"do":"hang"}"#,
    r#"{"do":"flood"}"#,
];

#[derive(Clone, Debug)]
struct Case {
    rounds: Vec<Vec<(usize, usize)>>,
    rules: Vec<(usize, bool)>,
    approving: bool,
    caching: Option<bool>,
    rate: Option<u32>,
    parallel: usize,
    bytes: usize,
    kept: bool,
    calls: u32,
    turns: u32,
}

fn case() -> impl Strategy<Value = Case> {
    let call = (0..=TOOLS.len(), 0..=DEEDS.len());
    let rounds = prop::collection::vec(prop::collection::vec(call, 1..7), 1..4);
    let rules = prop::collection::vec((0..=TOOLS.len(), any::<bool>()), 0..3);
    let about_calls = (
        any::<bool>(),
        any::<Option<bool>>(),
        prop::option::of(0..4_u32),
        0..5_usize,
    );
    let bounds = (1..200_usize, any::<bool>(), 1..20_u32, 1..6_u32);
    (rounds, rules, about_calls, bounds).prop_map(
        |(rounds, rules, (approving, caching, rate, parallel), (bytes, kept, calls, turns))| Case {
            rounds,
            rules,
            approving,
            caching,
            rate,
            parallel,
            bytes,
            kept,
            calls,
            turns,
        },
    )
}

fn tool(spec: ToolSpec) -> FnTool {
    FnTool::with_spec(spec.timeout(Duration::from_secs(5)), |args, _| async move {
        sleep(Duration::from_millis(10)).await;
        match args["do"].as_str() {
            Some("fail") => Err(io::Error::other("told to")),
            Some("panic") => panic!("told to"),
            Some("hang") => std::future::pending().await,
            Some("flood") => Ok("ä".repeat(1000)),
            _ => Ok("worked".to_owned()),
        }
    })
}

fn tools() -> ToolSet {
    let [read, write, alone, old, blocked] = TOOLS;
    let specs = [
        spec(read, Effects::Reads).cache(Cache::Forever),
        spec(write, Effects::Writes).cache(Cache::Forever),
        spec(alone, Effects::None).sequential(),
        spec(old, Effects::None).deprecated("use read"),
        spec(blocked, Effects::None).blocked("it is no good"),
    ];
    ToolSet::new().with_all(specs.map(tool))
}

/// Runs a future with a paused clock, which advances only while all tasks wait.
fn block_on<T>(work: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().unwrap();
    runtime.block_on(work)
}

/// Calls of the model, by tool and arguments.
fn calls(case: &Case) -> impl Iterator<Item = Vec<(&'static str, &'static str)>> {
    let tool = |at: usize| TOOLS.get(at).copied().unwrap_or("nowhere");
    let deed = |at: usize| DEEDS.get(at).copied().unwrap_or("rubbish");
    let call = move |(t, d): &(usize, usize)| (tool(*t), deed(*d));
    case.rounds
        .iter()
        .map(move |round| round.iter().map(call).collect())
}

async fn run(case: &Case) -> (Outcome<String>, ScriptedModel) {
    let script = calls(case).map(Script::calls).chain([Script::text("end")]);
    let (model, handle) = ScriptedModel::new(script);
    let agent = AgentBuilder::<String, String>::new("worker")
        .tools(tools())
        .budget(
            Budget::new()
                .max_tool_calls(case.calls)
                .max_turns(case.turns),
        )
        .model(model)
        .build();
    let mut run = agent
        .run("go")
        .max_parallel(case.parallel)
        .max_output_bytes(case.bytes);
    for (at, denies) in case.rules.clone() {
        run = run.policy(move |action: &Action<'_>| match action {
            Action::Tool(call) if Some(&&*call.spec.name) == TOOLS.get(at) => match denies {
                true => Verdict::deny("a rule"),
                false => Verdict::Confirm,
            },
            _ => Verdict::Allow,
        });
    }
    if case.approving {
        run = run.approver(|_| async { Approval::Approve });
    }
    match case.caching {
        None => {}
        Some(true) => run = run.cache(agents::cache::MemoryCache::new().max_entries(2)),
        Some(false) => run = run.no_cache(),
    }
    if let Some(times) = case.rate {
        run = run.rate_limits(MemoryLimiter::new().limit("*", Rate::per_second(times)));
    }
    if case.kept {
        run = run.blobs(MemoryBlobs::new());
    }
    (run.outcome().await.unwrap(), handle)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(agents_needs::cases(400)) })]

    /// Every call leaves one receipt, in the model's order, with either an output or an error. The model gets the
    /// result of each once, before its next turn.
    #[test]
    fn e1_o2_every_call_leaves_one_receipt(case in case()) {
        let (outcome, handle) = block_on(run(&case));
        let made: Vec<_> = calls(&case).take(handle.count()).flatten().collect();
        let receipts: Vec<&ToolEnvelope> = outcome.outputs.receipts().collect();
        prop_assert_eq!(receipts.len(), made.len());
        prop_assert_eq!(outcome.outputs.tools_by_id.len(), made.len());
        for (receipt, (name, _)) in receipts.iter().zip(&made) {
            prop_assert_eq!(&*receipt.name, *name);
            prop_assert!(receipt.output.is_some() != receipt.error.is_some());
            prop_assert!(receipt.attachments.is_empty() || (receipt.truncated && case.kept));
            prop_assert!(!receipt.truncated || receipt.attachments.len() == usize::from(case.kept));
            prop_assert!(!receipt.cached || (receipt.is_ok() && receipt.attempts.is_empty()));
            prop_assert!(!receipt.cached || (receipt.name == "read" && case.caching != Some(false)));
            let output: Option<String> = receipt.output.as_ref().and_then(|output| output.to().ok());
            prop_assert!(output.is_none_or(|output| output.len() <= case.bytes));
            let refused = matches!(*name, "blocked" | "nowhere")
                || case.rules.iter().any(|(at, denies)| *denies && TOOLS.get(*at) == Some(name));
            prop_assert!(!refused || (receipt.attempts.is_empty() && !receipt.is_ok()));
        }
        let last = handle.requests().pop().unwrap();
        let told = last.messages.iter().filter(|message| matches!(message, Message::Tool { .. })).count();
        let before = calls(&case).take(handle.count() - 1).flatten().count();
        prop_assert_eq!(told, before);
    }

    /// For all settings, outputs and receipts have these fields of these types.
    #[test]
    fn o3_outputs_have_one_shape(case in case()) {
        let (outcome, _) = block_on(run(&case));
        let wire = serde_json::to_value(&outcome.outputs).unwrap();
        let mut always = vec!["response", "tool_order", "tools_by_id"];
        if outcome.outputs.receipts().any(ToolEnvelope::is_ok) {
            always.insert(0, "last_tool");
        }
        let mut fields: Vec<_> = wire.as_object().unwrap().keys().collect();
        fields.sort();
        prop_assert_eq!(fields, always);
        prop_assert!(wire["response"].is_string() && wire["tool_order"].is_array());
        for (id, receipt) in wire["tools_by_id"].as_object().unwrap() {
            prop_assert_eq!(&receipt["call_id"], id);
            for text in ["name", "version", "t_start", "t_end"] {
                prop_assert!(receipt[text].is_string(), "{text} of {receipt}");
            }
            let known = [
                "call_id", "name", "version", "input", "output", "error", "t_start", "t_end", "cached",
                "truncated", "partial", "attachments", "attempts", "approvals", "repairs",
            ];
            for field in receipt.as_object().unwrap().keys() {
                prop_assert!(known.contains(&field.as_str()), "{field}");
            }
        }
    }

    /// The number of parallel calls changes only the times, not the results.
    #[test]
    fn how_many_run_at_once_changes_no_result(case in case(), parallel in 1..20_usize) {
        let case = Case { rate: None, ..case };
        let other = Case { parallel, ..case.clone() };
        let left = |(outcome, _): (Outcome<String>, ScriptedModel)| {
            let receipts = outcome.outputs.receipts().map(|receipt| {
                let error = receipt.error.as_ref().map(|error| error.message.clone());
                (receipt.call_id.clone(), receipt.output.clone(), error)
            });
            (receipts.collect::<Vec<_>>(), outcome.stopped)
        };
        prop_assert_eq!(left(block_on(run(&case))), left(block_on(run(&other))));
    }
}
