use agents::{prelude::*, tool::deferred};

/// Whispers.
#[agents::tool(reads)]
async fn whisper(
    /// What to say.
    text: String,
) -> String {
    text
}

/// You whisper.
#[agent(tools = [..deferred(Whisper)])]
async fn whisperer(request: String) -> String;

fn main() {}
