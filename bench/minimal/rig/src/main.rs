//! One tool, one model.

use rig::{prelude::*, providers::ollama::Ollama, rig_tool, tool::ToolExecutionError};

/// Add two integers.
#[rig_tool]
async fn add(
    /// Left operand
    left: i64,
    /// Right operand
    right: i64,
) -> Result<i64, ToolExecutionError> {
    Ok(left + right)
}

#[tokio::main]
async fn main() {
    let model = Ollama::from_env()
        .expect("the address is set")
        .native_completion("qwen3:4b");
    let agent = AgentBuilder::new(model)
        .preamble("You are a math agent.")
        .tool(Add)
        .build();
    let answer = agent
        .prompt("What is 17 + 25?")
        .await
        .expect("the agent answers");
    println!("{}", answer.output());
}
