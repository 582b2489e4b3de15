//! Schemas for structured output.

use serde_json::{Map, Value, json};

/// Returns the field `response_format` by which the server makes the answer follow this schema; `None` unless the
/// answer is an object.
///
/// With `strict`, the server guarantees the schema. That needs an object whose fields are all required, at every level.
pub(crate) fn response_format(schema: &Value) -> Option<Value> {
    let (schema, strict) = object(schema)?;
    Some(json!({
        "type": "json_schema",
        "json_schema": { "name": "answer", "strict": strict, "schema": schema },
    }))
}

/// Returns the schema as it is sent, and whether it is strict; `None` unless it is that of an object.
pub(crate) fn object(schema: &Value) -> Option<(Value, bool)> {
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return None;
    }
    let mut closed = schema.clone();
    let strict = close(&mut closed);
    Some((if strict { closed } else { schema.clone() }, strict))
}

/// Makes a schema strict: forbids additional fields in all of its objects. Returns `false` if that is impossible.
fn close(schema: &mut Value) -> bool {
    let Some(schema) = schema.as_object_mut() else {
        // `true`: any value.
        return false;
    };
    schema.remove("$schema");
    if !schema.keys().all(|key| is_allowed(key)) || !close_object(schema) {
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

fn close_object(schema: &mut Map<String, Value>) -> bool {
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return true;
    }
    let Some(fields) = schema.get("properties").and_then(Value::as_object) else {
        // A map with any keys.
        return false;
    };
    let required = schema.get("required").and_then(Value::as_array);
    let required = required.map_or(&[][..], Vec::as_slice);
    let all = fields
        .keys()
        .all(|field| required.iter().any(|name| name == field));
    if !all
        || !matches!(
            schema.get("additionalProperties"),
            None | Some(Value::Bool(false))
        )
    {
        return false;
    }
    schema.insert("additionalProperties".into(), false.into());
    true
}

/// Returns `true` for a keyword of JSON Schema that strict schemas may have.
fn is_allowed(key: &str) -> bool {
    matches!(
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
            | "$defs"
            | "definitions"
            | "description"
            | "title"
            | "pattern"
            | "minimum"
            | "maximum"
            | "minItems"
            | "maxItems"
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::response_format;
    use serde_json::{Value, json};

    fn strict(schema: &Value) -> bool {
        let format = response_format(schema).unwrap();
        format["json_schema"]["strict"].as_bool().unwrap()
    }

    #[test]
    fn a_schema_is_strict_only_if_it_allows_that() {
        let point = json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "title": "Point",
            "type": "object",
            "properties": { "x": { "type": "integer" }, "tags": { "type": "array", "items": { "$ref": "#/definitions/Tag" } } },
            "required": ["x", "tags"],
            "definitions": { "Tag": { "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] } },
        });
        let format = response_format(&point).unwrap();
        let sent = &format["json_schema"]["schema"];
        assert_eq!(format["json_schema"]["strict"], true);
        assert_eq!(sent["additionalProperties"], false);
        assert_eq!(sent["definitions"]["Tag"]["additionalProperties"], false);

        let object = |properties: Value, required: Value| json!({ "type": "object", "properties": properties, "required": required });
        for loose in [
            // An optional field, a map, any value, and a keyword that strict schemas do not have.
            object(json!({ "x": { "type": "integer" } }), json!([])),
            object(
                json!({ "x": { "type": "object", "additionalProperties": { "type": "string" } } }),
                json!(["x"]),
            ),
            object(json!({ "x": true }), json!(["x"])),
            object(json!({ "x": {} }), json!(["x"])),
            object(
                json!({ "x": { "oneOf": [{ "type": "string" }] } }),
                json!(["x"]),
            ),
        ] {
            assert!(!strict(&loose), "{loose}");
            // A schema that is not strict is sent as it is.
            let format = response_format(&loose).unwrap();
            assert_eq!(format["json_schema"]["schema"], loose);
        }
        assert_eq!(response_format(&json!({ "type": "integer" })), None);
    }
}
