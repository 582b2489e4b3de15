//! AutoAgents 0.4 over Chat Completions; without `api_mode` it speaks Responses.

use agents_bench::{KEY, PROMPT, QUESTION, Task, measure};
use async_trait::async_trait;
use autoagents::{
    core::{
        agent::{
            AgentBuilder, DirectAgent, memory::SlidingWindowMemory, prebuilt::executor::ReActAgent,
            task::Task as Prompt,
        },
        tool::{ToolCallError, ToolRuntime, ToolT},
    },
    llm::{
        backends::openai::{OpenAI, OpenAIApiMode},
        builder::LLMBuilder,
    },
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

#[tokio::main]
async fn main() {
    let task = Task::from_args();
    let _ = PROMPT; // it is the macro's description, which has to be a literal
    let model = LLMBuilder::<OpenAI>::new()
        .base_url(format!("{}/v1", task.url))
        .api_key(KEY)
        .api_mode(OpenAIApiMode::ChatCompletions)
        .model("bench")
        .build();
    let model: Arc<OpenAI> = model.expect("the model is well built");
    measure("AutoAgents 0.4", &task, || {
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
