use super::wording;
use crate::{Json, error::Cause, reader::Schema, tool::Effects};
use serde_json::Value;

/// Schema of the output of a tool made at run time, which no Rust type checks.
pub(super) struct OutputSchema(Schema);

impl OutputSchema {
    pub(super) fn new(schema: &Value) -> Self {
        let mut schema = schema.clone();
        open(&mut schema);
        OutputSchema(Schema::new(&schema))
    }

    /// Returns the output of a tool with these effects if it follows the schema; else the error with which the call
    /// fails. If the tool writes, the effect of the call is in doubt: what the tool says that it did cannot be relied on.
    pub(super) fn check(&self, output: Json, effects: Effects) -> Result<Json, Cause> {
        match self.0.fits(output.as_str()) {
            Ok(()) => Ok(output),
            Err(refusal) => Err(wording::output_unfit(&refusal, effects)),
        }
    }
}

/// Makes a schema allow keys that it does not name, unless it forbids them explicitly. An unknown key is a mistake in
/// arguments, and harmless in a result.
fn open(schema: &mut Value) {
    let Value::Object(members) = schema else {
        return;
    };
    for (key, part) in members.iter_mut() {
        match (key.as_str(), part) {
            (
                "properties" | "patternProperties" | "definitions" | "$defs",
                Value::Object(parts),
            ) => {
                parts.values_mut().for_each(open);
            }
            ("items" | "allOf" | "anyOf" | "oneOf", Value::Array(parts)) => {
                parts.iter_mut().for_each(open);
            }
            ("items" | "additionalItems" | "additionalProperties" | "contains", part) => open(part),
            _ => {}
        }
    }
    if members.contains_key("properties") {
        members
            .entry("additionalProperties")
            .or_insert(Value::Bool(true));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fits(schema: &Value, output: &Value) -> bool {
        let output = Json::of(output).unwrap();
        OutputSchema::new(schema)
            .check(output, Effects::Reads)
            .is_ok()
    }

    #[test]
    fn what_is_named_has_to_fit_and_more_may_be_there() {
        let schema = json!({
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "days": {"type": "array", "items": {"$ref": "#/definitions/Day"}},
            },
            "required": ["city"],
            "definitions": {
                "Day": {"type": "object", "properties": {"high": {"type": "number"}}, "required": ["high"]},
            },
        });
        assert!(fits(&schema, &json!({"city": "Ulm"})));
        assert!(fits(
            &schema,
            &json!({"city": "Ulm", "days": [{"high": 3, "low": 1}], "wind": 4})
        ));
        for wrong in [
            json!({"days": []}),
            json!({"city": 3}),
            json!({"city": "Ulm", "days": [{"low": 1}]}),
            json!("Ulm"),
            json!(null),
        ] {
            assert!(!fits(&schema, &wrong), "{wrong}");
        }
    }

    #[test]
    fn a_schema_may_be_closed_and_a_property_may_be_called_properties() {
        let closed =
            json!({"type": "object", "properties": {"a": {}}, "additionalProperties": false});
        assert!(fits(&closed, &json!({"a": 1})) && !fits(&closed, &json!({"b": 1})));
        let named = json!({
            "type": "object", "properties": {"properties": {"type": "string"}}, "required": ["properties"],
        });
        assert!(fits(&named, &json!({"properties": "x", "more": 1})));
        assert!(!fits(&named, &json!({"properties": 1})));
        assert!(fits(&json!({"type": ["integer", "null"]}), &json!(null)));
        assert!(fits(&json!({}), &json!([1, "a"])));
    }
}
