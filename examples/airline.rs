//! Customer service of an airline: three agents hand the conversation to each other, and share what they know.
//!
//! `cargo run --example airline -- qwen3:4b` asks a model of Ollama. Without a name, a scripted model answers. Each line
//! of the input is a message; an empty line ends the conversation.

use agents::{
    console::print_line,
    prelude::*,
    testing::{Script, ScriptedModel},
};
use std::{
    env,
    io::{self, BufRead},
    sync::{Arc, Mutex, PoisonError},
};

/// What is known of a customer.
#[derive(Debug, Default)]
struct Customer {
    flight: Option<String>,
    seat: Option<String>,
}

type Known = Arc<Mutex<Customer>>;

/// Looks up answers to frequent questions.
#[agents::tool(reads)]
async fn look_up(
    /// The question, in English.
    question: String,
) -> &'static str {
    let question = question.to_lowercase();
    let about = |words: &[&str]| words.iter().any(|word| question.contains(word));
    match () {
        () if about(&["bag", "luggage"]) => "One bag of at most 23 kg may be brought.",
        () if about(&["seat", "plane"]) => "There are 120 seats; rows 4 and 16 are at the exits.",
        () if about(&["wifi", "internet"]) => "There is free wifi: join Airline-Wifi.",
        () => "That is not known.",
    }
}

/// Books another seat.
#[agents::tool(writes)]
async fn update_seat(
    /// Number of the confirmation.
    confirmation: String,
    /// The new seat, such as 12A.
    seat: String,
    #[inject] known: Known,
) -> String {
    let mut customer = known.lock().unwrap_or_else(PoisonError::into_inner);
    let flight = customer.flight.clone().unwrap_or_default();
    customer.seat = Some(seat.clone());
    format!("{confirmation}: seat {seat} on flight {flight}")
}

/// Answers questions about the airline.
struct Questions(Known);

#[agent(tools = [LookUp], hand_off = [Desk(self.0.clone())])]
impl Questions {
    /// You answer questions about the airline, with your tool alone. If it does not know, hand back to the desk.
    async fn answer(&self, message: String) -> String;
}

/// Changes the seat of a customer.
struct Seats(Known);

#[agent(
    prompt = || self.instructions(),
    tools = [UpdateSeat { known: self.0.clone() }],
    hand_off = [Desk(self.0.clone())],
)]
impl Seats {
    /// Ask for the confirmation number and the seat, then book it. Hand anything else back to the desk.
    async fn book(&self, message: String) -> String;

    async fn instructions(&self) -> String {
        let mut customer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let flight = customer.flight.get_or_insert_with(|| "FLT-482".to_owned());
        format!("You book seats on flight {flight}.")
    }
}

/// Finds out what a customer wants.
struct Desk(Known);

#[agent(hand_off = [Questions(self.0.clone()), Seats(self.0.clone())])]
impl Desk {
    /// You are the desk of an airline. Hand the conversation to whoever can help.
    async fn receive(&self, message: String) -> String;
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let model: Arc<dyn Model> = match env::args().nth(1) {
        Some(name) => Arc::new(ollama(name)),
        None => Arc::new(scripted()),
    };
    let known = Known::default();
    let mut chat = Desk(known.clone()).into_chat().model(model);
    for line in io::stdin().lock().lines() {
        let line = line.unwrap_or_default();
        if line.is_empty() {
            break;
        }
        let answer = chat.send(line).on_event(print_line).await?;
        println!("{}: {answer}", chat.answering());
    }
    println!("{:?}", known.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(())
}

fn scripted() -> ScriptedModel {
    let answers = [
        Script::call(
            "hand_off_to_questions",
            r#"{"reason": "a question about bags"}"#,
        ),
        Script::call("look_up", r#"{"question": "How many bags may I bring?"}"#),
        Script::text("One bag of up to 23 kg."),
        Script::call("hand_off_to_desk", r#"{"reason": "wants another seat"}"#),
        Script::call("hand_off_to_seats", r#"{"reason": "wants another seat"}"#),
        Script::text("What is your confirmation number, and which seat?"),
        Script::call(
            "update_seat",
            r#"{"confirmation": "ABC123", "seat": "12A"}"#,
        ),
        Script::text("You have seat 12A."),
    ];
    ScriptedModel::new(answers).0
}
