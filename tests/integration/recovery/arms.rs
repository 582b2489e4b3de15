//! Recovery: arms, repair agents and limits.

use crate::world::{Arms, Plain, on_args, scripted_agent};
use agents::{
    Agent, AgentBuilder, Code, Error, ErrorKind, Severity,
    prelude::*,
    recovery::{
        CallError, Decision, ErrorContext, Execution, Failure, InvalidArgs, Plan, Repair, *,
    },
    run::Stopped,
    testing::{Script, ScriptedModel},
    tool,
};
use std::{
    io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};

/// Counts its executions, and fails the first `failures` times.
#[tool(reads)]
pub(crate) async fn flaky(
    /// Number that is returned.
    n: u32,
    #[inject] runs: Arc<AtomicU32>,
    #[inject] failures: u32,
) -> io::Result<u32> {
    match runs.fetch_add(1, SeqCst) {
        run if run < failures => Err(io::Error::other(format!("failure {run}"))),
        _ => Ok(n),
    }
}

pub(crate) fn tool_with(failures: u32) -> (Flaky, Arc<AtomicU32>) {
    let runs = Arc::new(AtomicU32::new(0));
    (
        Flaky {
            runs: runs.clone(),
            failures,
        },
        runs,
    )
}

/// Creates an agent with one flaky tool, these default arms and this script; also returns its model.
fn agent(tool: Flaky, arms: impl Arms, script: Vec<Script>) -> (Plain, ScriptedModel) {
    let (model, handle) = ScriptedModel::new(script);
    let agent = AgentBuilder::new("patient").tool(tool).on_error(arms);
    (agent.model(model).build(), handle)
}

/// Creates an agent whose call `gibberish` this repair agent repairs; also returns its model.
pub(crate) fn patient(fixer: impl Fixer + Clone, retries: u32) -> (Plain, ScriptedModel) {
    let arms = on_args(move |_, _| fix_with(fixer.clone()).retries(retries));
    agent(tool_with(0).0, arms, one_call("gibberish"))
}

pub(crate) fn one_call(arguments: &str) -> Vec<Script> {
    vec![Script::call("flaky", arguments), Script::text("end")]
}

fn retrying(error: CallError<'_, AnyError>, _: &ErrorContext) -> Option<Plan> {
    match error {
        CallError::Execution(Failure::Returned(_)) => {
            let decision: Decision<Execution> = retry().max_attempts(3).backoff(none());
            Some(decision.into())
        }
        _ => None,
    }
}

#[tokio::test]
async fn fails_once_runs_twice() {
    let (tool, runs) = tool_with(1);
    let (agent, handle) = agent(tool, retrying, one_call(r#"{"n":5}"#));
    let outcome = agent.run("go").outcome().await.unwrap();
    assert_eq!(runs.load(SeqCst), 2);
    assert_eq!(handle.requests()[1].last(), "5");
    let receipt = outcome.outputs.last_tool.unwrap();
    assert_eq!(receipt.attempts.len(), 2);
    assert_eq!(
        receipt.attempts[0].error.as_ref().unwrap().message,
        "failure 0"
    );
    assert!(receipt.attempts[1].error.is_none());
}

#[tokio::test]
async fn x5_three_attempts_are_three_executions_in_all() {
    let (tool, runs) = tool_with(100);
    let (agent, handle) = agent(tool, retrying, one_call(r#"{"n":5}"#));
    agent.run("go").await.unwrap();
    assert_eq!(runs.load(SeqCst), 3);
    assert!(
        handle.requests()[1].last().ends_with("failure 2"),
        "the model hears of the last failure"
    );
}

#[tokio::test]
async fn e13_without_an_arm_there_is_one_execution() {
    let (tool, runs) = tool_with(1);
    let (agent, _) = agent(tool, |_, _| None, one_call(r#"{"n":5}"#));
    agent.run("go").await.unwrap();
    assert_eq!(runs.load(SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn x5_back_off_waits() {
    let (tool, _) = tool_with(2);
    let (agent, _) = agent(tool, every_five_seconds, one_call(r#"{"n":5}"#));
    let began = tokio::time::Instant::now();
    agent.run("go").await.unwrap();
    assert_eq!(began.elapsed().as_secs(), 10);
}

fn every_five_seconds(error: CallError<'_, AnyError>, _: &ErrorContext) -> Option<Plan> {
    let CallError::Execution(_) = error else {
        return None;
    };
    let decision: Decision<Execution> = retry()
        .max_attempts(3)
        .backoff(constant(Duration::from_secs(5)));
    Some(decision.into())
}

/// An error that says when to retry.
#[derive(Debug)]
struct TooMany;

impl std::fmt::Display for TooMany {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("busy")
    }
}

impl ToolFailure for TooMany {
    fn code(&self) -> Code {
        Code::RateLimit
    }

    fn retry_after(&self) -> Option<Duration> {
        Some(Duration::from_secs(60))
    }
}

/// Fails as busy.
#[tool(reads)]
async fn busy() -> Result<(), TooMany> {
    Err(TooMany)
}

#[tokio::test(start_paused = true)]
async fn x4_what_the_failure_says_about_coming_back_wins_and_is_told() {
    let (model, handle) = ScriptedModel::new([Script::call("busy", "{}"), Script::text("end")]);
    let agent: Plain = AgentBuilder::new("patient")
        .tool(Busy)
        .on_error(every_five_seconds)
        .model(model)
        .build();
    let began = tokio::time::Instant::now();
    let outcome = agent.run("go").outcome().await.unwrap();
    assert_eq!(began.elapsed().as_secs(), 120);
    let error = outcome
        .outputs
        .receipts()
        .next()
        .unwrap()
        .error
        .clone()
        .unwrap();
    assert_eq!(
        (error.code, error.retry_after_s),
        (Code::RateLimit, Some(60.0))
    );
    assert!(
        handle.requests()[1]
            .last()
            .contains("RATE_LIMIT (Transient)")
    );
    assert!(
        handle.requests()[1]
            .last()
            .ends_with("it may succeed after 60s")
    );
}

fn fixing(error: CallError<'_, AnyError>, _: &ErrorContext) -> Option<Plan> {
    match error {
        CallError::InvalidArgs(raw, _) => {
            let cleaned = raw.strip_prefix("n is ").map(|n| format!(r#"{{"n":{n}}}"#));
            let decision: Decision<InvalidArgs> = fix(cleaned)
                .or(fix_with(Scribe))
                .or(feedback("send a number"));
            Some(decision.into())
        }
        CallError::Deserialization(value, fault) if fault.field("n") => {
            let number = match value.and_then(|value| value.as_str()) {
                Some("seven") => Some(7),
                _ => None,
            };
            let decision: Decision<Deserialization> = sanitize(number);
            Some(decision.into())
        }
        _ => None,
    }
}

/// A repair agent without a model.
#[agent]
fn scribe(repair: Repair) -> Result<String, Error> {
    match repair.raw.as_str() {
        raw if raw.contains("escalate") => {
            Err(Error::escalated("not a formatting issue", Severity::Medium))
        }
        raw if raw.contains("critical") => {
            Err(Error::escalated("the data is gone", Severity::Critical))
        }
        raw if raw.contains("throw") => Err(Error::thrown("tampered with")),
        raw if raw.contains("nine") => Ok(r#"{"n":9}"#.into()),
        _ => Ok("still nonsense".into()),
    }
}

async fn fixed(arguments: &str) -> (agents::Outcome<String>, String) {
    let (tool, _) = tool_with(0);
    let (agent, handle) = agent(tool, fixing, one_call(arguments));
    let outcome = agent.run("go").outcome().await.unwrap();
    let told = handle
        .requests()
        .get(1)
        .map(|asked| asked.last().to_owned())
        .unwrap_or_default();
    (outcome, told)
}

#[tokio::test]
async fn x5_fix_replaces_the_text() {
    let (outcome, told) = fixed("n is 4").await;
    assert_eq!(told, "4");
    let receipt = outcome.outputs.last_tool.unwrap();
    assert_eq!(receipt.input.as_str(), r#"{"n":4}"#);
    assert_eq!(receipt.repairs.to_string(), "`fix` gave the arguments anew");
}

#[tokio::test]
async fn x6_fix_that_gives_nothing_falls_through_to_the_repair_agent() {
    assert_eq!(fixed("well, nine").await.1, "9");
}

#[tokio::test]
async fn past_the_end_of_the_chain_the_model_is_told_with_the_hint() {
    let (outcome, told) = fixed("gibberish").await;
    assert!(told.ends_with("; send a number"), "{told}");
    assert_eq!(outcome.result.unwrap(), "end");
}

#[tokio::test]
async fn x5_sanitize_replaces_one_value() {
    assert_eq!(fixed(r#"{"n":"seven"}"#).await.1, "7");
}

#[tokio::test]
async fn a_repair_agent_may_escalate_and_the_model_is_told() {
    let (outcome, told) = fixed("please escalate").await;
    assert!(
        told.contains("`scribe` gave up (MEDIUM): not a formatting issue"),
        "{told}"
    );
    let receipt = outcome.outputs.receipts().next().unwrap();
    let error = receipt.error.as_ref().unwrap();
    assert_eq!(
        (error.kind.as_str(), error.reason.as_deref()),
        ("EscalationError", Some("not a formatting issue"))
    );
}

#[tokio::test]
async fn a_critical_escalation_ends_the_run() {
    let (outcome, _) = fixed("critical").await;
    let error = outcome.result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Escalated);
    assert_eq!(
        error.to_string(),
        "`scribe` gave up (CRITICAL): the data is gone"
    );
}

#[tokio::test]
async fn x14_a_throw_ends_the_run_and_no_model_is_asked_again() {
    let (outcome, told) = fixed("throw").await;
    assert_eq!(
        outcome.result.as_ref().unwrap_err().kind(),
        ErrorKind::Thrown
    );
    assert_eq!(
        outcome.stopped,
        Some(Stopped::Thrown {
            source: "scribe".into(),
            reason: "tampered with".into()
        })
    );
    assert_eq!(told, "");
}

#[tokio::test]
async fn a_final_answer_climbs_the_same_ladder() {
    let (model, handle) = ScriptedModel::new([Script::text("about forty-two, I guess")]);
    let agent = AgentBuilder::<String, u32>::new("oracle")
        .model(model)
        .on_error(|error, _| match error {
            CallError::InvalidOutput(raw, _) => {
                let decision: Decision<InvalidOutput> =
                    fix(raw.contains("forty-two").then(|| "42".to_owned()));
                Some(decision.into())
            }
            _ => None,
        })
        .build();
    assert_eq!(agent.run("?").await.unwrap(), 42);
    assert_eq!(handle.count(), 1);
}

#[tokio::test]
async fn arms_for_a_tool_the_agent_does_not_have_are_refused_when_built() {
    let agent = scripted_agent("odd", [])
        .on_error_of::<io::Error>("delete_file", |_, _| None)
        .build();
    let error = agent.run("go").outcome().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Build);
    assert!(
        error
            .to_string()
            .contains("`delete_file`, which is not among its tools"),
        "{error}"
    );
}

#[tokio::test]
async fn the_layers_are_asked_in_order_and_inherit_asks_on() {
    let asked: Arc<Mutex<Vec<&str>>> = Arc::default();
    let (for_tool, default) = (asked.clone(), asked.clone());
    let (tool, _) = tool_with(5);
    let (model, handle) = ScriptedModel::new(one_call(r#"{"n":1}"#));
    let agent: Plain = AgentBuilder::new("layers")
        .tool(tool)
        .model(model)
        .on_error_of::<io::Error>("flaky", move |_, _| {
            for_tool.lock().unwrap().push("for the tool");
            let decision: Decision<Execution> = inherit();
            Some(decision.into())
        })
        .on_error(move |_, _| {
            default.lock().unwrap().push("default");
            let decision: Decision<Execution> = feedback("from the default");
            Some(decision.into())
        })
        .build();
    agent.run("go").await.unwrap();
    assert_eq!(*asked.lock().unwrap(), ["for the tool", "default"]);
    assert!(handle.requests()[1].last().ends_with("from the default"));
}

#[tokio::test]
async fn a_tool_that_writes_is_not_retried_by_a_helper_either() {
    /// Writes.
    #[tool(writes)]
    async fn post(#[inject] runs: Arc<AtomicU32>) -> io::Result<()> {
        runs.fetch_add(1, SeqCst);
        Err(io::Error::other("no"))
    }
    let runs = Arc::new(AtomicU32::new(0));
    let agent = scripted_agent("poster", [Script::call("post", "{}"), Script::text("end")])
        .tool(Post { runs: runs.clone() })
        .on_error(retrying)
        .build();
    agent.run("go").await.unwrap();
    assert_eq!(runs.load(SeqCst), 1);
}
