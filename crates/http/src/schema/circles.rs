//! References of a schema that lead to themselves.

use super::{Place, is_definitions, look, place};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    vec,
};

/// Returns the references that lead to themselves, among those that are used. Each reference is looked at once for each
/// place where it stands.
pub(super) fn circles(root: &Value) -> BTreeSet<&str> {
    let mut search = Search {
        root,
        numbers: BTreeMap::new(),
        path: Vec::new(),
        bounds: Vec::new(),
        open: Vec::new(),
        closed: BTreeSet::new(),
        found: BTreeSet::new(),
    };
    let mut names = BTreeSet::new();
    collect(root, &mut names);
    for name in names {
        search.from(name);
    }
    search.found
}

/// Returns the schema to which a reference leads.
pub(super) fn target<'a>(root: &'a Value, name: &str) -> Option<&'a Value> {
    root.pointer(name.strip_prefix('#')?)
}

/// Search along references, which closes groups of references that lead to each other, after all to which they lead.
struct Search<'a> {
    root: &'a Value,
    /// Numbers of the references in the order in which they were found.
    numbers: BTreeMap<&'a str, usize>,
    /// References that are in no closed group.
    path: Vec<&'a str>,
    /// Numbers of those references on the path with which a group begins, as far as it is known.
    bounds: Vec<usize>,
    /// References whose targets are being searched, each with the references in its target that are left.
    open: Vec<(&'a str, vec::IntoIter<&'a str>)>,
    closed: BTreeSet<&'a str>,
    found: BTreeSet<&'a str>,
}

impl<'a> Search<'a> {
    fn from(&mut self, name: &'a str) {
        if self.numbers.contains_key(name) {
            return;
        }
        self.enter(name);
        while let Some((name, inner)) = self.open.last_mut() {
            let name = *name;
            match inner.next() {
                Some(next) => self.step(name, next),
                None => self.leave(name),
            }
        }
    }

    fn enter(&mut self, name: &'a str) {
        let number = self.numbers.len();
        self.numbers.insert(name, number);
        self.path.push(name);
        self.bounds.push(number);
        let mut inner = BTreeSet::new();
        if let Some(target) = target(self.root, name) {
            collect(target, &mut inner);
        }
        let inner: Vec<_> = inner.into_iter().collect();
        self.open.push((name, inner.into_iter()));
    }

    fn step(&mut self, name: &'a str, next: &'a str) {
        look();
        if name == next {
            self.found.insert(name);
        }
        match self.numbers.get(next) {
            None => self.enter(next),
            // It leads back: all that was found since then is of one group with it.
            Some(number) if !self.closed.contains(next) => {
                while self.bounds.last().is_some_and(|bound| bound > number) {
                    self.bounds.pop();
                }
            }
            Some(_) => {}
        }
    }

    fn leave(&mut self, name: &'a str) {
        self.open.pop();
        if self.bounds.last() != self.numbers.get(name) {
            return;
        }
        self.bounds.pop();
        let is_alone = self.path.last() == Some(&name);
        while let Some(member) = self.path.pop() {
            self.closed.insert(member);
            if !is_alone {
                self.found.insert(member);
            }
            if member == name {
                break;
            }
        }
    }
}

/// Adds the references in a schema, but not those in its definitions.
fn collect<'a>(schema: &'a Value, names: &mut BTreeSet<&'a str>) {
    look();
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
