//! Regression tests for defects of another framework and our own.

use super::*;
use crate::world::scripted_agent;
use ::agents::{
    Budget, Code, Effects, ErrorKind,
    recovery::*,
    run::{Approval, Limit, Stopped},
    tool::{FnTool, ToolSpec},
};
use serde_json::json;
use std::time::Duration;
use tokio::time::Instant;

fn anything() -> Value {
    json!({"type": "object"})
}

/// Returns arms that retry every failure.
fn stubborn() -> impl Arms {
    on_failure(|_| retry().max_attempts(5).backoff(none()))
}

/// Creates a tool that fails `failures` times, then runs an agent.
fn asks(agent: Plain, failures: u32) -> FnTool {
    let agent = Arc::new(agent);
    FnTool::new(
        "ask",
        "Asks a colleague.",
        Effects::None,
        anything(),
        move |_, cx| {
            let agent = agent.clone();
            async move {
                match cx.attempt() {
                    n if n <= failures => Err(Error::new(ErrorKind::Model, "engaged")),
                    _ => agent.run("help").await,
                }
            }
        },
    )
}

fn one_ask() -> Vec<Script> {
    vec![Script::call("ask", "{}"), Script::text("end")]
}

/// (a) A default retry that also covers the tools by which a repair agent gives up.
#[tokio::test]
async fn a_default_retry_does_not_cover_giving_up() {
    for (tool, kind) in [("escalate", "EscalationError"), ("throw_exception", "")] {
        let (model, handle) = ScriptedModel::always(Script::call(tool, r#"{"reason":"no"}"#));
        let retries = |_: &Failure<'_, AnyError>| retry().max_attempts(5).backoff(none());
        let agent = Arc::new(
            AgentBuilder::<Repair, String>::new("scribe")
                .on_error(on_failure(retries))
                .model(model)
                .build(),
        );
        let arms = move |error: CallError<'_, AnyError>, _: &ErrorContext| {
            Some(match error {
                CallError::Execution(failure) => retries(&failure).into(),
                CallError::InvalidArgs(..) => {
                    let decision: Decision<InvalidArgs> = fix_with(agent.clone()).retries(3);
                    decision.into()
                }
                _ => return None,
            })
        };
        let seen = call(0, "three", arms).await;
        assert_eq!(handle.count(), 1, "{tool}");
        match kind {
            "" => assert_eq!(seen.outcome.result.unwrap_err().kind(), ErrorKind::Thrown),
            kind => assert_eq!(seen.error().kind, kind),
        }
    }
}

/// (b) A retry that swallows a wait for a person, or their answer.
#[tokio::test]
async fn a_retry_neither_swallows_an_approval_nor_asks_it_again() {
    let asked = Arc::new(AtomicU32::new(0));
    let gated = |runs: Arc<AtomicU32>| {
        let spec = ToolSpec::new("send", "Sends.", Effects::Writes, anything())
            .approval(::agents::tool::NeedsApproval::Always)
            .idempotent();
        FnTool::with_spec(spec, move |_, cx| {
            runs.fetch_add(1, SeqCst);
            async move {
                if cx.attempt() < 3 {
                    Err("line busy")
                } else {
                    Ok("sent")
                }
            }
        })
    };
    for (approval, ran, told) in [
        (Approval::deny("never"), 0, "POLICY_DENIED"),
        (Approval::Approve, 3, "sent"),
    ] {
        let (runs, count) = (Arc::new(AtomicU32::new(0)), asked.clone());
        let (model, handle) = ScriptedModel::new([Script::call("send", "{}"), Script::text("end")]);
        let agent: Plain = AgentBuilder::new("a")
            .tool(gated(runs.clone()))
            .on_error(stubborn())
            .model(model)
            .build();
        let approver = move |_| {
            count.fetch_add(1, SeqCst);
            let approval = approval.clone();
            async move {
                tokio::time::sleep(Duration::from_millis(5)).await;
                approval
            }
        };
        agent.run("go").approver(approver).await.unwrap();
        assert_eq!(runs.load(SeqCst), ran);
        assert!(handle.requests()[1].last().contains(told));
    }
    assert_eq!(
        asked.load(SeqCst),
        2,
        "the same arguments are approved once"
    );
}

/// (b) The same one agent deeper: the deadline of the outer tool pauses while a person decides.
#[tokio::test(start_paused = true)]
async fn a_deadline_stands_still_while_a_person_is_asked() {
    let send = FnTool::with_spec(
        ToolSpec::new("send", "Sends.", Effects::Writes, anything())
            .approval(::agents::tool::NeedsApproval::Always),
        |_, _| async { Ok::<_, io::Error>("sent") },
    );
    let (model, _) = ScriptedModel::new([Script::call("send", "{}"), Script::text("done")]);
    let agent: Plain = AgentBuilder::new("colleague")
        .tool(send)
        .model(model)
        .build();
    let boss = scripted_agent("boss", one_ask())
        .tool(asks(agent, 0))
        .on_error(stubborn())
        .build();
    let slowly = |_| async {
        tokio::time::sleep(Duration::from_secs(600)).await;
        Approval::Approve
    };
    let run = boss
        .run("go")
        .tool_timeout(Duration::from_secs(1))
        .approver(slowly);
    let outputs = run.outcome().await.unwrap().outputs;
    let executions: Vec<_> = outputs
        .receipts()
        .map(|receipt| (&*receipt.name, receipt.attempts.len()))
        .collect();
    assert_eq!(executions, [("ask", 1), ("send", 1)]);
}

/// (c) A used-up budget that a retry takes for a failure, in the first attempt or a later one.
#[tokio::test]
async fn a_retry_does_not_swallow_a_budget() {
    for failures in [0, 2] {
        let (model, handle) = ScriptedModel::always(Script::call("nothing", "{}"));
        let agent: Plain = AgentBuilder::new("colleague")
            .budget(Budget::new().max_turns(2))
            .model(model)
            .build();
        let seen = watch(
            AgentBuilder::new("boss")
                .tool(asks(agent, failures))
                .on_error(stubborn()),
            one_ask(),
        )
        .await;
        let stopped = Stopped::Budget {
            agent: "colleague".into(),
            limit: Limit::Turns(2),
        };
        assert_eq!(seen.outcome.stopped, Some(stopped));
        assert_eq!(
            (seen.model.count(), handle.count()),
            (1, 2),
            "after {failures} failures"
        );
    }
}

/// (c) A throw that a retry around the agent takes for a failure.
#[tokio::test]
async fn a_retry_does_not_swallow_a_throw() {
    for failures in [0, 2] {
        let runs = Arc::new(AtomicU32::new(0));
        let (model, _) =
            ScriptedModel::new([Script::call("job", r#"{"n":1}"#), Script::text("fine")]);
        let agent: Plain = AgentBuilder::new("colleague")
            .tool(Job {
                runs: runs.clone(),
                failures: 1,
            })
            .on_error(on_failure(|_| throw("stop everything")))
            .model(model)
            .build();
        let seen = watch(
            AgentBuilder::new("boss")
                .tool(asks(agent, failures))
                .on_error(stubborn()),
            one_ask(),
        )
        .await;
        assert_eq!(seen.outcome.result.unwrap_err().kind(), ErrorKind::Thrown);
        assert_eq!((runs.load(SeqCst), seen.model.count()), (1, 1));
    }
}

/// (c) A cancellation that is retried, or that waits for the end of a back-off.
#[tokio::test(start_paused = true)]
async fn a_cancellation_ends_a_back_off() {
    let token = tokio_util::sync::CancellationToken::new();
    let trigger = token.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        trigger.cancel();
    });
    let runs = Arc::new(AtomicU32::new(0));
    let agent = scripted_agent("a", [Script::call("job", r#"{"n":1}"#)])
        .tool(Job {
            runs: runs.clone(),
            failures: 9,
        })
        .on_error(on_failure(|_| {
            retry().backoff(constant(Duration::from_secs(60)))
        }))
        .build();
    let began = Instant::now();
    let error = agent.run("go").cancel(token).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    assert!(began.elapsed() < Duration::from_secs(2));
    assert_eq!(runs.load(SeqCst), 1);
}

/// (e) A second way to call tools that bypasses recovery: a run with listeners is the same as without.
#[tokio::test]
async fn listening_to_a_run_changes_nothing() {
    let script = || {
        vec![
            Script::call("job", r#"{"n":"one"}"#),
            Script::call("job", "two"),
            Script::text("end"),
        ]
    };
    let agent = || {
        let (scribe, _) = scribe(|_| Ok(r#"{"n":2}"#.into()));
        AgentBuilder::<String, String>::new("worker")
            .tool(Job {
                runs: Arc::default(),
                failures: 1,
            })
            .on_error(move |error: CallError<'_, AnyError>, _: &ErrorContext| {
                Some(match error {
                    CallError::InvalidArgs(..) => fix_with::<InvalidArgs>(scribe.clone()).into(),
                    CallError::Deserialization(..) => sanitize::<Deserialization>(1).into(),
                    _ => retry::<Execution>().backoff(none()).into(),
                })
            })
    };
    let listened = watch(agent(), script()).await;
    let (model, quiet) = ScriptedModel::new(script());
    let outcome = agent()
        .model(model)
        .build()
        .run("go")
        .outcome()
        .await
        .unwrap();
    let told = |model: &ScriptedModel| {
        model
            .requests()
            .into_iter()
            .map(|asked| asked.messages)
            .collect::<Vec<_>>()
    };
    assert_eq!(told(&listened.model), told(&quiet));
    let attempts = |outcome: &Outcome<String>| {
        outcome
            .outputs
            .receipts()
            .map(|receipt| receipt.attempts.len())
            .collect::<Vec<_>>()
    };
    assert_eq!(attempts(&listened.outcome), [2, 1]);
    assert_eq!(attempts(&listened.outcome), attempts(&outcome));
    assert!(listened.model.requests()[0].streamed && !quiet.requests()[0].streamed);
}

/// (i) `None` means the same for every kind of error: the next step, then the model.
#[tokio::test]
async fn nothing_falls_through_in_every_kind() {
    for (failures, arguments) in [(0, "three"), (0, r#"{"n":"x"}"#), (1, r#"{"n":1}"#)] {
        let arms = |error: CallError<'_, AnyError>, _: &ErrorContext| {
            Some(match error {
                CallError::InvalidArgs(..) => fix::<InvalidArgs>(None).or(feedback("hint")).into(),
                CallError::Deserialization(..) => sanitize::<Deserialization>(None::<u32>)
                    .or(fix(None))
                    .or(feedback("hint"))
                    .into(),
                CallError::Execution(_) => fix::<Execution>(None).or(feedback("hint")).into(),
                CallError::InvalidOutput(..) => return None,
            })
        };
        let seen = call(failures, arguments, arms).await;
        assert!(seen.told().ends_with("; hint"), "{}", seen.told());
        assert_ne!(seen.error().code, Code::PolicyDenied);
    }
}
