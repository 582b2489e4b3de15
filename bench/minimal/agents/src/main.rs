//! One tool, one model.

use agents::{prelude::*, tool};

/// Add two integers.
#[tool(none)]
async fn add(
    /// Left operand
    left: i64,
    /// Right operand
    right: i64,
) -> i64 {
    left + right
}

/// You are a math agent.
#[agent(model = ollama("qwen3:4b"), tools = [Add])]
async fn math(question: String) -> String;

#[tokio::main]
async fn main() -> Result<(), agents::Error> {
    println!("{}", Math.run("What is 17 + 25?").await?);
    Ok(())
}
