//! Tests of the client against a local server that sends what each test specifies, and of the decoder alone.

#![allow(clippy::unwrap_used)]

mod agents;
mod decoding;
mod errors;
mod escape;
mod fixtures;
mod identity;
mod recorded_requests;
mod requests;

use agents_gemini::{Gemini, gemini};
use agents_http::testing::{
    Answer, Server, ask, bodies, call, kept, listen, result, said, system, tools, user,
};

/// A complete reply in one document.
const HELLO: &str = r#"{"candidates":[{"content":{"parts":[{"text":"hello"}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":10,"cachedContentTokenCount":4,"candidatesTokenCount":2,"thoughtsTokenCount":3,"totalTokenCount":15},"modelVersion":"m"}"#;

/// Stream with the same reply.
const HELLO_STREAM: &str = concat!(
    "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"hel\"}],\"role\":\"model\"},\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":10,\"cachedContentTokenCount\":4,\"thoughtsTokenCount\":3}}\r\n\r\n",
    "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"lo\"}],\"role\":\"model\"},\"index\":0}]}\r\n\r\n",
    "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"\"}],\"role\":\"model\"},\"finishReason\":\"STOP\",\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":10,\"candidatesTokenCount\":2,\"totalTokenCount\":15}}\r\n\r\n",
);

fn client(server: &Server) -> Gemini {
    at(&server.url)
}

/// Returns a client of the server at this address.
fn at(url: &str) -> Gemini {
    gemini("gemini-2.5-flash").base_url(format!("{url}/v1beta"))
}

async fn replies(answer: Answer) -> Server {
    Server::plays([answer]).await
}
