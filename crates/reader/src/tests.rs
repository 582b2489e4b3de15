//! Tests of all steps together, with and without a schema.

mod schemas;

use std::borrow::Cow;

use serde_json::{Value, json};

use super::{ChangeKind, ReadErrorKind, fits, lenient, read};

fn trip() -> Value {
    json!({
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "nights": {"type": "integer", "minimum": 1},
            "max_price": {"type": "number"},
            "pets": {"type": "boolean"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "class": {"enum": ["First", "second_class"]},
        },
        "required": ["city", "nights"],
    })
}

#[track_caller]
fn check(text: &str, want: &str, kind: ChangeKind) {
    let reading = read(text, &trip()).unwrap_or_else(|refusal| panic!("{text}: {refusal}"));
    assert_eq!(reading.json, want, "{text}");
    assert!(reading.changes.any(kind), "{text}: {}", reading.changes);
}

#[track_caller]
fn refused(text: &str, kind: ReadErrorKind, says: &str) {
    let refusal = read(text, &trip())
        .map(|reading| reading.json.into_owned())
        .unwrap_err();
    assert_eq!(
        (refusal.kind(), refusal.to_string().as_str()),
        (kind, says),
        "{text}"
    );
}

#[test]
fn x15_values_take_the_wanted_type() {
    check(
        r#"{"city": "Oslo", "nights": "2"}"#,
        r#"{"city":"Oslo","nights":2}"#,
        ChangeKind::Coerced,
    );
    check(
        r#"{"city": "Oslo", "nights": 2.0}"#,
        r#"{"city":"Oslo","nights":2}"#,
        ChangeKind::Coerced,
    );
    check(
        r#"{"city": "Oslo", "nights": "2 nights"}"#,
        r#"{"city":"Oslo","nights":2}"#,
        ChangeKind::Extracted,
    );
    check(
        r#"{"city": 7, "nights": 2, "pets": "no"}"#,
        r#"{"city":"7","nights":2,"pets":false}"#,
        ChangeKind::Coerced,
    );
    check(
        r#"{"city": "Oslo", "nights": 2, "max_price": "1,250.50"}"#,
        r#"{"city":"Oslo","nights":2,"max_price":1250.50}"#,
        ChangeKind::Coerced,
    );
    check(
        r#"{"city": "Oslo", "nights": 2, "tags": "quiet, cheap"}"#,
        r#"{"city":"Oslo","nights":2,"tags":["quiet, cheap"]}"#,
        ChangeKind::Listed,
    );
    check(
        r#"{"city": "Oslo", "nights": 2, "tags": "['quiet']"}"#,
        r#"{"city":"Oslo","nights":2,"tags":["quiet"]}"#,
        ChangeKind::Nested,
    );
    check(
        r#"{"city": "Oslo", "nights": 2, "class": "SECOND CLASS"}"#,
        r#"{"city":"Oslo","nights":2,"class":"second_class"}"#,
        ChangeKind::Enum,
    );
}

#[test]
fn keys_find_their_fields() {
    check(
        r#"{"City": "Oslo", "nights": 2, "maxPrice": 9}"#,
        r#"{"city":"Oslo","nights":2,"max_price":9}"#,
        ChangeKind::Renamed,
    );
    check(
        r#"{"city_name": "Oslo", "nights": 2}"#,
        r#"{"city":"Oslo","nights":2}"#,
        ChangeKind::Inferred,
    );
    check(
        r#"{"city": "Oslo", "nights": 2, "mood": 1}"#,
        r#"{"city":"Oslo","nights":2}"#,
        ChangeKind::DroppedKey,
    );
    check(
        r#"{"city": "Oslo", "nights": 2, "pets": null}"#,
        r#"{"city":"Oslo","nights":2}"#,
        ChangeKind::DroppedNull,
    );
    check(
        r#"{"city": "Oslo", "nights": 2, "nights": 2}"#,
        r#"{"city":"Oslo","nights":2}"#,
        ChangeKind::Duplicate,
    );
}

#[test]
fn wrappers_come_off() {
    let want = r#"{"city":"Oslo","nights":2}"#;
    for text in [
        r#"{"name": "book", "arguments": {"city":"Oslo","nights":"2"}}"#,
        r#"{"type": "function", "function": {"name": "book", "arguments": "{\"city\":\"Oslo\",\"nights\":2}"}}"#,
        r#"[{"city":"Oslo","nights":2}]"#,
        r#"{"book": {"city":"Oslo","nights":2}}"#,
    ] {
        check(text, want, ChangeKind::Unwrapped);
    }
    check(
        r#""{\"city\":\"Oslo\",\"nights\":2}""#,
        want,
        ChangeKind::Nested,
    );
    check(r#"book(city="Oslo", nights=2)"#, want, ChangeKind::Call);
    check("city: Oslo\nnights: 2", want, ChangeKind::Brackets);
}

#[test]
fn missing_values_are_not_invented() {
    refused(
        "",
        ReadErrorKind::NoJson,
        "the text is empty; write a JSON object",
    );
    refused(
        "I would rather not.",
        ReadErrorKind::NoJson,
        "no JSON found; write a JSON object",
    );
    refused(
        "{}",
        ReadErrorKind::Mismatch,
        "field `city`: required, and missing; add it",
    );
    refused(
        r#"{"city": "Oslo"}"#,
        ReadErrorKind::Mismatch,
        "field `nights`: required, and missing; add it",
    );
    refused(
        r#"{"city": null, "nights": 1}"#,
        ReadErrorKind::Mismatch,
        "field `city`: expected a string, got null",
    );
    refused(
        r#"{"city": "Oslo", "nights": 2.5}"#,
        ReadErrorKind::Mismatch,
        "field `nights`: expected a whole number, got 2.5",
    );
    refused(
        r#"{"city": "Oslo", "nights": "2 or 3"}"#,
        ReadErrorKind::Mismatch,
        "field `nights`: expected an integer, got \"2 or 3\"",
    );
    refused(
        r#"{"city": "Oslo", "nights": 0}"#,
        ReadErrorKind::Mismatch,
        "field `nights`: 0 is too small",
    );
    refused(
        r#"{"city": "Oslo", "nights": 1, "city": "Rome"}"#,
        ReadErrorKind::Ambiguous,
        "field `city`: the key stands twice with different values; keep one",
    );
    let optional = json!({"type": "object", "properties": {"x": {"type": "integer"}}});
    for text in ["{", "{\"x", "{\"y\": 1}", "null", "# x"] {
        assert!(read(text, &optional).is_err(), "{text}");
    }
}

#[test]
fn the_best_of_several_values_is_taken() {
    let call = r#"{"city": "Oslo", "nights": 2}"#;
    for text in [
        format!("<think>{{\"city\": \"Rome\", \"nights\": 1}} or {{so}}</think>\n{call}"),
        format!("Use {{city}} as in {{\"city\": 1}}:\n```json\n{call}\n```\nDone."),
        format!("<tool_call>\n{call}\n</tool_call>"),
        format!("\u{feff}{call}"),
        format!("cb({call});"),
    ] {
        let reading = read(&text, &trip()).unwrap();
        assert_eq!(reading.json, call, "{text}");
        assert!(matches!(reading.json, Cow::Borrowed(_)), "{text}");
    }
    assert_eq!(
        lenient("[{\"a\": 1}] and [{\"a\": 2}]").unwrap_err().kind(),
        ReadErrorKind::Ambiguous
    );
    assert_eq!(
        lenient("{\"a\": 1}, {\"a\": 2}").unwrap().json,
        r#"[{"a": 1},{"a": 2}]"#
    );
    assert!(lenient("as in [1], see {x}").is_err());
}

#[test]
fn unions_take_the_branch_that_fits() {
    let schema = json!({"oneOf": [
        {"type": "object", "properties": {"kind": {"const": "disc"}, "r": {"type": "number"}}, "required": ["kind", "r"]},
        {"type": "object", "properties": {"kind": {"const": "box"}, "side": {"type": "number"}}, "required": ["kind", "side"]},
    ]});
    assert_eq!(
        read(r#"{"kind": "BOX", "side": "3"}"#, &schema)
            .unwrap()
            .json,
        r#"{"kind":"box","side":3}"#
    );
    assert!(read(r#"{"kind": "cone", "side": 3}"#, &schema).is_err());
    let schema = json!({"anyOf": [{"type": "integer"}, {"type": "null"}]});
    assert_eq!(read("\"12\"", &schema).unwrap().json, "12");
    assert_eq!(read("None", &schema).unwrap().json, "null");
}

#[test]
fn errors_name_the_field() {
    let says = |text: &str| fits(text, &trip()).unwrap_err().to_string();
    assert_eq!(
        says(r#"{"city": "Oslo", "nights": "2"}"#),
        "field `nights`: expected an integer, got \"2\""
    );
    assert_eq!(
        says(r#"{"city": "Oslo", "nights": 2, "tags": ["x", 1]}"#),
        "field `tags[1]`: expected a string, got 1"
    );
    let unknown = says(r#"{"city": "Oslo", "nights": 2, "mood": 1}"#);
    assert!(
        unknown.starts_with("field `mood`: unknown key \"mood\"; the keys are `"),
        "{unknown}"
    );
    assert_eq!(
        says(r#"{"city": "Oslo", "nights": 2, "class": "third"}"#),
        "field `class`: expected one of \"First\", \"second_class\", got \"third\""
    );
    assert!(fits(r#"{"nights": 2, "city": "Oslo"}"#, &trip()).is_ok());
}

#[test]
fn a_list_of_members_without_braces() {
    for text in [
        "- city: Oslo\n- nights: 2",
        "* city: \"Oslo\"\n* nights: \"2\"\n",
        "city = Oslo; nights = 2",
    ] {
        check(text, r#"{"city":"Oslo","nights":2}"#, ChangeKind::Brackets);
    }
}

#[test]
fn prose_with_a_comma_is_no_list() {
    for text in ["Oslo, please", "I would say Oslo, of course, for 2 nights"] {
        let says = "no JSON found; write a JSON object";
        refused(text, ReadErrorKind::NoJson, says);
    }
}

#[test]
fn two_adjacent_objects_are_ambiguous() {
    let two = r#"{"city": "Oslo", "nights": 2}{"city": "Rome", "nights": 2}"#;
    let says = "several JSON values; write one (at byte 29)";
    refused(two, ReadErrorKind::Ambiguous, says);
    let same = r#"{"city": "Oslo", "nights": 2}, {"nights": 2, "city": "Oslo"}"#;
    assert!(read(same, &trip()).is_err(), "another order is other text");
    let twice = r#"{"city": "Oslo", "nights": 2} {"city": "Oslo", "nights": 2}"#;
    let once = r#"{"city": "Oslo", "nights": 2}"#;
    check(twice, once, ChangeKind::Located);
}

#[test]
fn a_field_in_two_spellings() {
    for (text, want) in [
        (r#"{"city": "Oslo", "nights": 2, "Nights": "2"}"#, None),
        (r#"{"city": "Oslo", "nights": 2, "Nights": 3}"#, None),
        (
            r#"{"city": "Oslo", "nights": 2, "Nights": 2}"#,
            Some(ChangeKind::Duplicate),
        ),
        (
            r#"{"city": "Oslo", "Nights": 2, "nights": null}"#,
            Some(ChangeKind::DroppedNull),
        ),
    ] {
        match want {
            Some(kind) => check(text, r#"{"city":"Oslo","nights":2}"#, kind),
            None => {
                let refusal = read(text, &trip()).unwrap_err();
                assert_eq!(refusal.kind(), ReadErrorKind::Ambiguous, "{text}");
            }
        }
    }
}

/// Checks that only the length of a long dropped value is given: a caller could not mask half a secret.
#[test]
fn long_dropped_values_are_noted_by_length() {
    let was = |value: &str| {
        let text = format!(r#"{{"city": "Oslo", "nights": 2, "memo": "{value}"}}"#);
        let reading = read(&text, &trip()).unwrap();
        reading.changes.0[0].original.clone().unwrap()
    };
    assert_eq!(was("short"), "\"short\"");
    assert_eq!(was(&"x".repeat(300)), "(302 characters)");
}

#[test]
fn changes_quote_the_original_text() {
    for (pets, kind, note) in [
        ("yes", ChangeKind::Literal, "yes read as true"),
        (r#""yes""#, ChangeKind::Coerced, r#""yes" read as true"#),
        (
            r#""true""#,
            ChangeKind::Coerced,
            "boolean taken out of its quotes",
        ),
    ] {
        let text = format!(r#"{{"city": "Oslo", "nights": 2, "pets": {pets}}}"#);
        let reading = read(&text, &trip()).unwrap();
        assert!(reading.json.contains(r#""pets":true"#), "{text}");
        let change = reading.changes.iter().find(|change| change.path == "pets");
        let change = change.unwrap();
        assert_eq!((change.kind, change.note.as_str()), (kind, note), "{text}");
    }
}

#[test]
fn an_empty_list_among_several_adds_no_item() {
    let schema = json!({"type": "array", "items": {"type": "boolean"}});
    let reading = read(r#"{"a": false}, {"b": []}"#, &schema).unwrap();
    assert_eq!(reading.json, "[false]");
}

#[test]
fn an_integer_has_the_range_of_its_format() {
    for (format, within, beyond) in [
        ("uint8", ["0", "255"], ["-1", "256"]),
        ("int16", ["-32768", "32767"], ["-32769", "32768"]),
        ("uint32", ["0", "4294967295"], ["-1", "4294967296"]),
        ("int64", ["-9223372036854775808", "0"], ["-1e19", "1e19"]),
    ] {
        let schema = json!({"type": "integer", "format": format});
        for number in within {
            assert!(fits(number, &schema).is_ok(), "{format}: {number}");
        }
        for number in beyond {
            assert!(fits(number, &schema).is_err(), "{format}: {number}");
        }
    }
    let length = json!({"type": "integer", "format": "int"});
    assert!(fits("1000", &length).is_ok(), "no format of a known range");
}
