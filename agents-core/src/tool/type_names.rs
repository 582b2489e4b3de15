//! Names of types in a schema, in Rust's words.

use super::expected::places;
use serde_json::Value;

/// Returns the name of the type that the value at a path of these arguments should have had, for an error: `u32`,
/// `Vec<Line>`.
pub(crate) fn type_at(schema: &Value, text: &str, path: &str) -> String {
    let whole = serde_json::from_str(text).unwrap_or_default();
    let mut names: Vec<String> = Vec::new();
    for place in places(schema, &whole, path) {
        let name = type_of(place);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    match names.is_empty() {
        true => ANY.to_owned(),
        false => names.join(" | "),
    }
}

/// Returns the name of a type without the modules that it is in: `Vec<Bill>` for `alloc::vec::Vec<shop::Bill>`.
pub(crate) fn without_modules(name: &str) -> String {
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let mut short = String::new();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let end = match is_name(first) {
            true => rest.find(|c| !is_name(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (part, after) = rest.split_at(end);
        short.push_str(part.rsplit("::").next().unwrap_or(part));
        rest = after;
    }
    short
}

/// Name of a type in an error if its schema says nothing about it.
const ANY: &str = "any";

/// Returns the name of the type that a schema describes; of a referenced schema only the name, not its members.
fn type_of(schema: &Value) -> String {
    let listed = |key: &str| schema.get(key).and_then(Value::as_array);
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        return reference.rsplit('/').next().unwrap_or(ANY).to_owned();
    }
    if let Some([only]) = listed("allOf").map(Vec::as_slice) {
        return type_of(only);
    }
    let names = match (listed("anyOf").or(listed("oneOf")), schema.get("type")) {
        (Some(alternatives), _) => alternatives.iter().map(type_of).collect(),
        (None, Some(Value::String(name))) => vec![of_kind(name, schema)],
        (None, Some(Value::Array(names))) => {
            let names = names.iter().filter_map(Value::as_str);
            names.map(|name| of_kind(name, schema)).collect()
        }
        (None, _) => vec![ANY.to_owned()],
    };
    let (nulls, mut names): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| name == "()");
    names.dedup();
    let name = names.join(" | ");
    match (nulls.is_empty(), name.is_empty()) {
        (true, _) => name,
        (false, true) => "()".to_owned(),
        (false, false) => format!("Option<{name}>"),
    }
}

/// Returns the Rust name of a `type` of JSON Schema, given the other keys of the schema.
fn of_kind(kind: &str, schema: &Value) -> String {
    let format = schema.get("format").and_then(Value::as_str);
    let of = |key: &str| schema.get(key).filter(|inner| inner.is_object());
    match (kind, format) {
        ("null", _) => "()".to_owned(),
        ("boolean", _) => "bool".to_owned(),
        ("integer", Some("uint")) => "usize".to_owned(),
        ("integer", Some("int")) => "isize".to_owned(),
        ("integer", Some(format)) => {
            match (format.strip_prefix("uint"), format.strip_prefix("int")) {
                (Some(bits), _) => format!("u{bits}"),
                (None, Some(bits)) => format!("i{bits}"),
                (None, None) => kind.to_owned(),
            }
        }
        ("number", Some("float")) => "f32".to_owned(),
        ("number", Some("double")) => "f64".to_owned(),
        ("string", None) => "String".to_owned(),
        ("string", Some(format)) => format.to_owned(),
        ("array", _) => match of("items") {
            Some(items) => format!("Vec<{}>", type_of(items)),
            None => "Vec".to_owned(),
        },
        ("object", _) => match (schema.get("properties"), of("additionalProperties")) {
            (None, Some(values)) => format!("Map<String, {}>", type_of(values)),
            _ => kind.to_owned(),
        },
        _ => kind.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{type_at, without_modules};
    use crate::tool::schema_of;
    use schemars::JsonSchema;
    use serde_json::json;
    use std::collections::BTreeMap;

    #[expect(dead_code, reason = "only its schema is made")]
    #[derive(JsonSchema)]
    struct Order {
        count: u8,
        size: usize,
        price: Option<f64>,
        name: String,
        sent: bool,
        lines: Vec<Line>,
        first: Option<Line>,
        /// Unit of the value.
        unit: Unit,
        units: BTreeMap<String, Unit>,
        pair: (u32, String),
        nothing: (),
    }

    #[expect(dead_code, reason = "only its schema is made")]
    #[derive(JsonSchema)]
    struct Line {
        weight: i64,
    }

    #[expect(dead_code, reason = "only its schema is made")]
    #[derive(JsonSchema)]
    enum Unit {
        Kilometre,
        Mile,
    }

    #[test]
    fn a_type_goes_by_its_name_in_rust() {
        let schema = schema_of::<Order>();
        for (path, name) in [
            ("", "object"),
            ("count", "u8"),
            ("size", "usize"),
            ("price", "Option<f64>"),
            ("name", "String"),
            ("sent", "bool"),
            ("lines", "Vec<Line>"),
            ("lines[2]", "Line"),
            ("lines[2].weight", "i64"),
            ("first", "Option<Line>"),
            ("first.weight", "i64"),
            ("unit", "Unit"),
            ("units", "Map<String, Unit>"),
            ("units.door", "Unit"),
            ("pair[1]", "String"),
            ("nothing", "()"),
            ("nowhere", "any"),
        ] {
            assert_eq!(type_at(&schema, "{}", path), name, "{path}");
        }
    }

    #[test]
    fn a_schema_that_is_not_ours_is_named_as_far_as_it_goes() {
        let schema = json!({"properties": {
            "n": {"type": "integer"},
            "x": {"type": ["number", "string"]},
            "day": {"type": "string", "format": "date"},
            "list": {"type": "array"},
            "open": {},
        }});
        for (path, name) in [
            ("n", "integer"),
            ("x", "number | String"),
            ("day", "date"),
            ("list", "Vec"),
            ("open", "any"),
        ] {
            assert_eq!(type_at(&schema, "{}", path), name, "{path}");
        }
    }

    #[test]
    fn modules_are_left_out() {
        let name = "alloc::vec::Vec<(core::option::Option<shop::bills::Bill>, &str)>";
        assert_eq!(without_modules(name), "Vec<(Option<Bill>, &str)>");
    }
}
