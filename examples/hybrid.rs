//! A repair in two steps: first a function, then a repair agent if the function returns `None`.
//!
//! `cargo run --example hybrid`
//!
//! No server is needed: a scripted model gives the replies listed in `main`, for the agent and for its repair agent.
//! Reading, repairing and running the calls is real.

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
        /// Title of the task.
        title: String,
        /// Priority of the task, from 1 (now) to 5 (some day).
        priority: u8,
    ) -> String {
        format!("created: {title} ({priority})")
    }

    on_error {
        invalid_args(raw, _) => fix(try_cleanup(raw)).or(fix(agent = JsonFixer, retries = 3)),
    }
}

/// Reads a task such as `Buy milk !1`; returns `None` for any other text.
fn try_cleanup(raw: &str) -> Option<String> {
    let (title, priority) = raw.rsplit_once(" !")?;
    let priority: u8 = priority.trim().parse().ok()?;
    Some(json!({ "title": title, "priority": priority }).to_string())
}

/// You repair the JSON of tool calls. Answer with the JSON alone.
// A repair agent without a model uses its caller's; `model = ollama("qwen2.5:7b").temperature(0.0)` would set one.
#[agent(budget(max_turns = 1))]
async fn json_fixer(request: Repair) -> String;

/// You keep a list of tasks. Use your tools.
#[agent(tools = [CreateTask])]
async fn secretary(request: String) -> String;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("A scripted model makes the mistakes; reading and repairing are live.");
    let (model, handle) = ScriptedModel::new([
        // A comma too many and a number in quotes: the reader repairs both, so that no arm runs.
        Script::call(
            "create_task",
            r#"{"title": "Water the plants", "priority": "3",}"#,
        ),
        // No JSON, but the function can read it.
        Script::call("create_task", "Buy milk !1"),
        // Text that the function cannot read either.
        Script::call("create_task", "the rent has to be paid, it is urgent"),
        // First reply of the repair agent.
        Script::text("Sure! A task needs a title and a priority."),
        // Second reply of the repair agent, which was told why the first failed.
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
