//! AutoAgents 0.4 over Ollama's wire; `contenders/autoagents.rs` has the agent.

#[path = "../contenders/autoagents.rs"]
mod contender;

use agents_bench::Task;
use autoagents::llm::{backends::ollama::Ollama, builder::LLMBuilder};

#[tokio::main]
async fn main() {
    let task = Task::from_args();
    let model = LLMBuilder::<Ollama>::new()
        .base_url(task.url.clone())
        .model("bench")
        .build();
    contender::run(&task, model.expect("the model is well built")).await;
}
