//! Part of a schema that concerns one field, as text for a model that sent a wrong value for it.

use crate::{error::ReadError, recovery};
use serde_json::{Map, Value, json};

/// Maximum depth of references in references that are followed in a schema.
const DEEPEST: usize = 8;

/// Maximum number of parts of a schema that an error shows. The model has seen the whole schema with the tool.
const MOST_PARTS: usize = 200;

/// Returns the part of the schema that applies at a path of these arguments, for an error: as text with its references
/// resolved. Returns `None` for the empty path, because the model was given the whole schema already, and if no schema
/// is known for the path.
pub(super) fn expectation(schema: &Value, text: &str, path: &str) -> Option<String> {
    if path.is_empty() {
        return None;
    }
    let whole: Value = serde_json::from_str(text).ok()?;
    let places = places(schema, &whole, path);
    let mut said: Vec<Value> = Vec::new();
    for place in places {
        let place = resolved(schema, place, DEEPEST, &mut { MOST_PARTS });
        if !said.contains(&place) {
            said.push(place);
        }
    }
    let choices: Option<Vec<Vec<&Value>>> = said.iter().map(choices).collect();
    match (said.as_slice(), choices.map(|all| all.concat())) {
        ([], _) => None,
        ([only], _) => Some(only.to_string()),
        // If each alternative names its values, as for a tag, all of those values are listed.
        (_, Some(choices)) => Some(json!({ "enum": choices }).to_string()),
        (several, None) => Some(json!({ "anyOf": several }).to_string()),
    }
}

/// Returns `true` if exactly one schema applies at a path of these arguments, so that no alternatives are left.
pub(super) fn is_settled(schema: &Value, text: &str, path: &str) -> bool {
    serde_json::from_str(text).is_ok_and(|whole| places(schema, &whole, path).len() == 1)
}

/// Returns the error with the path of the missing field, if a field is missing. An error of serde has the path of the
/// object around the field.
pub(crate) fn of_the_field(misfit: ReadError, schema: &Value, text: &str) -> ReadError {
    let Some(field) = missing(&misfit, schema, text) else {
        return misfit;
    };
    let path = match misfit.path() {
        "" => field.to_owned(),
        around => format!("{around}.{field}"),
    };
    ReadError::missing(path)
}

/// Returns the field that serde reports as missing, if it belongs to the object at the path of the error. For types
/// that serde reads by way of a buffer, such as tagged enums, that path is an object further out.
fn missing<'a>(misfit: &'a ReadError, schema: &Value, text: &str) -> Option<&'a str> {
    let said = misfit.message().strip_prefix("missing field `")?;
    let field = said.strip_suffix('`')?;
    let whole: Value = serde_json::from_str(text).ok()?;
    let object = recovery::value_at(&whole, misfit.path())?.as_object()?;
    let can_be_named = !field.is_empty() && !field.contains(['.', '[', ']']);
    (can_be_named && !object.contains_key(field) && may_have(schema, &whole, misfit.path(), field))
        .then_some(field)
}

/// Returns `true` if the object at a path may have this field, as far as the schema says.
fn may_have(schema: &Value, whole: &Value, path: &str, field: &str) -> bool {
    let at = recovery::value_at(whole, path);
    let around = places(schema, whole, path);
    let mut all = around.iter().flat_map(|place| meanings(schema, place, at));
    let mut says_nothing = true;
    all.any(|place| {
        says_nothing &= place.get("properties").is_none();
        step(place, field).is_some()
    }) || says_nothing
}

/// Returns the schemas that may apply to the value at a path of these arguments.
pub(super) fn places<'a>(schema: &'a Value, whole: &Value, path: &str) -> Vec<&'a Value> {
    let mut at = Some(whole);
    recovery::path_parts(path).fold(vec![schema], |places, part| {
        let mut next: Vec<&Value> = Vec::new();
        for place in places {
            for place in meanings(schema, place, at) {
                next.extend(step(place, part));
            }
        }
        at = at.and_then(|value| recovery::value_at(value, part));
        next.truncate(MOST_PARTS);
        next
    })
}

/// Returns the values that a schema allows, if it is a `const` or an `enum`; else `None`.
fn choices(schema: &Value) -> Option<Vec<&Value>> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(only), _) => Some(vec![only]),
        (None, Some(Value::Array(values))) => Some(values.iter().collect()),
        (None, _) => None,
    }
}

/// Returns the schema for the member or the element `part` of a value of this schema; `None` if it says nothing of it.
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

/// Returns the schemas that apply, or may apply, to this value: the schema itself, its references, its parts, and the
/// alternatives whose tags the value does not contradict. If the value contradicts each alternative, all are returned.
fn meanings<'a>(whole: &'a Value, schema: &'a Value, value: Option<&Value>) -> Vec<&'a Value> {
    let mut all = vec![schema];
    let mut at = 0;
    while at < all.len().min(MOST_PARTS) {
        let here = all[at];
        let listed = |key: &str| here.get(key).and_then(Value::as_array);
        let mut parts: Vec<&Value> = target(whole, here).into_iter().collect();
        parts.extend(listed("allOf").into_iter().flatten());
        for branches in ["anyOf", "oneOf"].into_iter().filter_map(listed) {
            let meant = |branch: &&Value| value.is_none_or(|value| agrees(whole, branch, value));
            let before = parts.len();
            parts.extend(branches.iter().filter(meant));
            if parts.len() == before {
                parts.extend(branches);
            }
        }
        for part in parts {
            if !all.iter().any(|known| std::ptr::eq(*known, part)) {
                all.push(part);
            }
        }
        at += 1;
    }
    all
}

/// Returns `true` if the value has the tags (fields with one allowed value) of an alternative. A tag that either of
/// them lacks counts as equal.
fn agrees(whole: &Value, branch: &Value, value: &Value) -> bool {
    let branch = target(whole, branch).unwrap_or(branch);
    let members = branch.get("properties").and_then(Value::as_object);
    members.into_iter().flatten().all(|(key, member)| {
        let (tag, said) = (member.get("const"), value.get(key));
        tag.is_none() || said.is_none() || tag == said
    })
}

/// Returns the schema that a `$ref` leads to, within the same document.
fn target<'a>(whole: &'a Value, schema: &Value) -> Option<&'a Value> {
    let reference = schema.get("$ref")?.as_str()?;
    whole.pointer(reference.strip_prefix('#')?)
}

/// Returns the schema with its references replaced by what they lead to, to a depth of `deep` and as long as `left` is
/// not used up.
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
                // An `allOf` with one part means that part.
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

/// Adds the members of another schema to this one. If a member of the same name is present, such as a description, the
/// present one stays.
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
        let shown =
            expectation(schema, "{}", path).map(|text| serde_json::from_str(&text).unwrap());
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
        let shown = expectation(&schema, "{}", "tree.left.right").unwrap();
        assert!(shown.starts_with(r#"{"properties":{"left":"#), "{shown}");
        assert!(shown.len() < 20_000, "{}", shown.len());
        assert!(expectation(&schema, "{}", "loop").unwrap().len() < 20_000);
        assert_eq!(expectation(&schema, "{}", "loop.x"), None);
    }

    #[test]
    fn a_tag_is_one_of_all_and_says_which_alternative_is_meant() {
        let schema = json!({
            "properties": {"shape": {"oneOf": [
                {"properties": {"type": {"const": "Circle"}, "size": {"type": "number"}}},
                {"$ref": "#/definitions/Square"},
            ]}},
            "definitions": {"Square": {"properties": {"type": {"const": "Square"}, "size": {"type": "integer"}}}},
        });
        let said = |text: &str, path: &str| expectation(&schema, text, path).unwrap();
        assert_eq!(
            said(r#"{"shape": {"type": "Hexagon"}}"#, "shape.type"),
            r#"{"enum":["Circle","Square"]}"#
        );
        assert_eq!(
            said(
                r#"{"shape": {"type": "Square", "size": "x"}}"#,
                "shape.size"
            ),
            r#"{"type":"integer"}"#
        );
        assert_eq!(
            said(r#"{"shape": {"size": "x"}}"#, "shape.size"),
            r#"{"anyOf":[{"type":"number"},{"type":"integer"}]}"#
        );
    }
}
