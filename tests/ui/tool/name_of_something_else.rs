use agents::{prelude::*, tool};

/// Reports an error.
#[tool(none)]
async fn error(
    /// What went wrong.
    message: String,
) -> String {
    message
}

/// Gives what came of it.
#[tool(none)]
async fn result() -> Result<u8, String> {
    Ok(1)
}

/// You are a helpful agent.
#[agent]
async fn agent(request: String) -> String;

/// Sends, which hides nothing that anybody means.
#[tool(writes)]
async fn send() {}

async fn run() -> Result<(), Error> {
    let _ = (result().await, error(String::new()).await);
    Ok(())
}

fn main() {
    let _ = (Send, run());
}
