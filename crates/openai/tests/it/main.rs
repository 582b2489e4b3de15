//! Tests of the client against a local server that sends what each test specifies, and of the decoder alone.

#![allow(clippy::unwrap_used)]

mod credentials;
mod decoding;
mod ends;
mod environment;
mod errors;
mod escape;
mod faults;
mod fixtures;
mod identity;
mod recorded_requests;
mod recorded_responses;
mod requests;
mod responses;
mod servers;

use agents_http::testing::{Answer, Server, ask, bodies, call, listen, result, said, tools, user};
use agents_openai::{OpenAi, openai};

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
    at(&server.url)
}

/// Returns a client of the server at this address.
fn at(url: &str) -> OpenAi {
    openai("m").base_url(format!("{url}/v1"))
}

async fn replies(answer: Answer) -> Server {
    Server::plays([answer]).await
}
