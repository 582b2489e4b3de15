//! The first program of the front page: a tool that says what to do about its own failures.
//!
//! `cargo run --example parcels`

use agents::{
    console::print_line,
    prelude::*,
    recovery::Repair,
    testing::{Script, ScriptedModel},
};
use std::{
    io::{self, ErrorKind},
    sync::atomic::{AtomicBool, Ordering::SeqCst},
};

tool! {
    /// Say where a parcel is.
    #[tool(reads)]
    async fn track(
        /// Number of the parcel.
        parcel: u32,
    ) -> io::Result<&'static str> {
        static IS_AWAKE: AtomicBool = AtomicBool::new(false);
        match parcel {
            _ if !IS_AWAKE.swap(true, SeqCst) => Err(ErrorKind::ConnectionReset.into()),
            17 => Ok("delivered"),
            _ => Err(ErrorKind::NotFound.into()),
        }
    }

    on_error {
        invalid_args(_, _) => fix(agent = JsonFixer, retries = 2),
        execution_error(Returned(e)) => match e.kind() {
            ErrorKind::NotFound => feedback("no such parcel: count it as not delivered"),
            _ => retry(max_attempts = 3, backoff = exponential()),
        },
        execution_error(TimedOut(_) | Panicked(_)) => escalate("tracking is down", severity = High),
    }
}

/// You repair the JSON of tool calls. Answer with the JSON alone.
#[agent(budget(max_turns = 1))]
async fn json_fixer(request: Repair) -> String;

/// You count which of these parcels are delivered.
#[agent(tools = [Track])]
async fn clerk(parcels: Vec<u32>) -> u32;

#[tokio::main]
async fn main() -> Result<(), Error> {
    // A script makes the mistakes of a small model. With `ollama("qwen3:4b")` in its place, the model is real.
    let (model, _) = ScriptedModel::new([
        Script::call("track", r#"{"parcel": "17",}"#),
        Script::call("track", "the parcel eighteen"),
        Script::text(r#"{"parcel": 18}"#), // the repair agent
        Script::text("1"),
    ]);
    let delivered: u32 = Clerk
        .run(vec![17, 18])
        .model(model)
        .on_event(print_line)
        .await?;
    println!("= {delivered}");
    Ok(())
}
