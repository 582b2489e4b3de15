use agents::prelude::*;

/// You whisper.
#[agent(prompt = "quietly", prompt = "very quietly", strict, strict)]
async fn whisper(text: String) -> String;

fn main() {}
