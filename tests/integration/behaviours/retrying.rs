//! Retries, and their interplay with arms, layers and listeners.

use super::*;
use ::agents::{Code, Severity, recovery::*, tool::FnTool};
use serde_json::json;
use std::time::Duration;

fn retry_to(max_attempts: u32) -> impl Arms {
    on_failure(move |_| retry().max_attempts(max_attempts).backoff(none()))
}

// 1
#[tokio::test]
async fn a_call_that_fails_once_runs_twice_and_the_loop_goes_on() {
    let seen = call(1, r#"{"n":1}"#, retry_to(3)).await;
    assert_eq!((seen.runs, seen.told().as_str()), (2, "did 1"));
    assert_eq!(seen.outcome.result.unwrap(), "end");
}

// 2: `max_attempts` counts every execution, including the first. The model gets the last failure.
#[tokio::test]
async fn spent_retries_leave_the_last_failure_and_the_attempts_in_the_receipt() {
    let seen = call(100, r#"{"n":1}"#, retry_to(4)).await;
    assert_eq!(seen.runs, 4);
    assert_eq!(seen.error().message, "failure 4");
    let failures: Vec<_> = seen
        .receipt()
        .attempts
        .iter()
        .map(|attempt| attempt.error.as_ref().unwrap().message.clone())
        .collect();
    assert_eq!(
        failures,
        ["failure 1", "failure 2", "failure 3", "failure 4"]
    );
    assert_eq!(
        seen.outcome.result.unwrap(),
        "end",
        "the model decides, the run lives"
    );
}

// 3
#[tokio::test]
async fn without_arms_the_failure_reaches_the_model_unchanged() {
    let seen = call(1, r#"{"n":1}"#, no_arms()).await;
    assert_eq!(seen.told(), "ERROR UNKNOWN (Terminal) in `job`: failure 1");
    assert_eq!(
        (seen.runs, seen.error().kind.as_str()),
        (1, "ExecutionError")
    );
}

// 4
#[tokio::test]
async fn arms_without_one_for_the_kind_change_nothing() {
    let seen = call(1, r#"{"n":1}"#, on_args(|_, _| fix(Some("{}".into())))).await;
    assert_eq!(seen.told(), "ERROR UNKNOWN (Terminal) in `job`: failure 1");
}

// 5: `None` is no decision for any kind of error; it never ends the run.
#[tokio::test]
async fn an_arm_that_gives_nothing_leaves_the_failure_to_the_model() {
    let seen = call(0, "gibberish", on_args(|_, _| fix(None))).await;
    assert!(
        seen.told()
            .starts_with("ERROR VALIDATION_ERROR (User) in `job`: the arguments cannot be read")
    );
    let seen = call(0, r#"{"n":"x"}"#, on_field(|_, _| sanitize(None::<u32>))).await;
    assert!(
        seen.told()
            .starts_with("ERROR VALIDATION_ERROR (User) in `job`: field `n`"),
        "{}",
        seen.told()
    );
    let seen = call(1, r#"{"n":1}"#, on_failure(|_| fix(None))).await;
    assert_eq!(seen.error().message, "failure 1");
}

// 6
#[test]
fn arms_say_nothing_about_kinds_they_do_not_have() {
    let arms = on_args(|_, _| feedback("x"));
    let failure: CallError<'_, AnyError> = CallError::Execution(Failure::Panicked("ouch"));
    assert_eq!(arms(failure, &ErrorContext::new("job")), None);
}

// 7: the arm is asked on each new failure, so that another failure can be treated otherwise.
#[tokio::test]
async fn the_arm_is_asked_about_each_new_failure() {
    let seen = call(
        100,
        r#"{"n":1}"#,
        on_failure(|failure| match failure {
            Failure::Returned(e) if e.to_string() == "failure 2" => {
                escalate("twice is enough").severity(Severity::Low)
            }
            _ => retry().max_attempts(9).backoff(none()),
        }),
    )
    .await;
    assert_eq!(
        (seen.runs, seen.error().reason.as_deref()),
        (2, Some("twice is enough"))
    );
}

// 8
#[tokio::test]
async fn the_end_of_a_call_is_told_once_with_what_it_was_saved_to() {
    let seen = call(2, r#"{"n":1}"#, retry_to(3)).await;
    let ended: Vec<_> = seen
        .events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::CallEnded(receipt) => receipt
                .output
                .as_ref()
                .map(|output| output.to::<String>().unwrap()),
            _ => None,
        })
        .collect();
    assert_eq!(ended, ["did 1"]);
    assert_eq!(
        seen.count(|kind| matches!(kind, EventKind::CallFailed { .. })),
        2,
        "each failure is told too"
    );
}

// 9
#[tokio::test]
async fn the_calls_of_one_reply_recover_by_themselves_and_are_answered_in_order() {
    let fails_first = |name: &'static str, failures: u32| {
        let body = move |_, cx: ::agents::ToolContext| async move {
            // The slower one was asked first.
            tokio::time::sleep(Duration::from_millis(if name == "slow" { 20 } else { 1 })).await;
            if cx.attempt() <= failures {
                Err("not yet")
            } else {
                Ok(format!("{name} after {}", cx.attempt()))
            }
        };
        FnTool::new(
            name,
            "Fails first.",
            ::agents::Effects::None,
            json!({"type": "object"}),
            body,
        )
    };
    let agent = AgentBuilder::new("worker")
        .tool(fails_first("slow", 2))
        .tool(fails_first("fast", 1))
        .on_error(retry_to(3));
    let script = vec![
        Script::calls([("slow", "{}"), ("fast", "{}"), ("slow", "{}")]),
        Script::text("end"),
    ];
    let seen = watch(agent, script).await;
    let told = seen.model.requests()[1].clone();
    let told: Vec<_> = told
        .results()
        .into_iter()
        .map(|(_, text)| text.to_owned())
        .collect();
    assert_eq!(told, ["slow after 3", "fast after 2", "slow after 3"]);
}

::agents::prelude::tool! {
    /// Fails; the tool may have an arm.
    #[tool(none)]
    async fn fails(#[inject] own: bool) -> Result<(), io::Error> {
        Err(io::Error::other(format!("no ({own})")))
    }

    on_error {
        execution_error(_) if *own => feedback("[own]"),
    }
}

/// Returns the call's result as the model gets it, if these layers have an arm.
async fn layers(for_tool: bool, own: bool, default: bool) -> String {
    fn says(who: &str, speaks: bool) -> Option<Plan> {
        let decision: Decision<Execution> = feedback(format!("[{who}]"));
        speaks.then(|| decision.into())
    }
    let agent = AgentBuilder::new("worker")
        .tool(Fails { own })
        .on_error_of::<io::Error>("fails", move |_, _| says("for the tool", for_tool))
        .on_error(move |_, _| says("default", default));
    watch(
        agent,
        vec![Script::call("fails", "{}"), Script::text("end")],
    )
    .await
    .told()
}

// 10
#[tokio::test]
async fn the_agent_s_arm_for_the_tool_beats_the_tool_s_own_which_beats_the_default() {
    assert!(layers(true, true, true).await.ends_with("[for the tool]"));
    assert!(layers(false, true, true).await.ends_with("[own]"));
    assert!(layers(false, false, true).await.ends_with("[default]"));
}

// 11
#[tokio::test]
async fn x10_defaults_cover_tools_without_arms_and_without_defaults_there_are_none() {
    assert!(layers(false, false, true).await.ends_with("[default]"));
    assert!(
        layers(false, false, false)
            .await
            .ends_with("`fails`: no (false)")
    );
}

// A layer that misses one kind does not take the others' arms away: layers are asked per kind.
#[tokio::test]
async fn x10_a_tool_with_one_arm_keeps_the_default_arms_of_the_other_kinds() {
    let runs = Arc::new(AtomicU32::new(0));
    let agent = AgentBuilder::new("worker")
        .tool(Job {
            runs: runs.clone(),
            failures: 1,
        })
        .on_error_of::<io::Error>("job", |error, _| match error {
            CallError::Execution(_) => {
                let decision: Decision<Execution> = retry().max_attempts(2).backoff(none());
                Some(decision.into())
            }
            _ => None,
        })
        .on_error(on_args(|_, _| fix(r#"{"n":8}"#)));
    let seen = watch(
        agent,
        vec![Script::call("job", "eight"), Script::text("end")],
    )
    .await;
    assert_eq!((seen.told().as_str(), runs.load(SeqCst)), ("did 8", 2));
}

#[tokio::test(start_paused = true)]
async fn back_off_waits_between_executions_and_is_told() {
    let arms = on_failure(|_| {
        retry()
            .max_attempts(3)
            .backoff(constant(Duration::from_secs(5)))
    });
    let began = tokio::time::Instant::now();
    let seen = call(2, r#"{"n":1}"#, arms).await;
    assert!(
        began.elapsed() >= Duration::from_secs(9),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(
        seen.count(|kind| matches!(kind, EventKind::BackingOff { .. })),
        2
    );
}

// A panic and a missed deadline are failures like any other.
#[tokio::test]
async fn panics_and_deadlines_can_be_retried() {
    let body = |_, cx: ::agents::ToolContext| async move {
        match cx.attempt() {
            1 => panic!("ouch"),
            2 => std::future::pending().await,
            n => Ok::<_, io::Error>(n),
        }
    };
    let mut spec = ::agents::tool::ToolSpec::new(
        "odd",
        "Odd.",
        ::agents::Effects::None,
        json!({"type": "object"}),
    );
    spec.timeout = Some(Duration::from_millis(20));
    let agent = AgentBuilder::new("worker")
        .tool(FnTool::with_spec(spec, body))
        .on_error(retry_to(3));
    let seen = watch(agent, vec![Script::call("odd", "{}"), Script::text("end")]).await;
    assert_eq!(seen.told(), "3");
    let codes: Vec<_> = seen
        .receipt()
        .attempts
        .iter()
        .map(|attempt| attempt.error.as_ref().map(|error| error.code))
        .collect();
    assert_eq!(codes, [Some(Code::Unknown), Some(Code::Timeout), None]);
}
