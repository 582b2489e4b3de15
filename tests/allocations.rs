//! Cost of a turn without listeners, counted in allocations. Unlike time, that count does not depend on the machine.
//!
//! This test is a program of its own, since it replaces the allocator to count.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]

use agents::{
    async_trait,
    model::{Message, Model, ModelError, Reply, Request, ToolCall},
    prelude::*,
    tool,
};
use allocation_counter::{AllocationInfo, measure};

/// Add two integers.
#[tool(none)]
async fn add(
    /// Left operand.
    left: i64,
    /// Right operand.
    right: i64,
) -> i64 {
    left + right
}

/// You are a math agent.
#[agent(tools = [Add], budget(max_turns = 1000, max_tool_calls = 1000, max_recursion = 5000))]
async fn math(question: String) -> String;

/// A model that makes this number of calls, then answers. It records nothing.
struct Calling(usize);

#[async_trait]
impl Model for Calling {
    fn id(&self) -> &str {
        "calling"
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        let is_result = |message: &&Message| matches!(message, Message::Tool { .. });
        let results = request.messages().iter().filter(is_result).count();
        if results >= self.0 {
            return Ok(Reply {
                content: "done".into(),
                ..Reply::default()
            });
        }
        Ok(Reply {
            calls: vec![ToolCall {
                id: String::new(),
                name: "add".into(),
                // Other arguments each time: identical calls would be stopped.
                arguments: format!(r#"{{"left":{results},"right":25}}"#),
            }],
            ..Reply::default()
        })
    }
}

/// Returns the allocations of a run with this number of turns.
fn run_of(turns: usize) -> AllocationInfo {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    measure(|| {
        let run = Math.run("What is 17 + 25?").model(Calling(turns));
        let outcome = runtime.block_on(run.outcome()).unwrap();
        assert_eq!(outcome.result.unwrap(), "done");
        assert_eq!(outcome.outputs.tool_order.len(), turns);
    })
}

/// The bounds are today's figures plus a tenth; a change that needs more has to raise them here.
#[test]
fn s5_12_a_turn_that_nobody_watches_allocates_little() {
    // Users do not pay for the checks that tests run on each outcome.
    agents::testing::check_runs(false);
    // The first run also allocates everything that is made once per program.
    run_of(1);
    let (short, long) = (run_of(28), run_of(128));
    let turns = 100;
    let count = (long.count_total - short.count_total) / turns;
    let bytes = (long.bytes_total - short.bytes_total) / turns;
    let kept = (long.bytes_max - short.bytes_max) / turns;
    assert!(count <= 51, "a turn allocates {count} times");
    assert!(bytes <= 8_900, "a turn allocates {bytes} bytes");
    assert!(kept <= 1_900, "a run keeps {kept} bytes of a turn");
    let one = run_of(1);
    assert!(one.count_total <= 160, "a run of one turn: {one:?}");
    assert!(one.bytes_max <= 29_500, "a run of one turn: {one:?}");
}
