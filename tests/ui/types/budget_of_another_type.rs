use agents::prelude::*;

/// You whisper.
#[agent(budget(max_turns = "three"))]
async fn whisper(text: String) -> String;

fn main() {}
