use agents::prelude::*;

const SMALL: &str = "qwen3:4b";

/// You whisper.
#[agent(model = SMALL)]
async fn whisper(text: String) -> String;

fn main() {}
