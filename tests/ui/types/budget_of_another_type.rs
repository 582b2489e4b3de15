use agents::prelude::*;

/// You whisper.
#[agent(budget(max_turns = "three"), prompt = 3)]
async fn whisper(text: String) -> String;

fn main() {}
