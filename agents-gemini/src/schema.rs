//! Schemas in the keywords that Gemini knows.

use serde_json::{Map, Value, json};

/// Returns the schema of a tool's arguments as the server takes it, or `None` if the tool has no arguments.
pub(crate) fn of_parameters(schema: &Value) -> Option<Value> {
    let is_empty = |key| match schema.get(key) {
        None => true,
        Some(Value::Object(fields)) => fields.is_empty(),
        Some(Value::Bool(allowed)) => !allowed,
        Some(_) => false,
    };
    let takes_none = is_empty("properties")
        && is_empty("additionalProperties")
        && schema.get("type") == Some(&json!("object"));
    (!takes_none).then(|| supported(schema))
}

/// Returns the schema without keywords that the server does not know. Values are checked against them later anyway.
pub(crate) fn supported(schema: &Value) -> Value {
    let mut schema = schema.clone();
    clean(&mut schema);
    schema
}

fn clean(schema: &mut Value) {
    let Some(schema) = schema.as_object_mut() else {
        // `true`: any value.
        *schema = json!({});
        return;
    };
    simplify(schema);
    if let Some(Value::String(target)) = schema.get_mut("$ref") {
        *target = target.replacen("#/definitions/", "#/$defs/", 1);
        // Beside a reference the server permits nothing.
        schema.retain(|key, _| key.starts_with('$'));
    }
    schema.retain(|key, _| is_known(key));
    let format = schema.get("format").and_then(Value::as_str);
    if format.is_some_and(|format| !is_format(format)) {
        schema.remove("format");
    }
    for (key, inner) in schema.iter_mut() {
        match (&**key, inner) {
            ("properties" | "$defs", Value::Object(schemas)) => {
                schemas.values_mut().for_each(clean);
            }
            ("anyOf" | "oneOf" | "prefixItems", Value::Array(schemas)) => {
                schemas.iter_mut().for_each(clean);
            }
            ("items", inner) => clean(inner),
            ("additionalProperties", inner) if inner.is_object() => clean(inner),
            _ => {}
        }
    }
}

/// Replaces keywords of a schema by others that say the same and that the server knows.
fn simplify(schema: &mut Map<String, Value>) {
    if let Some(definitions) = schema.remove("definitions") {
        schema.entry("$defs").or_insert(definitions);
    }
    if let Some(only @ (Value::String(_) | Value::Number(_))) = schema.remove("const") {
        schema.entry("enum").or_insert_with(|| json!([only]));
    }
    if let Some(Value::Array(mut all)) = schema.remove("allOf")
        && let [Value::Object(only)] = &mut all[..]
    {
        for (key, value) in std::mem::take(only) {
            schema.entry(key).or_insert(value);
        }
    }
}

fn is_known(key: &str) -> bool {
    matches!(
        key,
        "$ref"
            | "$defs"
            | "type"
            | "format"
            | "title"
            | "description"
            | "enum"
            | "items"
            | "prefixItems"
            | "minItems"
            | "maxItems"
            | "minimum"
            | "maximum"
            | "anyOf"
            | "oneOf"
            | "properties"
            | "additionalProperties"
            | "required"
    )
}

fn is_format(format: &str) -> bool {
    matches!(
        format,
        "date-time" | "date" | "time" | "int32" | "int64" | "float" | "double"
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{of_parameters, supported};
    use serde_json::json;

    #[test]
    fn a_schema_keeps_what_the_server_knows() {
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
        assert_eq!(supported(&schema), expect);
    }

    #[test]
    fn a_tool_without_arguments_has_no_schema() {
        assert_eq!(of_parameters(&json!({ "type": "object" })), None);
        let none = json!({ "type": "object", "properties": {}, "additionalProperties": false });
        assert_eq!(of_parameters(&none), None);
        let some = json!({ "type": "object", "properties": { "x": { "type": "string" } } });
        assert_eq!(of_parameters(&some), Some(some));
        let map = json!({ "type": "object", "additionalProperties": { "type": "string" } });
        assert_eq!(of_parameters(&map), Some(map));
    }
}
