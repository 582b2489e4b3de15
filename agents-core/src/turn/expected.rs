//! What a schema says of one field, in words for a model that got it wrong.

use serde_json::{Map, Value};

/// References within each other are followed so deep.
const DEEPEST: usize = 8;

/// So many parts of a schema are shown; what is left of it the model has read where the tool was offered.
const MOST_PARTS: usize = 200;

/// The part of the schema that a path leads to, as text, with what it refers to in its place; `None` for
/// the whole, which the model was given already.
pub(super) fn expectation(schema: &Value, path: &str) -> Option<String> {
    let parts = path.split(['.', '[', ']']).filter(|part| !part.is_empty());
    let at = parts.clone().try_fold(schema, |at, part| {
        meanings(schema, at)
            .into_iter()
            .find_map(|at| step(at, part))
    })?;
    let shown = || resolved(schema, at, DEEPEST, &mut { MOST_PARTS }).to_string();
    (!path.is_empty()).then(shown)
}

/// What a schema says of a member, or of an element.
fn step<'a>(schema: &'a Value, part: &str) -> Option<&'a Value> {
    let element = || {
        let index: usize = part.parse().ok()?;
        let items = schema.get("items");
        let first = schema.get("prefixItems").or(items);
        first
            .and_then(|first| first.get(index))
            .or(items.filter(|items| items.is_object()))
    };
    let member = || schema.get("properties")?.get(part);
    let other = || {
        schema
            .get("additionalProperties")
            .filter(|other| other.is_object())
    };
    member().or_else(element).or_else(other)
}

/// The schemas that hold, or may hold, at the same place: the one itself, what it refers to, its parts and
/// its alternatives.
fn meanings<'a>(whole: &'a Value, schema: &'a Value) -> Vec<&'a Value> {
    let mut all = vec![schema];
    let mut at = 0;
    while at < all.len().min(MOST_PARTS) {
        let here = all[at];
        let parts = ["allOf", "anyOf", "oneOf"]
            .iter()
            .filter_map(|key| here.get(key)?.as_array())
            .flatten();
        for part in target(whole, here).into_iter().chain(parts) {
            if !all.iter().any(|known| std::ptr::eq(*known, part)) {
                all.push(part);
            }
        }
        at += 1;
    }
    all
}

/// What a schema refers to, within the same document.
fn target<'a>(whole: &'a Value, schema: &Value) -> Option<&'a Value> {
    let reference = schema.get("$ref")?.as_str()?;
    whole.pointer(reference.strip_prefix('#')?)
}

/// The schema with what it refers to in its place, as far as that goes.
fn resolved(whole: &Value, schema: &Value, deep: usize, left: &mut usize) -> Value {
    *left = left.saturating_sub(1);
    if deep == 0 || *left == 0 {
        return schema.clone();
    }
    match schema {
        Value::Object(members) => {
            let referred = target(whole, schema);
            let mut shown = Map::new();
            for (key, value) in members {
                if key == "$ref" && referred.is_some() {
                    continue;
                }
                // One part that has to hold is the whole of it.
                match value.as_array().map(Vec::as_slice) {
                    Some([only]) if key == "allOf" => {
                        merge(&mut shown, resolved(whole, only, deep - 1, left))
                    }
                    _ => {
                        shown.insert(key.clone(), resolved(whole, value, deep, left));
                    }
                }
            }
            if let Some(referred) = referred {
                merge(&mut shown, resolved(whole, referred, deep - 1, left));
            }
            Value::Object(shown)
        }
        Value::Array(items) => {
            let items = items.iter();
            items
                .map(|item| resolved(whole, item, deep, left))
                .collect()
        }
        other => other.clone(),
    }
}

/// Adds what is said elsewhere; what is said here already, such as a description, is closer.
fn merge(into: &mut Map<String, Value>, other: Value) {
    if let Value::Object(members) = other {
        for (key, value) in members {
            into.entry(key).or_insert(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::expectation;
    use serde_json::{Value, json};

    fn check(schema: &Value, path: &str, expected: Option<Value>) {
        let shown = expectation(schema, path).map(|text| serde_json::from_str(&text).unwrap());
        assert_eq!(shown, expected, "{path}");
    }

    #[test]
    fn references_and_parts_are_resolved() {
        let schema = json!({
            "properties": {
                "at": {"description": "Where.", "allOf": [{"$ref": "#/definitions/Point"}]},
                "way": {"type": "array", "items": {"$ref": "#/definitions/Point"}},
                "unit": {"anyOf": [{"$ref": "#/definitions/Unit"}, {"type": "null"}]},
                "pair": {"prefixItems": [{"type": "string"}, {"$ref": "#/definitions/Unit"}]},
                "sizes": {"type": "object", "additionalProperties": {"$ref": "#/definitions/Unit"}},
            },
            "definitions": {
                "Point": {"type": "object", "properties": {"x": {"$ref": "#/definitions/Number"}}},
                "Number": {"type": "integer"},
                "Unit": {"enum": ["km", "mi"]},
            },
        });
        let point = json!({"type": "object", "properties": {"x": {"type": "integer"}}});
        let unit = json!({"enum": ["km", "mi"]});
        check(&schema, "", None);
        check(&schema, "nowhere", None);
        check(&schema, "way[3]", Some(point.clone()));
        check(&schema, "way[3].x", Some(json!({"type": "integer"})));
        check(&schema, "at.x", Some(json!({"type": "integer"})));
        check(
            &schema,
            "unit",
            Some(json!({"anyOf": [unit, {"type": "null"}]})),
        );
        check(&schema, "pair[1]", Some(unit.clone()));
        check(&schema, "sizes.door", Some(unit));
        let mut at = point;
        at["description"] = json!("Where.");
        check(&schema, "at", Some(at));
    }

    #[test]
    fn what_refers_to_itself_ends() {
        let schema = json!({
            "properties": {"tree": {"$ref": "#/definitions/Tree"}, "loop": {"$ref": "#/definitions/Loop"}},
            "definitions": {
                "Tree": {"properties": {"left": {"$ref": "#/definitions/Tree"}, "right": {"$ref": "#/definitions/Tree"}}},
                "Loop": {"allOf": [{"$ref": "#/definitions/Loop"}, {"$ref": "#/definitions/Loop"}]},
            },
        });
        let shown = expectation(&schema, "tree.left.right").unwrap();
        assert!(shown.starts_with(r#"{"properties":{"left":"#), "{shown}");
        assert!(shown.len() < 20_000, "{}", shown.len());
        assert!(expectation(&schema, "loop").unwrap().len() < 20_000);
        assert_eq!(expectation(&schema, "loop.x"), None);
    }
}
