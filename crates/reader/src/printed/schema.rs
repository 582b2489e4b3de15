//! Types of values that were printed without a type, taken from the schema.

use serde_json::Value;

use super::json_scalars::{Number, number, quoted};
use super::python;

/// JSON types that a schema allows for a parameter; empty if the schema does not restrict them.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub(super) struct Types {
    null: bool,
    boolean: bool,
    integer: bool,
    number: bool,
    array: bool,
    object: bool,
    string: bool,
}

/// Maximum depth of references and alternatives, since a schema that refers to itself must not be followed for ever.
const MAX_REFERENCES: usize = 8;

impl Types {
    /// Returns the types that one parameter of a tool may have.
    pub(super) fn of(tool: &Value, parameter: &str) -> Self {
        let mut types = Self::default();
        if let Some(schema) = property(tool, parameter) {
            types.add(tool, schema, MAX_REFERENCES);
        }
        types
    }

    fn add(&mut self, root: &Value, schema: &Value, depth: usize) {
        if depth == 0 {
            return;
        }
        match schema.get("type") {
            Some(Value::String(name)) => self.name(name),
            Some(Value::Array(names)) => {
                names
                    .iter()
                    .filter_map(Value::as_str)
                    .for_each(|name| self.name(name));
            }
            _ => self.literals(schema),
        }
        self.null |= schema.get("nullable") == Some(&Value::Bool(true));
        for key in ["anyOf", "oneOf", "allOf"] {
            let branches = schema.get(key).and_then(Value::as_array);
            for branch in branches.into_iter().flatten() {
                self.add(root, branch, depth - 1);
            }
        }
        let target = schema.get("$ref").and_then(Value::as_str);
        if let Some(target) = target.and_then(|path| root.pointer(path.strip_prefix('#')?)) {
            self.add(root, target, depth - 1);
        }
    }

    /// Adds the types of the listed values of a schema that has an `enum` or a `const`, and no `type`.
    fn literals(&mut self, schema: &Value) {
        let listed = schema
            .get("enum")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        for value in listed.chain(schema.get("const")) {
            self.name(match value {
                Value::Null => "null",
                Value::Bool(_) => "boolean",
                Value::Number(_) => "number",
                Value::String(_) => "string",
                Value::Array(_) => "array",
                Value::Object(_) => "object",
            });
        }
    }

    fn name(&mut self, name: &str) {
        match name {
            "null" => self.null = true,
            "boolean" => self.boolean = true,
            "integer" => self.integer = true,
            "number" => self.number = true,
            "array" => self.array = true,
            "object" => self.object = true,
            "string" => self.string = true,
            _ => {}
        }
    }

    /// Returns the JSON of a number without quotes: a text as it stands if the schema allows only text, since `007` and
    /// `+49` would lose digits as numbers.
    pub(super) fn number(self, raw: &str, digits: &str) -> String {
        match self.string && !self.integer && !self.number {
            true => quoted(raw),
            false => digits.to_owned(),
        }
    }

    /// Returns true if the schema allows text, or does not restrict the types.
    pub(super) fn takes_text(self) -> bool {
        self.string || self == Self::default()
    }

    /// Returns the JSON that a parameter's text means: the narrowest type that the schema allows and the text fits,
    /// else a string. The word `null` also means null if the schema allows no string, or does not restrict the types.
    pub(super) fn json(self, raw: &str) -> String {
        let value = raw.trim();
        if value.eq_ignore_ascii_case("null") && (self.null || !self.string) {
            return "null".into();
        }
        if self.boolean {
            for word in ["true", "false"] {
                if value.eq_ignore_ascii_case(word) {
                    return word.into();
                }
            }
        }
        if self.integer || self.number {
            match number(value) {
                Some(Number::Integer(digits)) => return digits.into_owned(),
                Some(Number::Fraction(digits)) if self.number => return digits.into_owned(),
                _ => {}
            }
        }
        if self.array && value.starts_with('[') || self.object && value.starts_with('{') {
            if super::json::intact(value) {
                return value.into();
            }
            if let Some(json) = python::literal(value) {
                return json;
            }
        }
        quoted(raw)
    }
}

/// Returns the schema of a tool's parameter; `None` if the tool has no parameter of this name.
pub(super) fn property<'a>(tool: &'a Value, parameter: &str) -> Option<&'a Value> {
    tool.get("properties")?.get(parameter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_narrowest_allowed_type_wins() {
        let check = |schema: Value, raw: &str, expect: &str| {
            let tool = json!({"properties": {"p": schema}});
            assert_eq!(Types::of(&tool, "p").json(raw), expect, "{raw} as {schema}");
        };
        check(json!({"type": "string"}), "17", r#""17""#);
        check(json!({}), "17", r#""17""#);
        check(json!({}), "null", "null");
        check(json!({"type": "integer"}), " 0017 ", "17");
        check(json!({"type": "integer"}), "1.5", r#""1.5""#);
        check(json!({"type": ["string", "integer"]}), "17", "17");
        check(json!({"type": "number"}), "1.50", "1.50");
        check(json!({"type": "number"}), "-.5", "-0.5");
        check(json!({"type": "number"}), "1.2.3", r#""1.2.3""#);
        check(json!({"type": "number"}), "2e400", "2e400");
        check(
            json!({"type": "integer"}),
            "123456789012345678901234567890",
            "123456789012345678901234567890",
        );
        check(json!({"type": "boolean"}), "TRUE", "true");
        check(json!({"type": "string"}), "null", r#""null""#);
        check(
            json!({"anyOf": [{"type": "null"}, {"type": "string"}]}),
            "null",
            "null",
        );
        check(json!({"type": "integer"}), "null", "null");
        check(
            json!({"type": "array"}),
            "[1, 'a', None]",
            r#"[1,"a",null]"#,
        );
        check(json!({"type": "array"}), "[1, 2", r#""[1, 2""#);
        check(json!({"type": "object"}), r#"{"a": 1.0}"#, r#"{"a": 1.0}"#);
        check(json!({"enum": ["a", null]}), "null", "null");
    }

    #[test]
    fn references_are_followed_and_loops_end() {
        let tool = json!({
            "properties": {"a": {"$ref": "#/$defs/n"}, "b": {"$ref": "#/$defs/loop"}},
            "$defs": {"n": {"type": "integer"}, "loop": {"$ref": "#/$defs/loop"}},
        });
        assert_eq!(Types::of(&tool, "a").json("4"), "4");
        assert_eq!(Types::of(&tool, "b").json("4"), "\"4\"");
    }
}
