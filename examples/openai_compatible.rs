//! A model of your own: a client for servers that speak OpenAI's `/v1/chat/completions`, with streaming.
//!
//! `cargo run --example openai_compatible -- http://localhost:8000/v1 qwen3` asks such a server: vLLM, llama.cpp, LM
//! Studio and others. The key, if one is needed, is in `OPENAI_API_KEY`.

use agents::{
    agent::TextDelta,
    async_trait,
    model::{
        Delta, FinishReason, Message, ModelError, ModelErrorKind, Reply, Request, ToolCall, Usage,
    },
    prelude::*,
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::env;

struct OpenAi {
    url: String,
    model: String,
    key: Option<String>,
    client: reqwest::Client,
}

#[async_trait]
impl Model for OpenAi {
    fn id(&self) -> &str {
        &self.model
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        let mut body = json!({
            "model": self.model, "stream": true, "stream_options": {"include_usage": true},
            "messages": request.messages().iter().map(written).collect::<Vec<_>>(),
        });
        if let Some(tools) = request.tools_json() {
            body["tools"] = serde_json::from_str(tools).map_err(malformed)?;
        }
        if let Some(schema) = request.format() {
            let schema = json!({"name": "answer", "schema": schema});
            body["response_format"] = json!({"type": "json_schema", "json_schema": schema});
        }
        let mut sent = self
            .client
            .post(format!("{}/chat/completions", self.url))
            .json(&body);
        if let Some(key) = &self.key {
            sent = sent.bearer_auth(key);
        }
        let mut response = sent.send().await.map_err(unreachable)?;
        let status = response.status();
        if !status.is_success() {
            let said = response.text().await.unwrap_or_default();
            let kind = match status.as_u16() {
                404 => ModelErrorKind::NotFound,
                429 | 503 => ModelErrorKind::Overloaded,
                _ => ModelErrorKind::Refused,
            };
            return Err(ModelError::new(kind, said).with_status(status.as_u16()));
        }
        let (mut reply, mut bytes, mut is_whole) = (Reply::default(), Vec::new(), false);
        while let Some(piece) = response.chunk().await.map_err(unreachable)? {
            bytes.extend_from_slice(&piece);
            // A line is complete when its end has arrived; a piece may end within a character.
            while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = bytes.drain(..=end).collect();
                let line = String::from_utf8_lossy(&line);
                match line.trim().strip_prefix("data:").map(str::trim) {
                    None => {}
                    Some("[DONE]") => is_whole = true,
                    Some(data) => {
                        let chunk: Chunk = serde_json::from_str(data).map_err(malformed)?;
                        chunk.add_to(&mut reply, &request);
                    }
                }
            }
        }
        match is_whole {
            true => Ok(reply),
            false => Err(ModelError::new(
                ModelErrorKind::Interrupted,
                "the stream has no end",
            )),
        }
    }
}

fn unreachable(error: reqwest::Error) -> ModelError {
    ModelError::new(ModelErrorKind::Unreachable, error.to_string())
}

fn malformed(error: serde_json::Error) -> ModelError {
    ModelError::new(ModelErrorKind::Malformed, error.to_string())
}

/// Writes a message in OpenAI's form.
fn written(message: &Message) -> Value {
    match message {
        Message::System { content } => json!({"role": "system", "content": content}),
        Message::User { content } => json!({"role": "user", "content": content}),
        Message::Assistant { content, calls, .. } if calls.is_empty() => {
            json!({"role": "assistant", "content": content})
        }
        Message::Assistant { content, calls, .. } => {
            let calls = calls.iter().map(|call| {
                let function = json!({"name": call.name, "arguments": call.arguments});
                json!({"id": call.id, "type": "function", "function": function})
            });
            let calls: Vec<_> = calls.collect();
            json!({"role": "assistant", "content": content, "tool_calls": calls})
        }
        Message::Tool {
            tool_call_id,
            content,
            ..
        } => {
            json!({"role": "tool", "tool_call_id": tool_call_id, "content": content})
        }
    }
}

/// Piece of a streamed reply.
#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Vec<Choice>,
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Choice {
    delta: Written,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Written {
    content: Option<String>,
    #[serde(default)]
    tool_calls: Vec<CallPiece>,
}

#[derive(Deserialize)]
struct CallPiece {
    index: usize,
    id: Option<String>,
    function: FunctionPiece,
}

#[derive(Deserialize)]
struct FunctionPiece {
    name: Option<String>,
    arguments: Option<String>,
}

#[derive(Deserialize)]
struct Tokens {
    prompt_tokens: u64,
    completion_tokens: u64,
}

impl Chunk {
    fn add_to(self, reply: &mut Reply, request: &Request<'_>) {
        if let Some(Tokens {
            prompt_tokens,
            completion_tokens,
        }) = self.usage
        {
            reply.usage = Usage {
                input_tokens: prompt_tokens,
                output_tokens: completion_tokens,
                requests: 1,
            };
        }
        for Choice {
            delta,
            finish_reason,
        } in self.choices
        {
            if let Some(text) = delta.content {
                if let Some(sink) = request.sink() {
                    sink(Delta::Text(&text));
                }
                reply.content.push_str(&text);
            }
            for CallPiece {
                index,
                id,
                function,
            } in delta.tool_calls
            {
                while reply.calls.len() <= index {
                    let empty = ToolCall {
                        id: String::new(),
                        name: String::new(),
                        arguments: String::new(),
                    };
                    reply.calls.push(empty);
                }
                let call = &mut reply.calls[index];
                call.id.push_str(&id.unwrap_or_default());
                call.name.push_str(&function.name.unwrap_or_default());
                call.arguments
                    .push_str(&function.arguments.unwrap_or_default());
            }
            reply.finish = match finish_reason.as_deref() {
                Some("length") => FinishReason::Length,
                Some("stop" | "tool_calls") => FinishReason::Stop,
                Some(other) => FinishReason::Other(other.to_owned()),
                None => continue,
            };
        }
    }
}

/// Returns the weather in a city.
#[agents::tool(reads)]
async fn weather(
    /// Name of the city.
    city: String,
) -> String {
    format!("sunny in {city}")
}

/// You tell people about the weather.
#[agent(tools = [Weather])]
async fn forecaster(question: String) -> String;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = env::args().skip(1);
    let usage = "usage: openai_compatible URL MODEL";
    let model = OpenAi {
        url: words.next().ok_or(usage)?,
        model: words.next().ok_or(usage)?,
        key: env::var("OPENAI_API_KEY").ok(),
        client: reqwest::Client::builder().no_proxy().build()?,
    };
    let mut text = Forecaster
        .run("How is the weather in Lisbon?")
        .model(model)
        .stream()
        .text();
    while let Some(delta) = text.next().await {
        match delta {
            TextDelta::Piece(piece) => print!("{piece}"),
            TextDelta::Reset => println!(),
        }
    }
    let outcome = text.outcome().await?;
    println!("\n({} tokens)", outcome.usage.tokens());
    outcome.result?;
    Ok(())
}
