//! A malformed call, all the way: a cleanup that finds nothing, a repair agent that tries in vain and
//! gives up, and the coder who decides what that means.
//!
//! `cargo run --example escalation_flow`
//!
//! ```text
//! the model calls with malformed arguments
//!   └ fix(cleanup) finds nothing
//!       └ fix(agent = JsonFixer, retries = 3)
//!           ├ repairs at the second try ─► the tool runs
//!           └ fails, and escalates: "not a formatting problem"
//!               └ the coder: a stronger model ─► the tool runs
//!                            or end with what there is
//!                            or throw ─► the run ends
//! ```
//!
//! No server is asked: scripted models play the agents.

use agents::{
    console::print_line,
    prelude::*,
    recovery::Repair,
    testing::{Script, ScriptedModel},
};

/// You repair JSON. Answer with the JSON and nothing else. If formatting is not what is wrong with it,
/// call `escalate`.
#[agent(budget(max_turns = 1))]
async fn json_fixer(request: Repair) -> String;

/// Takes the JSON out of a code fence; nothing, if there is none.
fn cleanup(raw: &str) -> Option<String> {
    let (_, fenced) = raw.split_once("```json")?;
    let (json, _) = fenced.split_once("```")?;
    Some(json.trim().to_owned())
}

tool! {
    /// Write a source file.
    #[tool(writes, idempotent)]
    async fn write_file(
        /// Where.
        path: String,
        /// The whole content.
        content: String,
    ) -> String {
        format!("{path}: {} bytes", content.len())
    }

    on_error {
        invalid_args(raw, _) => fix(cleanup(raw)).or(fix(agent = JsonFixer, retries = 3)),
    }
}

struct Coder {
    stronger: ScriptedModel,
}

#[agent(prompt = "You write code. Use your tools.", tools = [WriteFile])]
impl Coder {
    /// Writes code.
    #[skill]
    async fn code(&self, task: String) -> String;

    // The one who knows what the code is for decides what a failure means.
    on_escalation!(match escalation.severity {
        Low | Medium => retry_with_model(self.stronger.clone()),
        High => return_partial_result(format!("nothing was written: {}", escalation.reason)),
        Critical => throw(escalation.reason),
    });
}

async fn run(title: &str, script: Vec<Script>) -> Result<(), Error> {
    println!("\n{title}");
    let (model, _) = ScriptedModel::new(script);
    let (stronger, _) = ScriptedModel::new([
        Script::call(
            "write_file",
            r#"{"path": "main.rs", "content": "fn main() {}"}"#,
        ),
        Script::text("main.rs is written."),
    ]);
    let coder = Coder { stronger };
    let outcome = coder
        .run("Write main.rs")
        .model(model)
        .on_event(print_line)
        .outcome()
        .await?;
    for receipt in &outcome.escalations {
        let escalation = &receipt.escalation;
        println!(
            "source: {}, severity: {}, attempts: {}, path: {}",
            escalation.source,
            escalation.severity,
            escalation.attempts,
            escalation.path.join(" ► ")
        );
    }
    match outcome.result {
        Ok(answer) if outcome.partial => println!("= {answer} (partial)"),
        Ok(answer) => println!("= {answer}"),
        Err(error) => println!("= no answer ({}): {error}", error.kind()),
    }
    Ok(())
}

/// The call that nothing but the model itself can mend.
fn malformed() -> Script {
    Script::call("write_file", "please write main.rs with an empty main")
}

fn gives_up(severity: &str) -> Vec<Script> {
    let reason = "the schema is missed, formatting is not the problem";
    vec![
        malformed(),
        Script::text("I cannot see any JSON."),
        Script::text("There is still none."),
        Script::call(
            "escalate",
            format!(r#"{{"reason": "{reason}", "severity": "{severity}"}}"#),
        ),
    ]
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    println!("Scripted models play the coder, its repair agent and a stronger model.");
    run(
        "The repair agent repairs it at the second try.",
        vec![
            malformed(),
            Script::text("I cannot see any JSON."),
            Script::text(r#"{"path": "main.rs", "content": "fn main() {}"}"#),
            Script::text("main.rs is written."),
        ],
    )
    .await?;
    run("It gives up; a stronger model goes on.", gives_up("MEDIUM")).await?;
    run(
        "It gives up; the coder ends with what there is.",
        gives_up("HIGH"),
    )
    .await?;
    run("It gives up; nothing may go on.", gives_up("CRITICAL")).await
}
