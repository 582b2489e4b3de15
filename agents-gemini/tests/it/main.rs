//! Tests of the client against a local server that sends what each test specifies, and of the decoder alone.

#![allow(clippy::unwrap_used)]

mod agents;
mod decoding;
mod errors;
mod fixtures;
mod recorded_requests;
mod requests;

use agents_core::{
    Effects,
    model::{Delta, History, Message, Model, ModelError, Reply, Request, ToolCall},
    tool::{FnTool, ToolSet, ToolSpec},
};
use agents_gemini::{Gemini, gemini};
use agents_http::testing::{Answer, Server};
use serde_json::{Value, json};
use std::{convert::Infallible, sync::Mutex};

/// A complete reply in one document.
const HELLO: &str = r#"{"candidates":[{"content":{"parts":[{"text":"hello"}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":10,"cachedContentTokenCount":4,"candidatesTokenCount":2,"thoughtsTokenCount":3,"totalTokenCount":15},"modelVersion":"m"}"#;

/// Stream with the same reply.
const HELLO_STREAM: &str = concat!(
    "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"hel\"}],\"role\":\"model\"},\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":10,\"cachedContentTokenCount\":4,\"thoughtsTokenCount\":3}}\r\n\r\n",
    "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"lo\"}],\"role\":\"model\"},\"index\":0}]}\r\n\r\n",
    "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"\"}],\"role\":\"model\"},\"finishReason\":\"STOP\",\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":10,\"candidatesTokenCount\":2,\"totalTokenCount\":15}}\r\n\r\n",
);

fn client(server: &Server) -> Gemini {
    gemini("gemini-2.5-flash").base_url(format!("{}/v1beta", server.url))
}

fn user(content: &str) -> Message {
    Message::User {
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

fn said(content: &str, calls: &[ToolCall]) -> Message {
    Message::Assistant {
        content: content.into(),
        thinking: None,
        calls: calls.to_vec(),
    }
}

fn result(id: &str, name: &str, content: &str) -> Message {
    Message::Tool {
        tool_call_id: id.into(),
        name: name.into(),
        content: content.into(),
    }
}

/// Returns the message that a run makes of a reply.
fn kept(reply: &Reply) -> Message {
    Message::Assistant {
        content: reply.content.clone(),
        thinking: reply.thinking.clone(),
        calls: reply.calls.clone(),
    }
}

/// Returns the tool `read_file(path)`.
fn tools() -> ToolSet {
    let schema = json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] });
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

/// Sends one request with the message `hi`.
async fn ask(model: &impl Model) -> Result<Reply, ModelError> {
    let history = History::from(vec![user("hi")]);
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

/// Returns the bodies of the requests that the server got.
fn bodies(server: &Server) -> Vec<Value> {
    let seen = server.seen().into_iter();
    seen.map(|seen| serde_json::from_str(&seen.body).unwrap())
        .collect()
}

async fn replies(answer: Answer) -> Server {
    Server::plays([answer]).await
}
