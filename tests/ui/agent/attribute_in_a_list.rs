use agents::{prelude::*, tool};

/// Reads.
#[tool(reads)]
async fn read() -> String {
    String::new()
}

/// You read.
#[agent(tools = [Read, #[cfg(unix)] Read])]
async fn reader(request: String) -> String;

/// You write.
#[agent]
async fn writer(request: String) -> String;

fn main() {
    let _ = structure!(Reader.delegates(#[cfg(unix)] Writer).grants([#[cfg(unix)] Read]));
}
