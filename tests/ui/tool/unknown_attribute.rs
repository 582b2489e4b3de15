use agents::{prelude::*, tool};

/// Reads.
#[tool(reads)]
#[instrumnt]
async fn read(
    /// Where.
    path: String,
) -> String {
    path
}

/// You keep files.
#[instrumnt]
#[agent(tools = [Read])]
async fn keeper(request: String) -> String;

fn main() {
    drop(Keeper.run("read"));
}
