//! A model-driven repair agent that decides what to do: it repairs the call, escalates the failure, or ends the run.
//!
//! `cargo run --example smart_fixer`
//!
//! No server is needed: a scripted model gives the replies listed in `main`, for the agent and for its repair agent.

use agents::{
    console::print_line,
    prelude::*,
    recovery::Repair,
    testing::{Script, ScriptedModel},
};

/// Repair the JSON that you are given, and answer with it. Where commas and quotes are not the problem
/// (the fields are another tool's, or a value is missing that you cannot know), call `escalate` and say
/// why. Where there was never any JSON, call `throw_exception`.
// These two tools are not listed here: every repair agent has them, but only during a repair.
#[agent(budget(max_turns = 3))]
async fn smart_fixer(request: Repair) -> String;

tool! {
    /// Create a task.
    #[tool(writes)]
    async fn create_task(
        /// Title of the task.
        title: String,
        /// Person who does the task.
        owner: String,
    ) -> String {
        format!("{owner}: {title}")
    }

    on_error {
        invalid_args(_, _) => fix(agent = SmartFixer, retries = 3),
        deserialization_error(_, _) => fix(agent = SmartFixer, retries = 3),
    }
}

/// You keep a list of tasks.
#[agent(tools = [CreateTask])]
async fn secretary(request: String) -> String;

/// Performs a run with a script, and prints the outcome.
async fn run(title: &str, script: Vec<Script>) -> Result<(), Error> {
    println!("\n{title}");
    let (model, handle) = ScriptedModel::new(script);
    let outcome = Secretary
        .run("Somebody has to call the plumber.")
        .model(model)
        .on_event(print_line)
        .outcome()
        .await?;
    let errors = outcome.outputs.receipts().filter_map(|r| r.error.as_ref());
    for error in errors.filter(|error| error.kind == "EscalationError") {
        // The escalation is data on the receipt.
        let details = error.details.clone().unwrap_or_default();
        println!(
            "escalation: source {}, severity {}, attempts {}, reason {:?}",
            details["source"],
            details["severity"],
            details["attempts"],
            error.reason.as_deref().unwrap_or_default()
        );
        println!("told: {}", handle.requests()[handle.count() - 1].last());
    }
    match outcome.result {
        Ok(answer) => println!("= {answer}"),
        Err(error) => println!("= no answer ({}): {error}", error.kind()),
    }
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    println!("A scripted model plays the agent and its repair agent.");
    let malformed = || Script::call("create_task", "title is Call the plumber, owner is Ada");
    run(
        "It repairs.",
        vec![
            malformed(),
            Script::text(r#"{"title": "Call the plumber", "owner": "Ada"}"#),
            Script::text("Ada calls the plumber."),
        ],
    )
    .await?;

    let nobody = r#"{"title": "Call the plumber"}"#;
    run(
        "It tries twice, and hands the failure up.",
        vec![
            Script::call("create_task", nobody),
            Script::text(r#"{"title": "Call the plumber", "owner": null}"#),
            Script::text(r#"{"title": "Call the plumber", "person": ["?"]}"#),
            Script::call(
                "escalate",
                r#"{"reason": "nobody said who the owner is", "severity": "MEDIUM"}"#,
            ),
            Script::text("Who should call the plumber?"),
        ],
    )
    .await?;

    run(
        "It throws.",
        vec![
            Script::call("create_task", "\u{7f}ELF\u{2}\u{1}\u{1}"),
            Script::call(
                "throw_exception",
                r#"{"reason": "these are the bytes of a program"}"#,
            ),
            // No request follows.
        ],
    )
    .await
}
