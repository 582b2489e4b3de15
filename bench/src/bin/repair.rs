//! How fast documents of about a megabyte are read, beside `serde_json` and `jsonrepair-rs`, and
//! how long texts take that were made to take long.
//!
//! `cargo run --release --manifest-path bench/Cargo.toml --bin repair`
//!
//! A speed in brackets belongs to a wrong value or a refusal.

use agents::reader::{self, Schema};
use serde_json::{Value, json};
use std::{
    hint::black_box,
    time::{Duration, Instant},
};

const RUNS: usize = 15;

fn main() {
    megabytes();
    small();
    hostile();
}

fn megabytes() {
    let truth = calls();
    let schema = Schema::new(&schema());
    println!(
        "{:20} {:>8} {:>12} {:>14} {:>12} {:>12}   MB/s",
        "", "bytes", "serde_json", "jsonrepair-rs", "lenient", "with schema"
    );
    for (name, text) in documents(&truth) {
        // What was cut off is lost: any value will do.
        let right = |json: &str| {
            name == "truncated"
                || serde_json::from_str::<Value>(json).is_ok_and(|value| value == truth)
        };
        let strict = serde_json::from_str::<Value>(&text).is_ok();
        let peer = jsonrepair_rs::jsonrepair(&text).is_ok_and(|json| right(&json));
        let ours = reader::lenient(&text).is_ok_and(|reading| right(&reading.json));
        let led = schema.read(&text).is_ok_and(|reading| right(&reading.json));
        println!(
            "{name:20} {:>8} {:>12} {:>14} {:>12} {:>12}",
            text.len(),
            if strict {
                speed(&text, true, |text| {
                    _ = black_box(serde_json::from_str::<Value>(text))
                })
            } else {
                "-".into()
            },
            speed(&text, peer, |text| {
                _ = black_box(jsonrepair_rs::jsonrepair(text))
            }),
            speed(&text, ours, |text| _ = black_box(reader::lenient(text))),
            speed(&text, led, |text| _ = black_box(schema.read(text))),
        );
    }
}

/// The best of some runs, in megabytes a second; in brackets unless it is right.
fn speed(text: &str, right: bool, run: impl Fn(&str)) -> String {
    let best = (0..RUNS).map(|_| time(|| run(black_box(text))));
    let best = best.min().unwrap_or_default().as_secs_f64();
    let speed = format!("{:.0}", text.len() as f64 / best / 1e6);
    if right { speed } else { format!("({speed})") }
}

fn time(run: impl FnOnce()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

/// One ordinary call, over and over: what reading adds to deserialising.
fn small() {
    const TIMES: u32 = 20_000;
    let call = json!([{
        "name": "read_file",
        "arguments": {"path": "src/main.rs", "lines": 20, "tags": ["a", "b"], "exact": true},
        "note": "plain",
    }]);
    let (text, schema) = (call.to_string(), Schema::new(&schema()));
    let per = |run: &dyn Fn()| {
        let runs = (0..RUNS).map(|_| time(|| (0..TIMES).for_each(|_| run())));
        runs.min().unwrap_or_default().as_secs_f64() / f64::from(TIMES) * 1e9
    };
    let serde = per(&|| _ = black_box(serde_json::from_str::<Value>(black_box(&text))));
    let read = per(&|| _ = black_box(schema.read(black_box(&text))));
    let bytes = text.len();
    println!(
        "\none call of {bytes} bytes: serde_json to a value {serde:.0} ns, with schema {read:.0} ns"
    );
}

fn hostile() {
    let schema = Schema::new(&schema());
    println!(
        "\n{:20} {:>8} {:>14} {:>12} {:>12}   ms",
        "", "bytes", "jsonrepair-rs", "lenient", "with schema"
    );
    for (name, text) in hostile_texts() {
        let millis = |time: Duration| format!("{:.1}", time.as_secs_f64() * 1e3);
        println!(
            "{name:20} {:>8} {:>14} {:>12} {:>12}",
            text.len(),
            millis(time(|| _ = black_box(jsonrepair_rs::jsonrepair(&text)))),
            millis(time(|| _ = black_box(reader::lenient(&text)))),
            millis(time(|| _ = black_box(schema.read(&text)))),
        );
    }
}

fn hostile_texts() -> Vec<(&'static str, String)> {
    let repeated = |unit: &str| unit.repeat(200_000 / unit.len());
    vec![
        ("100k [", "[".repeat(100_000)),
        ("100k {\"a\":", "{\"a\":".repeat(100_000)),
        ("fences", repeated("```json\n{\"a\": ")),
        ("quotes", repeated("\"'")),
        ("open strings", repeated("{\"a: \"")),
        ("comments", repeated("/* ")),
        ("prose with braces", repeated("a {b ")),
        ("commas", repeated(",")),
        ("backslashes", repeated("\"\\")),
        ("nested strings", {
            let mut text = String::from("{}");
            while text.len() < 200_000 {
                text = json!({ "arguments": text }).to_string();
            }
            text
        }),
        ("calls", repeated("f(x=")),
        ("digits", format!("{{\"lines\": {}}}", "9".repeat(200_000))),
    ]
}

fn documents(truth: &Value) -> Vec<(&'static str, String)> {
    let valid = serde_json::to_string_pretty(truth).unwrap_or_default();
    let cut = valid.trim_end_matches([']', '}', '\n', ' ']).to_owned();
    vec![
        ("valid", valid.clone()),
        ("valid, compact", truth.to_string()),
        (
            "trailing commas",
            valid
                .replace("\n    }", ",\n    }")
                .replace("\n  }", ",\n  }"),
        ),
        ("missing commas", valid.replace("\",\n", "\"\n")),
        ("python", python(truth)),
        ("truncated", cut),
        (
            "fenced, with prose",
            format!("Here is the list:\n\n```json\n{valid}\n```\n\nDone."),
        ),
    ]
}

fn calls() -> Value {
    (0..2600)
        .map(|n| {
            json!({
                "name": format!("tool_{}", n % 17),
                "arguments": {
                    "path": format!("src/module_{n}/file_{}.rs", n * 7),
                    "content": format!("fn main() {{\n    println!(\"call {n}\");\n}}\n"),
                    "lines": n * 31,
                    "ratio": f64::from(n) / 8.0,
                    "exact": n % 2 == 0,
                    "tags": ["fast", "small", format!("t{n}")],
                    "limits": {"low": n, "high": n + 100, "unit": null},
                },
                "note": "An ordinary sentence, with a comma: and a colon.",
            })
        })
        .collect()
}

fn schema() -> Value {
    json!({
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "arguments": {
                    "type": "object",
                    "properties": {
                        "path": {"type": "string"},
                        "content": {"type": "string"},
                        "lines": {"type": "integer"},
                        "ratio": {"type": "number"},
                        "exact": {"type": "boolean"},
                        "tags": {"type": "array", "items": {"type": "string"}},
                        "limits": {
                            "type": "object",
                            "properties": {"low": {"type": "integer"}, "high": {"type": "integer"}, "unit": {"type": ["string", "null"]}},
                        },
                    },
                    "required": ["path"],
                },
                "note": {"type": "string"},
            },
            "required": ["name", "arguments"],
        },
    })
}

/// The value as Python prints it.
fn python(value: &Value) -> String {
    match value {
        Value::Null => "None".into(),
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => {
            let quote = if text.contains('\'') { '"' } else { '\'' };
            format!(
                "{quote}{}{quote}",
                text.replace('\\', "\\\\").replace('\n', "\\n")
            )
        }
        Value::Array(items) => format!(
            "[{}]",
            items.iter().map(python).collect::<Vec<_>>().join(", ")
        ),
        Value::Object(members) => {
            let members: Vec<_> = members
                .iter()
                .map(|(key, value)| format!("'{key}': {}", python(value)))
                .collect();
            format!("{{{}}}", members.join(", "))
        }
    }
}
