//! An agent that asks the user, at the terminal or in a test.
//!
//! ```text
//! cargo run --example questions          the answers are given by the program
//! cargo run --example questions -- ask   you answer at the terminal
//! ```
//!
//! The model is scripted: it asks twice, and then says what it was told.

use agents::{
    approve::ask_me,
    prelude::*,
    run::{Approval, ApprovalRequest},
    testing::{Script, ScriptedModel},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::env;

/// Seat in a plane.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
enum Seat {
    Window,
    Aisle,
}

/// Form of a passenger.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Passenger {
    /// Name as in the passport.
    name: String,
    /// Number of bags.
    bags: u8,
}

/// You book flights.
#[agent(tools = [
    Ask::<Seat>::to_user().within(minutes(5)).default(Seat::Aisle),
    agents::tool::alias(Ask::<Passenger>::to_user(), "ask_passenger"),
])]
async fn clerk(task: String) -> String;

/// Answers as a patient user would.
async fn user(request: ApprovalRequest) -> Approval {
    let Some(question) = request.question else {
        return Approval::deny("nothing else was agreed");
    };
    println!("the user is asked: {}", question.text);
    match question.form.choices().is_empty() {
        false => Approval::answer(Seat::Window),
        true => Approval::answer(Passenger {
            name: "Ada Lovelace".into(),
            bags: 2,
        }),
    }
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let (model, handle) = ScriptedModel::new([
        Script::call("ask_user", r#"{"question": "Where do you want to sit?"}"#),
        Script::call("ask_passenger", r#"{"question": "Who flies?"}"#),
        Script::with(|asked| {
            let told = asked.results();
            let text = format!(
                "Booked for {}.",
                told.last().map_or("nobody", |(_, told)| told)
            );
            agents::model::Reply {
                content: text,
                ..Default::default()
            }
        }),
    ]);
    let run = Clerk.run("A flight to Rome.").model(model);
    let outcome = match env::args().nth(1).as_deref() {
        Some("ask") => run.approver(ask_me).outcome().await?,
        _ => run.approver(user).outcome().await?,
    };
    for receipt in outcome.outputs.receipts() {
        let answer = receipt.output.as_ref().map(ToString::to_string);
        let from = match receipt.is_answer {
            true => "the user",
            false => "the default",
        };
        println!(
            "{}: {} from {from}",
            receipt.name,
            answer.unwrap_or_default()
        );
    }
    println!("{}", outcome.result?);
    assert_eq!(handle.count(), 3);
    Ok(())
}
