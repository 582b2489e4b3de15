//! Tests of finding printed calls: by example, and by properties of every text.

mod json;
mod laws;
mod other_syntaxes;
mod prose;
mod series;
mod streams;
mod values;

use serde_json::Value;
use serde_json::json as value;

use super::{Declared, Printed, Stream, read};

/// Names and schemas of the tools that the tests declare: enough types, a name inside another, a name with a space and
/// one that is not ASCII.
fn schemas() -> Vec<(&'static str, Value)> {
    let object = |properties: Value| value!({"type": "object", "properties": properties});
    vec![
        (
            "lamp",
            object(value!({"room": {"type": "string"}, "level": {"type": "integer"}})),
        ),
        ("lamp_all", object(value!({}))),
        ("note", object(value!({"text": {"type": "string"}}))),
        (
            "plan",
            object(value!({
                "steps": {"type": "array"},
                "when": {"type": ["integer", "null"]},
                "opts": {"type": "object"},
                "sure": {"type": "boolean"},
                "any": {},
            })),
        ),
        (
            "open door",
            object(value!({"which one": {"type": "string"}})),
        ),
        ("home.door-bell", object(value!({}))),
        ("灯", object(value!({"房间": {"type": "string"}}))),
    ]
}

fn with_tools<T>(run: impl FnOnce(&[Declared<'_>]) -> T) -> T {
    let schemas = schemas();
    let tools: Vec<_> = schemas
        .iter()
        .map(|(name, schema)| Declared { name, schema })
        .collect();
    run(&tools)
}

fn printed(text: &str) -> Printed {
    with_tools(|tools| read(text, tools))
}

/// Returns the calls that were found as lines of `syntax name arguments`; `!` marks arguments that are not valid.
fn calls(printed: &Printed) -> String {
    let line = |call: &super::PrintedCall| {
        let mark = if call.is_valid { "" } else { "!" };
        format!("{} {mark}{} {}", call.syntax, call.name, call.arguments)
    };
    printed
        .calls
        .iter()
        .map(line)
        .collect::<Vec<_>>()
        .join("\n")
}

fn check(text: &str, expect: &str) {
    assert_eq!(calls(&printed(text)), expect, "{text}");
}

fn check_content(text: &str, expect: &str, content: &str) {
    let printed = printed(text);
    assert_eq!(calls(&printed), expect, "{text}");
    assert_eq!(printed.content, content, "{text}");
}

/// Checks that the whole text stays content, without a call.
fn check_prose(text: &str) {
    check_content(text, "", text);
}

/// Reads a text that arrives in these chunks, and joins the results.
fn streamed<'c>(chunks: impl IntoIterator<Item = &'c str>) -> Printed {
    with_tools(|tools| {
        let mut stream = Stream::new(tools);
        let mut shown = String::new();
        for chunk in chunks {
            shown += &stream.push(chunk);
        }
        let mut printed = stream.finish();
        printed.content.insert_str(0, &shown);
        printed
    })
}
