//! Agent of AutoAgents 0.4. Each wire has a program that runs it.

use agents_bench::{PROMPT, QUESTION, Task, measure};
use async_trait::async_trait;
use autoagents::{
    core::{
        agent::{
            AgentBuilder, DirectAgent, memory::SlidingWindowMemory, prebuilt::executor::ReActAgent,
            task::Task as Prompt,
        },
        tool::{ToolCallError, ToolRuntime, ToolT},
    },
    llm::LLMProvider,
    prelude::*,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

#[derive(Serialize, Deserialize, ToolInput, Debug)]
pub struct AddArgs {
    #[input(description = "Left operand")]
    left: i64,
    #[input(description = "Right operand")]
    right: i64,
}

#[tool(name = "add", description = "Add two integers.", input = AddArgs)]
struct Add {}

#[async_trait]
impl ToolRuntime for Add {
    async fn execute(&self, args: Value) -> Result<Value, ToolCallError> {
        let args: AddArgs = serde_json::from_value(args)?;
        Ok((args.left + args.right).into())
    }
}

#[agent(name = "math", description = "You are a math agent.", tools = [Add])]
#[derive(Default, Clone, AgentHooks)]
struct Math {}

/// Runs the agent of this contender with the model, and measures its runs.
pub async fn run(task: &Task, model: Arc<dyn LLMProvider>) {
    let _ = PROMPT; // it is the macro's description, which has to be a literal
    measure("AutoAgents 0.4", task, || {
        let model = model.clone();
        async move {
            let agent =
                AgentBuilder::<_, DirectAgent>::new(ReActAgent::with_max_turns(Math {}, 1000))
                    .llm(model)
                    .memory(Box::new(SlidingWindowMemory::new(10_000)))
                    .build()
                    .await
                    .expect("the agent is well built");
            let answer = agent
                .agent
                .run(Prompt::new(QUESTION))
                .await
                .expect("the agent answers");
            format!("{answer:?}")
        }
    })
    .await;
}
