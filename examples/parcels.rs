//! The first program of the front page: a tool that says what to do about its own failures.
//!
//! `cargo run --example parcels`

use agents::testing::{Script, ScriptedModel};
use agents::{console::print_line, prelude::*, recovery::Repair};
use std::io::{self, ErrorKind};

tool! {
    /// Say where a parcel is.
    #[tool(reads)]
    async fn track(
        /// Number of the parcel.
        parcel: u32,
        cx: &ToolContext,
    ) -> io::Result<&'static str> {
        match parcel {
            17 if cx.attempt() == 1 => Err(ErrorKind::ConnectionReset.into()),
            17 => Ok("delivered"),
            _ => Err(ErrorKind::NotFound.into()),
        }
    }

    on_error {
        invalid_args(_, _) => fix(agent = JsonFixer, retries = 2),
        execution_error(Returned(e)) => match e.kind() {
            ErrorKind::NotFound => feedback("it was never sent: do not count it"),
            _ => retry(max_attempts = 3, backoff = exponential()),
        },
        execution_error(TimedOut(_) | Panicked(_)) => escalate("tracking is down", severity = High),
    }
}

/// You repair the JSON of tool calls. Answer with the JSON alone.
#[agent(budget(max_turns = 1))]
async fn json_fixer(request: Repair) -> String;

/// You count how many of these parcels are delivered.
#[agent(tools = [Track])]
async fn clerk(parcels: Vec<u32>) -> u32;

#[tokio::main]
async fn main() -> Result<(), Error> {
    // A script plays the model, with the mistakes of small ones. `ollama("qwen3:4b")` is a real one.
    let (model, _) = ScriptedModel::new([
        Script::call("track", r#"{"parcel": "17",}"#),
        Script::call("track", "parcel eighteen"),
        Script::text(r#"{"parcel": 18}"#), // from the repair agent
        Script::text("1"),
    ]);
    let run = Clerk.run(vec![17, 18]).model(model);
    let delivered: u32 = run.on_event(print_line).await?;
    println!("= {delivered}");
    Ok(())
}
