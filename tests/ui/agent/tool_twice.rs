use agents::{prelude::*, tool};

/// Reads.
#[tool(reads)]
async fn read() -> String {
    String::new()
}

/// You read.
#[agent(tools = [Read, Read])]
async fn reader(request: String) -> String;

fn main() {}
