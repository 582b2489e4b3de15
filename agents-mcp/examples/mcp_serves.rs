//! A server for MCP hosts by streamable HTTP: `mcp_serves 127.0.0.1:PORT`. Without an address it serves the host that has
//! started it, on standard input and output.
//!
//! Its tools are those that the conformance suite of MCP asks for: see `scripts/mcp-conformance`.

use agents::{
    prelude::*,
    tool::{Effects, FnTool},
};
use agents_mcp as mcp;
use serde_json::json;
use std::{env, io};

/// Says a sentence.
#[agents::tool(none)]
async fn test_simple_text() -> &'static str {
    "This is a simple text response for testing."
}

/// Fails always.
#[agents::tool(none)]
async fn test_error_handling() -> io::Result<String> {
    Err(io::Error::other(
        "This tool intentionally returns an error for testing",
    ))
}

/// Says hello.
#[agent]
fn greeter(name: String) -> String {
    format!("Hello, {name}.")
}

/// Returns a tool whose schema has what the draft of 2020-12 brought.
fn newer_schema() -> FnTool {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
        "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
        "additionalProperties": false,
    });
    let (name, description) = (
        "json_schema_2020_12_tool",
        "Tool with JSON Schema 2020-12 features",
    );
    FnTool::new(
        name,
        description,
        Effects::None,
        schema,
        |args, _| async move { Ok::<_, io::Error>(args) },
    )
}

#[tokio::main]
async fn main() -> io::Result<()> {
    let server = mcp::serve()
        .tool(TestSimpleText)
        .tool(TestErrorHandling)
        .tool(newer_schema())
        .agent(Greeter);
    let Some(address) = env::args().nth(1) else {
        return server.stdio().await;
    };
    let router = axum::Router::new().nest_service("/mcp", server.http());
    let listener = tokio::net::TcpListener::bind(address).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    axum::serve(listener, router).await
}
