//! Recorded runs: read without their agent, replayed with their replies, and replayed with a change.

mod abandoned_calls;
mod generated_runs;
mod replays;
mod unfinished_runs;
mod what_if;

use crate::world::{Plain, spec_with_n, tells_the_same, worker};
use agents::{
    Agent, AgentBuilder, Effects, Error, ErrorKind, Outcome, Severity,
    blob::MemoryBlobs,
    journal::{MemoryJournal, Recorded, RecordedModel},
    model::{Message, ModelError, ModelErrorKind},
    recovery::*,
    run::{Approval, ApprovalRequest, RunContext, Stopped},
    testing::{Script, ScriptedModel},
    tool::{FnTool, NeedsApproval as Asks},
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

/// Number of executions of tools.
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

/// A repair agent that gives valid arguments.
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

fn tool(runs: &Runs, name: &'static str, work: Work) -> FnTool {
    let runs = runs.clone();
    FnTool::with_spec(spec_with_n(name, Effects::Reads), move |args, _| {
        let (n, run) = (args["n"].as_i64().unwrap_or_default(), runs.one());
        async move { work(n, run) }
    })
}

/// Fails in two of three executions, with an error that a recording keeps only as text.
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

/// Creates a tool for every possible end of a call.
fn tools(runs: &Runs) -> [FnTool; 9] {
    let double = |n: i64, _| Ok(json!({ "doubled": n.wrapping_mul(2) }));
    let fails = |n, _| Err(io::Error::other(format!("no {n}")));
    let panics = |n, _| panic!("at {n}");
    let long = |n: i64, _| Ok(Value::from("x".repeat(n.unsigned_abs() as usize % 400)));
    // The output differs each time.
    let clock = |_, run| Ok(json!({ "ticks": run, "at": format!("{:?}", SystemTime::now()) }));
    let (once, again) = (runs.clone(), runs.clone());
    let gated = spec_with_n("deletes", Effects::Writes).approval(Asks::Always);
    let deletes = FnTool::with_spec(gated, move |_, _| {
        once.one();
        async { Ok::<_, io::Error>("gone") }
    });
    // Calls that end the run: by an arm, or from inside.
    let ends = FnTool::with_spec(spec_with_n("ends", Effects::None), |args, _| async move {
        match args["n"].as_i64().unwrap_or_default().rem_euclid(4) {
            0 => Err("it is over".to_owned()),
            1 => thrower().run("go").await.map_err(|error| error.to_string()),
            n => Ok(n.unsigned_abs()),
        }
    });
    let asks = FnTool::with_spec(spec_with_n("asks", Effects::None), move |args, _| {
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

/// An agent that throws if its answer is no number.
fn thrower() -> Plain<String, u64> {
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

pub(crate) fn busy(runs: &Runs) -> Plain {
    let agent = AgentBuilder::<String, String>::new("busy").prompt("Be busy.");
    let agent = tools(runs).into_iter().fold(agent, AgentBuilder::tool);
    agent.fixer(Mender).on_error(arms).build()
}

/// Creates an approver that approves and denies in turn.
fn judge() -> impl Fn(ApprovalRequest) -> Ready<Approval> {
    let asked = Runs::default();
    move |_| {
        ready(match asked.one() % 2 {
            0 => Approval::Approve,
            _ => Approval::deny("not twice"),
        })
    }
}

pub(crate) async fn recorded(script: Vec<Script>) -> (Outcome<String>, Recorded, Runs) {
    let (model, _) = ScriptedModel::new(script);
    let runs = Runs::default();
    let agent = busy(&runs);
    let run = agent.run("go").model(model).approver(judge());
    let run = run.max_output_bytes(200).blobs(MemoryBlobs::new());
    let (outcome, recorded) = crate::world::recorded(run).await;
    (outcome, recorded, runs)
}

/// Resumes a run with a journal and recorded replies; also returns the count of executions.
pub(crate) async fn goes_on(
    journal: MemoryJournal,
    model: &RecordedModel,
) -> (Outcome<String>, Runs) {
    let runs = Runs::default();
    let agent = busy(&runs);
    let run = agent.run("go").journal(journal).model(model.clone());
    (run.max_output_bytes(200).outcome().await.unwrap(), runs)
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
async fn k8_a_journal_tells_all_that_a_run_has_left_behind() {
    let (first, recorded, runs) = recorded(one_of_each()).await;
    assert!(runs.count() > 10);
    tells_the_same(&recorded, &first);
    // The agent also gets the same results, without a request or an execution.
    let journal = MemoryJournal::of(recorded.entries().to_vec());
    let model = recorded.model();
    let (again, runs) = goes_on(journal, &model).await;
    assert_eq!((runs.count(), model.left()), (0, 5));
    assert_eq!(again.outputs, first.outputs);
    assert_eq!(again.trace, first.trace);
}

#[tokio::test]
async fn what_is_in_it() {
    let (first, recorded, _) = recorded(one_of_each()).await;
    assert_eq!(
        (recorded.agent(), recorded.prompt()),
        ("busy", Some("Be busy."))
    );
    assert_eq!(recorded.run_id(), first.run_id);
    assert_eq!(recorded.input::<String>().unwrap(), "go");
    let tools = recorded.tools();
    let names = tools.iter().map(|tool| &tool["function"]["name"]);
    let own = [
        "double", "fails", "panics", "long", "clock", "flaky", "deletes", "ends", "asks",
    ];
    assert_eq!(names.collect::<Vec<_>>(), own);
    let messages = recorded.messages();
    assert!(matches!(&messages[1], Message::User { content } if content == "go"));
    assert!(
        matches!(messages.last(), Some(Message::Assistant { content, .. }) if content == "done")
    );
}

/// Runs an agent whose tools always return the same.
async fn worked() -> (Outcome<String>, Recorded) {
    let calls = (0..3).map(|n| Script::call("add", format!(r#"{{"left":{n},"right":1}}"#)));
    let (model, _) = ScriptedModel::new(calls.chain([Script::text("done")]));
    crate::world::recorded(worker::<String>().run("go").model(model)).await
}

#[tokio::test]
async fn the_same_code_on_recorded_replies_does_the_same() {
    let (first, recorded) = worked().await;
    let model = recorded.model();
    let agent = worker::<String>();
    let again = agent
        .run("go")
        .model(model.clone())
        .outcome()
        .await
        .unwrap();
    assert_eq!((model.left(), model.difference()), (0, None));
    let ids = |outcome: &Outcome<String>| outcome.outputs.tool_order.clone();
    assert_eq!(ids(&again), ids(&first));
    assert_eq!(again.result.unwrap(), first.result.unwrap());
}

#[tokio::test]
async fn s5_13_the_first_difference_is_named() {
    let (_, recorded) = worked().await;
    let model = recorded.model();
    let agent = worker::<String>();
    let outcome = agent
        .run("stop")
        .model(model.clone())
        .outcome()
        .await
        .unwrap();
    let error = outcome.result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Replay);
    assert_eq!(
        error.to_string(),
        "agent `worker`, turn 1: request 1 differs from the recording in message 2: recorded `go`, now `stop` (fact 2)"
    );
    assert_eq!(
        outcome.stopped,
        Some(Stopped::Diverged {
            reason: error.to_string()
        })
    );
    let difference = model.difference().unwrap();
    assert_eq!(
        (difference.place.as_str(), difference.message),
        ("/turn0001", Some(2))
    );
    assert_eq!(
        (difference.recorded.as_str(), difference.now.as_str()),
        ("go", "stop")
    );
    assert!(error.to_string().ends_with(&difference.to_string()));
    let fewer = AgentBuilder::<String, String>::new("worker").prompt("Work.");
    let error = fewer.build().run("go").model(recorded.model()).await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("request 1 offers other tools"), "{error}");
    // All recorded replies are used up, and a further one is requested.
    let model = recorded.model();
    agent.run("go").model(model.clone()).await.unwrap();
    let error = agent.run("go").model(model).await.unwrap_err().to_string();
    assert!(
        error.contains("the recording has no more replies"),
        "{error}"
    );
}

#[tokio::test]
async fn a_failure_of_the_model_is_recorded() {
    let failure = ModelError::new(ModelErrorKind::Unreachable, "nobody listens").with_status(502);
    let (model, _) = ScriptedModel::new([Script::Fail(failure.clone())]);
    let agent = worker::<String>();
    let (first, recorded) = crate::world::recorded(agent.run("go").model(model)).await;
    tells_the_same(&recorded, &first);
    let again = agent.run("go").model(recorded.model()).await.unwrap_err();
    assert_eq!(again.kind(), ErrorKind::Model);
    assert_eq!(again.to_string(), first.result.unwrap_err().to_string());
    let source = std::error::Error::source(&again).unwrap();
    assert_eq!(source.downcast_ref::<ModelError>(), Some(&failure));
}

#[tokio::test(start_paused = true)]
async fn a_request_that_the_run_did_not_wait_for_ends_the_repetition() {
    struct Thinker;
    #[agents::async_trait]
    impl agents::Model for Thinker {
        fn id(&self) -> &str {
            "thinker"
        }
        async fn chat(
            &self,
            _: agents::model::Request<'_>,
        ) -> Result<agents::model::Reply, ModelError> {
            std::future::pending().await
        }
    }
    let agent = worker::<String>();
    let budget = agents::Budget::new().time(Duration::from_secs(5));
    let run = agent.run("go").model(Thinker).budget(budget);
    let (first, recorded) = crate::world::recorded(run).await;
    assert!(first.stopped.is_some());
    tells_the_same(&recorded, &first);
    let error = agent.run("go").model(recorded.model()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Replay);
    let said = "the recorded run ended before this request was answered";
    assert!(error.to_string().ends_with(said), "{error}");
}

/// Creates a captain whose tool runs another agent in a separate run, and accepts any result.
fn captain(order: &'static str) -> Plain {
    let ask = FnTool::with_spec(spec_with_n("ask", Effects::Reads), move |_, _| async move {
        let hand = AgentBuilder::<String, String>::new("hand").build();
        let outcome = hand.run(order).outcome().await;
        let outcome = outcome.map_err(|error| error.to_string())?;
        let answer = outcome.result;
        Ok::<_, String>(answer.unwrap_or_else(|error| format!("no answer: {error}")))
    });
    AgentBuilder::new("captain").tool(ask).build()
}

#[tokio::test]
async fn a_difference_in_a_run_within_the_run_ends_all_of_it() {
    let (model, _) = ScriptedModel::new([
        Script::call("ask", r#"{"n":1}"#),
        Script::text("aye"),
        Script::text("we sail"),
    ]);
    let agent = captain("anchor");
    let (first, recorded) = crate::world::recorded(agent.run("To sea!").model(model)).await;
    tells_the_same(&recorded, &first);
    let model = recorded.model();
    let again = agent.run("To sea!").override_model(model.clone());
    assert_eq!(again.await.unwrap(), "we sail");
    assert_eq!(model.left(), 0);

    let model = recorded.model();
    let run = captain("sails")
        .run("To sea!")
        .override_model(model.clone())
        .outcome()
        .await;
    let outcome = run.unwrap();
    assert_eq!(outcome.result.unwrap_err().kind(), ErrorKind::Replay);
    let difference = model.difference().unwrap();
    assert!(difference.place.contains("/hand#"), "{difference:?}");
}

#[tokio::test]
async fn what_is_no_run_is_refused() {
    let error = Recorded::of(Vec::new()).unwrap_err();
    assert_eq!(error.to_string(), "the journal holds no run");
    let (_, recorded) = worked().await;
    let mut entries = recorded.entries().to_vec();
    entries.remove(4);
    let error = Recorded::of(entries).unwrap_err();
    assert_eq!(
        error.to_string(),
        "entry 5 has the number 6: entries are missing, or in another order"
    );
}

#[tokio::test]
async fn a_run_that_breaks_off_is_told_as_far_as_it_came() {
    let (_, recorded) = worked().await;
    let entries = recorded.entries();
    assert!(entries.len() > 1 && !recorded.messages().is_empty());
    assert!(!recorded.receipts().is_empty());
    for end in 1..entries.len() {
        let part = Recorded::of(entries[..end].to_vec()).unwrap();
        assert_eq!((part.agent(), part.run_id()), ("worker", recorded.run_id()));
        assert!(recorded.messages().starts_with(part.messages()));
        assert!(recorded.receipts().starts_with(&part.receipts()));
    }
}
