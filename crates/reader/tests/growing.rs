//! Property tests of [`growing`]: the value read from a text so far is a beginning of the complete value.

#![allow(clippy::unwrap_used)]

use agents_reader::{Schema, growing};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Returns `true` if more text may turn the first value into the second.
fn begins(one: &Value, two: &Value) -> bool {
    match (one, two) {
        (Value::Object(one), Value::Object(two)) => one
            .iter()
            .all(|(key, value)| two.get(key).is_some_and(|other| begins(value, other))),
        (Value::Array(one), Value::Array(two)) => {
            one.len() <= two.len() && one.iter().zip(two).all(|(one, two)| begins(one, two))
        }
        (Value::String(one), Value::String(two)) => two.starts_with(one.as_str()),
        _ => one == two,
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<i32>().prop_map(|n| Value::from(f64::from(n) / 8.0)),
        ".{0,8}".prop_map(Value::from),
        "[a\"'\\\\{}\\[\\],: \nü😀]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map("[a-c\"' ]{0,3}", inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn document() -> impl Strategy<Value = Value> {
    prop::collection::btree_map("[a-d]{1,2}", value(), 0..5)
        .prop_map(|map| Value::Object(map.into_iter().collect()))
}

/// Returns a schema with the types of the document, in which all fields are required.
fn schema_of(value: &Value) -> Value {
    match value {
        Value::Null => json!({"type": "null"}),
        Value::Bool(_) => json!({"type": "boolean"}),
        Value::Number(number) if number.is_f64() => json!({"type": "number"}),
        Value::Number(_) => json!({"type": "integer"}),
        Value::String(_) => json!({"type": "string"}),
        Value::Array(_) => json!({"type": "array"}),
        Value::Object(members) => {
            let properties: serde_json::Map<_, _> = members
                .iter()
                .map(|(key, value)| (key.clone(), schema_of(value)))
                .collect();
            let required: Vec<_> = members.keys().collect();
            json!({"type": "object", "properties": properties, "required": required})
        }
    }
}

fn check(text: &str, schema: &Schema, whole: &Value) -> Result<(), TestCaseError> {
    let mut before = Value::Null;
    for (end, _) in text.char_indices().skip(1) {
        let Some(found) = growing(&text[..end], schema) else {
            prop_assert!(before.is_null(), "{} was lost", &text[..end]);
            continue;
        };
        let value: Value = serde_json::from_str(&found.json).unwrap();
        prop_assert!(
            before.is_null() || begins(&before, &value),
            "{}: {before} -> {value}",
            &text[..end]
        );
        prop_assert!(
            begins(&value, whole),
            "{}: {value} -> {whole}",
            &text[..end]
        );
        prop_assert!(!found.is_complete || &value == whole, "{}", &text[..end]);
        before = value;
    }
    let found = growing(text, schema).unwrap();
    prop_assert!(found.is_complete && found.open.is_none());
    prop_assert_eq!(&serde_json::from_str::<Value>(&found.json).unwrap(), whole);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_result_is_the_beginning_of_the_next(value in document(), pretty in any::<bool>(), typed in any::<bool>()) {
        let text = match pretty {
            true => serde_json::to_string_pretty(&value).unwrap(),
            false => value.to_string(),
        };
        // Numbers are compared by their spelling in the text.
        let value: Value = serde_json::from_str(&text).unwrap();
        let schema = match typed {
            true => schema_of(&value),
            false => json!({"type": "object"}),
        };
        check(&text, &Schema::new(&schema), &value)?;
    }

    #[test]
    fn any_text_may_grow(text in "[{}\\[\\]\",:a1\\\\ <>`t'-]{0,24}") {
        let schema = Schema::new(&json!({"type": "object", "properties": {"a": {"type": "integer"}}}));
        for (end, _) in text.char_indices() {
            if let Some(found) = growing(&text[..end], &schema) {
                prop_assert!(serde_json::from_str::<Value>(&found.json).is_ok(), "{}", found.json);
            }
        }
    }
}

#[test]
fn the_unfinished_string_is_named() {
    let schema = Schema::new(&json!({
        "type": "object",
        "properties": {
            "lines": {"type": "array", "items": {"type": "object", "properties": {"text": {"type": "string"}}}},
            "level": {"enum": ["low", "high"]},
        },
    }));
    let found = growing(
        r#"Sure: {"lines": [{"text": "a"}, {"text": "b\"c\u00"#,
        &schema,
    )
    .unwrap();
    assert_eq!(found.json, r#"{"lines":[{"text":"a"},{"text":"b\"c"}]}"#);
    assert_eq!(found.open.as_deref(), Some("lines[1].text"));
    // An unfinished value matches none of several allowed values.
    let found = growing(r#"{"level": "low"#, &schema).unwrap();
    assert_eq!((&*found.json, found.open), ("{}", None));
    assert_eq!(
        growing(r#"{"level": "low""#, &schema).unwrap().json,
        r#"{"level":"low"}"#
    );
}

#[test]
fn unfinished_numbers_and_words_are_left_out_of_damaged_text() {
    let schema = Schema::new(&json!({"type": "object", "properties": {
        "title": {"type": "string"}, "pages": {"type": "integer"}, "ok": {"type": "boolean"},
    }}));
    let read = |text| growing(text, &schema).map(|found| found.json);
    for text in [
        "{pages: 1",
        "{'pages': 1",
        "{\"pages\" = 1",
        "{\"pages\": about 1",
        "{ok: t",
        "{ok: T",
        "{ok: n",
    ] {
        assert_eq!(read(text).as_deref(), Some("{}"), "{text}");
    }
    assert_eq!(
        read("{pages: 12, title: 'W").as_deref(),
        Some(r#"{"pages":12,"title":"W"}"#)
    );
    assert_eq!(
        read("{title: 'War', pages: 1").as_deref(),
        Some(r#"{"title":"War"}"#)
    );
}

#[test]
fn text_around_the_value_is_skipped() {
    let schema = Schema::new(&json!({"type": "object", "properties": {"a": {"type": "string"}}}));
    let read = |text| growing(text, &schema).map(|found| (found.json, found.is_complete));
    assert_eq!(read("Let me see"), None);
    assert_eq!(read("<think>perhaps {\"a\": \"no\"}"), None);
    assert_eq!(
        read("<think>perhaps {\"a\": \"no\"}</think>{\"a\": \"ye"),
        Some((r#"{"a":"ye"}"#.into(), false))
    );
    assert_eq!(
        read("```json\n{\"a\": \"x\"}\n```"),
        Some((r#"{"a":"x"}"#.into(), true))
    );
    assert_eq!(
        read("{'a': 'single"),
        Some((r#"{"a":"single"}"#.into(), false))
    );
}
