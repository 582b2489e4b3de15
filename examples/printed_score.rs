//! Scores the reader of printed calls on JSON Lines of model texts.
//!
//! ```text
//! cargo run --release --quiet --example printed_score -- [--by FIELD] [--without VALUE…] FILE.jsonl…
//! ```
//!
//! A case is right when it yields the same calls, by name and value, in the
//! same order; a negative one when it yields none. `--by` adds a line for each
//! value of a field, `--without` leaves out rows that carry a value or flag,
//! `--show` prints what went wrong.

#![allow(clippy::print_stdout)] // Its output is what it is for.

use std::collections::BTreeMap;
use std::process::ExitCode;

use agents::reader;
use agents::reader::printed::{self, Declared, PrintedCall};
use serde_json::{Value, json};

#[derive(Default)]
struct Options {
    files: Vec<String>,
    by: Option<String>,
    without: Vec<String>,
    show: bool,
}

#[derive(Default, Clone, Copy)]
struct Score {
    right: usize,
    wrong: usize,
}

fn main() -> ExitCode {
    let options = options();
    if options.files.is_empty() {
        eprintln!("usage: printed_score [--by FIELD] [--without VALUE…] [--show] FILE.jsonl…");
        return ExitCode::FAILURE;
    }
    for file in &options.files {
        if let Err(error) = score_file(file, &options) {
            eprintln!("{file}: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Values of `--without` go on until the next option or file.
fn options() -> Options {
    let mut options = Options::default();
    let mut args = std::env::args().skip(1).peekable();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--by" => options.by = args.next(),
            "--show" => options.show = true,
            "--without" => {
                while let Some(value) =
                    args.next_if(|next| !next.starts_with("--") && !next.ends_with(".jsonl"))
                {
                    options.without.push(value);
                }
            }
            _ => options.files.push(arg),
        }
    }
    options
}

fn score_file(file: &str, options: &Options) -> Result<(), Box<dyn std::error::Error>> {
    let mut total = Score::default();
    let mut groups: BTreeMap<String, Score> = BTreeMap::new();
    for line in std::fs::read_to_string(file)?
        .lines()
        .filter(|line| !line.trim().is_empty())
    {
        let case: Value = serde_json::from_str(line)?;
        if options.without.iter().any(|value| carries(&case, value)) {
            continue;
        }
        let right = is_right(&case, options.show);
        total.add(right);
        if let Some(field) = &options.by {
            groups.entry(group(&case, field)).or_default().add(right);
        }
    }
    println!("{file}: {}", total.line());
    for (name, score) in groups {
        println!("  {name}: {}", score.line());
    }
    Ok(())
}

impl Score {
    fn add(&mut self, right: bool) {
        *(if right {
            &mut self.right
        } else {
            &mut self.wrong
        }) += 1;
    }

    fn line(self) -> String {
        format!(
            "{} right, {} wrong of {}",
            self.right,
            self.wrong,
            self.right + self.wrong
        )
    }
}

/// A row carries a value as a field's content, in a list of tags, or as a flag.
fn carries(case: &Value, wanted: &str) -> bool {
    case.as_object()
        .into_iter()
        .flatten()
        .any(|(key, value)| match value {
            Value::String(text) => text == wanted && key != "text",
            Value::Array(tags) => key == "tags" && tags.iter().any(|tag| tag == wanted),
            Value::Bool(set) => *set && key == wanted,
            _ => false,
        })
}

fn group(case: &Value, field: &str) -> String {
    match &case[field] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn is_right(case: &Value, show: bool) -> bool {
    let no_schema = json!({});
    let tools: Vec<Declared<'_>> = case["tools"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|tool| {
            let tool = tool.get("function").unwrap_or(tool);
            let schema = tool.get("parameters").unwrap_or(&no_schema);
            Some(Declared {
                name: tool["name"].as_str()?,
                schema,
            })
        })
        .collect();
    let printed = printed::read(case["text"].as_str().unwrap_or_default(), &tools);
    let expected = case["calls"].as_array().map_or(&[][..], Vec::as_slice);
    let same = printed.calls.len() == expected.len()
        && printed.calls.iter().zip(expected).all(|(call, expected)| {
            let tool = tools.iter().find(|tool| tool.name == call.name);
            let arguments = tool.and_then(|tool| arguments(call, tool.schema));
            expected["name"] == call.name.as_str()
                && arguments.is_some_and(|arguments| same_value(&arguments, &expected["arguments"]))
        });
    if show && !same {
        println!("{}\n  text: {}", case["id"], case["text"]);
        for call in expected {
            println!("  expected: {call}");
        }
        for call in &printed.calls {
            println!(
                "  got:      {} {} ({})",
                call.name, call.arguments, call.syntax
            );
        }
    }
    same
}

/// The arguments as a value, mended if they were printed damaged.
fn arguments(call: &PrintedCall, schema: &Value) -> Option<Value> {
    if call.intact {
        return serde_json::from_str(&call.arguments).ok();
    }
    let reading = reader::read(&call.arguments, schema).ok()?;
    serde_json::from_str(&reading.json).ok()
}

/// Equality in which `1` and `1.0` are the same number.
fn same_value(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_value(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, a)| b.get(key).is_some_and(|b| same_value(a, b)))
        }
        _ => a == b,
    }
}
