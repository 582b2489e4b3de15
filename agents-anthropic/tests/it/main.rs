//! Tests of the client against a local server that sends what each test specifies, and of the decoder alone.

#![allow(clippy::unwrap_used)]

mod agents;
mod caching;
mod decoding;
mod errors;
mod fixtures;
mod recorded_requests;
mod requests;
mod thinking;

use agents_anthropic::{Anthropic, PromptCache, anthropic};
use agents_core::{
    Effects,
    model::{Delta, History, Message, Model, ModelError, Reply, Request, ToolCall},
    tool::{FnTool, ToolSet, ToolSpec},
};
use agents_http::testing::{Answer, Server};
use serde_json::{Value, json};
use std::{convert::Infallible, sync::Mutex};

/// A complete reply in one document.
const HELLO: &str = r#"{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"hello"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":4,"cache_creation_input_tokens":1,"cache_read_input_tokens":5,"output_tokens":2}}"#;

/// Stream with the same reply.
const HELLO_STREAM: &str = concat!(
    "event: message_start\n",
    "data: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[],\"model\":\"m\",\"stop_reason\":null,\"usage\":{\"input_tokens\":4,\"cache_creation_input_tokens\":1,\"cache_read_input_tokens\":5,\"output_tokens\":1}}}\n\n",
    "event: content_block_start\n",
    "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
    "event: ping\n",
    "data: {\"type\":\"ping\"}\n\n",
    "event: content_block_delta\n",
    "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"hel\"}}\n\n",
    "event: content_block_delta\n",
    "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"lo\"}}\n\n",
    "event: content_block_stop\n",
    "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
    "event: message_delta\n",
    "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":2}}\n\n",
    "event: message_stop\n",
    "data: {\"type\":\"message_stop\"}\n\n",
);

fn client(server: &Server) -> Anthropic {
    anthropic("claude-sonnet-5").base_url(&server.url)
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

/// Returns the body of a request that is not cached.
async fn sent(request: Request<'_>) -> Value {
    let server = replies(Answer::json(200, HELLO)).await;
    let model = client(&server).prompt_cache(PromptCache::Off);
    model.chat(request).await.unwrap();
    bodies(&server).remove(0)
}

async fn messages(messages: Vec<Message>) -> Value {
    let history = History::from(messages);
    sent(Request::new(&history)).await["messages"].clone()
}

fn system(content: &str) -> Message {
    Message::System {
        content: content.into(),
    }
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn tool_use(id: &str, name: &str, input: Value) -> Value {
    json!({ "type": "tool_use", "id": id, "name": name, "input": input })
}
