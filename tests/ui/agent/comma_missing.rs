use agents::prelude::*;

/// You read.
#[agent(model = ollama("qwen3:4b") budget(max_turns = 3))]
async fn reader(request: String) -> String;

fn main() {}
