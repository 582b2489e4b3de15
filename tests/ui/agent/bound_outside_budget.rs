use agents::prelude::*;

/// You read.
#[agent(model = ollama("qwen3:4b"), max_turns = 3, temperature = 0.2)]
async fn reader(request: String) -> String;

fn main() {}
