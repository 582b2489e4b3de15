//! An agent on a server that speaks OpenAI's Chat Completions, whose answer is printed as it is written.
//!
//! `cargo run --example openai_compatible -- http://localhost:8000/v1 qwen3` asks such a server: vLLM, llama.cpp, LM
//! Studio and others. The key, if one is needed, is in `SERVER_KEY`.

use agents::{agent::TextDelta, prelude::*};
use std::env;

/// Looks up the weather.
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
    let url = words.next().ok_or(usage)?;
    let mut model = openai(words.next().ok_or(usage)?).base_url(url);
    if let Ok(key) = env::var("SERVER_KEY") {
        model = model.api_key(key);
    }
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
