//! A repair in two steps: first a function, and where that gives nothing, a repair agent.
//!
//! `cargo run --example hybrid`
//!
//! No server is asked: a scripted model says what `main` gives it, for the agent and for its repair
//! agent. What reads, repairs and runs the calls is live.

use agents::{
    console::print_line,
    prelude::*,
    recovery::Repair,
    testing::{Script, ScriptedModel},
};
use serde_json::json;

tool! {
    /// Create a task.
    #[tool(writes)]
    async fn create_task(
        /// What is to be done.
        title: String,
        /// How urgent it is: 1 is now, 5 is some day.
        priority: u8,
    ) -> String {
        format!("created: {title} ({priority})")
    }

    on_error {
        invalid_args(raw, _) => fix(try_cleanup(raw)).or(fix(agent = JsonFixer, retries = 3)),
    }
}

/// `Buy milk !1`, as people write their lists. Nothing means: this takes more than string surgery.
fn try_cleanup(raw: &str) -> Option<String> {
    let (title, priority) = raw.rsplit_once(" !")?;
    let priority: u8 = priority.trim().parse().ok()?;
    Some(json!({ "title": title, "priority": priority }).to_string())
}

/// You repair the JSON of tool calls. Answer with the JSON alone.
// Without a model of its own it asks its caller's; `model = ollama("qwen2.5:7b").temperature(0.0)`
// would give it one.
#[agent(budget(max_turns = 1))]
async fn json_fixer(request: Repair) -> String;

/// You keep a list of tasks. Use your tools.
#[agent(tools = [CreateTask])]
async fn secretary(request: String) -> String;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("A scripted model makes the mistakes; reading and repairing are live.");
    let (model, handle) = ScriptedModel::new([
        // A comma too many and a number in quotes: reading mends them, and no arm is asked.
        Script::call(
            "create_task",
            r#"{"title": "Water the plants", "priority": "3",}"#,
        ),
        // No JSON at all, but the function knows it.
        Script::call("create_task", "Buy milk !1"),
        // Not even the function can read this.
        Script::call("create_task", "the rent has to be paid, it is urgent"),
        // The repair agent says this the first time it is asked ..
        Script::text("Sure! A task needs a title and a priority."),
        // .. and this the second time, when it has been told why that was no repair.
        Script::text(r#"{"title": "Pay the rent", "priority": 1}"#),
        Script::text("Three tasks are on your list."),
    ]);
    let outcome = Secretary
        .run("Plants, milk, rent!")
        .model(model)
        .on_event(print_line)
        .outcome()
        .await?;
    println!("= {}", outcome.result?);

    let second_try: Repair = serde_json::from_str(handle.requests()[4].last())?;
    let first = &second_try.previous[0];
    println!("The second try was told of the first:");
    println!("  {:?} failed: {}", first.text, first.error);
    Ok(())
}
