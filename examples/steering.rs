//! A run that is steered while it goes on: with an instruction, and with a pause.
//!
//! ```text
//! cargo run --example steering
//! ```
//!
//! The model is scripted: it works through a list until somebody tells it to do something else.

use agents::{
    model::{Message, Reply, ToolCall},
    prelude::*,
    run::{Event, EventKind, Instruction, Steering},
    testing::{Script, ScriptedModel},
};
use std::time::Duration;

/// Runs a suite of tests.
#[agents::tool(reads)]
async fn run_tests(
    /// Name of the suite.
    suite: String,
) -> String {
    tokio::time::sleep(Duration::from_millis(50)).await;
    format!("{suite}: all green")
}

/// You look after the build.
#[agent(tools = [RunTests])]
async fn mechanic(task: String) -> String;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let suites = ["docs", "examples", "unit"];
    let (model, _) = ScriptedModel::new((0..4).map(|_| {
        Script::with(move |asked| {
            let messages = &asked.messages;
            let told = messages.iter().rev().find_map(|message| match message {
                Message::User { content } => Some(content.text.clone()),
                _ => None,
            });
            let done = messages
                .iter()
                .filter(|one| matches!(one, Message::Tool { .. }))
                .count();
            let wants_payments = told.is_some_and(|told| told.contains("payments"));
            let has_tested_them = asked
                .results()
                .iter()
                .any(|(_, told)| told.starts_with("payments"));
            let suite = match (wants_payments, has_tested_them) {
                (true, true) => {
                    return Reply {
                        content: "The payments are green.".into(),
                        ..Reply::default()
                    };
                }
                (true, false) => "payments",
                (false, _) => suites[done],
            };
            Reply {
                calls: vec![ToolCall {
                    id: String::new(),
                    name: "run_tests".into(),
                    arguments: format!(r#"{{"suite": "{suite}"}}"#),
                }],
                ..Reply::default()
            }
        })
    }));
    let steering = Steering::new();
    let hand = steering.clone();
    let run = Mechanic
        .run("Look after the build.")
        .model(model)
        .steering(&steering);
    let run = run.on_event(move |event: &Event| match &event.kind {
        EventKind::CallEnded(receipt) => {
            println!(
                "{}",
                receipt
                    .output
                    .as_ref()
                    .map(ToString::to_string)
                    .unwrap_or_default()
            );
            if receipt.input.as_str().contains("examples") {
                hand.pause();
            }
        }
        EventKind::Instructed(said) => {
            println!(
                "{} says: {}",
                said.by.as_deref().unwrap_or("somebody"),
                said.text
            );
        }
        _ => {}
    });
    let people = async {
        while !steering.is_paused() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        println!("paused: nothing else begins");
        tokio::time::sleep(Duration::from_millis(200)).await;
        steering.say(Instruction::new("Never mind the units. Test the payments.").by("ada"));
        steering.resume();
    };
    let (answer, ()) = tokio::join!(run.into_future(), people);
    println!("{}", answer?);
    Ok(())
}
