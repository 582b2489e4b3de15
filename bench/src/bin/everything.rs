//! The contender `ours` with all options of a run: a subscriber, rules, a cache, a secret to mask, a rate limiter and
//! a journal.

use agents::{
    Ollama, async_trait,
    journal::{Entry, Journal, JournalError},
    policy::{deny_tools, no_external, read_only},
    prelude::*,
    rate::{MemoryLimiter, Rate},
    tool,
};
use agents_bench::{QUESTION, Task, measure};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

/// Add two integers.
// The server calls it with the same arguments each time: `polls`, so that this is not stopped.
#[tool(none, cache = forever, polls)]
async fn add(
    /// Left operand
    left: i64,
    /// Right operand
    right: i64,
) -> i64 {
    left + right
}

/// A journal that serialises its entries as a file journal does, but discards them.
struct Nowhere;

#[async_trait]
impl Journal for Nowhere {
    async fn read(&self) -> Result<Vec<Entry>, JournalError> {
        Ok(Vec::new())
    }

    async fn append(&self, entries: &[Entry]) -> Result<(), JournalError> {
        let text = serde_json::to_string(entries);
        std::hint::black_box(text).map_err(|error| JournalError::new(error.to_string()))?;
        Ok(())
    }
}

/// You are a math agent.
#[agent(tools = [Add], budget(max_turns = 1000, max_tool_calls = 1000, max_recursion = 5000))]
async fn math(question: String) -> String;

#[tokio::main]
async fn main() {
    let task = Task::from_args();
    let model: Ollama = ollama("bench").url(&task.url);
    let seen = Arc::new(AtomicUsize::new(0));
    let limiter = Arc::new(MemoryLimiter::new().limit("*", Rate::per_second(10_000_000)));
    measure("agents, everything on", &task, || {
        let (model, seen, limiter) = (model.clone(), seen.clone(), limiter.clone());
        async move {
            let before = seen.load(Relaxed);
            let told = seen.clone();
            let run = Math
                .run(QUESTION)
                .model(model)
                .on_event(move |_| {
                    told.fetch_add(1, Relaxed);
                })
                .policy(read_only())
                .policy(no_external())
                .policy(deny_tools("sh*"))
                .secret("crm", "a-secret-of-32-characters-or-so".to_owned())
                .rate_limits(limiter)
                .journal(Nowhere);
            let outcome = run.outcome().await.expect("the agent is well built");
            assert_eq!(
                outcome
                    .outputs
                    .receipts()
                    .filter(|receipt| receipt.is_ok())
                    .count(),
                task.turns
            );
            assert!(seen.load(Relaxed) > before, "the subscriber is told");
            outcome.result.expect("the agent answers")
        }
    })
    .await;
}
