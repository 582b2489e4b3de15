//! rig 0.44 over Chat Completions; `completion` in the place of `chat` would speak Responses.

use agents_bench::{KEY, PROMPT, QUESTION, Task, measure};
use rig::{prelude::*, providers::openai::OpenAIConfig, rig_tool, tool::ToolExecutionError};

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
    let task = Task::from_args();
    let model = OpenAIConfig::new(KEY)
        .with_base_url(format!("{}/v1", task.url))
        .client()
        .chat("bench");
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
