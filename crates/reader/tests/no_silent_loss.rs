//! Tests that a reading is uncertain if dropped text may belong to the call.

#![allow(clippy::unwrap_used)]

use agents_reader::{
    ChangeKind,
    printed::{self, Declared},
    read,
};
use serde_json::{Value, json};

/// Reads a text by a schema; returns the JSON, and `true` if the reading is certain.
fn outcome(text: &str, schema: &Value) -> Option<(String, bool)> {
    let reading = read(text, schema).ok()?;
    let certain = reading.changes.uncertain().is_none();
    Some((reading.json.into_owned(), certain))
}

/// Checks that each text is refused or read with uncertainty, so that no tool that writes runs on it.
fn check_uncertain(schema: &Value, texts: &[&str]) {
    for text in texts {
        if let Some((json, certain)) = outcome(text, schema) {
            assert!(!certain, "{text} was read as {json}, with certainty");
        }
    }
}

/// Checks that each text is read as this value, with certainty.
fn check_certain(schema: &Value, texts: &[(&str, &str)]) {
    for (text, json) in texts {
        assert_eq!(
            outcome(text, schema),
            Some(((*json).to_owned(), true)),
            "{text}"
        );
    }
}

fn order() -> Value {
    json!({
        "type": "object",
        "properties": {
            "item": {"type": "string"},
            "limit": {"type": "integer"},
            "dry_run": {"type": "boolean"},
        },
        "required": ["item"],
    })
}

#[test]
fn text_behind_a_stray_closing_bracket_makes_the_reading_uncertain() {
    check_uncertain(
        &order(),
        &[
            r#"{"item":"tv"}} ,"limit":1,"dry_run":true}"#,
            r#"{"item":"tv"}],"limit":1}"#,
            r#"{"item":"tv"}: 1"#,
            r#"{"item":"tv"},"#,
            r#"{"item":"tv"}}"#,
            r#"{"item":"tv"} "dry_run": true"#,
            r#"{"item":"tv"} dry_run: true"#,
            r#"{"item":"tv","dry_run"}: true}"#,
            r#"{"item":"tv","limit":1]} "dry_run":true}"#,
        ],
    );
}

#[test]
fn a_second_object_makes_the_reading_uncertain() {
    check_uncertain(
        &order(),
        &[
            "{\"item\":\"tv\"}\n{\"dry_run\":true}",
            r#"{"item":"tv"} {"dry_run":true}"#,
            r#"{"dry_run":true} {"item":"tv"}"#,
            "{\"item\":\"tv\"}\nand {dry_run}",
            "```json\n{\"item\":\"tv\"}\n```\nwith\n```json\n{\"dry_run\":true}\n```",
        ],
    );
}

#[test]
fn text_before_the_value_may_belong_to_it_too() {
    check_uncertain(
        &order(),
        &[
            r#""dry_run": true, {"item":"tv"}"#,
            r#"dry_run: true, {"item":"tv"}"#,
            r#"} {"item":"tv"}"#,
        ],
    );
}

#[test]
fn a_list_that_is_closed_too_early_is_not_shortened_in_silence() {
    let mail = json!({
        "type": "object",
        "properties": {
            "to": {"type": "array", "items": {"type": "string"}},
            "body": {"type": "string"},
        },
        "required": ["to"],
    });
    check_uncertain(
        &mail,
        &[
            r#"{"to":["ann@x"}, "bob@x"], "body":"hi"}"#,
            r#"{"to":["ann@x"], "bob@x"], "body":"hi"}"#,
            r#"{"to":["ann@x"]}, "bob@x"], "body":"hi"}"#,
            r#"{"to":["ann@x", "bob@x", ...]}"#,
        ],
    );
}

#[test]
fn a_known_key_is_never_unwrapped() {
    let address = json!({"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}});
    let schema = json!({
        "type": "object",
        "properties": {
            "address": address,
            "item": {"type": "string"},
            "notes": {"type": "string"},
            "input": {"type": "object", "properties": {"n": {"type": "integer"}}},
        },
    });
    let text = r#"{"address":{"street":"a","city":"b","item":"tv","notes":"x"}}"#;
    let (json, _) = outcome(text, &schema).unwrap();
    assert_eq!(json, r#"{"address":{"street":"a","city":"b"}}"#);
    // `item` is required, and stands in the wrong object. The reader does not move it.
    let mut strict = schema.clone();
    strict["required"] = json!(["item"]);
    assert!(read(text, &strict).is_err(), "{text}");
    let text = r#"{"input":{"item":"tv"}}"#;
    let read = read(text, &schema);
    assert!(
        read.as_ref().is_err() || !read.unwrap().changes.any(ChangeKind::Unwrapped),
        "{text}"
    );
}

#[test]
fn arguments_beside_their_wrapper_are_not_dropped_in_silence() {
    check_uncertain(
        &order(),
        &[
            r#"{"name":"order","arguments":{"item":"tv"},"dry_run":true}"#,
            r#"{"arguments":{"item":"tv"},"limit":1}"#,
            r#"{"arguments":{"item":"tv"},"extra":1}"#,
            r#"{"arguments":{"item":"tv"},"parameters":{"dry_run":true}}"#,
        ],
    );
    check_certain(
        &order(),
        &[
            (
                r#"{"name":"order","arguments":{"item":"tv"},"id":"call_1"}"#,
                r#"{"item":"tv"}"#,
            ),
            (r#"{"arguments":{"item":"tv"}}"#, r#"{"item":"tv"}"#),
        ],
    );
    let optional = json!({"type": "object", "properties": {"limit": {"type": "integer"}, "item": {"type": "string"}}});
    check_uncertain(&optional, &[r#"{"arguments":{"item":"tv"},"limit":1}"#]);
    let named = json!({"type": "object", "properties": {"name": {"type": "string"}, "item": {"type": "string"}}, "required": ["item"]});
    check_uncertain(&named, &[r#"{"name":"Ann","arguments":{"item":"tv"}}"#]);
}

#[test]
fn prose_fences_tags_and_quotes_around_the_value_are_no_loss() {
    let tv = r#"{"item":"tv"}"#;
    let texts = [
        "Sure, here is the call: {\"item\":\"tv\"}",
        "Sure, {\"item\":\"tv\"}",
        "Here:\n```json\n{\"item\":\"tv\"}\n```",
        "{\"item\":\"tv\"}\n\nLet me know if you need anything else, or: ask.",
        "```json\n{\"item\":\"tv\"}\n```\nThat orders the television.",
        "<tool_call>{\"item\":\"tv\"}</tool_call>",
        "[TOOL] {\"item\":\"tv\"} [/TOOL]",
        "order({\"item\":\"tv\"})",
        "'{\"item\":\"tv\"}'",
        "{\"item\":\"tv\"};",
        "{\"item\":\"tv\"} // as asked",
        "{\"item\":\"tv\"}\n{\"item\":\"tv\"}",
        "<think>Perhaps {\"item\":\"radio\", \"limit\":1}?</think>{\"item\":\"tv\"}",
    ];
    let texts: Vec<_> = texts.iter().map(|text| (*text, tv)).collect();
    check_certain(&order(), &texts);
}

#[test]
fn marks_with_one_right_place_are_supplied_with_certainty() {
    check_certain(
        &order(),
        &[
            (r#"{"item":"tv","limit":1]"#, r#"{"item":"tv","limit":1}"#),
            (r#"{"item":"tv" "limit":1}"#, r#"{"item":"tv","limit":1}"#),
            (r#"{"item":"tv, "limit":1}"#, r#"{"item":"tv","limit":1}"#),
            (r#"{"item":tv", "limit":1}"#, r#"{"item":"tv","limit":1}"#),
            (r#"{"item":"tv", "limit:1}"#, r#"{"item":"tv","limit":1}"#),
            (r#"{"item":"a "big" tv"}"#, r#"{"item":"a \"big\" tv"}"#),
            (r#"{"item":"tv"}, "limit":1}"#, r#"{"item":"tv","limit":1}"#),
        ],
    );
}

#[test]
fn quotes_that_may_enclose_a_member_are_not_taken_for_text() {
    let lists = json!({"type": "object", "properties": {"to": {"type": "array", "items": {"type": "string"}}, "notes": {"type": "string"}}});
    check_uncertain(
        &lists,
        &[
            r#"{"to":["a","notes":"km"}"#,
            r#"{"to":["a", red, 50%", "b"]}"#,
            r#"{"to":["a", red, 50%, "b"]}"#,
            r#"{"notes": "x", more, "to": ["a"]}"#,
            r#"{"notes": #42", "to": ["a"]}"#,
        ],
    );
}

#[test]
fn a_printed_call_with_extra_members_is_passed_on_in_full() {
    let schema = order();
    let tools = [Declared {
        name: "order",
        schema: &schema,
    }];
    for text in [
        r#"<tool_call>{"name": "order", "arguments": {"item": "tv"}, "dry_run": true}</tool_call>"#,
        r#"<tool_call>{"name": "order", "arguments": {"item": "tv"}} ,"dry_run": true}</tool_call>"#,
        r#"<tool_call>{"name": "order", "arguments": {"item": "tv"}}} ,"dry_run": true}</tool_call>"#,
        r#"{"name": "order", "arguments": {"item": "tv"}} ,"dry_run": true}"#,
        r#"{"function": {"name": "order", "arguments": {"item": "tv"}}, "dry_run": true}"#,
        r#"<|tool_call_start|>[order(item="tv", mood="good")]<|tool_call_end|>"#,
    ] {
        let said = printed::read(text, &tools);
        let [call] = &said.calls[..] else {
            panic!("{text}: {said:?}");
        };
        assert!(!call.is_valid, "{text}: {call:?}");
        check_uncertain(&schema, &[&call.arguments]);
    }
    let said = printed::read(
        r#"<tool_call>{"name": "order", "arguments": {"item": "tv"}}</tool_call>"#,
        &tools,
    );
    assert!(said.calls[0].is_valid);
}

#[test]
fn damaged_json_in_a_string_is_as_uncertain_as_outside_of_it() {
    check_uncertain(
        &order(),
        &[
            r#"{"name":"order","arguments":"{\"item\":\"tv\"}}"}"#,
            r#"{"name":"order","arguments":"{\"item\":\"tv\"}} ,\"dry_run\":true}"}"#,
            r#"{"name":"order","arguments":"{\"item\":\"tv, {x}, \"limit\":1}"}"#,
        ],
    );
    // A tool with a single text field does not get the damaged object as its text.
    let one =
        json!({"type": "object", "properties": {"item": {"type": "string"}}, "required": ["item"]});
    for text in [
        r#"{"name":"order","arguments":"{\"item\": }\"tv\"}"}"#,
        r#""{\"item\": }\"tv\"}""#,
    ] {
        let read = outcome(text, &one);
        assert!(
            read.as_ref().is_none_or(|(_, certain)| !certain),
            "{text}: {read:?}"
        );
    }
}
