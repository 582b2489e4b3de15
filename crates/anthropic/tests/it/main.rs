//! Tests of the client against a local server that sends what each test specifies, and of the decoder alone.

#![allow(clippy::unwrap_used)]

mod agents;
mod caching;
mod decoding;
mod errors;
mod escape;
mod fixtures;
mod identity;
mod recorded_requests;
mod requests;
mod thinking;

use agents_anthropic::{Anthropic, PromptCache, anthropic};
use agents_core::model::{History, Message, Model, Request};
use agents_http::testing::{
    Answer, Server, ask, bodies, call, kept, listen, result, said, system, tools, user,
};
use serde_json::{Value, json};

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
    at(&server.url)
}

/// Returns a client of the server at this address.
fn at(url: &str) -> Anthropic {
    anthropic("claude-sonnet-5").base_url(url)
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

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn tool_use(id: &str, name: &str, input: Value) -> Value {
    json!({ "type": "tool_use", "id": id, "name": name, "input": input })
}
