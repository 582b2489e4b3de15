//! Laws that hold for every input.

use std::{borrow::Cow, cell::Cell};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{ChangeKind, Reading, Schema, coerce, lenient, read, strict, strictly};

thread_local! {
    static STEPS: Cell<usize> = const { Cell::new(0) };
}

/// Counts steps of the reader, so that tests can hold their number against the length of the text.
pub(super) fn step(count: usize) {
    STEPS.set(STEPS.get() + count);
}

/// Returns the configuration of the property tests; `PROPTEST_CASES` may ask for more cases.
fn cases() -> ProptestConfig {
    let asked = ProptestConfig::default();
    ProptestConfig {
        cases: asked.cases.max(100_000),
        failure_persistence: None,
        ..asked
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<i32>().prop_map(|n| Value::from(f64::from(n) / 8.0)),
        ".{0,12}".prop_map(Value::from),
        "[a-c\"'\\\\{}\\[\\],: \n]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map("[a-c\"' ]{0,3}", inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Generates numbers with more digits than Rust's types hold, and in notations that printing would change.
fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "-?(0|[1-9][0-9]{0,3})(\\.[0-9]{1,4})?([eE][+-]?[0-9]{1,3})?",
        2 => prop::sample::select(vec!["-0", "-0.0", "1E5", "1e+05", "1.0", "0e0", "10.00E-00"]).prop_map(str::to_owned),
        1 => "-?[1-9][0-9]{29}",
        1 => "-?[0-9]\\.[0-9]{1,120}",
        1 => "-?[1-9][0-9]{399}",
    ]
}

/// Generates valid JSON without a space, with numbers as they were written.
fn raw() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => number(),
        1 => prop::sample::select(vec!["null", "true", "\"\"", "\"a,\\\"1}\""]).prop_map(str::to_owned),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::btree_map("[a-c]{1,2}", inner, 0..4).prop_map(|members| {
                let members = members
                    .iter()
                    .map(|(key, value)| format!("\"{key}\":{value}"));
                format!("{{{}}}", members.collect::<Vec<_>>().join(","))
            }),
        ]
    })
}

/// Generates valid JSON for the tests, in all its spellings.
fn valid() -> impl Strategy<Value = String> {
    prop_oneof![
        value().prop_map(|value| serde_json::to_string(&value).unwrap()),
        value().prop_map(|value| serde_json::to_string_pretty(&value).unwrap()),
        raw(),
    ]
}

/// Generates text from pieces of JSON and from the texts that models put around it, in any order.
fn tangle(least: usize) -> impl Strategy<Value = String> {
    const PIECES: [&str; 58] = [
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        ":",
        ",",
        "\"",
        "\"",
        "\"",
        "'",
        "`",
        "\\",
        "\\\"",
        "\n",
        " ",
        "a",
        "b",
        "key",
        "1",
        "-2.5",
        "1,000",
        "05",
        "1e",
        "7.",
        "true",
        "None",
        "null",
        "nan",
        "//",
        "/*",
        "*/",
        "#",
        "...",
        "```",
        "```json\n",
        "<think>",
        "</think>",
        "<tool_call>",
        "</tool_call>",
        "“",
        "”",
        "‘",
        "«",
        "»",
        "´",
        "\u{feff}",
        "\u{200b}",
        "\u{1}",
        "é",
        "=",
        ";",
        "\"a\": ",
        "{\"a\": 1}",
        "arguments",
        "\\u12",
        "\\ud83d",
    ];
    prop::collection::vec(prop::sample::select(PIECES.to_vec()), least..24)
        .prop_map(|pieces| pieces.concat())
}

/// Generates valid JSON with a few pieces cut out, put in or doubled.
fn broken() -> impl Strategy<Value = String> {
    (
        value(),
        any::<bool>(),
        prop::collection::vec((any::<prop::sample::Index>(), 0..6usize), 1..4),
    )
        .prop_map(|(value, pretty, edits)| {
            let text = if pretty {
                serde_json::to_string_pretty(&value)
            } else {
                serde_json::to_string(&value)
            };
            let mut chars: Vec<char> = text.unwrap().chars().collect();
            for (at, edit) in edits {
                if chars.is_empty() {
                    break;
                }
                let at = at.index(chars.len());
                match edit {
                    0 => _ = chars.remove(at),
                    1 => chars.truncate(at),
                    2 => chars.insert(at, ','),
                    3 => chars.insert(at, '"'),
                    4 => chars.insert(at, '}'),
                    _ => chars
                        .iter_mut()
                        .filter(|c| **c == '"')
                        .for_each(|c| *c = '\''),
                }
            }
            chars.into_iter().collect()
        })
}

fn schemas() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![
        json!({}),
        json!({"type": "object"}),
        json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, "required": ["a"]}),
        json!({"type": "object", "properties": {"a": {"type": ["string", "null"]}, "key": {"type": "array", "items": {"type": "number"}}}}),
        json!({"type": "array", "items": {"type": "boolean"}}),
        json!({"type": "string"}),
        json!({"enum": ["a", "key", 1, null]}),
        json!({
            "$ref": "#/definitions/T",
            "definitions": {"T": {"anyOf": [
                {"type": "object", "properties": {"a": {"$ref": "#/definitions/T"}}, "required": ["a"]},
                {"type": "array", "items": {"$ref": "#/definitions/T"}},
                {"type": "integer"},
            ]}},
        }),
    ])
}

/// Generates text from the pieces of numbers and from the texts that people put beside them.
fn counted() -> impl Strategy<Value = String> {
    const PIECES: [&str; 32] = [
        "1", "12", "200", "000", "0", "5", "007", ".", ",", "'", "_", " ", "-", "−", "+", "e3",
        "E-1", "$", "€", "¥", "~", "≈", "%", "kg", " USD", "about ", "(", ")", "#", "!", "...",
        "\u{a0}",
    ];
    prop::collection::vec(prop::sample::select(PIECES.to_vec()), 1..6)
        .prop_map(|pieces| pieces.concat())
}

/// Returns true if a text is one number and can be no other, in any spelling.
fn is_one_number(text: &str) -> bool {
    let spaceless: String = text.split_whitespace().collect();
    let unsigned = spaceless
        .strip_prefix(['-', '+', '−'])
        .unwrap_or(&spaceless);
    let clear = unsigned.matches(',').count() != 1 || unsigned.contains('.');
    let digits = unsigned.replace([',', '\'', '_'], "");
    clear
        && digits.parse::<f64>().is_ok()
        && digits
            .bytes()
            .all(|b| b.is_ascii_digit() || b".eE+-".contains(&b))
}

/// Counts the steps that reading a text takes, with the schema and without one.
fn steps(text: &str, schema: &Schema) -> usize {
    STEPS.set(0);
    _ = schema.read(text);
    _ = lenient(text);
    STEPS.get()
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn x15_valid_text_is_untouched(text in valid()) {
        let untouched = |reading: Reading<'_>| {
            let same = matches!(reading.json, Cow::Borrowed(json) if std::ptr::eq(json, text.as_str()));
            same && reading.changes.is_empty()
        };
        prop_assert!(untouched(lenient(&text).unwrap()), "{}", text);
        prop_assert!(untouched(read(&text, &json!({})).unwrap()), "{}", text);
    }

    #[test]
    fn repairs_keep_every_digit_of_numbers(held in raw(), extra in "x_[a-z]{1,8}") {
        let want = format!("{{\"held\":{held},\"{extra}\":\"y\"}}");
        let text = format!("{{\"held\":{held},{extra}: 'y',}}");
        let reading = lenient(&text).unwrap();
        prop_assert_eq!(&*reading.json, want);
    }

    #[test]
    fn a_result_is_valid_json_and_reads_as_itself(text in prop_oneof![tangle(0), broken()], schema in schemas()) {
        if let Ok(reading) = lenient(&text) {
            prop_assert!(serde_json::from_str::<&serde_json::value::RawValue>(&reading.json).is_ok(), "{} {}", text, reading.json);
            prop_assert_eq!(lenient(&reading.json).unwrap().json, reading.json.as_ref());
            prop_assert_eq!(reading.changes.is_empty(), reading.json.trim() == text.trim(), "{} {}", text, reading.json);
        }
        let schema = Schema::new(&schema);
        if let Ok(reading) = schema.read(&text) {
            prop_assert!(schema.fits(&reading.json).is_ok(), "{text} {}: {:?}", reading.json, schema.fits(&reading.json));
            prop_assert_eq!(schema.read(&reading.json).unwrap().json, reading.json.as_ref());
            if strictly(&text).is_ok_and(|tape| tape.is_ok()) {
                prop_assert_eq!(schema.coerce(&text).unwrap().json, reading.json.as_ref());
            }
        }
    }

    #[test]
    fn intact_members_stay(value in value(), extra in "x_[a-z]{1,8}") {
        // A trailing comma elsewhere must not touch the member.
        let text = format!("{{\"held\": {value}, {extra}: 1,}}");
        let reading = lenient(&text).unwrap();
        let read: Value = serde_json::from_str(&reading.json).unwrap();
        prop_assert_eq!(&read["held"], &value, "{}", text);
        prop_assert_eq!(&read[&extra], &json!(1), "{}", text);
    }

    #[test]
    fn extracting_a_number_records_the_original_string(text in counted(), whole in any::<bool>()) {
        let kind = if whole { "integer" } else { "number" };
        let schema = json!({"type": "object", "properties": {"n": {"type": kind}}});
        let said = json!({"n": text}).to_string();
        if text.trim().is_empty() { return Ok(()); }
        if let Ok(reading) = coerce(&said, &schema) {
            let [change] = &reading.changes.0[..] else { panic!("{text}: {}", reading.changes) };
            let json = strict::number(text.trim().as_bytes(), 0) == Some(text.trim().len());
            prop_assert_eq!(change.original.as_deref(), (!json).then_some(&*text), "{}", text);
            match change.kind {
                ChangeKind::Coerced => prop_assert!(is_one_number(&text), "{text}"),
                kind => prop_assert_eq!(kind, ChangeKind::Extracted, "{}", text),
            }
        }
    }

    #[test]
    fn key_changes_name_their_own_field(quotes in prop::collection::vec(0..6usize, 1..8), within in any::<bool>()) {
        let (mut members, mut changed) = (Vec::new(), Vec::new());
        for (n, quote) in quotes.into_iter().enumerate() {
            let (open, close) = [("\"", "\""), ("", ""), ("'", "'"), ("“", "”"), ("", "\""), ("`", "`")][quote];
            members.push(format!("{open}k{n}{close}: \"x\""));
            changed.extend((quote > 0).then(|| format!("{}k{n}", if within { "held." } else { "" })));
        }
        let members = format!("{{{}}}", members.join(", "));
        let text = if within { format!("{{\"first\": 1, \"held\": {members}}}") } else { members };
        let reading = lenient(&text).unwrap();
        let told: Vec<_> = reading.changes.iter().map(|change| change.path.clone()).collect();
        prop_assert_eq!(told, changed, "{} {}", text, reading.changes);
    }

    #[test]
    fn work_is_linear_in_the_text(unit in tangle(1), before in tangle(0), schema in schemas()) {
        let schema = Schema::new(&schema);
        let text = |times: usize| format!("{before}{}", unit.repeat(times));
        let (short, long) = (text(200 / unit.len() + 1), text(2000 / unit.len() + 1));
        let bound = |text: &str| 600 * text.len() + 300_000;
        prop_assert!(steps(&short, &schema) <= bound(&short));
        prop_assert!(steps(&long, &schema) <= bound(&long));
    }
}

#[test]
fn s5_1_hostile_texts_are_read_quickly() {
    let schema =
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    let units = [
        "[",
        "{",
        "{\"a\":",
        "{\"a\":\"",
        "\"",
        "\\",
        "'",
        "a \"b\" ",
        "[{",
        "(",
        "}",
        "\\\"",
        "{}",
        "f(a=",
        "“",
        "},\"a\":",
        "\"}",
        "\n",
    ];
    let run = move || {
        let schema = Schema::new(&schema);
        for unit in units {
            for before in ["", "{\"a\": \"", "prose {\"a\": ["] {
                let text = |length: usize| format!("{before}{}", unit.repeat(length / unit.len()));
                let (short, long) = (
                    steps(&text(10_000), &schema),
                    steps(&text(100_000), &schema),
                );
                assert!(
                    long <= 12 * short + 1_000_000,
                    "{unit:?} after {before:?}: {short} steps, then {long}"
                );
            }
        }
    };
    // The stack of a worker thread.
    std::thread::Builder::new()
        .stack_size(2 << 20)
        .spawn(run)
        .unwrap()
        .join()
        .unwrap();
}
