//! Services around a run that do not answer: each has a time limit, and costs one call at most.
//!
//! Caches and blob stores that hang are in `caching` and `blobs`.

use crate::world::{agent_with, counted, errors, spec};
use agents::{
    Agent, Code, Effects, ToolContext, async_trait,
    rate::RateLimiter,
    secret::{SecretError, SecretOwner, SecretValue, Secrets},
    testing::{Script, ScriptedModel},
    tool,
    tool::ToolSpec,
};
use std::{sync::atomic::Ordering::SeqCst, time::Duration};
use tokio::time::Instant;

/// A limiter that panics or never answers.
enum Broken {
    Panics,
    Hangs,
}

#[async_trait]
impl RateLimiter for Broken {
    async fn try_acquire(&self, _: &str, _: &ToolSpec) -> Result<(), Duration> {
        match self {
            Broken::Panics => panic!("the limiter is on fire"),
            Broken::Hangs => std::future::pending().await,
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_limiter_that_does_not_work_gives_no_leave() {
    for (broken, why, seconds) in [
        (Broken::Panics, "the rate limiter panicked", 0),
        (Broken::Hangs, "the rate limiter does not answer", 5),
    ] {
        let (tool, runs) = counted(spec("search", Effects::Reads));
        let script = [Script::call("search", "{}"), Script::text("done")];
        let (agent, _) = agent_with([tool], script);
        let began = Instant::now();
        let outcome = agent.run("go").rate_limits(broken).outcome().await.unwrap();
        assert_eq!(began.elapsed().as_secs(), seconds);
        let refused = (Code::RateLimit, format!("{why}, so the tool was not run"));
        assert_eq!(errors(&outcome.outputs), [Some(refused)]);
        assert_eq!(runs.load(SeqCst), 0);
        assert_eq!(outcome.result.unwrap(), "done");
    }
}

/// A vault that never answers.
struct Silent;

#[async_trait]
impl Secrets for Silent {
    async fn find(&self, _: &SecretOwner, _: &str) -> Result<Option<SecretValue>, SecretError> {
        std::future::pending().await
    }
}

/// Reads its secret key.
#[tool(reads, timeout = Duration::from_secs(7))]
async fn locked(cx: &ToolContext) -> Result<String, SecretError> {
    cx.secret("key").await.map(|_| "open".to_owned())
}

#[tokio::test(start_paused = true)]
async fn a_vault_that_does_not_answer_takes_as_long_as_the_tool_may() {
    let (model, _) = ScriptedModel::new([Script::call("locked", "{}"), Script::text("done")]);
    let agent = agents::AgentBuilder::<String, String>::new("opener").tool(Locked);
    let agent = agent.model(model).build();
    let began = Instant::now();
    let run = agent.run("go").secrets(Silent);
    let outcome = run.outcome().await.unwrap();
    assert_eq!(began.elapsed().as_secs(), 7);
    let (code, _) = errors(&outcome.outputs).remove(0).unwrap();
    assert_eq!(code, Code::Timeout);
    assert_eq!(outcome.result.unwrap(), "done");
}
