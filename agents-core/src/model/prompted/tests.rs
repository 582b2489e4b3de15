use super::{example::example_of, *};
use crate::Effects;
use serde_json::json;

fn convert() -> ToolSpec {
    let unit = json!({ "enum": ["celsius", "fahrenheit"] });
    ToolSpec::new(
        "convert",
        "Convert a temperature.\n\nBetween two units.",
        Effects::None,
        json!({
            "type": "object",
            "properties": {
                "from": { "allOf": [{ "$ref": "#/definitions/Unit" }], "description": "Unit of the value.\nOne of two." },
                "to": { "$ref": "#/definitions/Unit" },
                "value": { "type": ["number", "null"] },
                "tags": { "type": "array", "items": { "type": "string" } },
            },
            "required": ["from", "to", "value"],
            "definitions": { "Unit": unit },
        }),
    )
    .output_schema(Some(json!({ "type": "number" })))
}

#[test]
fn parameters_in_a_line_each() {
    let expect = "## convert\nConvert a temperature.\n\nBetween two units.\n\
        - from (celsius | fahrenheit): Unit of the value.\n\
        - tags (list of string, optional)\n\
        - to (celsius | fahrenheit)\n\
        - value (number)\n\
        Example: {\"name\": \"convert\", \"arguments\": {\"from\":\"celsius\",\"to\":\"celsius\",\"value\":20.5}}\n\n";
    assert!(
        instructions([&convert()]).starts_with(expect),
        "{}",
        instructions([&convert()])
    );
}

#[test]
fn examples_are_turns() {
    let tool = convert().example(json!({ "from": "celsius", "to": "fahrenheit", "value": 3 }));
    let turns: Vec<_> = examples([&tool])
        .iter()
        .map(|turn| {
            let (role, text) = plain(turn);
            format!("{role}: {text}")
        })
        .collect();
    assert_eq!(
        turns,
        [
            "user: Convert a temperature. from celsius, to fahrenheit, value 3",
            r#"assistant: {"name": "convert", "arguments": {"from":"celsius","to":"fahrenheit","value":3}}"#,
            "user: Result of convert: 1.5\nAnswer now, or call again.",
            "assistant: The result is 1.5",
            "user: Convert a temperature. from fahrenheit, to fahrenheit, value 1.5",
            r#"assistant: {"name": "convert", "arguments": {"from":"fahrenheit","to":"fahrenheit","value":1.5}}"#,
        ]
    );
    let many: Vec<_> = (0..5).map(|_| convert()).collect();
    assert_eq!(
        examples(&many).len(),
        5 * 4,
        "one round is enough when there are many"
    );
}

#[test]
fn a_result_that_is_made_up_belongs_to_its_call() {
    let text = || {
        ToolSpec::output_schema(
            convert(),
            Some(json!({ "title": "String", "type": "string" })),
        )
    };
    let said = |tool: ToolSpec| plain(&examples([&tool])[3]).1.into_owned();
    let from_oslo = text().example(json!({ "tags": [], "from": "Oslo" }));
    assert_eq!(said(from_oslo), "The result is text about Oslo");
    let of_three = text().example(json!({ "value": 3 }));
    assert_eq!(said(of_three), "The result is text about 3");
    assert_eq!(said(text().example(json!({}))), "The result is some text");
    let schema = json!({ "type": "string", "enum": ["sun", "rain"] });
    let choice = text().output_schema(Some(schema));
    assert_eq!(said(choice), "The result is rain");
}

#[test]
fn messages_as_plain_text() {
    let call = |arguments: &str| ToolCall {
        id: "c".into(),
        name: "add \"x\"".into(),
        arguments: arguments.into(),
    };
    let message = Message::Assistant {
        content: "Well.".into(),
        thinking: Some("hidden".into()),
        calls: vec![call(" {\"a\": 1} "), call("{a"), call("")],
    };
    assert_eq!(
        plain(&message),
        (
            "assistant",
            "Well.\n{\"name\": \"add \\\"x\\\"\", \"arguments\": {\"a\": 1}}\n{\"name\": \"add \\\"x\\\"\", \
             \"arguments\": {a}\n{\"name\": \"add \\\"x\\\"\", \"arguments\": \"\"}"
                .into()
        )
    );
    let result = |content: &str| Message::Tool {
        tool_call_id: "c".into(),
        name: "add".into(),
        content: content.into(),
    };
    assert_eq!(
        plain(&result("3")),
        (
            "user",
            "Result of add: 3
Answer now, or call again."
                .into()
        )
    );
    assert_eq!(
        plain(&result("ERROR no")),
        ("user", "Result of add: ERROR no".into())
    );
}

#[test]
fn objects_and_what_only_looks_like_one() {
    for (text, expect) in [
        ("{}", true),
        (" {\"a\":[1]}\n", true),
        ("{\"a\":}", false),
        ("{} {}", false),
        ("[]", false),
        ("", false),
        ("null", false),
    ] {
        assert_eq!(is_object(text), expect, "{text}");
    }
}

#[test]
fn examples_made_from_schemas() {
    for (schema, expect) in [
        (json!({ "type": "integer" }), json!(3)),
        (
            json!({ "type": "integer", "minimum": 10, "maximum": 11 }),
            json!(10),
        ),
        (
            json!({ "type": "integer", "exclusiveMaximum": 2 }),
            json!(1),
        ),
        (json!({ "type": "integer", "multipleOf": 5 }), json!(5)),
        (
            json!({ "type": "integer", "minimum": 0, "maximum": 4, "multipleOf": 4 }),
            json!(4),
        ),
        (json!({ "type": "number", "maximum": 1 }), json!(1.0)),
        (json!({ "type": "boolean" }), json!(true)),
        (json!({ "type": ["null", "boolean"] }), json!(true)),
        (json!({ "type": "null" }), json!(null)),
        (json!({ "const": 7 }), json!(7)),
        (json!({ "examples": ["x"], "enum": ["y"] }), json!("x")),
        (
            json!({ "type": "string", "default": "auto" }),
            json!("auto"),
        ),
        (
            json!({ "type": "string", "format": "date" }),
            json!("2026-01-31"),
        ),
        (json!({ "type": "string", "maxLength": 4 }), json!("firs")),
        (
            json!({ "type": "string", "minLength": 12 }),
            json!("first textxx"),
        ),
        (
            json!({ "anyOf": [{ "type": "null" }, { "type": "integer" }] }),
            json!(3),
        ),
        (
            json!({ "type": "array", "items": { "type": "integer" }, "minItems": 2 }),
            json!([3, 3]),
        ),
        (
            json!({ "type": "array", "items": [{ "type": "integer" }, { "type": "boolean" }] }),
            json!([3, true]),
        ),
        (json!({ "type": "array" }), json!([])),
        (json!({ "type": "object" }), json!({})),
        (
            json!({ "properties": { "path": {}, "note": {} }, "required": ["path"] }),
            json!({ "path": "docs/notes.txt" }),
        ),
        (
            json!({ "properties": { "b": { "type": "integer" }, "a": {} }, "required": [] }),
            json!({ "a": "first a" }),
        ),
    ] {
        assert_eq!(example_of(&schema), expect, "{schema}");
    }
}

#[test]
fn a_schema_that_refers_to_itself_ends() {
    let node = json!({
        "properties": { "next": { "$ref": "#/definitions/Node" } },
        "required": ["next"],
    });
    let schema = json!({ "$ref": "#/definitions/Node", "definitions": { "Node": node } });
    assert!(example_of(&schema).is_object());
    let circle =
        json!({ "$ref": "#/definitions/A", "definitions": { "A": { "$ref": "#/definitions/A" } } });
    example_of(&circle);
    example_of(&json!({ "$ref": "#/nowhere" }));
}

#[test]
fn a_grammar_for_tools_with_definitions_of_one_name() {
    let text = constrained(
        [&convert(), &convert()],
        Some(&json!({ "$ref": "#/definitions/Unit", "definitions": { "Unit": {} } })),
    );
    assert!(text.starts_with(r#"{"oneOf":[{"type":"object","properties":{"answer":{"#));
    assert!(
        text.contains(
            r#",{"type":"object","properties":{"name":{"const":"convert"},"arguments":{"#
        )
    );
    let schema: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(schema["oneOf"].as_array().unwrap().len(), 3);
    let arguments = &schema["oneOf"][2]["properties"]["arguments"];
    assert_eq!(arguments["properties"]["to"]["$ref"], "#/$defs/t1.Unit");
    assert_eq!(arguments["definitions"], Value::Null);
    assert_eq!(
        schema["oneOf"][0]["properties"]["answer"]["$ref"],
        "#/$defs/answer.Unit"
    );
    let shared: Vec<_> = schema["$defs"].as_object().unwrap().keys().collect();
    assert_eq!(shared, ["answer.Unit", "t0.Unit", "t1.Unit"]);
}

#[test]
fn what_a_constrained_model_said() {
    let call = |arguments: &str| {
        Some(Constrained::Call(ToolCall {
            id: String::new(),
            name: "add".into(),
            arguments: arguments.into(),
        }))
    };
    let answer = |text: &str| Some(Constrained::Answer(text.into()));
    for (text, expect) in [
        (
            r#" {"name": "add", "arguments": {"a": 1.10}} "#,
            call(r#"{"a": 1.10}"#),
        ),
        (r#"{"answer": "a\nb"}"#, answer("a\nb")),
        (
            r#"{"answer": {"score": 1.10}}"#,
            answer(r#"{"score": 1.10}"#),
        ),
        (r#"{"name": "add"}"#, None),
        (r#"{"name": "add", "arguments": {}, "answer": 1}"#, None),
        (r#"{"name": "add", "argum"#, None),
        ("It is 3.", None),
    ] {
        assert_eq!(read_constrained(text), expect, "{text}");
    }
    for text in ["plain", "1", "{\"a\": 1.10}", "{broken"] {
        let Some(Constrained::Answer(back)) = read_constrained(&answer_text(text)) else {
            panic!("{text}")
        };
        assert_eq!(back, text);
    }
}

/// Returns the description of a tool by which a model gives up.
fn give_up() -> ToolSpec {
    let schema = json!({
        "type": "object",
        "properties": { "reason": { "type": "string", "description": "Why." } },
        "required": ["reason"],
    });
    ToolSpec::new("escalate", "Only if all is lost.", Effects::None, schema).last_resort()
}

#[test]
fn a_way_out_is_mentioned_and_not_shown() {
    let said = "Only if all is lost. For that, and for nothing else, \
                answer with {\"name\": \"escalate\", \"arguments\": {\"reason\": \"...\"}}";
    assert_eq!(instructions([&give_up()]), said);
    let both = instructions([&give_up(), &convert()]);
    assert_eq!(both, format!("{}\n\n{said}", instructions([&convert()])));
    assert!(examples([&give_up()]).is_empty());
    assert_eq!(
        examples([&give_up(), &convert()]).len(),
        examples([&convert()]).len()
    );
    assert!(!any_work([&give_up()]) && any_work([&give_up(), &convert()]));
}
