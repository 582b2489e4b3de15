//! Measures the speed of reading documents of about a megabyte. Compares `serde_json`, `jsonrepair-rs`, `json_repair`
//! of PyPI and `jsonrepair` of npm. Also measures texts that were made to take long.
//!
//! `cargo run --release --manifest-path bench/Cargo.toml --bin repair [-- --write]`
//!
//! A speed in brackets means that the value was wrong or the text was refused.

use agents::reader::{self, Schema};
use agents_bench::{
    peers,
    table::{Cell, Row, Table},
};
use serde_json::{Value, json};
use std::{
    hint::black_box,
    time::{Duration, Instant},
};

const RUNS: usize = 15;

fn main() {
    let table = megabytes();
    println!("{}", table.markdown());
    small();
    hostile();
    if std::env::args().any(|text| text == "--write") {
        table.write().expect("the results can be written");
    }
}

/// Measures speed and correctness of each repairer on documents of about a megabyte.
fn megabytes() -> Table {
    let truth = calls();
    let schema = Schema::new(&schema());
    let peers = peers::installed();
    let mut columns = Vec::new();
    let mut rows: Vec<Row> = [
        "serde_json",
        "jsonrepair-rs",
        "agents, lenient",
        "agents, with schema",
    ]
    .into_iter()
    .chain(peers.iter().map(|peer| &*peer.name))
    .map(|name| Row {
        name: name.into(),
        cells: Vec::new(),
    })
    .collect();
    for (name, text) in documents(&truth) {
        // The cut-off part is lost, so any value counts as right.
        let right = |json: &str| {
            serde_json::from_str::<Value>(json)
                .is_ok_and(|value| name == "truncated" || value == truth)
        };
        let peer = jsonrepair_rs::jsonrepair(&text).is_ok_and(|json| right(&json));
        let ours = reader::lenient(&text).is_ok_and(|reading| right(&reading.json));
        let led = schema.read(&text).is_ok_and(|reading| right(&reading.json));
        let mut cells = vec![
            match serde_json::from_str::<Value>(&text) {
                Ok(_) => speed(&text, true, |text| {
                    _ = black_box(serde_json::from_str::<Value>(text))
                }),
                Err(_) => Cell::default(),
            },
            speed(&text, peer, |text| {
                _ = black_box(jsonrepair_rs::jsonrepair(text))
            }),
            speed(&text, ours, |text| _ = black_box(reader::lenient(text))),
            speed(&text, led, |text| _ = black_box(schema.read(text))),
        ];
        cells.extend(peers.iter().map(|peer| match peer.repair(&text) {
            Some((seconds, made)) => megabytes_a_second(&text, seconds, right(&made)),
            None => Cell::default(),
        }));
        rows.iter_mut()
            .zip(cells)
            .for_each(|(row, cell)| row.cells.push(cell));
        columns.push(name.to_owned());
    }
    Table {
        name: "repair".into(),
        title: "Reading and repairing JSON of about a megabyte".into(),
        unit: "MB/s".into(),
        method: format!(
            "The same documents for all, in one run: {} calls as JSON, {} bytes where they are valid, then broken in one way \
             all over; the best of {RUNS} runs in the process (others: as many as fit into 5 s, the start of the \
             interpreter not counted); in brackets where what comes out is not the value that was broken, or nothing does.",
            truth.as_array().map_or(0, Vec::len),
            truth.to_string().len(),
        ),
        logarithmic: true,
        less: false,
        columns,
        rows,
    }
}

/// Returns the speed of the best run as a cell of the table, marked as wrong unless `right`.
fn speed(text: &str, right: bool, run: impl Fn(&str)) -> Cell {
    let best = (0..RUNS).map(|_| time(|| run(black_box(text))));
    megabytes_a_second(text, best.min().unwrap_or_default().as_secs_f64(), right)
}

fn megabytes_a_second(text: &str, seconds: f64, right: bool) -> Cell {
    Cell {
        wrong: !right,
        ..Cell::of(text.len() as f64 / seconds / 1e6)
    }
}

fn time(run: impl FnOnce()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

/// Measures how long a small call takes to read: by `serde_json` into a value, and by the reader with a schema.
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

/// Formats a value as Python prints it.
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
