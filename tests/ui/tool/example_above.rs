use agents::{prelude::*, tool};

/// Reads.
#[example(path = "a.txt")]
#[tool(reads)]
async fn read(
    /// Where.
    path: String,
) -> String {
    path
}

/// Writes.
#[example(pth = "b.txt")]
#[tool(writes)]
#[example(path = "a.txt")]
async fn write(
    /// Where.
    path: String,
) {
    drop(path);
}

/// You keep files.
#[agent(tools = [Read, Write])]
async fn keeper(request: String) -> String;

fn main() {
    drop(Keeper.run("read"));
}
