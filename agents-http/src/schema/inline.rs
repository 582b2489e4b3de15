//! Replaces references by the schemas that they lead to.

use super::{Place, is_definitions, place};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Size of a schema in bytes beyond which references stay: definitions that use others twice grow without end.
const MOST_BYTES: usize = 256 * 1024;

/// Number of references within each other beyond which they stay.
const DEEPEST: usize = 50;

/// Returns `true` if a definition that is used refers to itself.
pub(super) fn is_recursive(root: &Value) -> bool {
    let mut names = BTreeSet::new();
    collect(root, &mut names);
    let mut references = Inliner::new(root);
    let used = references.reachable(names);
    let mut users: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut open: BTreeMap<&str, usize> = BTreeMap::new();
    for name in used {
        let inner = references.within(name);
        open.insert(name, inner.len());
        for inner in inner {
            users.entry(inner).or_default().push(name);
        }
    }
    // A reference is in no circle if none of those in its target is. What remains is a circle, or leads to one.
    let ends = open.iter().filter(|(_, inner)| **inner == 0);
    let mut free: Vec<&str> = ends.map(|(name, _)| *name).collect();
    while let Some(name) = free.pop() {
        open.remove(name);
        for user in users.remove(name).unwrap_or_default() {
            if let Some(inner) = open.get_mut(user) {
                *inner -= 1;
                if *inner == 0 {
                    free.push(user);
                }
            }
        }
    }
    !open.is_empty()
}

/// Returns the schema without references, except for those that have to stay.
pub(super) fn inlined(root: &Value) -> Value {
    let mut inliner = Inliner::new(root);
    let mut made = inliner.inline(root);
    let Some(made_root) = made.as_object_mut() else {
        return made;
    };
    for key in ["$defs", "definitions"] {
        let Some(definitions) = root.get(key).and_then(Value::as_object) else {
            continue;
        };
        let mut kept = Map::new();
        // A definition that stays may use others, which then stay too.
        while let Some((name, schema)) = definitions
            .iter()
            .find(|(name, _)| !kept.contains_key(*name) && inliner.keeps(key, name))
        {
            kept.insert(name.clone(), inliner.inline(schema));
        }
        made_root.remove(key);
        if !kept.is_empty() {
            made_root.insert(key.into(), kept.into());
        }
    }
    made
}

struct Inliner<'a> {
    root: &'a Value,
    /// Answers so far to the question whether a reference leads to itself, by reference.
    circles: BTreeMap<&'a str, bool>,
    /// References in the target of each reference, as far as it was asked.
    targets: BTreeMap<&'a str, BTreeSet<&'a str>>,
    /// References that stay.
    kept: BTreeSet<&'a str>,
    /// Number of bytes that the schema has at least, as far as it is made.
    size: usize,
    depth: usize,
}

impl<'a> Inliner<'a> {
    fn new(root: &'a Value) -> Self {
        Inliner {
            root,
            circles: BTreeMap::new(),
            targets: BTreeMap::new(),
            kept: BTreeSet::new(),
            size: 0,
            depth: 0,
        }
    }

    fn target(&self, name: &str) -> Option<&'a Value> {
        self.root.pointer(name.strip_prefix('#')?)
    }

    /// Returns the references in the target of a reference.
    fn within(&mut self, name: &'a str) -> &BTreeSet<&'a str> {
        let target = self.target(name);
        self.targets.entry(name).or_insert_with(|| {
            let mut inner = BTreeSet::new();
            target.iter().for_each(|target| collect(target, &mut inner));
            inner
        })
    }

    /// Returns these references, and all to which they lead.
    fn reachable(&mut self, mut open: BTreeSet<&'a str>) -> BTreeSet<&'a str> {
        let mut found = BTreeSet::new();
        while let Some(name) = open.pop_first() {
            if found.insert(name) {
                open.extend(self.within(name));
            }
        }
        found
    }

    fn is_circle(&mut self, name: &'a str) -> bool {
        if let Some(known) = self.circles.get(name) {
            return *known;
        }
        let inner = self.within(name).clone();
        let is_circle = self.reachable(inner).contains(name);
        self.circles.insert(name, is_circle);
        is_circle
    }

    /// Returns `true` if a reference that stays leads to this definition, or into it.
    fn keeps(&self, key: &str, definition: &str) -> bool {
        self.kept.iter().any(|name| {
            let mut path = name.split('/');
            path.next() == Some("#")
                && path.next() == Some(key)
                && path
                    .next()
                    .is_some_and(|name| name.replace("~1", "/").replace("~0", "~") == definition)
        })
    }

    fn inline(&mut self, schema: &'a Value) -> Value {
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
                // The definitions of the root follow when it is known which of them stay.
                _ if is_definitions(key) => value.clone(),
                (Place::Values, Value::Object(schemas)) => {
                    let schemas = schemas.iter();
                    let each = schemas.map(|(name, schema)| (name.clone(), self.inline(schema)));
                    Value::Object(each.collect())
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
        let stays = self.size > MOST_BYTES || self.depth > DEEPEST || self.is_circle(name);
        let target = self.target(name).filter(|_| !stays);
        let Some(target) = target else {
            self.kept.insert(name);
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

/// Adds the references in a schema, but not those in its definitions.
fn collect<'a>(schema: &'a Value, names: &mut BTreeSet<&'a str>) {
    let Value::Object(fields) = schema else {
        return;
    };
    names.extend(fields.get("$ref").and_then(Value::as_str));
    for (key, value) in fields {
        match (place(key), value) {
            _ if is_definitions(key) => {}
            (Place::Values, Value::Object(schemas)) => {
                schemas.values().for_each(|schema| collect(schema, names));
            }
            (Place::Items | Place::Itself, Value::Array(schemas)) => {
                schemas.iter().for_each(|schema| collect(schema, names));
            }
            (Place::Itself, schema) => collect(schema, names),
            _ => {}
        }
    }
}
