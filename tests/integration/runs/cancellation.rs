use crate::world::{Plain, scripted_agent, worker};
use agents::{
    Agent, AgentBuilder, Budget, Effects, ErrorKind,
    run::Stopped,
    testing::{Script, ScriptedModel},
    tool::FnTool,
};
use serde_json::json;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio_util::sync::CancellationToken;

/// Sets a flag when it is dropped.
struct Freed(Arc<AtomicBool>);

impl Drop for Freed {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

/// Returns a tool that never returns, and flags that are set when its body and its child task are dropped.
fn sleeper() -> (FnTool, Arc<AtomicBool>, Arc<AtomicBool>) {
    let (body, child) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicBool::new(false)),
    );
    let (b, c) = (body.clone(), child.clone());
    let tool = FnTool::new(
        "sleep",
        "Sleeps.",
        Effects::None,
        json!({"type": "object"}),
        move |_, cx| {
            let (body, child) = (Freed(b.clone()), Freed(c.clone()));
            async move {
                let _body = body;
                let token = cx.cancellation().clone();
                tokio::spawn(async move {
                    token.cancelled().await;
                    drop(child);
                });
                std::future::pending::<Result<(), std::io::Error>>().await
            }
        },
    );
    (tool, body, child)
}

fn agent(tool: FnTool) -> Plain {
    scripted_agent("sleeper", [Script::call("sleep", "{}")])
        .tool(tool)
        .build()
}

async fn freed(flag: &AtomicBool) -> bool {
    for _ in 0..100 {
        if flag.load(SeqCst) {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    false
}

#[tokio::test]
async fn s5_12_a_token_ends_the_run_and_frees_everything() {
    let (tool, body, child) = sleeper();
    let token = CancellationToken::new();
    let trigger = token.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(20)).await;
        trigger.cancel();
    });
    let outcome = agent(tool).run("go").cancel(token).outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap_err().kind(), ErrorKind::Cancelled);
    assert_eq!(outcome.stopped, Some(Stopped::Cancelled));
    assert!(freed(&body).await && freed(&child).await);
}

#[tokio::test]
async fn dropping_the_run_frees_everything() {
    let (tool, body, child) = sleeper();
    let agent = agent(tool);
    let run = tokio::time::timeout(Duration::from_millis(20), async { agent.run("go").await });
    assert!(run.await.is_err());
    assert!(freed(&body).await && freed(&child).await);
}

#[tokio::test]
async fn a_cancelled_token_asks_no_model() {
    let (model, handle) = ScriptedModel::new([Script::text("hi")]);
    let token = CancellationToken::new();
    token.cancel();
    let outcome = worker::<String>()
        .run("go")
        .model(model)
        .cancel(token)
        .outcome()
        .await
        .unwrap();
    assert_eq!(outcome.result.unwrap_err().kind(), ErrorKind::Cancelled);
    assert_eq!(handle.count(), 0);
}

fn payer(model: ScriptedModel) -> Plain {
    let pay = FnTool::new(
        "pay",
        "Pays.",
        Effects::Writes,
        json!({"type": "object"}),
        |_, _| std::future::pending::<Result<(), std::io::Error>>(),
    );
    AgentBuilder::new("payer").tool(pay).model(model).build()
}

#[tokio::test]
async fn a_call_that_was_cut_off_has_an_attempt_and_one_that_never_ran_has_none() {
    let calls = Script::calls([("pay", r#"{"nr":1}"#), ("pay", r#"{"nr":2}"#)]);
    let (model, _) = ScriptedModel::new([calls]);
    let outcome = payer(model)
        .run("go")
        .max_parallel(1)
        .budget(Budget::new().time(Duration::from_millis(30)))
        .outcome()
        .await
        .unwrap();
    assert_eq!(outcome.result.unwrap_err().kind(), ErrorKind::Budget);
    let receipts: Vec<_> = outcome.outputs.receipts().collect();
    let [cut_off, never_ran] = receipts[..] else {
        panic!("{receipts:?}")
    };
    let error = cut_off.error.as_deref().unwrap();
    assert_eq!(
        error.message,
        "the run ended before this call did: it was cut off while it ran, and whether it took effect is not known"
    );
    assert_eq!(cut_off.attempts.len(), 1);
    assert_eq!(
        (
            cut_off.attempts[0].number,
            cut_off.attempts[0].error.as_deref()
        ),
        (1, Some(error))
    );
    assert_eq!(
        never_ran.error.as_ref().unwrap().message,
        "the run ended before this call did"
    );
    assert!(never_ran.attempts.is_empty());
}
