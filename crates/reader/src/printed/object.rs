//! JSON objects built from values that were not printed as JSON.

use std::collections::HashMap;

use super::json_scalars::quoted;

/// JSON object that is built member by member; the last value of a repeated key counts.
#[derive(Default)]
pub(super) struct Object {
    members: Vec<(String, String)>,
    places: HashMap<String, usize>,
}

impl Object {
    /// Sets a member to a value that is given as JSON text.
    pub(super) fn set(&mut self, key: &str, json: String) {
        match self.places.get(key) {
            Some(&place) => self.members[place].1 = json,
            None => {
                self.places.insert(key.to_owned(), self.members.len());
                self.members.push((key.to_owned(), json));
            }
        }
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.places.contains_key(key)
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|(key, _)| key.as_str())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    pub(super) fn into_json(self) -> String {
        let members = self
            .members
            .iter()
            .map(|(key, json)| format!("{}:{json}", quoted(key)));
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    }
}
