//! A server for MCP hosts by streamable HTTP: `mcp_serves 127.0.0.1:PORT`. Without an address it serves the host that has
//! started it, on standard input and output.
//!
//! What it offers is what the conformance suite of MCP asks for: see `scripts/mcp-conformance`.

use agents::{
    model::{Content, Media, Message},
    prelude::*,
    tool::{Effects, FnTool},
};
use agents_mcp::{self as mcp, Host, HostError};
use serde_json::{Value, json};
use std::{convert::Infallible, env, io, time::Duration};

/// A red dot.
const DOT: &[u8] = &[
    0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, b'I', b'H', b'D', b'R', 0, 0, 0,
    1, 0, 0, 0, 1, 8, 2, 0, 0, 0, 0x90, 0x77, 0x53, 0xde, 0, 0, 0, 0x0c, b'I', b'D', b'A', b'T', 8,
    0xd7, 0x63, 0xf8, 0xcf, 0xc0, 0, 0, 3, 1, 1, 0, 0x18, 0xdd, 0x8d, 0xb0, 0, 0, 0, 0, b'I', b'E',
    b'N', b'D', 0xae, 0x42, 0x60, 0x82,
];

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

/// Draws a dot.
#[agents::tool(none)]
async fn test_image_content() -> Result<Media, Error> {
    Media::bytes("image/png", DOT)
}

/// Makes a sound.
#[agents::tool(none)]
async fn test_audio_content() -> Result<Media, Error> {
    Media::bytes("audio/wav", b"RIFF$\0\0\0WAVEfmt ")
}

/// Returns a file.
#[agents::tool(none)]
async fn test_embedded_resource() -> Result<Media, Error> {
    let file = Media::bytes("text/plain", b"This is an embedded resource content.")?;
    Ok(file.named("test://embedded-resource"))
}

/// Text, image and file at once.
#[derive(serde::Serialize)]
struct Several {
    text: &'static str,
    dot: Media,
    data: Media,
}

/// Returns a text, an image and a file.
#[agents::tool(none)]
async fn test_multiple_content_types() -> Result<Several, Error> {
    let data = Media::bytes("application/json", br#"{"test": "data", "value": 123}"#)?;
    Ok(Several {
        text: "Multiple content types test:",
        dot: Media::bytes("image/png", DOT)?,
        data: data.named("test://mixed-content-resource"),
    })
}

fn host() -> Result<Host, HostError> {
    Ok(Host::current().expect("the tools are called by hosts"))
}

async fn moment() {
    tokio::time::sleep(Duration::from_millis(50)).await;
}

/// Writes to the log of the host.
#[agents::tool(none)]
async fn test_tool_with_logging() -> Result<&'static str, HostError> {
    let host = host()?;
    host.log("Tool execution started").await;
    moment().await;
    host.log("Tool processing data").await;
    moment().await;
    host.log("Tool execution completed").await;
    Ok("done")
}

/// Tells how much is done.
#[agents::tool(none)]
async fn test_tool_with_progress() -> Result<&'static str, HostError> {
    let host = host()?;
    for done in [0.0, 50.0, 100.0] {
        host.progress(done, Some(100.0), "").await;
        moment().await;
    }
    Ok("done")
}

/// Works for so long that hosts may read the answer on another connection.
#[agents::tool(none)]
async fn test_reconnection() -> &'static str {
    tokio::time::sleep(Duration::from_millis(200)).await;
    "done"
}

/// Answers by way of the model of the host.
#[agent]
async fn test_sampling(prompt: String) -> String;

/// Asks the person at the host.
#[agents::tool(none)]
async fn test_elicitation(
    /// What to say.
    message: String,
) -> Result<String, HostError> {
    asks(
        &message,
        json!({"type": "object", "required": ["username", "email"], "properties": {
            "username": {"type": "string", "description": "Name of the user."},
            "email": {"type": "string", "description": "Address of the user."},
        }}),
    )
    .await
}

/// Asks with a default for each kind of value.
#[agents::tool(none)]
async fn test_elicitation_sep1034_defaults() -> Result<String, HostError> {
    asks("Who are you?", json!({"type": "object", "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": true},
    }})).await
}

/// Asks with each kind of choice.
#[agents::tool(none)]
async fn test_elicitation_sep1330_enums() -> Result<String, HostError> {
    let titled = |names: [&str; 3]| {
        let one = |nth: usize| json!({"const": format!("value{}", nth + 1), "title": names[nth]});
        json!([one(0), one(1), one(2)])
    };
    asks("Which one?", json!({"type": "object", "properties": {
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {"type": "string", "oneOf": titled(["First", "Second", "Third"])},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled(["First", "Second", "Third"])}},
    }})).await
}

async fn asks(message: &str, schema: Value) -> Result<String, HostError> {
    let answer = host()?.ask(message, schema).await?;
    Ok(format!("User response: {answer:?}"))
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

fn resources() -> [mcp::Resource; 4] {
    let text = |text: &'static str| move |_| async move { Ok::<_, Infallible>(text) };
    [
        mcp::Resource::new(
            "test://static-text",
            "static text",
            text("This is the content of the static text resource."),
        ),
        mcp::Resource::new("test://static-binary", "static picture", |_| async {
            Ok::<_, Error>(Content::default().with(Media::bytes("image/png", DOT)?))
        }),
        mcp::Resource::new("test://template/{id}/data", "data", |vars| async move {
            Ok::<_, Infallible>(json!({"id": vars["id"], "templateTest": true}).to_string())
        })
        .media_type("application/json"),
        mcp::Resource::new("test://watched-resource", "watched", text("It may change.")),
    ]
}

fn prompts() -> [mcp::Prompt; 4] {
    let user = |content: Content| Message::User { content };
    let file = |kind: &str, bytes: &[u8]| Media::bytes(kind, bytes).expect("it is small");
    [
        mcp::Prompt::new(
            "test_simple_prompt",
            |_| "This is a simple prompt for testing.",
        )
        .description("Says a sentence."),
        mcp::Prompt::new("test_prompt_with_arguments", |args| {
            format!(
                "Prompt with arguments: arg1='{}', arg2='{}'",
                args["arg1"], args["arg2"]
            )
        })
        .description("Says its arguments.")
        .argument("arg1", "The first.")
        .suggests(|begun| vec![format!("{begun}ing")])
        .argument("arg2", "The second."),
        mcp::Prompt::new("test_prompt_with_embedded_resource", move |args| {
            let text = b"Embedded resource content for testing.";
            let file = file("text/plain", text).named(&args["resourceUri"]);
            vec![
                user(Content::default().with(file)),
                user("Please process the embedded resource above.".into()),
            ]
        })
        .description("Brings a file.")
        .argument("resourceUri", "URI of the file."),
        mcp::Prompt::new("test_prompt_with_image", move |_| {
            vec![
                user(Content::default().with(file("image/png", DOT))),
                user("Please analyze the image above.".into()),
            ]
        })
        .description("Brings an image."),
    ]
}

#[tokio::main]
async fn main() -> io::Result<()> {
    let server = mcp::serve()
        .tool(TestSimpleText)
        .tool(TestErrorHandling)
        .tool(TestImageContent)
        .tool(TestAudioContent)
        .tool(TestEmbeddedResource)
        .tool(TestMultipleContentTypes)
        .tool(TestToolWithLogging)
        .tool(TestToolWithProgress)
        .tool(TestReconnection)
        .tool(TestElicitation)
        .tool(TestElicitationSep1034Defaults)
        .tool(TestElicitationSep1330Enums)
        .tool(newer_schema())
        .agent(Greeter)
        .agent(TestSampling)
        .host_model()
        .changes(&mcp::Changes::new());
    let server = resources().into_iter().fold(server, mcp::Serve::resource);
    let server = prompts().into_iter().fold(server, mcp::Serve::prompt);
    let Some(address) = env::args().nth(1) else {
        return server.stdio().await;
    };
    let router = axum::Router::new().nest_service("/mcp", server.http());
    let listener = tokio::net::TcpListener::bind(address).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    axum::serve(listener, router).await
}
