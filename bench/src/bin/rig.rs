//! rig 0.44, on Ollama's native API as well.

use agents_bench::{PROMPT, QUESTION, Task, measure};
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
    // `OLLAMA_API_BASE_URL` is the only public way to another address; `compare` sets it.
    let task = Task::from_args();
    let model = Ollama::from_env()
        .expect("the address is set")
        .native_completion("bench");
    let agent = AgentBuilder::new(model)
        .preamble(PROMPT)
        .default_max_turns(1000)
        .tool(Add)
        .build();
    measure("rig 0.44", &task, || async {
        agent
            .prompt(QUESTION)
            .await
            .expect("the agent answers")
            .output()
            .to_string()
    })
    .await;
}
