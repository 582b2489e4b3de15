//! AutoAgents 0.4 over Chat Completions; `contenders/autoagents.rs` has the agent. Without `api_mode` it speaks Responses.

#[path = "../contenders/autoagents.rs"]
mod contender;

use agents_bench::{KEY, Task};
use autoagents::llm::{
    backends::openai::{OpenAI, OpenAIApiMode},
    builder::LLMBuilder,
};

#[tokio::main]
async fn main() {
    let task = Task::from_args();
    let model = LLMBuilder::<OpenAI>::new()
        .base_url(format!("{}/v1", task.url))
        .api_key(KEY)
        .api_mode(OpenAIApiMode::ChatCompletions)
        .model("bench")
        .build();
    contender::run(&task, model.expect("the model is well built")).await;
}
