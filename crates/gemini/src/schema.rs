//! Schemas of the arguments of tools.

use agents_http::Dialect;
use serde_json::{Value, json};
use std::borrow::Cow;

/// Returns the schema of a tool's arguments as the server takes it, or `None` if the tool has no arguments.
pub(crate) fn of_parameters<'a>(schema: &'a Value, dialect: &Dialect) -> Option<Cow<'a, Value>> {
    let is_empty = |key| match schema.get(key) {
        None => true,
        Some(Value::Object(fields)) => fields.is_empty(),
        Some(Value::Bool(allowed)) => !allowed,
        Some(_) => false,
    };
    let takes_none = is_empty("properties")
        && is_empty("additionalProperties")
        && schema.get("type") == Some(&json!("object"));
    (!takes_none).then(|| dialect.fit_or_keep(schema))
}

#[cfg(test)]
mod tests {
    use super::of_parameters as of_parameters_in;
    use agents_http::Dialect;
    use serde_json::{Value, json};
    use std::borrow::Cow;

    fn of_parameters(schema: &Value) -> Option<Value> {
        of_parameters_in(schema, &Dialect::GEMINI).map(Cow::into_owned)
    }

    #[test]
    fn a_tool_without_arguments_has_no_schema() {
        assert_eq!(of_parameters(&json!({ "type": "object" })), None);
        let none = json!({ "type": "object", "properties": {}, "additionalProperties": false });
        assert_eq!(of_parameters(&none), None);
        let some = json!({ "type": "object", "properties": { "x": { "type": "string" } } });
        assert_eq!(of_parameters(&some), Some(some.clone()));
        let map = json!({ "type": "object", "additionalProperties": { "type": "string" } });
        assert_eq!(of_parameters(&map), Some(map.clone()));
    }
}
