//! Scores the reader on files of malformed JSON, one case a line.
//!
//! `cargo run --release --example repair_score -- FILE.jsonl… [--by FIELD] [--without VALUE…] [--objects]`
//!
//! A case has `input`, usually a `schema`, and possibly `expect`, the intended value. Without `expect`, any value that
//! fits the schema is right. `--show wrong` and `--show refused` print the cases of that outcome.

#![allow(clippy::print_stdout)] // The result is printed.

#[allow(dead_code, reason = "each example uses a part of it")]
mod score;

use agents::reader::{self, Schema};
use score::{Options, equal, has};
use serde_json::Value;
use std::fmt;

fn main() {
    let options = Options::from_args("repair_score");
    options.score::<Score>(|case| {
        let outcome = read(case);
        if let (Outcome::Wrong(got), Some("wrong")) | (Outcome::Refused(got), Some("refused")) =
            (&outcome, options.show.as_deref())
        {
            eprintln!(
                "{}\n  input  {}\n  expect {}\n  got    {got}\n  schema {}",
                case["id"], case["input"], case["expect"], case["schema"]
            );
        }
        outcome
    });
}

enum Outcome {
    Right,
    Wrong(String),
    Refused(String),
}

fn read(case: &Value) -> Outcome {
    let input = case["input"].as_str().unwrap_or_default();
    let schema = case.get("schema").filter(|schema| !schema.is_null());
    let reading = match schema {
        Some(schema) => reader::read(input, schema),
        None => reader::lenient(input),
    };
    let json = match reading {
        Ok(reading) => reading.json,
        Err(refusal) => return Outcome::Refused(refusal.to_string()),
    };
    let Ok(value) = serde_json::from_str::<Value>(&json) else {
        return Outcome::Wrong(json.into());
    };
    let right = match (case.get("expect"), schema) {
        (Some(expect), _) => equal(&value, expect, has(case, "missing_optional_null")),
        (None, Some(schema)) => Schema::new(schema).fits(&json).is_ok(),
        (None, None) => true,
    };
    match right {
        true => Outcome::Right,
        false => Outcome::Wrong(json.into()),
    }
}

#[derive(Default)]
struct Score {
    right: usize,
    wrong: usize,
    refused: usize,
}

impl score::Score for Score {
    type Case = Outcome;

    fn add(&mut self, case: &Outcome) {
        match case {
            Outcome::Right => self.right += 1,
            Outcome::Wrong(_) => self.wrong += 1,
            Outcome::Refused(_) => self.refused += 1,
        }
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Score {
            right,
            wrong,
            refused,
        } = self;
        let all = right + wrong + refused;
        write!(
            f,
            "{right} right, {wrong} wrong, {refused} refused of {all}"
        )
    }
}
