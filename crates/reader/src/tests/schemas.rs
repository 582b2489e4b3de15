//! Tests of single features with small schemas.

use serde_json::{Value, json};

use crate::{ReadErrorKind, read};

#[test]
fn allowed_values_without_a_type() {
    let schema = json!({
        "properties": {"unit": {"enum": ["km", "mi"]}, "level": {"enum": [1, 2, 20]}},
        "additionalProperties": false,
    });
    for (text, want) in [
        (r#"{"unit": "km", "level": null}"#, r#"{"unit":"km"}"#),
        (
            r#"{"unit": "KM", "level": 2.0}"#,
            r#"{"unit":"km","level":2.0}"#,
        ),
        (r#"{"level": "level 20"}"#, r#"{"level":20}"#),
    ] {
        assert_eq!(read(text, &schema).unwrap().json, want, "{text}");
    }
    let valid = r#"{"level": 2.0}"#;
    assert_eq!(read(valid, &schema).unwrap().json, valid);
    for text in [
        r#"{"level": "2.0"}"#,
        r#"{"level": -2}"#,
        r#"{"level": "-2"}"#,
        r#"{"level": "2-20"}"#,
    ] {
        let says = read(text, &schema).unwrap_err().to_string();
        let expected = "field `level`: expected one of 1, 2, 20, got ";
        assert!(says.starts_with(expected), "{says}");
    }
}

#[test]
fn a_schema_that_accepts_nothing_takes_no_text() {
    for text in ["abc", "\"abc\"", "{}", "7"] {
        assert!(read(text, &json!(false)).is_err(), "{text}");
    }
}

#[test]
fn allowed_whole_numbers_with_a_type() {
    let schema = json!({"properties": {"level": {"type": "integer", "enum": [1, 2]}}});
    let whole = read(r#"{"level": 2.0}"#, &schema).unwrap();
    assert_eq!(whole.json, r#"{"level":2}"#);
    assert!(read(r#"{"level": 2.5}"#, &schema).is_err());
}

#[test]
fn a_possible_thousand_is_not_read_as_one() {
    let schema = json!({"properties": {"n": {"type": "integer"}, "x": {"type": "number"}}});
    let refusal = read(r#"{"n": "1.000"}"#, &schema).unwrap_err();
    let says = r#"field `n`: expected a whole number, got "1.000""#;
    assert_eq!(
        (refusal.kind(), &*refusal.to_string()),
        (ReadErrorKind::Mismatch, says)
    );
    let fraction = read(r#"{"n": "1.00", "x": "1.000"}"#, &schema).unwrap();
    assert_eq!(fraction.json, r#"{"n":1,"x":1.000}"#);
}

#[test]
fn a_key_that_is_part_of_the_missing_field() {
    let schema = json!({"properties": {"user_id": {"type": "integer"}}, "required": ["user_id"]});
    let renamed = read(r#"{"id": 5}"#, &schema).unwrap();
    assert_eq!(renamed.json, r#"{"user_id":5}"#);
    assert!(read(r#"{"us": 5}"#, &schema).is_err());
}

#[test]
fn two_fields_that_differ_in_style_only() {
    let schema = json!({"properties": {"a_b": {"type": "integer"}, "ab": {"type": "integer"}}});
    assert_eq!(read(r#"{"A_B": 1}"#, &schema).unwrap().json, r#"{"a_b":1}"#);
    assert!(read(r#"{"A-B": 1}"#, &schema).is_err());
}

#[test]
fn json_in_strings_too_often() {
    let nested = |times| {
        let (mut text, mut schema) = (String::from("[1]"), json!({"type": "integer"}));
        for _ in 0..times {
            text = format!("[{}]", Value::from(text));
        }
        for _ in 0..=times {
            schema = json!({"type": "array", "items": schema});
        }
        let schema = json!({"type": "object", "properties": {"a": schema}});
        read(&json!({"a": text}).to_string(), &schema).map(|reading| reading.json.into_owned())
    };
    assert_eq!(nested(2).unwrap(), r#"{"a":[[[1]]]}"#);
    assert_eq!(nested(3).unwrap_err().kind(), ReadErrorKind::TooDeep);
}

#[test]
fn a_piece_of_a_broken_object_is_not_the_value() {
    let schema = json!({"type": "object", "properties": {"kind_mode": {"type": "string"}}});
    // With its key renamed, the inner object would fit.
    let alone = read(r#"{"kind": "a"}"#, &schema).unwrap();
    assert_eq!(alone.json, r#"{"kind_mode":"a"}"#);
    let refusal = read(r#"{"kind_mode" x y, "call": {"kind": "a"}}"#, &schema).unwrap_err();
    assert_eq!(refusal.kind(), ReadErrorKind::Syntax, "{refusal}");
    // A value that fits as it stands is taken.
    let inner = read(r#"{"name" f, "arguments": {"kind_mode": "a"}}"#, &schema).unwrap();
    assert_eq!(inner.json, r#"{"kind_mode": "a"}"#);
}

#[test]
fn entries_of_a_map_are_never_left_out() {
    let numbers = json!({
        "type": "object",
        "patternProperties": {"^\\d+$": {"type": "string"}},
        "additionalProperties": false,
    });
    let variants = json!({
        "type": "object",
        "properties": {"low": {"type": "integer"}, "high": {"type": "integer"}},
        "additionalProperties": false,
    });
    for (schema, text) in [
        (&numbers, r#"{"1": "a", "two": "b"}"#),
        (&variants, r#"{"low": 1, "middle": 2}"#),
        // A key that is nearly right does not count, nor does a key without a value.
        (&variants, r#"{"low": 1, "higher": 2}"#),
        (&variants, r#"{"low": 1, "high": null}"#),
    ] {
        let refused = read(text, schema).unwrap_err();
        assert_eq!(refused.kind(), ReadErrorKind::Mismatch, "{text}");
    }
    let read = |text, schema| read(text, schema).unwrap().json.into_owned();
    assert_eq!(read(r#"{"1": 2,}"#, &numbers), r#"{"1":"2"}"#);
    assert_eq!(read(r#"{"Low": "1"}"#, &variants), r#"{"low":1}"#);
}
