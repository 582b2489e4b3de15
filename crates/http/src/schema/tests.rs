#![allow(clippy::unwrap_used)]

use super::{Dialect, Keywords, LOOKS, References};
use serde_json::{Value, json};

const INLINED: Dialect = Dialect {
    references: References::Inlined,
    ..Dialect::ANY
};

fn object(properties: Value) -> Value {
    json!({ "type": "object", "properties": properties })
}

#[test]
fn any_dialect_takes_every_schema_as_it_is() {
    for schema in [
        json!(true),
        json!({ "$ref": "#/nowhere", "x-own": [1] }),
        object(json!({ "x": false })),
    ] {
        assert_eq!(Dialect::ANY.fit(&schema), Some(schema));
    }
}

#[test]
fn a_definition_that_is_used_twice_is_inlined_twice() {
    let schema = json!({
        "type": "object",
        "properties": {
            "from": { "$ref": "#/definitions/Person" },
            "to": { "type": "array", "items": { "$ref": "#/definitions/Person" } },
            // A field of this name is no definition.
            "definitions": { "anyOf": [{ "$ref": "#/definitions/Name" }, { "type": "null" }] },
        },
        "definitions": {
            "Person": { "type": "object", "properties": { "name": { "$ref": "#/definitions/Name" } } },
            "Name": { "type": "string" },
        },
    });
    let person = object(json!({ "name": { "type": "string" } }));
    let expected = object(json!({
        "from": person,
        "to": { "type": "array", "items": person },
        "definitions": { "anyOf": [{ "type": "string" }, { "type": "null" }] },
    }));
    assert_eq!(INLINED.fit(&schema), Some(expected));
}

#[test]
fn a_recursive_reference_stays_with_its_definition() {
    let schema = json!({
        "type": "object",
        "properties": {
            "tree": { "description": "The tree.", "$ref": "#/$defs/Tree" },
            "name": { "$ref": "#/$defs/Name" },
        },
        "$defs": {
            "Name": { "type": "string" },
            "Unused": { "$ref": "#/$defs/Unused" },
            "Tree": object(json!({ "name": { "$ref": "#/$defs/Name" }, "leaf": { "$ref": "#/$defs/Leaf" } })),
            "Leaf": object(json!({ "parent": { "$ref": "#/$defs/Tree" } })),
        },
    });
    let expected = json!({
        "type": "object",
        "properties": { "tree": { "$ref": "#/$defs/Tree" }, "name": { "type": "string" } },
        "$defs": {
            "Tree": object(json!({ "name": { "type": "string" }, "leaf": { "$ref": "#/$defs/Leaf" } })),
            "Leaf": object(json!({ "parent": { "$ref": "#/$defs/Tree" } })),
        },
    });
    assert_eq!(INLINED.fit(&schema), Some(expected));

    // A schema within itself, and a reference to nothing.
    for name in ["#", "#/definitions/Nobody", "other.json#/a"] {
        let schema = object(json!({ "next": { "$ref": name } }));
        assert_eq!(INLINED.fit(&schema), Some(schema));
    }
    let finite = Dialect {
        recursion: false,
        ..INLINED
    };
    assert_eq!(finite.fit(&schema), None);
    // What is not used does no harm.
    let unused = json!({ "type": "string", "$defs": { "Unused": { "$ref": "#/$defs/Unused" } } });
    assert_eq!(finite.fit(&unused), Some(json!({ "type": "string" })));
}

#[test]
fn keywords_beside_a_reference_join_those_of_the_definition() {
    let person = json!({ "type": "object", "title": "Person", "description": "A person." });
    let inlined = |beside: Value| {
        let mut schema = object(json!({ "x": beside }));
        schema["properties"]["x"]["$ref"] = "#/definitions/Person".into();
        schema["definitions"]["Person"] = person.clone();
        INLINED.fit(&schema).unwrap()["properties"]["x"].clone()
    };
    assert_eq!(
        inlined(json!({ "description": "Who pays.", "minProperties": 1 })),
        json!({ "type": "object", "title": "Person", "description": "Who pays.", "minProperties": 1 }),
    );
    // Neither of two demands is lost.
    assert_eq!(
        inlined(json!({ "type": ["object", "null"], "title": "Payer" })),
        json!({ "allOf": [
            { "type": "object", "title": "Payer", "description": "A person." },
            { "type": ["object", "null"] },
        ] }),
    );
}

#[test]
fn definitions_that_double_each_other_do_not_fill_the_memory() {
    let mut schema = json!({ "$ref": "#/$defs/d0" });
    for level in 0..64 {
        let next = json!({ "$ref": format!("#/$defs/d{}", level + 1) });
        schema["$defs"][format!("d{level}")] = object(json!({ "left": next, "right": next }));
    }
    schema["$defs"]["d64"] = json!({ "type": "string" });
    let fitted = INLINED.fit(&schema).unwrap();
    let text = fitted.to_string();
    assert!(text.len() < 4 * 1024 * 1024, "{}", text.len());
    // Each reference that is left leads somewhere.
    for rest in text.split("{\"$ref\":\"#").skip(1) {
        let pointer = rest.split('"').next().unwrap();
        assert!(fitted.pointer(pointer).is_some(), "{pointer}");
    }
}

#[test]
fn a_keyword_that_a_server_does_not_know_is_replaced_or_left_out() {
    let dialect = Dialect {
        keywords: Keywords::Without(&["definitions", "oneOf", "const", "allOf", "default"]),
        ..Dialect::ANY
    };
    let schema = json!({
        "type": "object",
        "default": {},
        "properties": {
            // A field of this name is no keyword.
            "default": { "oneOf": [{ "const": "a" }, { "type": "null", "default": null }] },
            "tag": { "allOf": [{ "$ref": "#/definitions/Tag" }] },
        },
        "definitions": { "Tag": { "type": "string" } },
    });
    let expected = json!({
        "type": "object",
        "properties": {
            "default": { "anyOf": [{ "enum": ["a"] }, { "type": "null" }] },
            "tag": { "$ref": "#/$defs/Tag" },
        },
        "$defs": { "Tag": { "type": "string" } },
    });
    assert_eq!(dialect.fit(&schema), Some(expected));
}

#[test]
fn tools_that_a_dialect_cannot_say_stay_as_they_are() {
    let tools = json!([
        { "type": "function", "function": { "name": "a", "parameters": { "type": "object", "properties": {} } } },
        { "type": "function", "function": { "name": "b", "parameters": { "type": "object" } } },
    ]);
    let fitted: Value =
        serde_json::from_str(&Dialect::OPENAI.fit_tools(&tools.to_string())).unwrap();
    assert_eq!(
        fitted[0]["function"]["parameters"]["additionalProperties"],
        false
    );
    assert_eq!(fitted[1], tools[1]);
    assert_eq!(Dialect::OPENAI.fit_tools("no JSON"), "no JSON");
}

#[test]
fn a_schema_is_closed_at_every_level_and_loses_what_the_server_refuses() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "score": { "type": "integer", "minimum": 0, "format": "int64" },
            "when": { "type": "string", "format": "date" },
            "tag": { "description": "A tag.", "allOf": [{ "$ref": "#/definitions/Tag" }] },
            "kind": { "oneOf": [{ "type": "string", "enum": ["a"] }, { "type": "null" }] },
        },
        "required": ["score"],
        "definitions": { "Tag": { "type": "object", "properties": { "name": { "type": ["string", "null"] } } } },
    });
    let expect = json!({
        "type": "object",
        "properties": {
            "score": { "type": "integer" },
            "when": { "type": "string", "format": "date" },
            "tag": { "$ref": "#/definitions/Tag" },
            "kind": { "anyOf": [{ "type": "string", "enum": ["a"] }, { "type": "null" }] },
        },
        "required": ["score"],
        "additionalProperties": false,
        "definitions": { "Tag": {
            "type": "object", "properties": { "name": { "type": ["string", "null"] } }, "additionalProperties": false,
        } },
    });
    assert_eq!(Dialect::ANTHROPIC.fit(&schema).unwrap(), expect);
}

#[test]
fn schemas_that_the_server_cannot_hold_a_model_to() {
    let list = json!({ "type": "object", "properties": { "next": { "$ref": "#/$defs/List" } } });
    for schema in [
        json!({ "type": "integer" }),
        json!({ "type": "object" }),
        json!({ "type": "object", "properties": {}, "additionalProperties": true }),
        object(json!({ "x": true })),
        object(json!({ "x": { "description": "Anything." } })),
        object(json!({ "x": { "type": "array" } })),
        object(json!({ "x": { "type": "object", "additionalProperties": { "type": "string" } } })),
        json!({ "type": "object", "properties": { "x": { "$ref": "#/$defs/List" } }, "$defs": { "List": list } }),
    ] {
        assert_eq!(Dialect::ANTHROPIC.fit(&schema), None, "{schema}");
    }
}

#[test]
fn a_schema_keeps_what_gemini_knows() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "score": { "type": "integer", "minimum": 0, "format": "uint32", "default": 1 },
            "code": { "type": "string", "pattern": "^a", "minLength": 2 },
            "kind": { "const": "a" },
            "any": true,
            "tag": { "description": "A tag.", "allOf": [{ "$ref": "#/definitions/Tag" }] },
            "rest": { "type": "object", "additionalProperties": { "type": "string", "maxLength": 3 } },
        },
        "required": ["score"],
        "definitions": { "Tag": { "type": ["string", "null"] } },
    });
    let expect = json!({
        "type": "object",
        "properties": {
            "score": { "type": "integer", "minimum": 0 },
            "code": { "type": "string" },
            "kind": { "enum": ["a"] },
            "any": {},
            "tag": { "$ref": "#/$defs/Tag" },
            "rest": { "type": "object", "additionalProperties": { "type": "string" } },
        },
        "required": ["score"],
        "$defs": { "Tag": { "type": ["string", "null"] } },
    });
    assert_eq!(Dialect::GEMINI.fit(&schema).unwrap(), expect);
}

#[test]
fn a_long_chain_of_definitions_is_no_circle() {
    let chain = |length: usize, last: Value| {
        let definition = |number: usize| match number + 1 == length {
            true => last.clone(),
            false => json!({ "$ref": format!("#/$defs/d{}", number + 1) }),
        };
        let definitions = (0..length).map(|number| (format!("d{number}"), definition(number)));
        json!({
            "type": "object",
            "properties": { "first": { "$ref": "#/$defs/d0" } },
            "required": ["first"],
            "$defs": Value::Object(definitions.collect()),
        })
    };
    let length = 20_000;
    let straight = chain(length, json!({ "type": "string" }));
    assert!(Dialect::ANTHROPIC.fit(&straight).is_some());
    let circle = chain(length, json!({ "$ref": "#/$defs/d19000" }));
    assert!(Dialect::ANTHROPIC.fit(&circle).is_none());
}

/// Returns a schema with these definitions, whose fields refer to the first of them, and to all if `uses_all`.
fn with_definitions(count: usize, uses_all: bool, definition: impl Fn(usize) -> Value) -> Value {
    let definitions = (0..count).map(|number| (format!("d{number}"), definition(number)));
    let used = if uses_all { count } else { 1 };
    let fields = (0..used).map(|number| {
        let reference = json!({ "$ref": format!("#/$defs/d{number}") });
        (format!("f{number}"), reference)
    });
    json!({
        "type": "object",
        "properties": Value::Object(fields.collect()),
        "$defs": Value::Object(definitions.collect()),
    })
}

fn reference(number: usize) -> Value {
    json!({ "$ref": format!("#/$defs/d{number}") })
}

#[test]
fn thousands_of_definitions_are_looked_at_a_few_times_each() {
    type Shape = fn(usize, usize) -> Value;
    let shapes: [(&str, Shape); 5] = [
        ("chain", |count, number| match number + 1 == count {
            true => json!({ "type": "string" }),
            false => reference(number + 1),
        }),
        ("ring", |count, number| {
            object(json!({ "next": reference((number + 1) % count) }))
        }),
        ("pairs", |_, number| {
            object(json!({ "other": reference(number ^ 1) }))
        }),
        ("loops", |_, number| {
            object(json!({ "own": reference(number) }))
        }),
        // Each leads into a ring, and is in none itself.
        ("tails", |count, number| match number < 2 {
            true => object(json!({ "other": reference(number ^ 1) })),
            false => object(json!({ "next": reference((number + 1) % count) })),
        }),
    ];
    let finite = Dialect {
        recursion: false,
        ..Dialect::ANY
    };
    for (name, shape) in shapes {
        for uses_all in [false, true] {
            for dialect in [INLINED, finite] {
                let looks = |count: usize| {
                    let schema = with_definitions(count, uses_all, |number| shape(count, number));
                    LOOKS.set(0);
                    let _ = dialect.fit(&schema);
                    LOOKS.get()
                };
                let (some, more) = (looks(1_000), looks(4_000));
                assert!(some > 0, "{name}");
                // Four times as many definitions: four times as many looks, and not sixteen times.
                let most = 4 * some + 100;
                assert!(more <= most, "{name}, {uses_all}: {some}, then {more}");
            }
        }
    }
}

#[test]
fn a_definition_stays_if_it_is_in_a_circle_and_not_if_it_only_leads_to_one() {
    let schema = with_definitions(5, true, |number| match number {
        0 => object(json!({ "next": reference(1) })),
        1 => object(json!({ "next": reference(2), "leaf": reference(4) })),
        2 => object(json!({ "back": reference(1) })),
        3 => object(json!({ "own": reference(3) })),
        _ => json!({ "type": "string" }),
    });
    let fitted = INLINED.fit(&schema).unwrap();
    let text = json!({ "type": "string" });
    assert_eq!(
        fitted["properties"],
        json!({
            "f0": object(json!({ "next": reference(1) })),
            "f1": reference(1),
            "f2": reference(2),
            "f3": reference(3),
            "f4": text,
        })
    );
    assert_eq!(
        fitted["$defs"],
        json!({
            "d1": object(json!({ "next": reference(2), "leaf": text })),
            "d2": object(json!({ "back": reference(1) })),
            "d3": object(json!({ "own": reference(3) })),
        })
    );
}

#[test]
fn definitions_of_both_keywords_stay_for_each_other() {
    let other = json!({ "$ref": "#/definitions/B" });
    let back = json!({ "$ref": "#/$defs/a~1b" });
    let schema = json!({
        "type": "object",
        "properties": { "x": back },
        "$defs": { "a/b": object(json!({ "other": other })) },
        "definitions": { "B": object(json!({ "back": back })), "Unused": true },
    });
    let mut expected = schema.clone();
    expected["definitions"]
        .as_object_mut()
        .unwrap()
        .remove("Unused");
    assert_eq!(INLINED.fit(&schema), Some(expected));
}

#[test]
fn definitions_within_a_definition_are_not_copied_with_it() {
    let schema = json!({
        "type": "object",
        "properties": { "a": { "$ref": "#/$defs/A" }, "b": { "$ref": "#/$defs/A" } },
        "$defs": { "A": {
            "type": "array", "items": { "$ref": "#/$defs/A/$defs/Item" }, "$defs": { "Item": { "type": "string" } },
        } },
    });
    let list = json!({ "type": "array", "items": { "type": "string" } });
    let expected = object(json!({ "a": list, "b": list }));
    assert_eq!(INLINED.fit(&schema), Some(expected));
}
