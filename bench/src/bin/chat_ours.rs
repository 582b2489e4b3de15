//! Contender: this framework over Chat Completions; `contenders/ours.rs` has the agent.

#[path = "../contenders/ours.rs"]
mod contender;

use agents::openai;
use agents_bench::{KEY, Task};

#[tokio::main]
async fn main() {
    let task = Task::from_args();
    let url = format!("{}/v1", task.url);
    let model = openai("bench").base_url(&url).api_key(KEY);
    contender::run(&task, model).await;
}
