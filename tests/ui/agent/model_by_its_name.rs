use agents::prelude::*;

/// You whisper.
#[agent(model = "qwen3:4b")]
async fn whisper(text: String) -> String;

fn main() {}
