//! A guard before an agent, in a conversation: it sees each message first, and its refusals are a part of what was said.
//!
//! `cargo run --example homework_guard -- qwen3:4b` asks a model of Ollama. Without a name, a scripted model answers.
//! Each line of the input is a message; an empty line ends the conversation.

use agents::{
    branch,
    prelude::*,
    testing::{Script, ScriptedModel},
};
use serde::{Deserialize, Serialize};
use std::{
    env,
    io::{self, BufRead},
    sync::Arc,
};

#[derive(Serialize, Deserialize, schemars::JsonSchema)]
struct Verdict {
    reason: String,
    is_homework: bool,
}

/// You find out whether somebody wants their mathematics homework done.
#[agent]
async fn judge(message: String) -> Verdict;

#[derive(Serialize, Deserialize)]
enum Guarded {
    Passed(String),
    Refused(String),
}

/// Lets messages pass that want no homework done.
#[agent]
async fn guard(message: String) -> Result<Guarded, Error> {
    let verdict = Judge.run(&*message).await?;
    Ok(match verdict.is_homework {
        true => Guarded::Refused(verdict.reason),
        false => Guarded::Passed(message),
    })
}

/// You help customers with their questions.
#[agent]
async fn helper(message: String) -> String;

/// Says why nothing is done.
#[agent]
fn refuse(reason: String) -> String {
    format!("Sorry, I do no homework ({reason}).")
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let model: Arc<dyn Model> = match env::args().nth(1) {
        Some(name) => Arc::new(ollama(name)),
        None => Arc::new(scripted()),
    };
    let guarded = branch!(
        Guard,
        match guarded {
            Guarded::Passed(message) => Helper.run(message),
            Guarded::Refused(reason) => Refuse.run(reason),
        }
    );
    let mut chat = guarded.into_chat().model(model);
    for line in io::stdin().lock().lines() {
        let line = line.unwrap_or_default();
        if line.is_empty() {
            break;
        }
        println!("{}", chat.send(line).await?);
    }
    Ok(())
}

fn scripted() -> ScriptedModel {
    let answers = [
        r#"{"reason": "geography", "is_homework": false}"#,
        "Sacramento is the capital of California.",
        r#"{"reason": "an equation to solve", "is_homework": true}"#,
        r#"{"reason": "about the conversation", "is_homework": false}"#,
        "You wanted an equation solved.",
    ];
    ScriptedModel::new(answers.map(Script::text)).0
}
