//! Scores readers and decoders on what other people reported, one case a line.
//!
//! `cargo run --release --example reports_score -- FILE.jsonl… [--by FIELD] [--without VALUE…]`
//!
//! A case has `mode`, `input` and `expected`. The mode says what the input is: a model's text that holds calls (`printed`),
//! a recorded reply (`decode`), or the arguments of a call (`args`). A case of the mode `end-to-end` is a story that a test
//! tells, and is only counted. A line is printed for each kind, and one for all; a case whose expectation is arguable counts in lines
//! of its own. `--show wrong` and `--show refused` print the cases of that outcome.

#![allow(clippy::print_stdout)] // The result is printed.

#[allow(dead_code, reason = "each example uses a part of it")]
#[path = "score/calls.rs"]
mod calls;
#[allow(dead_code, reason = "each example uses a part of it")]
mod score;
#[path = "score/wire.rs"]
mod wire;

use agents::reader::{self, printed};
use score::{Options, equal};
use serde_json::{Value, json};
use std::{collections::BTreeMap, fmt};
use wire::Delivery;

fn main() {
    let options = Options::from_args("reports_score");
    let mut all = Score::default();
    let mut arguable = Score::default();
    let mut groups = BTreeMap::<String, Score>::new();
    for case in options.files.iter().flat_map(|file| options.cases(file)) {
        let outcome = outcome(&case);
        if let (Outcome::Wrong(got), Some("wrong")) | (Outcome::Refused(got), Some("refused")) =
            (&outcome, options.show.as_deref())
        {
            eprintln!(
                "{} {}\n  input    {}\n  expected {}\n  got      {got}",
                case["id"], case["kind"], case["input"], case["expected"]
            );
        }
        let mut group = group(&case, options.by.as_deref());
        if case["arguable"] == true {
            group.push_str(" arguable");
            arguable.add(&outcome);
        } else {
            all.add(&outcome);
        }
        groups.entry(group).or_default().add(&outcome);
    }
    for (group, score) in groups {
        println!("{group}: {score}");
    }
    if arguable.count() > 0 {
        println!("all arguable: {arguable}");
    }
    println!("all: {all}");
}

/// Returns the name of a case's group: the value of the field `by`, or else the first word of its kind.
fn group(case: &Value, by: Option<&str>) -> String {
    let value = &case[by.unwrap_or("kind")];
    match (value.as_str(), by) {
        (Some(kind), None) => kind.split(' ').next().unwrap_or_default().to_owned(),
        (Some(text), Some(_)) => text.to_owned(),
        (None, _) => value.to_string(),
    }
}

enum Outcome {
    Right,
    Wrong(String),
    Refused(String),
    ByHand,
}

#[derive(Default)]
struct Score {
    right: usize,
    wrong: usize,
    refused: usize,
    by_hand: usize,
}

impl Score {
    fn add(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Right => self.right += 1,
            Outcome::Wrong(_) => self.wrong += 1,
            Outcome::Refused(_) => self.refused += 1,
            Outcome::ByHand => self.by_hand += 1,
        }
    }

    /// Returns the number of cases that are scored here.
    fn count(&self) -> usize {
        self.right + self.wrong + self.refused
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Score {
            right,
            wrong,
            refused,
            by_hand,
        } = self;
        let all = self.count();
        write!(
            f,
            "{right} right, {wrong} wrong, {refused} refused of {all}, {by_hand} by hand"
        )
    }
}

fn outcome(case: &Value) -> Outcome {
    match case["mode"].as_str() {
        Some("printed") => of_printed(case),
        Some("decode") => of_wire(case),
        Some("args") => of_arguments(case),
        _ => Outcome::ByHand,
    }
}

fn of_printed(case: &Value) -> Outcome {
    let no_schema = json!({});
    let tools = calls::declared(&case["tools_or_schema"], &no_schema);
    let printed = printed::read(case["input"].as_str().unwrap_or_default(), &tools);
    let expected = &case["expected"];
    let calls = expected["calls"].as_array().map_or(&[][..], Vec::as_slice);
    let content = expected["content"].as_str();
    let same = calls::are_expected(&printed, &tools, calls)
        && content.is_none_or(|content| content.trim() == printed.content.trim());
    let wanted = case["uncertain"] == true;
    let uncertain = printed.calls.iter().any(|call| {
        let repaired = calls::arguments(call, &tools);
        call.changes.uncertain().is_some()
            || repaired.is_some_and(|(_, changes)| changes.uncertain().is_some())
    });
    let got = format!("{printed:?}");
    match (same, uncertain) {
        (_, true) if !wanted => Outcome::Refused(got),
        (true, uncertain) if uncertain == wanted => Outcome::Right,
        _ => Outcome::Wrong(got),
    }
}

/// Scores a recorded reply, decoded whole and in small pieces.
fn of_wire(case: &Value) -> Outcome {
    let body = case["input"].as_str().unwrap_or_default().as_bytes();
    let format = case["tools_or_schema"].as_str().unwrap_or_default();
    let expected = &case["expected"];
    for chunk in [None, Some(7)] {
        let delivery = Delivery {
            chunk,
            ..Delivery::default()
        };
        let Some(got) = wire::decoded(format, body, delivery) else {
            return Outcome::Wrong(format!("`{format}` is no format"));
        };
        let fields = expected.as_object().into_iter().flatten();
        if fields
            .into_iter()
            .all(|(field, want)| is_as(&got, field, want))
        {
            continue;
        }
        return match got["error"].is_string() && expected["error"].is_null() {
            true => Outcome::Refused(got.to_string()),
            false => Outcome::Wrong(got.to_string()),
        };
    }
    Outcome::Right
}

/// Returns `true` if a field of a decoded reply is as expected: arguments are compared as JSON, and `some` is any text.
fn is_as(reply: &Value, field: &str, want: &Value) -> bool {
    let got = &reply[field];
    if field != "calls" {
        return want == "some" && got.is_string() || got == want;
    }
    let none = Vec::new();
    let (got, want) = (
        got.as_array().unwrap_or(&none),
        want.as_array().unwrap_or(&none),
    );
    got.len() == want.len()
        && got.iter().zip(want).all(|(got, want)| {
            let arguments = got["arguments"].as_str().unwrap_or_default();
            got["name"] == want["name"]
                && serde_json::from_str(arguments)
                    .is_ok_and(|value: Value| equal(&value, &want["arguments"], false))
        })
}

fn of_arguments(case: &Value) -> Outcome {
    let input = case["input"].as_str().unwrap_or_default();
    let reading = match reader::read(input, &case["tools_or_schema"]) {
        Ok(reading) => reading,
        Err(refusal) => return Outcome::Refused(refusal.to_string()),
    };
    let is_right = serde_json::from_str(&reading.json)
        .is_ok_and(|value: Value| equal(&value, &case["expected"], false));
    match is_right {
        true => Outcome::Right,
        false => Outcome::Wrong(format!("{} {}", reading.json, reading.changes)),
    }
}
