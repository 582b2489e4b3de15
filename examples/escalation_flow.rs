//! The complete path of a malformed call. First a cleanup function and a repair agent try to repair it. If both fail,
//! the failure escalates to the coder, and then to the lead.
//!
//! `cargo run --example escalation_flow`
//!
//! ```text
//! the model calls with malformed arguments
//!   └ fix(cleanup)
//!       ├ knows what is meant ─► the tool runs
//!       └ finds nothing: fix(agent = JsonFixer, retries = 3)
//!           ├ repairs at the second try ─► the tool runs
//!           └ fails twice, and escalates at the third try: "formatting is not the problem"
//!               └ the coder
//!                   ├ a stronger model ─► the tool runs
//!                   ├ cannot settle it either ─► its parent ends with what there is
//!                   └ throw ─► the run ends
//! ```
//!
//! No server is needed: scripted models play the agents.

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

/// Repairs text such as `main.rs: // empty`; returns `None` for any other text.
fn cleanup(raw: &str) -> Option<String> {
    let (path, content) = raw.split_once(": ")?;
    Some(serde_json::json!({ "path": path, "content": content }).to_string())
}

tool! {
    /// Write a source file.
    #[tool(writes, idempotent)]
    async fn write_file(
        /// Path of the file.
        path: String,
        /// Complete content of the file.
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

    // The coder decides what a failure means for its task, or passes it on.
    on_escalation!(match escalation.severity {
        Low | Medium => retry_with_model(self.stronger.clone()),
        High => escalate(escalation.reason, severity = High),
        Critical => throw(escalation.reason),
    });
}

struct Lead;

#[agent(prompt = "You lead. Ask the coder.")]
impl Lead {
    /// Sees to it that code is written.
    #[skill]
    async fn lead(&self, goal: String) -> String;

    on_escalation!(return_partial_result(format!(
        "nothing was written: {}",
        escalation.reason
    )));
}

async fn run(title: &str, script: Vec<Script>) -> Result<(), Error> {
    println!("\n{title}");
    let asks = Script::call("coder", r#"{"task": "Write main.rs"}"#);
    let says = Script::text("The coder has written it.");
    let (model, _) = ScriptedModel::new([asks].into_iter().chain(script).chain([says]));
    let (stronger, _) = ScriptedModel::new([
        Script::call(
            "write_file",
            r#"{"path": "main.rs", "content": "fn main() {}"}"#,
        ),
        Script::text("main.rs is written."),
    ]);
    let team = structure!(Lead.delegates(Coder { stronger }));
    let outcome = team
        .run("A program that does nothing")
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

/// Returns a call that no function can repair.
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
        "The cleanup knows what is meant.",
        vec![
            Script::call("write_file", "main.rs: // nothing yet"),
            Script::text("main.rs is written."),
        ],
    )
    .await?;
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
        "It gives up, and so does the coder; the lead ends with what there is.",
        gives_up("HIGH"),
    )
    .await?;
    run("It gives up; nothing may go on.", gives_up("CRITICAL")).await
}
