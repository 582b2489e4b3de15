//! The program of the front page: a tool that says what to do about its own failures, and a team.
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
            ErrorKind::NotFound => escalate("nobody knows this parcel", severity = Medium),
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
async fn tracker(parcels: Vec<u32>) -> u32;

struct Desk;

#[agent(prompt = "You answer customers. Your tracker knows their parcels.")]
impl Desk {
    /// Answers a letter.
    async fn answer(&self, letter: String) -> String;

    on_escalation!(match escalation.severity {
        Low | Medium => return_partial_result(format!("We look into it: {}.", escalation.reason)),
        High | Critical => inherit(),
    });
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let team = structure!(Desk.delegates(Tracker.grants([Track])));
    print!("{}", team.render());

    // A script plays all models, with the mistakes of small ones. `ollama("qwen3:4b")` is a real one.
    let (model, _) = ScriptedModel::new([
        Script::call("tracker", r#"{"parcels": [17, 18]}"#),
        Script::call("track", r#"{"parcel": "17",}"#),
        Script::call("track", "parcel eighteen"),
        Script::text(r#"{"parcel": 18}"#), // from the repair agent
    ]);
    let run = team.run("Where are my parcels 17 and 18?").model(model);
    println!("= {}", run.on_event(print_line).await?);
    Ok(())
}
