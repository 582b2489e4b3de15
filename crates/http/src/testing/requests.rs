//! Messages and requests that tests of clients send.

#![allow(clippy::unwrap_used)]

use super::Server;
use agents_core::{
    Effects,
    model::{Delta, History, Message, Model, ModelError, Reply, Request, ToolCall},
    tool::{FnTool, ToolSet, ToolSpec},
};
use serde_json::{Value, json};
use std::{convert::Infallible, sync::Mutex};

/// Creates a system prompt.
pub fn system(content: &str) -> Message {
    Message::System {
        content: content.into(),
    }
}

/// Creates a message of the user.
pub fn user(content: &str) -> Message {
    Message::User {
        content: content.into(),
    }
}

/// Creates a message of the model, with calls of tools.
pub fn said(content: &str, calls: &[ToolCall]) -> Message {
    Message::Assistant {
        content: content.into(),
        thinking: None,
        calls: calls.to_vec(),
    }
}

/// Creates a call of a tool, with these arguments as the model wrote them.
pub fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: arguments.into(),
    }
}

/// Creates the message with the result of a call.
pub fn result(call: &str, name: &str, content: &str) -> Message {
    Message::Tool {
        tool_call_id: call.into(),
        name: name.into(),
        content: content.into(),
    }
}

/// Returns the message that a run makes of a reply.
pub fn kept(reply: &Reply) -> Message {
    Message::Assistant {
        content: reply.content.clone(),
        thinking: reply.thinking.clone(),
        calls: reply.calls.clone(),
    }
}

/// Returns the tool `read_file(path)`, which does nothing.
pub fn tools() -> ToolSet {
    let path = json!({ "path": { "type": "string" } });
    let schema = json!({ "type": "object", "properties": path, "required": ["path"] });
    let spec = ToolSpec::new(
        "read_file",
        "Read a file's contents.",
        Effects::Reads,
        schema,
    );
    ToolSet::new().with(FnTool::with_spec(spec, |_, _| async {
        Ok::<_, Infallible>(())
    }))
}

/// Sends a request with the message `hi`.
///
/// # Errors
/// When the model gives no reply.
pub async fn ask(model: &impl Model) -> Result<Reply, ModelError> {
    let history = History::from(vec![user("hi")]);
    model.chat(Request::new(&history)).await
}

/// Sends a request with a sink; returns the reply and the pieces that the sink received, reasoning in parentheses.
///
/// # Panics
/// When a sink has panicked.
pub async fn listen(
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

/// Returns the bodies of the requests that the server got, oldest first.
///
/// # Panics
/// When one of them is no JSON.
pub fn bodies(server: &Server) -> Vec<Value> {
    let bodies = server.bodies().into_iter();
    bodies
        .map(|body| serde_json::from_str(&body).unwrap())
        .collect()
}
