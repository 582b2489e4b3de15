//! Tests of the client against a local server that sends what each test specifies, and of the decoder alone.

#![allow(clippy::unwrap_used)]

mod credentials;
mod decoding;
mod environment;
mod errors;
mod escape;
mod faults;
mod fixtures;
mod recorded_requests;
mod recorded_responses;
mod requests;
mod responses;
mod servers;

use agents_core::{
    Effects,
    model::{Delta, History, Message, Model, ModelError, Reply, Request, ToolCall},
    tool::{FnTool, ToolSet, ToolSpec},
};
use agents_http::testing::{Answer, Server};
use agents_openai::{OpenAi, openai};
use serde_json::{Value, json};
use std::{convert::Infallible, sync::Mutex};

/// A complete reply in one document.
const HELLO: &str = r#"{"id":"chatcmpl-1","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hello","refusal":null},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12,"prompt_tokens_details":{"cached_tokens":4}}}"#;

/// Streamed form of the reply.
const HELLO_STREAM: &str = concat!(
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}],\"usage\":null}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hel\"},\"finish_reason\":null}],\"usage\":null}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lo\"},\"finish_reason\":null}],\"usage\":null}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":null}\n\n",
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":2,\"prompt_tokens_details\":{\"cached_tokens\":4}}}\n\n",
    "data: [DONE]\n\n",
);

fn client(server: &Server) -> OpenAi {
    openai("m").base_url(format!("{}/v1", server.url))
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
