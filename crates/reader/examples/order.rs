//! Reads a tool call as a small model wrote it: `cargo run -p agents-reader --example order`.

#![allow(clippy::print_stdout)] // Its output is what it is for.

use agents_reader::{ReadError, read};
use serde_json::json;

fn main() -> Result<(), ReadError> {
    let schema = json!({"properties": {"item": {"type": "string"}, "limit": {"type": "integer"}}, "required": ["item"]});
    let reading = read("Sure! ```json\n{'item': 'tv', limit: \"2\",}\n```", &schema)?;
    println!("{}\nchanged: {}", reading.json, reading.changes);
    Ok(())
}
