//! The program of the tutorial's third chapter, whole: calls in which there is no JSON, repaired by a function, and
//! by an agent where that knows nothing.
//!
//! `cargo run --example slips`

use agents::{
    console::print_line,
    prelude::*,
    recovery::Repair,
    testing::{Script, ScriptedModel},
};

/// You read slips of paper. Answer with the JSON that was meant, and nothing else.
#[agent(budget(max_turns = 2))]
async fn slip_reader(request: Repair) -> String;

tool! {
    /// Lend a book to a reader.
    #[tool(writes, idempotent)]
    async fn lend(
        /// The book's title.
        title: String,
        /// Who takes it home.
        reader: String,
    ) -> String {
        format!("{reader} has {title}")
    }

    on_error {
        invalid_args(raw, _) => fix(from_slip(raw)).or(fix(agent = SlipReader, retries = 2)),
    }
}

/// `Emma -> Ada`, as it stands on the slips of this library.
fn from_slip(raw: &str) -> Option<String> {
    let (title, reader) = raw.split_once(" -> ")?;
    Some(serde_json::json!({ "title": title, "reader": reader }).to_string())
}

/// You lend books.
#[agent(tools = [Lend])]
async fn clerk(wish: String) -> String;

#[tokio::main]
async fn main() -> Result<(), Error> {
    // With a server: let model = ollama("qwen3:4b");
    let (model, handle) = ScriptedModel::new([
        Script::call("lend", "Emma -> Ada"),
        Script::call("lend", "Ada wants Persuasion"),
        // The repair agent, at first, and when it was told what was wrong.
        Script::text("She does."),
        Script::text(r#"{"title": "Persuasion", "reader": "Ada"}"#),
        Script::text("Ada has both."),
    ]);
    let run = Clerk
        .run("Emma and Persuasion, for Ada")
        .model(model)
        .on_event(print_line);
    let outcome = run.outcome().await?;
    // What the clerk's model was told.
    assert_eq!(handle.requests()[4].last(), "Ada has Persuasion");
    println!(
        "= {} ({} requests)",
        outcome.result?, outcome.usage.requests
    );
    Ok(())
}
