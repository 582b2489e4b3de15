//! Tests of the client against a local server that sends what each test specifies.

#![allow(clippy::unwrap_used)]

mod answers;
mod connections;
mod errors;
mod escape;
mod identity;
mod modes;
mod peers;
mod proxies_and_tls;
mod requests;
mod server;
mod window;

use agents_core::{
    Effects,
    model::{History, Message},
    tool::{FnTool, ToolSet, ToolSpec},
};
use agents_http::testing::{ask, call, listen, result, said, system, user};
use serde_json::json;
use std::convert::Infallible;

/// A complete answer in one document.
const HELLO: &str = r#"{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"hello"},"done_reason":"stop","done":true,"total_duration":5,"prompt_eval_count":10,"eval_count":2}"#;

fn history(messages: impl IntoIterator<Item = Message>) -> History {
    History::from(messages.into_iter().collect::<Vec<_>>())
}

/// Returns the tools `read_file(path)` and `add(left, right)`.
fn tools() -> ToolSet {
    let path = json!({ "type": "string", "description": "Path, relative to the workspace." });
    let number = json!({ "type": "integer" });
    ToolSet::new()
        .with(tool(
            ToolSpec::new(
                "read_file",
                "Read a file's contents.",
                Effects::Reads,
                json!({ "type": "object", "properties": { "path": path }, "required": ["path"] }),
            )
            .example(json!({ "path": "docs/notes.txt" })),
        ))
        .with(tool(ToolSpec::new(
            "add",
            "Add two integers.",
            Effects::None,
            json!({ "type": "object", "properties": { "left": number, "right": number }, "required": ["left", "right"] }),
        )))
}

fn tool(spec: ToolSpec) -> FnTool {
    FnTool::with_spec(spec, |_, _| async { Ok::<_, Infallible>(()) })
}
