//! Chat in a terminal with an agent that asks a translator, while the answer is printed as it is written.
//!
//! `cargo run --example translator_chat -- qwen3:4b` asks a model of Ollama. Without a name, a scripted model answers.
//! An empty line ends the conversation.

use agents::{
    agent::TextDelta,
    prelude::*,
    structure,
    testing::{Script, ScriptedModel},
};
use std::{
    env,
    io::{self, BufRead, Write},
    sync::Arc,
};

/// You translate any text into English, and correct it.
#[agent]
async fn translator(text: String) -> String;

/// You are a helpful host. If somebody does not write in English, have the words translated first.
#[agent]
async fn host(words: String) -> String;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let model: Arc<dyn Model> = match env::args().nth(1) {
        Some(name) => Arc::new(ollama(name)),
        None => Arc::new(scripted()),
    };
    let mut chat = structure!(Host.delegates(Translator))
        .into_chat()
        .model(model);
    for line in io::stdin().lock().lines() {
        let line = line.unwrap_or_default();
        if line.is_empty() {
            break;
        }
        let mut text = chat.send(line).stream().text();
        while let Some(delta) = text.next().await {
            match delta {
                TextDelta::Piece(piece) => print!("{piece}"),
                TextDelta::Reset => println!(),
            }
            let _ = io::stdout().flush();
        }
        println!();
        text.outcome().await?.result?;
    }
    Ok(())
}

fn scripted() -> ScriptedModel {
    let answers = [
        Script::call("translator", r#"{"text": "Wie spät ist es?"}"#),
        Script::text("What time is it?"),
        Script::text("You asked for the time. It is noon."),
        Script::text("You are welcome."),
    ];
    ScriptedModel::new(answers).0
}
