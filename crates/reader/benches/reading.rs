//! Speed of reading texts, compared with parsing valid JSON by `serde_json`.
//!
//! `cargo bench -p agents-reader`
//!
//! Each row is the best of several runs, in MB/s of the text, and its ratio to `serde_json` on the valid text.

#![allow(clippy::print_stdout)] // Its output is what it is for.

use agents_reader::{Schema, diagnose, growing, lenient};
use serde_json::{Value, json};
use std::{
    hint::black_box,
    time::{Duration, Instant},
};

const RUNS: usize = 15;

fn main() {
    let schema = Schema::new(&json!({
        "type": "object",
        "properties": {
            "calls": {"type": "array", "items": {
                "type": "object",
                "properties": {
                    "path": {"type": "string"},
                    "lines": {"type": "integer"},
                    "ratio": {"type": "number"},
                    "dry_run": {"type": "boolean"},
                    "tags": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["path", "lines"],
            }},
        },
        "required": ["calls"],
    }));
    let call = |n: usize| {
        json!({
            "path": format!("src/part_{n}/main.rs"), "lines": n * 7, "ratio": n as f64 / 8.0,
            "dry_run": n.is_multiple_of(2), "tags": ["one", "two, and three", "four"],
        })
    };
    let calls: Vec<Value> = (0..8_000).map(call).collect();
    let valid = json!({ "calls": calls }).to_string();
    let texts = [
        ("valid", valid.clone()),
        ("trailing commas", valid.replace('}', ",}")),
        ("missing commas", valid.replace("},{", "} {")),
        ("single quotes", valid.replace('"', "'")),
        ("fenced", format!("Here you are:\n```json\n{valid}\n```\n")),
        ("cut off", valid[..valid.len() - 20].to_owned()),
    ];
    let parse = best(&valid, |text| {
        _ = black_box(serde_json::from_str::<Value>(text))
    });
    println!("| text | with schema | lenient | diagnose | growing |\n|-|-|-|-|-|");
    for (name, text) in &texts {
        let rates = [
            best(text, |text| _ = black_box(schema.read(text))),
            best(text, |text| _ = black_box(lenient(text))),
            best(text, |text| _ = black_box(diagnose(text, &schema))),
            best(text, |text| _ = black_box(growing(text, &schema))),
        ];
        let cells = rates.map(|rate| format!("{rate:.0} ({:.2})", rate / parse));
        println!("| {name} | {} |", cells.join(" | "));
    }
    println!("\nserde_json parses the valid text at {parse:.0} MB/s.");
}

/// Returns the best rate of several runs, in MB/s.
fn best(text: &str, run: impl Fn(&str)) -> f64 {
    let time = |_| {
        let start = Instant::now();
        run(text);
        start.elapsed()
    };
    let best = (0..RUNS).map(time).min().unwrap_or(Duration::MAX);
    text.len() as f64 / 1e6 / best.as_secs_f64()
}
