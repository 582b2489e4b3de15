use agents::prelude::*;

/// Shouts.
#[agent(model = ollama("qwen3:4b"), tools = [], budget(max_turns = 1), strict)]
fn shout(text: String) -> String {
    text.to_uppercase()
}

fn main() {}
