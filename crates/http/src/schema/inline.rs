//! Replaces references by the schemas that they lead to.

use super::{
    Place,
    circles::{circles, target},
    is_definitions, look, place,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Size of a schema in bytes beyond which references stay: definitions that use others twice grow without end.
const MOST_BYTES: usize = 256 * 1024;

/// Number of references within each other beyond which they stay.
const DEEPEST: usize = 50;

/// Keywords of definitions.
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// Returns the schema without references, except for those that have to stay.
pub(super) fn inlined(root: &Value) -> Value {
    let mut inliner = Inliner::new(root);
    let mut made = inliner.inline(root);
    let Some(made_root) = made.as_object_mut() else {
        return made;
    };
    let mut kept = DEFINITIONS.map(|key| (key, Map::new()));
    // A definition that stays may use others, which then stay too.
    while let Some(name) = inliner.open.pop() {
        look();
        let Some((key, name)) = definition(name) else {
            continue;
        };
        for (_, kept) in kept.iter_mut().filter(|(own, _)| *own == key) {
            let schema = root.get(key).and_then(|all| all.get(&name));
            if let Some(schema) = schema.filter(|_| !kept.contains_key(&name)) {
                kept.insert(name.clone(), inliner.inline(schema));
            }
        }
    }
    for (key, kept) in kept {
        made_root.remove(key);
        if !kept.is_empty() {
            made_root.insert(key.into(), kept.into());
        }
    }
    made
}

/// Returns the keyword and the name of the definition to which a reference leads, or into which it leads.
fn definition(reference: &str) -> Option<(&str, String)> {
    let mut path = reference.strip_prefix("#/")?.split('/');
    let (key, name) = (path.next()?, path.next()?);
    Some((key, name.replace("~1", "/").replace("~0", "~")))
}

struct Inliner<'a> {
    root: &'a Value,
    /// References that lead to themselves.
    circles: BTreeSet<&'a str>,
    /// References that stay.
    kept: BTreeSet<&'a str>,
    /// References that stay, and whose definitions are not made yet.
    open: Vec<&'a str>,
    /// Number of bytes that the schema has at least, as far as it is made.
    size: usize,
    depth: usize,
}

impl<'a> Inliner<'a> {
    fn new(root: &'a Value) -> Self {
        Inliner {
            root,
            circles: circles(root),
            kept: BTreeSet::new(),
            open: Vec::new(),
            size: 0,
            depth: 0,
        }
    }

    fn inline(&mut self, schema: &'a Value) -> Value {
        look();
        let Value::Object(fields) = schema else {
            self.size += schema.to_string().len();
            return schema.clone();
        };
        if let Some(name) = fields.get("$ref").and_then(Value::as_str) {
            return self.follow(name, fields);
        }
        self.each(fields).into()
    }

    /// Returns the keywords of a schema, with the schemas in them inlined.
    fn each(&mut self, fields: &'a Map<String, Value>) -> Map<String, Value> {
        let mut made = Map::new();
        for (key, value) in fields {
            self.size += key.len();
            let value = match (place(key), value) {
                // No reference leads into a copy. The definitions of the root follow when it is known which of them stay.
                _ if is_definitions(key) && self.depth > 0 => continue,
                _ if is_definitions(key) => value.clone(),
                (Place::Values, Value::Object(schemas)) => {
                    let mut each = Map::new();
                    for (name, schema) in schemas {
                        each.insert(name.clone(), self.inline(schema));
                    }
                    each.into()
                }
                (Place::Items | Place::Itself, Value::Array(schemas)) => {
                    schemas.iter().map(|schema| self.inline(schema)).collect()
                }
                (Place::Itself, schema) => self.inline(schema),
                _ => {
                    self.size += value.to_string().len();
                    value.clone()
                }
            };
            made.insert(key.clone(), value);
        }
        made
    }

    /// Returns the schema to which a reference leads, together with the keywords beside the reference.
    fn follow(&mut self, name: &'a str, beside: &'a Map<String, Value>) -> Value {
        let is_large = self.size > MOST_BYTES || self.depth > DEEPEST;
        let stays = is_large || self.circles.contains(name);
        let target = target(self.root, name).filter(|_| !stays);
        let Some(target) = target else {
            if self.kept.insert(name) {
                self.open.push(name);
            }
            return json!({ "$ref": name });
        };
        self.depth += 1;
        let made = self.inline(target);
        self.depth -= 1;
        let mut beside = self.each(beside);
        beside.retain(|key, _| key != "$ref" && !is_definitions(key));
        join(made, beside)
    }
}

/// Joins a schema with the keywords that stand beside the reference to it.
fn join(schema: Value, beside: Map<String, Value>) -> Value {
    let Value::Object(mut schema) = schema else {
        return match beside.is_empty() {
            true => schema,
            false => json!({ "allOf": [schema, beside] }),
        };
    };
    let says = |key: &str| matches!(key, "title" | "description" | "default" | "examples");
    let (said, demanded): (Map<_, _>, Map<_, _>) =
        beside.into_iter().partition(|(key, _)| says(key));
    schema.extend(said);
    let clashes = schema.contains_key("$ref")
        || demanded
            .iter()
            .any(|(key, value)| schema.get(key).is_some_and(|known| known != value));
    if clashes && !demanded.is_empty() {
        return json!({ "allOf": [schema, demanded] });
    }
    schema.extend(demanded);
    schema.into()
}
