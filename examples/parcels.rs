//! The second program of the front page: a tool that says what to do about its own failures, and a team.
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
        // No JSON was found in the call: ask another agent for it, at most twice.
        invalid_args(_, _) => fix(agent = JsonFixer, retries = 2),
        // The function returned an error.
        execution_error(Returned(e)) => match e.kind() {
            // Hand it to the agents above.
            ErrorKind::NotFound => escalate("nobody knows this parcel", severity = Medium),
            // Try again, after random waits whose bound doubles.
            _ => retry(max_attempts = 3, backoff = exponential()),
        },
        // The function took too long, or panicked.
        execution_error(TimedOut(_) | Panicked(_)) => escalate("tracking is down", severity = High),
    }
}

/// You repair the JSON of tool calls. Answer with the JSON alone.
#[agent(budget(max_turns = 1))]
async fn json_fixer(request: Repair) -> String;

struct Tracker;

#[agent(prompt = "You find a parcel.", tools = [Track])]
impl Tracker {
    /// Says where a parcel is.
    async fn find(&self, parcel: u32) -> String;

    on_escalation!(match escalation.severity {
        // The tracker ends with this text.
        Low | Medium => return_partial_result(format!("No answer: {}.", escalation.reason)),
        // Pass it on to the agents above.
        High | Critical => inherit(),
    });
}

/// You answer customers. Your tracker finds parcels.
#[agent]
async fn desk(letter: String) -> String;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let team = structure!(Desk.delegates(Tracker.grants([Track])));
    print!("{}", team.render());

    // A script plays all models, with the mistakes of small ones.
    let (model, _) = ScriptedModel::new([
        Script::call("tracker", r#"{"parcel": 17}"#),
        Script::call("track", r#"{"parcel": "17",}"#),
        Script::text("It was delivered."), // from the tracker
        Script::call("tracker", r#"{"parcel": 18}"#),
        Script::call("track", "parcel eighteen"),
        Script::text(r#"{"parcel": 18}"#), // from the repair agent
        Script::text("Parcel 17 was delivered. Nobody knows parcel 18: please check its number."),
    ]);
    let run = team.run("Where are my parcels 17 and 18?").model(model);
    println!("= {}", run.on_event(print_line).await?);
    Ok(())
}
