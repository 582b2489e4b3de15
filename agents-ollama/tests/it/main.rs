//! Tests of the client against a local server that sends what each test specifies.

#![allow(clippy::unwrap_used)]

mod answers;
mod connections;
mod errors;
mod modes;
mod peers;
mod proxies_and_tls;
mod requests;
mod server;
mod window;

use agents_core::{
    Effects,
    model::{Delta, History, Message, Model, ModelError, Reply, Request, ToolCall},
    tool::{FnTool, ToolSet, ToolSpec},
};
use serde_json::json;
use std::{convert::Infallible, sync::Mutex};

/// A complete answer in one document.
const HELLO: &str = r#"{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"hello"},"done_reason":"stop","done":true,"total_duration":5,"prompt_eval_count":10,"eval_count":2}"#;

fn system(content: &str) -> Message {
    Message::System {
        content: content.into(),
    }
}

fn user(content: &str) -> Message {
    Message::User {
        content: content.into(),
    }
}

fn said(content: &str, calls: &[ToolCall]) -> Message {
    Message::Assistant {
        content: content.into(),
        thinking: None,
        calls: calls.to_vec(),
    }
}

fn result(call_id: &str, name: &str, content: &str) -> Message {
    Message::Tool {
        tool_call_id: call_id.into(),
        name: name.into(),
        content: content.into(),
    }
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: arguments.into(),
    }
}

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

/// Sends one request with the message `hi`.
async fn ask(model: &impl Model) -> Result<Reply, ModelError> {
    let history = history([user("hi")]);
    model.chat(Request::new(&history)).await
}

/// Sends a request with a sink; returns the reply and the pieces that the sink received.
async fn listen(
    model: &impl Model,
    request: Request<'_>,
) -> (Result<Reply, ModelError>, Vec<String>) {
    let heard = Mutex::new(Vec::new());
    let sink = |delta: Delta<'_>| {
        heard.lock().unwrap().push(match delta {
            Delta::Text(text) => text.to_owned(),
            Delta::Thinking(text) => format!("({text})"),
        });
    };
    let reply = model.chat(request.with_sink(&sink)).await;
    (reply, heard.into_inner().unwrap())
}
