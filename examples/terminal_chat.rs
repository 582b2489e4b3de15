//! Chat in a terminal: each answer is printed while it is written.
//!
//! `cargo run --example terminal_chat -- qwen3:4b` talks to a model of Ollama. Without a name, a small function plays
//! the model. An empty line ends the conversation.

use agents::{
    agent::TextDelta,
    async_trait,
    model::{Delta, Message, ModelError, Reply, Request},
    prelude::*,
};
use std::{
    env,
    io::{self, BufRead, Write},
    sync::Arc,
    time::Duration,
};

/// You are a friendly host. Answer in one or two sentences.
#[agent]
async fn host(words: String) -> String;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let model: Arc<dyn Model> = match env::args().nth(1) {
        Some(name) => Arc::new(ollama(name)),
        None => Arc::new(Echo),
    };
    let mut chat = Host.into_chat().model(model);
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
            // A terminal that is gone is no reason to stop: the answer is in the chat.
            let _ = io::stdout().flush();
        }
        println!();
        if let Err(error) = text.outcome().await?.result {
            println!("({error:#})");
        }
    }
    Ok(())
}

/// Model that says how many messages the user has sent, and repeats the last one, word by word.
struct Echo;

#[async_trait]
impl Model for Echo {
    fn id(&self) -> &str {
        "echo"
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        let users = request
            .messages()
            .iter()
            .filter_map(|message| match message {
                Message::User { content } => Some(content),
                _ => None,
            });
        let said: Vec<_> = users.collect();
        let (number, last) = (said.len(), said.last().map_or("", |content| content));
        let answer = format!("You said {number} things. The last was: {last}");
        for word in answer.split_inclusive(' ') {
            tokio::time::sleep(Duration::from_millis(20)).await;
            if let Some(sink) = request.sink() {
                sink(Delta::Text(word));
            }
        }
        Ok(Reply {
            content: answer,
            ..Reply::default()
        })
    }
}
