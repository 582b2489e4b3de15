//! Receipts list only executions that happened. A refused execution has not run, and an interrupted repair agent was
//! asked.

use crate::world::{agent_with, counted, scripted_agent, spec};
use agents::{
    Agent, Effects, Error, ErrorKind, Severity, async_trait,
    escalation::{Escalation, retry_with_model},
    rate::{MemoryLimiter, Rate},
    recovery::*,
    run::RepairKind,
    run::RunContext,
    testing::{Script, ScriptedModel},
};
use std::{sync::atomic::Ordering::SeqCst, time::Duration};
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn a_write_that_a_limit_refused_has_not_run() {
    let (pay, runs) = counted(spec("pay", Effects::Writes));
    let (stronger, handle) = ScriptedModel::new([Script::text("done")]);
    let payer = scripted_agent("payer", [Script::call("pay", "{}")])
        .tool(pay)
        .on_error(|error, _| match error {
            CallError::Execution(_) => {
                let up: Decision<Execution> = escalate("too often").severity(Severity::Low);
                Some(up.into())
            }
            _ => None,
        })
        .on_escalation(move |_: Escalation| retry_with_model(stronger.clone()))
        .build();
    let limiter = MemoryLimiter::new().limit("pay", Rate::per_minute(0));
    let outcome = payer
        .run("go")
        .rate_limits(limiter)
        .outcome()
        .await
        .unwrap();
    assert_eq!(runs.load(SeqCst), 0);
    let receipt = outcome.outputs.receipts().next().unwrap();
    assert!(receipt.attempts.is_empty());
    let told = handle.requests()[0].last().to_owned();
    assert!(
        told.contains("make the call again, correctly") && !told.contains("the tool has run"),
        "{told}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_write_that_a_limit_refused_may_be_tried_again() {
    let (pay, runs) = counted(spec("pay", Effects::Writes));
    let script = [
        Script::calls([("pay", r#"{"n":1}"#), ("pay", r#"{"n":2}"#)]),
        Script::text("done"),
    ];
    let payer = scripted_agent("payer", script)
        .tool(pay)
        .on_error(|error, _| match error {
            CallError::Execution(_) => Some(retry::<Execution>().max_attempts(3).into()),
            _ => None,
        })
        .build();
    let limiter = MemoryLimiter::new().limit("pay", Rate::new(1, Duration::from_secs(5)));
    let outcome = payer
        .run("go")
        .rate_limits(limiter)
        .outcome()
        .await
        .unwrap();
    assert_eq!(runs.load(SeqCst), 2);
    for receipt in outcome.outputs.receipts() {
        assert!(receipt.is_ok());
        assert_eq!(
            receipt.attempts.len(),
            1,
            "it ran once, however often it was held back"
        );
    }
}

/// Never comes back.
struct Slow;

#[async_trait]
impl Agent for Slow {
    type In = String;
    type Out = String;

    fn name(&self) -> &str {
        "slow_fixer"
    }

    async fn work(&self, _: &RunContext, _: String) -> Result<String, Error> {
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_repair_agent_that_was_cut_off_is_on_the_receipt() {
    let (tool, _) = counted(spec("look", Effects::Reads));
    let tool = tool.on_error(|error, _| match error {
        CallError::InvalidArgs(..) => {
            let asked: Decision<InvalidArgs> = fix_with(Slow);
            Some(asked.into())
        }
        _ => None,
    });
    let (agent, _) = agent_with([tool], [Script::call("look", "gibberish")]);
    let token = CancellationToken::new();
    let trigger = token.clone();
    let run = agent.run("go").cancel(token).on_event(move |event| {
        if matches!(event.kind, agents::run::EventKind::FixerRequested { .. }) {
            trigger.cancel();
        }
    });
    let outcome = run.outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap_err().kind(), ErrorKind::Cancelled);
    let receipt = outcome.outputs.receipts().next().unwrap();
    let [tried] = &receipt.repairs.0[..] else {
        panic!("{}", receipt.repairs);
    };
    assert_eq!(
        (tried.kind, &*tried.note),
        (
            RepairKind::Tried,
            "`slow_fixer` was asked, and cut off before it answered"
        )
    );
}
