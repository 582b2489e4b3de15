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

/// Writes.
#[instrumnt]
#[tool(writes)]
async fn write(
    /// Where.
    path: String,
) {
    drop(path);
}

/// You keep files.
#[instrumnt]
#[agent(tools = [Read, Write])]
async fn keeper(request: String) -> String;

fn main() {
    drop(Keeper.run("read"));
}
