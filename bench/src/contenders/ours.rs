//! Agent of this framework as a user writes it: with validation, recovery and receipts. Each wire has a program that runs it.

use agents::{Model, prelude::*};
use agents_bench::{QUESTION, Task, measure};

/// Add two integers.
// The server calls it with the same arguments each time: `polls`, so that this is not stopped.
#[agents::tool(none, polls)]
async fn add(
    /// Left operand
    left: i64,
    /// Right operand
    right: i64,
) -> i64 {
    left + right
}

/// You are a math agent.
#[agent(tools = [Add], budget(max_turns = 1000, max_tool_calls = 1000, max_recursion = 5000))]
async fn math(question: String) -> String;

/// Runs the agent of this contender with the model, and measures its runs.
pub async fn run(task: &Task, model: impl Model + Clone) {
    measure("agents", task, || {
        let model = model.clone();
        async move {
            let outcome = Math
                .run(QUESTION)
                .model(model)
                .outcome()
                .await
                .expect("the agent is well built");
            assert_eq!(
                outcome
                    .outputs
                    .receipts()
                    .filter(|receipt| receipt.is_ok())
                    .count(),
                task.turns
            );
            outcome.result.expect("the agent answers")
        }
    })
    .await;
}
