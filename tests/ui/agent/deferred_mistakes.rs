use agents::{
    prelude::*,
    tool::{SharedTool, deferred},
};

/// Whispers.
#[agents::tool(reads)]
async fn whisper(
    /// What to say.
    text: String,
) -> String {
    text
}

fn tracker() -> Vec<SharedTool> {
    Vec::new()
}

/// You sort issues.
#[agent(tools = [Whisper, deferred(tracker())])]
async fn several_as_one(request: String) -> String;

/// You sort issues.
#[agent(tools = [agents::tool::deferred([Whisper])])]
async fn several_as_one_by_path(request: String) -> String;

fn main() {}
