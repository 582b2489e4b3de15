use agents::prelude::*;

/// You whisper.
#[agent(promt = "quietly", buget(max_turns = 1), budget(max_turn = 3, turns, tokens = 5, tokens = 6))]
async fn whisper(text: String) -> String;

fn main() {}
