use agents::prelude::*;

/// You whisper.
#[agent(tools = [Whisper..more(), 1 2])]
async fn whisper(text: String) -> String;

fn main() {}
