//! Contender: this framework over Ollama's wire; `contenders/ours.rs` has the agent.

#[path = "../contenders/ours.rs"]
mod contender;

use agents::ollama;
use agents_bench::Task;

#[tokio::main]
async fn main() {
    let task = Task::from_args();
    let model = ollama("bench").url(&task.url);
    contender::run(&task, model).await;
}
