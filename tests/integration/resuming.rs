//! A stored run goes on under the terms that it had, and in its trace.

use crate::{
    traces::{traced, tree},
    world::{counted, spec},
};
use agents::{
    Agent, AgentBuilder, Budget, Effects,
    agent::{ModelAgent, Run},
    policy::read_only,
    rate::{MemoryLimiter, Rate},
    run::{Limit, Snapshot, Stopped},
    testing::{Script, ScriptedModel},
    tool::{FnTool, Scope},
};
use std::{
    io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
};

type Worker = ModelAgent<'static, String, String>;

/// Writes, and says for whom the run works; how often it wrote.
fn worker(script: Vec<Script>) -> (Worker, Arc<AtomicU32>) {
    let (write, writes) = counted(spec("write", Effects::Writes));
    let whose = FnTool::with_spec(spec("whose", Effects::Reads), |_, cx| {
        let scope = cx.scope().clone();
        async move { Ok::<_, io::Error>(scope.user_id.unwrap_or_default()) }
    });
    let (model, _) = ScriptedModel::new(script);
    let agent = AgentBuilder::new("worker").tool(write).tool(whose);
    (agent.model(model).build(), writes)
}

/// The run as it is when its model has made a first call.
async fn stored(terms: impl FnOnce(Run<'_, Worker>) -> Run<'_, Worker>) -> Snapshot {
    let kept: Arc<Mutex<Vec<Snapshot>>> = Arc::default();
    let keep = kept.clone();
    let (agent, _) = worker(vec![Script::call("whose", "{}"), Script::text("done")]);
    let run = terms(agent.run("go"));
    let run = run.on_checkpoint(move |snapshot| keep.lock().unwrap().push(snapshot));
    run.await.unwrap();
    let text = serde_json::to_string(&kept.lock().unwrap()[0]).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// It writes, and is done.
fn rest() -> Vec<Script> {
    vec![Script::call("write", "{}"), Script::text("done")]
}

/// Why the run does not go on.
async fn refusal(run: Run<'_, Worker>) -> String {
    let error = run.outcome().await.unwrap_err();
    assert!(error.is_build());
    error.to_string()
}

#[tokio::test]
async fn rules_have_to_be_said_again() {
    let snapshot = stored(|run| run.policy(read_only())).await;
    let (agent, writes) = worker(rest());
    assert_eq!(
        refusal(agent.resume(snapshot.clone())).await,
        "the stored run was under 1 rules, and this one is under 0; say them again with `.policy(..)`"
    );
    let run = agent.resume(snapshot).policy(read_only());
    assert_eq!(run.await.unwrap(), "done");
    assert_eq!(writes.load(SeqCst), 0);
}

#[tokio::test]
async fn limits_have_to_be_said_again() {
    let limiter = || MemoryLimiter::new().limit("write", Rate::per_minute(0));
    let snapshot = stored(|run| run.rate_limits(limiter())).await;
    let (agent, writes) = worker(rest());
    assert_eq!(
        refusal(agent.resume(snapshot.clone())).await,
        "the stored run was limited in how often tools run; say so again with `.rate_limits(..)`"
    );
    let run = agent.resume(snapshot).rate_limits(limiter());
    assert_eq!(run.await.unwrap(), "done");
    assert_eq!(writes.load(SeqCst), 0);
}

#[tokio::test]
async fn it_works_for_whom_it_worked() {
    let ada = || Scope::from("acme").user("ada");
    let snapshot = stored(|run| run.scope(ada())).await;
    let (agent, _) = worker(rest());
    for run in [
        agent.resume(snapshot.clone()),
        agent.resume(snapshot.clone()).scope(ada()),
    ] {
        let outcome = run.outcome().await.unwrap();
        let receipt = outcome.outputs.receipts().next().unwrap();
        assert_eq!(receipt.output.as_ref().unwrap().as_str(), r#""ada""#);
    }
    for other in [Scope::from("other"), Scope::from("acme").user("bob")] {
        assert_eq!(
            refusal(agent.resume(snapshot.clone()).scope(other)).await,
            "the stored run worked for somebody else; leave out `.scope(..)`, and it goes on for them"
        );
    }
}

#[tokio::test]
async fn its_budget_holds_unless_another_is_given() {
    let snapshot = stored(|run| run.budget(Budget::new().tokens(20))).await;
    let (agent, _) = worker(rest());
    let outcome = agent.resume(snapshot.clone()).outcome().await.unwrap();
    let limit = Limit::Tokens(20);
    assert!(matches!(outcome.stopped, Some(Stopped::Budget { limit: of, .. }) if of == limit));
    let (agent, _) = worker(rest());
    let run = agent.resume(snapshot).budget(Budget::new().tokens(100));
    assert_eq!(run.await.unwrap(), "done");
}

#[tokio::test]
async fn where_cost_was_bounded_prices_have_to_be_said_again() {
    let terms = Budget::new().cost(1.0);
    let snapshot = {
        let kept: Arc<Mutex<Vec<Snapshot>>> = Arc::default();
        let keep = kept.clone();
        let (agent, _) = worker(rest());
        let run = agent.run("go").price("*", 2.0, 4.0).budget(terms);
        let run = run.on_checkpoint(move |snapshot| keep.lock().unwrap().push(snapshot));
        run.await.unwrap();
        kept.lock().unwrap()[0].clone()
    };
    let (agent, _) = worker(vec![Script::text("done")]);
    let outcome = agent.resume(snapshot.clone()).outcome().await.unwrap();
    let error = outcome.result.unwrap_err().to_string();
    assert!(error.contains("has no price"), "{error}");
    let run = agent.resume(snapshot).price("*", 2.0, 4.0);
    assert_eq!(run.await.unwrap(), "done");
}

#[tokio::test]
async fn a_resumed_run_goes_on_in_its_trace() {
    let (outcome, spans) = traced(async {
        let snapshot = stored(|run| run).await;
        let (agent, _) = worker(rest());
        agent.resume(snapshot).outcome().await.unwrap()
    })
    .await;
    let drawn = tree(&spans);
    let first = spans[0].span_context.trace_id().to_string();
    assert_eq!(outcome.trace.id, first);
    let runs = drawn
        .lines()
        .filter(|line| line.contains("invoke_workflow worker"));
    let depths: Vec<_> = runs
        .map(|line| line.len() - line.trim_start().len())
        .collect();
    assert_eq!(depths, [0, 2], "one below the other:\n{drawn}");
}
