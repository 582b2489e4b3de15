//! Schemas for structured output.

use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Returns the schema of an answer in the form that the server can enforce, or `None` if it cannot enforce it. The
/// answer has to be an object, and no object in it may have fields without a name.
///
/// Limits such as `minimum` are left out, since the server refuses them. The answer is checked against them anyway.
pub(crate) fn strict(schema: &Value) -> Option<Value> {
    if schema.get("type").and_then(Value::as_str) != Some("object") || is_recursive(schema) {
        return None;
    }
    let mut strict = schema.clone();
    close(&mut strict).then_some(strict)
}

/// Makes a schema strict: no object in it has other fields than those with a name. Returns `false` if that is
/// impossible.
fn close(schema: &mut Value) -> bool {
    let Some(schema) = schema.as_object_mut() else {
        // `true`: any value.
        return false;
    };
    simplify(schema);
    if schema.contains_key("$ref") {
        schema.retain(|key, _| key == "$ref" || is_definitions(key));
    }
    schema.retain(|key, _| is_allowed(key));
    let format = schema.get("format").and_then(Value::as_str);
    if format.is_some_and(|format| !is_format(format)) {
        schema.remove("format");
    }
    if !close_object(schema) {
        return false;
    }
    let of_array = schema.get("type").and_then(Value::as_str) == Some("array");
    if of_array && !schema.contains_key("items") {
        return false;
    }
    for (key, inner) in schema.iter_mut() {
        let is_strict = match (&**key, inner) {
            ("properties" | "$defs" | "definitions", Value::Object(schemas)) => {
                schemas.values_mut().all(close)
            }
            ("anyOf", Value::Array(schemas)) => schemas.iter_mut().all(close),
            ("items", inner) => close(inner),
            _ => true,
        };
        if !is_strict {
            return false;
        }
    }
    // A schema without any of these permits every value.
    ["type", "$ref", "anyOf", "enum", "const"]
        .iter()
        .any(|key| schema.contains_key(*key))
}

/// Replaces keywords of a schema by others that say the same and that the server accepts.
fn simplify(schema: &mut Map<String, Value>) {
    if let Some(choices) = schema.remove("oneOf") {
        schema.entry("anyOf").or_insert(choices);
    }
    if let Some(Value::Array(mut all)) = schema.remove("allOf")
        && let [Value::Object(only)] = &mut all[..]
    {
        for (key, value) in std::mem::take(only) {
            schema.entry(key).or_insert(value);
        }
    }
}

fn close_object(schema: &mut Map<String, Value>) -> bool {
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return true;
    }
    let is_closed = matches!(
        schema.get("additionalProperties"),
        None | Some(Value::Bool(false))
    );
    let has_fields = schema.get("properties").is_some_and(Value::is_object);
    schema.insert("additionalProperties".into(), false.into());
    is_closed && has_fields
}

/// Returns `true` if a definition refers to itself, which the server refuses.
fn is_recursive(root: &Value) -> bool {
    /// Names of the definitions that a schema refers to, collected to find circles.
    #[derive(Default)]
    struct Names<'a> {
        /// Names of the definitions that are being looked into, to notice a circle.
        open: Vec<&'a str>,
        done: BTreeSet<&'a str>,
    }

    fn recurs<'a>(root: &'a Value, at: &'a Value, names: &mut Names<'a>) -> bool {
        let fields = match at {
            Value::Array(items) => return items.iter().any(|item| recurs(root, item, names)),
            Value::Object(fields) => fields,
            _ => return false,
        };
        if let Some(name) = fields.get("$ref").and_then(Value::as_str) {
            if names.open.contains(&name) {
                return true;
            }
            if names.done.insert(name) {
                names.open.push(name);
                let target = name.strip_prefix('#').and_then(|path| root.pointer(path));
                if target.is_some_and(|target| recurs(root, target, names)) {
                    return true;
                }
                names.open.pop();
            }
        }
        let mut inner = fields.iter().filter(|(key, _)| !is_definitions(key));
        inner.any(|(_, value)| recurs(root, value, names))
    }

    recurs(root, root, &mut Names::default())
}

fn is_definitions(key: &str) -> bool {
    matches!(key, "$defs" | "definitions")
}

/// Returns `true` for a keyword of JSON Schema that the server accepts.
fn is_allowed(key: &str) -> bool {
    is_definitions(key)
        || matches!(
            key,
            "type"
                | "properties"
                | "required"
                | "additionalProperties"
                | "items"
                | "enum"
                | "const"
                | "anyOf"
                | "$ref"
                | "description"
                | "title"
                | "default"
                | "format"
        )
}

fn is_format(format: &str) -> bool {
    matches!(
        format,
        "date-time"
            | "time"
            | "date"
            | "duration"
            | "email"
            | "hostname"
            | "uri"
            | "ipv4"
            | "ipv6"
            | "uuid"
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::strict;
    use serde_json::{Value, json};

    fn object(properties: Value) -> Value {
        json!({ "type": "object", "properties": properties })
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
        assert_eq!(strict(&schema).unwrap(), expect);
    }

    #[test]
    fn schemas_that_the_server_cannot_hold_a_model_to() {
        let list =
            json!({ "type": "object", "properties": { "next": { "$ref": "#/$defs/List" } } });
        for schema in [
            json!({ "type": "integer" }),
            json!({ "type": "object" }),
            json!({ "type": "object", "properties": {}, "additionalProperties": true }),
            object(json!({ "x": true })),
            object(json!({ "x": { "description": "Anything." } })),
            object(json!({ "x": { "type": "array" } })),
            object(
                json!({ "x": { "type": "object", "additionalProperties": { "type": "string" } } }),
            ),
            json!({ "type": "object", "properties": { "x": { "$ref": "#/$defs/List" } }, "$defs": { "List": list } }),
        ] {
            assert_eq!(strict(&schema), None, "{schema}");
        }
    }
}
