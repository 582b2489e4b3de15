//! Scores the reader on files of malformed JSON, one case a line.
//!
//! `cargo run --release --example repair_score -- FILE.jsonl… [--by FIELD] [--without VALUE…] [--objects]`
//!
//! A case has `input`, mostly a `schema`, and either `expect`, the value that is
//! meant, or nothing, when any value that fits the schema is right.

use std::{collections::BTreeMap, env, fmt, fs, process};

use agents::reader::{self, Schema};
use serde_json::Value;

#[derive(Default)]
struct Score {
    right: usize,
    wrong: usize,
    refused: usize,
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            right,
            wrong,
            refused,
        } = self;
        write!(
            f,
            "{right} right, {wrong} wrong, {refused} refused of {}",
            right + wrong + refused
        )
    }
}

#[derive(Default)]
struct Options {
    files: Vec<String>,
    by: Option<String>,
    without: Vec<String>,
    objects: bool,
    /// Prints what was not read right: `wrong` or `refused`.
    show: Option<String>,
}

fn main() {
    let options = options();
    for file in &options.files {
        let text = fs::read_to_string(file).unwrap_or_else(|error| {
            eprintln!("{file}: {error}");
            process::exit(2)
        });
        let mut total = Score::default();
        let mut groups = BTreeMap::<String, Score>::new();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let case: Value = serde_json::from_str(line).unwrap_or_else(|error| {
                eprintln!("{file}: {error}");
                process::exit(2)
            });
            if options.leaves_out(&case) {
                continue;
            }
            let group = options.by.as_ref().map(|by| label(&case[by]));
            let outcome = score(&case);
            for score in [&mut total]
                .into_iter()
                .chain(group.map(|name| groups.entry(name).or_default()))
            {
                match outcome {
                    Outcome::Right => score.right += 1,
                    Outcome::Wrong(_) => score.wrong += 1,
                    Outcome::Refused(_) => score.refused += 1,
                }
            }
            match (outcome, options.show.as_deref()) {
                (Outcome::Wrong(got), Some("wrong")) | (Outcome::Refused(got), Some("refused")) => {
                    eprintln!(
                        "{}\n  input  {}\n  expect {}\n  got    {got}\n  schema {}",
                        case["id"], case["input"], case["expect"], case["schema"]
                    );
                }
                _ => {}
            }
        }
        println!("{file}: {total}");
        for (name, score) in groups {
            println!("  {name}: {score}");
        }
    }
}

enum Outcome {
    Right,
    Wrong(String),
    Refused(String),
}

fn score(case: &Value) -> Outcome {
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
        (Some(expect), _) => {
            let may_lack = has(case, "missing_optional_null");
            equal(&value, expect, may_lack)
        }
        (None, Some(schema)) => Schema::new(schema).fits(&json).is_ok(),
        (None, None) => true,
    };
    if right {
        Outcome::Right
    } else {
        Outcome::Wrong(json.into())
    }
}

/// Equality of values, by which `1` is `1.0`.
fn equal(one: &Value, two: &Value, may_lack: bool) -> bool {
    match (one, two) {
        (Value::Number(one), Value::Number(two)) => one == two || one.as_f64() == two.as_f64(),
        (Value::Array(one), Value::Array(two)) => {
            one.len() == two.len()
                && one
                    .iter()
                    .zip(two)
                    .all(|(one, two)| equal(one, two, may_lack))
        }
        (Value::Object(one), Value::Object(two)) => {
            one.iter().all(|(key, value)| {
                two.get(key)
                    .is_some_and(|other| equal(value, other, may_lack))
            }) && two
                .iter()
                .all(|(key, value)| one.contains_key(key) || (may_lack && value.is_null()))
        }
        _ => one == two,
    }
}

impl Options {
    fn leaves_out(&self, case: &Value) -> bool {
        self.without.iter().any(|value| has(case, value))
            || (self.objects && !(case["expect"].is_object() || case["expect"].is_array()))
    }
}

/// Whether a case has this value, tag, mode or flag.
fn has(case: &Value, name: &str) -> bool {
    case.as_object().into_iter().flatten().any(|(key, value)| match value {
        Value::String(text) => text == name && key != "input" && key != "expect",
        Value::Array(tags) => key == "tags" && tags.iter().any(|tag| tag == name),
        _ => false,
    } || (key == name && !matches!(value, Value::Null | Value::Bool(false))))
}

fn label(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

fn options() -> Options {
    let mut options = Options::default();
    let mut arguments = env::args().skip(1).peekable();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--by" => options.by = arguments.next(),
            "--show" => options.show = arguments.next(),
            "--objects" => options.objects = true,
            "--without" => {
                while let Some(value) =
                    arguments.next_if(|next| !next.starts_with("--") && !next.ends_with(".jsonl"))
                {
                    options.without.push(value);
                }
            }
            _ => options.files.push(argument),
        }
    }
    if options.files.is_empty() {
        eprintln!(
            "usage: repair_score FILE.jsonl… [--by FIELD] [--without VALUE…] [--objects] [--show wrong|refused]"
        );
        process::exit(2);
    }
    options
}
