//! A recorded run, again: without network, without a tool that runs, and with something changed.

mod abandoned;
mod ended;
mod generated;
mod what_if;

use crate::recording::Tape;
use agents::{
    Agent, AgentBuilder, Effects, Error, ErrorKind, Outcome, Severity,
    agent::ModelAgent,
    blob::MemoryBlobs,
    model::Message,
    observe::Step,
    record::{Bundle, Recording, Replay},
    recovery::*,
    run::{Approval, ApprovalRequest, RunContext, Stopped},
    testing::{Script, ScriptedModel},
    tool::{Approval as Asks, FnTool, ToolSpec},
};
use serde_json::{Value, json};
use std::{
    future::{Ready, ready},
    io,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::{Duration, SystemTime},
};

/// How often tools have run.
#[derive(Clone, Default)]
pub(crate) struct Runs(Arc<AtomicU32>);

impl Runs {
    pub(crate) fn count(&self) -> u32 {
        self.0.load(SeqCst)
    }

    fn one(&self) -> u32 {
        self.0.fetch_add(1, SeqCst)
    }
}

/// Repairs by writing what fits.
struct Mender;

#[agents::async_trait]
impl Agent for Mender {
    type In = String;
    type Out = String;
    fn name(&self) -> &str {
        "mender"
    }
    async fn work(&self, _: &RunContext, broken: String) -> Result<String, Error> {
        match broken.contains("hopeless") {
            true => Err(Error::escalated("hopeless", Severity::Low)),
            false => Ok(r#"{"n": 7}"#.into()),
        }
    }
}

type Work = fn(i64, u32) -> io::Result<Value>;

fn spec(name: &'static str, effects: Effects) -> ToolSpec {
    let schema =
        json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    ToolSpec::new(name, "Does it.", effects, schema)
}

fn tool(runs: &Runs, name: &'static str, work: Work) -> FnTool {
    let runs = runs.clone();
    FnTool::with_spec(spec(name, Effects::Reads), move |args, _| {
        let (n, run) = (args["n"].as_i64().unwrap_or_default(), runs.one());
        async move { work(n, run) }
    })
}

/// Fails in a way that only the live error tells: on a tape there is none.
fn flaky(n: i64, run: u32) -> io::Result<Value> {
    match (n + i64::from(run)) % 3 {
        0 => Ok(json!("at last")),
        _ => Err(io::Error::from(io::ErrorKind::ConnectionReset)),
    }
}

fn is_reset(error: &AnyError) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == io::ErrorKind::ConnectionReset)
}

/// A tool for everything that a call may come to.
fn tools(runs: &Runs) -> [FnTool; 9] {
    let double = |n: i64, _| Ok(json!({ "doubled": n.wrapping_mul(2) }));
    let fails = |n, _| Err(io::Error::other(format!("no {n}")));
    let panics = |n, _| panic!("at {n}");
    let long = |n: i64, _| Ok(Value::from("x".repeat(n.unsigned_abs() as usize % 400)));
    // What it says differs each time it runs.
    let clock = |_, run| Ok(json!({ "ticks": run, "at": format!("{:?}", SystemTime::now()) }));
    let (once, again) = (runs.clone(), runs.clone());
    let gated = spec("deletes", Effects::Writes).approval(Asks::Always);
    let deletes = FnTool::with_spec(gated, move |_, _| {
        once.one();
        async { Ok::<_, io::Error>("gone") }
    });
    // It ends the run: by its arm, or from within.
    let ends = FnTool::with_spec(spec("ends", Effects::None), |args, _| async move {
        match args["n"].as_i64().unwrap_or_default().rem_euclid(4) {
            0 => Err("it is over".to_owned()),
            1 => thrower().run("go").await.map_err(|error| error.to_string()),
            n => Ok(n.unsigned_abs()),
        }
    });
    let asks = FnTool::with_spec(spec("asks", Effects::None), move |args, _| {
        again.one();
        async move {
            let helper = AgentBuilder::<String, String>::new("helper").prompt("Help.");
            helper.build().run(args["n"].to_string()).await
        }
    });
    [
        tool(runs, "double", double),
        tool(runs, "fails", fails),
        tool(runs, "panics", panics),
        tool(runs, "long", long),
        tool(runs, "clock", clock),
        tool(runs, "flaky", flaky),
        deletes,
        ends,
        asks,
    ]
}

/// An agent that throws where its answer is no number.
fn thrower() -> ModelAgent<'static, String, u64> {
    let agent = AgentBuilder::<String, u64>::new("thrower").prompt("Count.");
    let throws = |error: CallError<'_, AnyError>, _: &ErrorContext| match error {
        CallError::InvalidOutput(..) => Some(throw::<InvalidOutput>("no number").into()),
        _ => None,
    };
    agent.on_error(throws).build()
}

fn arms(error: CallError<'_, AnyError>, cx: &ErrorContext) -> Option<Plan> {
    match error {
        CallError::InvalidArgs(raw, _) if raw.contains("mend") || raw.contains("hopeless") => {
            let asked: Decision<InvalidArgs> = fix_with(Mender).retries(2);
            Some(asked.into())
        }
        CallError::Deserialization(value, _) if value.is_some() => {
            let given: Decision<Deserialization> = sanitize(3);
            Some(given.into())
        }
        CallError::Execution(Failure::Returned(e)) if is_reset(e) => {
            let backoff = exponential().base(Duration::from_millis(1));
            let again: Decision<Execution> = retry().max_attempts(3).backoff(backoff);
            Some(again.or(feedback("it stays flaky")).into())
        }
        CallError::Execution(Failure::Returned(_)) if cx.tool() == "ends" => {
            Some(throw::<Execution>("it is over").into())
        }
        CallError::Execution(Failure::Returned(_)) if cx.tool() == "fails" => {
            let up: Decision<Execution> = escalate("it fails").severity(Severity::Low);
            Some(up.into())
        }
        _ => None,
    }
}

pub(crate) fn busy(runs: &Runs) -> ModelAgent<'static, String, String> {
    let agent = AgentBuilder::<String, String>::new("busy").prompt("Be busy.");
    let agent = tools(runs).into_iter().fold(agent, AgentBuilder::tool);
    agent.fixer(Mender).on_error(arms).build()
}

/// Says yes and no in turn.
fn judge() -> impl Fn(ApprovalRequest) -> Ready<Approval> {
    let asked = Runs::default();
    move |_| {
        ready(match asked.one() % 2 {
            0 => Approval::Approve,
            _ => Approval::deny("not twice"),
        })
    }
}

pub(crate) async fn recorded(script: Vec<Script>) -> (Outcome<String>, Bundle, Runs) {
    let (model, _) = ScriptedModel::new(script);
    let (tape, runs) = (Tape::default(), Runs::default());
    let agent = busy(&runs);
    let run = agent.run("go").model(model);
    let run = run.tape(Recording::to(tape.clone())).approver(judge());
    let run = run.max_output_bytes(200).blobs(MemoryBlobs::new());
    let outcome = run.outcome().await.unwrap();
    (outcome, Bundle::parse(&tape.text()).unwrap(), runs)
}

/// The run again, from the bundle alone; and what tools ran.
pub(crate) async fn again(bundle: &Bundle, replay: Replay) -> (Outcome<String>, Runs) {
    let runs = Runs::default();
    let agent = busy(&runs);
    let run = agent.run(bundle.input::<String>().unwrap()).tape(replay);
    (run.max_output_bytes(200).outcome().await.unwrap(), runs)
}

/// What happened and when. Calls that are made together may end in another order, where no tool runs.
pub(crate) fn steps(outcome: &Outcome<String>) -> Vec<&Step> {
    let mut steps: Vec<_> = outcome.trace.steps.iter().collect();
    steps.sort_by_key(|step| &step.place);
    steps
}

fn one_of_each() -> Vec<Script> {
    vec![
        Script::calls([
            ("double", r#"{"n": 9007199254740993}"#),
            ("double", r#"{"n": "4",}"#),
            ("double", r#"{"n": "four"}"#),
            ("double", "please mend this"),
            ("double", "hopeless"),
            ("fails", r#"{"n": 1}"#),
            ("panics", r#"{"n": 1}"#),
        ]),
        Script::calls([
            ("long", r#"{"n": 399}"#),
            ("clock", r#"{"n": 0}"#),
            ("flaky", r#"{"n": 1}"#),
            ("flaky", r#"{"n": 2}"#),
            ("deletes", r#"{"n": 1}"#),
            ("deletes", r#"{"n": 2}"#),
            ("no_such_tool", "{}"),
        ]),
        Script::call("asks", r#"{"n": 5}"#),
        Script::text("helped"),
        Script::text("done"),
    ]
}

#[tokio::test]
async fn a_bundle_is_all_that_is_needed() {
    let (first, bundle, runs) = recorded(one_of_each()).await;
    assert!(runs.count() > 10);
    let replay = bundle.replay();
    let (again, runs) = again(&bundle, replay.clone()).await;
    assert_eq!(runs.count(), 0, "no tool runs");
    assert_eq!((replay.left(), replay.divergence()), (0, None));
    assert_eq!(
        serde_json::to_string_pretty(&again.outputs).unwrap(),
        serde_json::to_string_pretty(&first.outputs).unwrap()
    );
    assert_eq!(steps(&again), steps(&first), "those within tools, too");
    assert_eq!(again.run_id, first.run_id);
    assert_eq!(again.usage, first.usage);
    assert_eq!(again.escalations, first.escalations);
    assert_eq!(again.result.unwrap(), first.result.unwrap());
}

#[tokio::test]
async fn what_is_in_it() {
    let (first, bundle, _) = recorded(one_of_each()).await;
    assert_eq!(
        (bundle.agent(), bundle.prompt()),
        ("busy", Some("Be busy."))
    );
    assert_eq!(bundle.run_id(), first.run_id);
    assert_eq!(bundle.input::<String>().unwrap(), "go");
    let receipts: Vec<_> = first.outputs.receipts().collect();
    assert_eq!(bundle.envelopes().collect::<Vec<_>>(), receipts);
    assert_eq!(bundle.replies().count(), 5);
    let tools = bundle.tools();
    let names = tools.iter().map(|tool| &tool["function"]["name"]);
    let own = [
        "double", "fails", "panics", "long", "clock", "flaky", "deletes", "ends", "asks",
    ];
    assert_eq!(names.collect::<Vec<_>>(), own);
    let messages = bundle.messages();
    assert!(matches!(&messages[1], Message::User { content } if content == "go"));
    assert!(
        matches!(messages.last(), Some(Message::Assistant { content, .. }) if content == "done")
    );
}

#[tokio::test]
async fn another_agent_diverges_where_it_differs() {
    let (_, bundle, _) = recorded(one_of_each()).await;
    let replay = bundle.replay();
    let agent = busy(&Runs::default());
    let error = agent.run("stop").tape(replay.clone()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Replay);
    let parted = replay.divergence().unwrap();
    assert_eq!(
        (parted.place.as_str(), parted.message),
        ("/turn0001", Some(2))
    );
    assert_eq!(
        (parted.recorded.as_str(), parted.now.as_str()),
        ("go", "stop")
    );
    assert!(error.to_string().ends_with(&parted.to_string()), "{error}");
    let other = AgentBuilder::<String, String>::new("busy").prompt("Be busy.");
    let error = other.build().run("go").tape(bundle.replay()).await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("request 1 offers other tools"), "{error}");
}

#[tokio::test]
async fn a_tape_that_breaks_off_is_followed_to_its_end() {
    let (model, _) = ScriptedModel::new(one_of_each());
    let tape = Tape::default();
    let agent = busy(&Runs::default());
    let run = agent.run("go").model(model);
    let run = run.tape(Recording::to(tape.clone())).max_output_bytes(200);
    run.outcome().await.unwrap();
    // Up to the first execution's result.
    let text = tape.text();
    let mut lines = text.lines();
    let end = lines.position(|line| line.contains("/call0000/run1"));
    let begun: Vec<_> = text.lines().take(end.unwrap()).collect();
    let bundle = Bundle::parse(&begun.join("\n")).unwrap();
    let replay = bundle.replay();
    let (outcome, runs) = again(&bundle, replay.clone()).await;
    assert_eq!(runs.count(), 0);
    let Some(Stopped::Diverged { reason }) = outcome.stopped else {
        panic!("{:?}", outcome.stopped);
    };
    assert!(
        reason.starts_with("a tool would run that was not recorded:"),
        "{reason}"
    );
    assert_eq!(outcome.result.unwrap_err().kind(), ErrorKind::Replay);
    assert_eq!(replay.divergence().unwrap().place, "/call0000");
}
