//! Calls "rate" "1.0.0" once, as the run RUN has done.
//!
//! Add `agents`, `typed-agents-runtime`, and `tokio` with `macros` and `rt-multi-thread`. Then: `cargo run -- agents.db`.

use agents::{Json, tool::Scope};
use agents_runtime::{Principal, Progress, Runtime, SqliteStore};
use std::time::Duration;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args().nth(1);
    let file = file.ok_or("name the file of the store")?;
    let client = Runtime::client(SqliteStore::open(&file).await?);
    let args = Json::parse(r#"{"currency":"USD"}"#)?;
    let call = client.call("clerk", "rate", "1.0.0", args);
    let call = call.scope(Scope::from("acme"));
    let run = call.by(&Principal::operator()).await?;
    // A worker that has the agent makes the call; one that writes asks for approval first.
    match run.wait(Duration::from_secs(600)).await? {
        Progress::Done(outcome) => println!("{}", outcome.result?),
        other => println!("{other:?}"),
    }
    Ok(())
}
