//! Booking of a flight: an agent with a helper searches a page, its answers are validated, the user buys or keeps
//! searching, and then picks a seat. One budget bounds all of it.
//!
//! `cargo run --example flight_booking -- qwen3:4b` asks a model of Ollama. Without a name, a scripted model answers.

use agents::{
    prelude::*,
    structure,
    testing::{Script, ScriptedModel},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{
    env,
    io::{self, BufRead},
    sync::Arc,
};

const PAGE: &str = "AK123: San Francisco (SFO) to Anchorage (ANC), 2027-01-10, $350
AK456: San Francisco (SFO) to Fairbanks (FAI), 2027-01-10, $370
LA101: San Francisco (SFO) to Anchorage (ANC), 2027-01-10, $250
BS303: Boston (BOS) to Anchorage (ANC), 2027-01-12, $120";

/// A flight.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Flight {
    number: String,
    /// In dollars.
    price: u32,
    /// Airport code.
    from: String,
    /// Airport code.
    to: String,
    #[schemars(extend("format" = "date"))]
    date: String,
}

/// The flight that fits best, or none.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
enum Found {
    Flight(Flight),
    NoFlight,
}

/// What the user wants.
#[derive(Clone, Serialize, Deserialize)]
struct Wish {
    from: String,
    to: String,
    date: String,
    /// Numbers of flights that the user does not want.
    not: Vec<String>,
}

/// You list the flights of a text.
#[agent]
async fn extractor(text: String) -> Vec<Flight>;

/// Returns the flights on offer.
#[agents::tool(reads)]
async fn flights() -> Result<Vec<Flight>, Error> {
    Extractor.run(PAGE).await
}

struct Search(Wish);

#[agent(tools = [Flights], validate = |found| self.fits(found), budget(max_answers = 4))]
impl Search {
    /// You find the cheapest flight for a wish.
    async fn search(&self, wish: Wish) -> Found;

    async fn fits(&self, found: Found) -> Result<(), String> {
        let Found::Flight(flight) = found else {
            return Ok(());
        };
        let Wish {
            from,
            to,
            date,
            not,
        } = &self.0;
        let fits = [(&flight.from, from), (&flight.to, to), (&flight.date, date)];
        match fits.iter().find(|(is, wanted)| is != wanted) {
            Some((is, wanted)) => Err(format!("it has to be {wanted}, not {is}")),
            None if not.contains(&flight.number) => {
                Err(format!("{} was turned down", flight.number))
            }
            None => Ok(()),
        }
    }
}

/// A seat, or none if the words name no seat.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
enum Choice {
    Seat {
        #[schemars(range(min = 1, max = 30))]
        row: u8,
        letter: char,
    },
    Unclear,
}

/// You find out which seat somebody wants. A and F are at the window. Row 1 is in front; rows 1, 14 and 20 have more
/// room for the legs.
#[agent]
async fn seats(words: String) -> Choice;

/// Books a flight.
#[agent]
async fn booking(mut wish: Wish) -> Result<String, Error> {
    let flight = loop {
        match Search(wish.clone()).run(wish.clone()).await? {
            Found::NoFlight => return Ok("no flight".into()),
            Found::Flight(flight) if ask(&format!("{flight:?}\nbuy it?")) == "buy" => break flight,
            Found::Flight(flight) => wish.not.push(flight.number),
        }
    };
    loop {
        if let Choice::Seat { row, letter } = Seats.run(ask("Which seat?")).await? {
            return Ok(format!("{}, seat {row}{letter}", flight.number));
        }
    }
}

fn ask(question: &str) -> String {
    println!("{question}");
    let answer = io::stdin().lock().lines().next();
    answer.and_then(Result::ok).unwrap_or_else(|| "buy".into())
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let model: Arc<dyn Model> = match env::args().nth(1) {
        Some(name) => Arc::new(ollama(name)),
        None => Arc::new(scripted()),
    };
    let wish = Wish {
        from: "SFO".into(),
        to: "ANC".into(),
        date: "2027-01-10".into(),
        not: Vec::new(),
    };
    let team = structure!(Booking);
    let booked = team.run(wish).model(model).budget(tokens(50_000));
    println!("= {}", booked.await?);
    Ok(())
}

fn scripted() -> ScriptedModel {
    let flight = |number: &str, price: u32, to: &str| {
        format!(
            r#"{{"number": "{number}", "price": {price}, "from": "SFO", "to": "{to}", "date": "2027-01-10"}}"#
        )
    };
    let found = |flight: &str| Script::text(format!(r#"{{"Flight": {flight}}}"#));
    let (first, cheap) = (flight("AK123", 350, "ANC"), flight("LA101", 250, "ANC"));
    ScriptedModel::new([
        Script::call("flights", "{}"),
        Script::text(format!("[{first}, {cheap}]")),
        found(&flight("AK456", 370, "FAI")),
        found(&cheap),
        found(&first),
        Script::text("\"Unclear\""),
        Script::text(r#"{"Seat": {"row": 14, "letter": "A"}}"#),
    ])
    .0
}
