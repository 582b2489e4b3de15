//! Counts the keys of a JSON object. The tool refuses malformed JSON, its repair agent suggests the intended JSON, and
//! the model calls again.
//!
//! `cargo run --example key_counter`
//!
//! No server is needed: a scripted model gives the replies listed in `main`, for the agent and for its repair agent.

use agents::{
    prelude::*,
    recovery::Repair,
    testing::{Script, ScriptedModel},
};
use serde_json::{Map, Value};

/// You are given a tool call whose `json` could not be parsed. If you are sure what was meant, answer
/// with the corrected arguments. If you had to guess, call `escalate` and say in the reason which JSON
/// you think was meant: whoever knows the question will decide.
#[agent(budget(max_turns = 3))]
async fn json_fixer(request: Repair) -> String;

tool! {
    /// Count the top-level keys of a JSON object.
    #[tool(none)]
    async fn count_keys(
        /// The object, as JSON text.
        json: String,
    ) -> Result<usize, serde_json::Error> {
        serde_json::from_str::<Map<String, Value>>(&json).map(|object| object.len())
    }

    on_error {
        // The arguments fit the schema, but the tool failed with them. The repair agent's result is a new set of
        // arguments, which passes all checks again.
        execution_error(Returned(_)) => fix(agent = JsonFixer, retries = 2),
    }
}

/// Count keys with your tool. If it reports a problem, read the reason: it may hold the corrected
/// JSON. Answer with the number alone.
#[agent(tools = [CountKeys], budget(max_turns = 10))]
async fn json_analyst(question: String) -> u32;

const MALFORMED: &str = r#"{"json": "{name: world, age: 30, active: true}"}"#;
const CORRECTED: &str = r#"{"json": "{\"name\": \"world\", \"age\": 30, \"active\": true}"}"#;

/// Performs a run with a script, and prints each call and the answer.
async fn ask(title: &str, script: impl IntoIterator<Item = Script>) -> Result<(), Error> {
    println!("\n{title}");
    let keys = JsonAnalyst
        .run("How many keys has {name: world, age: 30, active: true}?")
        .model(ScriptedModel::new(script).0)
        .on_tool_use(|name, args, result| match result {
            Ok(count) => println!("  {name} {args} = {count}"),
            Err(error) => println!("  {name} {args} failed: {}", error.message),
        })
        .await?;
    println!("= {keys}");
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    println!("A scripted model plays the agent and its repair agent.");
    ask(
        "The repair agent hands it up, with what it thinks was meant; the model calls again.",
        [
            Script::call("count_keys", MALFORMED),
            Script::call(
                "escalate",
                r#"{"reason": "the keys have no quotes; probably {\"name\": \"world\", \"age\": 30, \"active\": true}", "severity": "MEDIUM"}"#,
            ),
            Script::call("count_keys", CORRECTED),
            Script::text("3"),
        ],
    )
    .await?;
    ask(
        "The repair agent is sure, and the call goes on with the arguments it gave.",
        [
            Script::call("count_keys", MALFORMED),
            Script::text(CORRECTED),
            Script::text("3"),
        ],
    )
    .await
}
