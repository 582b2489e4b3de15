//! Schemas for structured output.

use agents_http::{Dialect, Objects};
use serde_json::{Value, json};

/// Returns the field `response_format` by which the server makes the answer follow this schema; `None` unless the
/// answer is an object.
///
/// With `strict`, the server guarantees the schema. That needs an object whose fields are all required, at every level.
pub(crate) fn response_format(schema: &Value, dialect: &Dialect) -> Option<Value> {
    let (schema, strict) = object(schema, dialect)?;
    Some(json!({
        "type": "json_schema",
        "json_schema": { "name": "answer", "strict": strict, "schema": schema },
    }))
}

/// Returns the schema as it is sent, and whether it is strict; `None` unless it is that of an object.
pub(crate) fn object(schema: &Value, dialect: &Dialect) -> Option<(Value, bool)> {
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return None;
    }
    Some(match dialect.fit(schema) {
        Some(fitted) => (fitted, dialect.objects == Objects::Required),
        None => (schema.clone(), false),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::response_format as response_format_in;
    use agents_http::Dialect;
    use serde_json::{Value, json};

    fn response_format(schema: &Value) -> Option<Value> {
        response_format_in(schema, &Dialect::OPENAI)
    }

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
