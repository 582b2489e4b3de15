//! The tools that may be called, looked up by their printed names.

use serde_json::Value;

use super::Declared;
use super::object::Object;
use super::text::Cursor;

#[derive(Clone, Copy)]
pub(super) struct Tools<'a>(pub(super) &'a [Declared<'a>]);

impl<'a> Tools<'a> {
    pub(super) fn iter(self) -> impl Iterator<Item = &'a Declared<'a>> {
        self.0.iter()
    }

    /// Returns the declared tool of this name. The name may have the namespace that a family of models prints before
    /// it.
    pub(super) fn get(self, name: &str) -> Option<&'a Declared<'a>> {
        let name = name.trim();
        let find = |name| self.iter().find(|tool| tool.name == name);
        let spaces = ["functions.", "assistant."];
        let bare = || spaces.iter().find_map(|space| name.strip_prefix(space));
        find(name).or_else(|| find(bare()?))
    }

    /// Reads the longest name of a declared tool at the cursor, and moves past it.
    ///
    /// A name ends where its word ends, so that `say` is not read from `say_more`.
    pub(super) fn eat_name(self, cursor: &mut Cursor<'_, '_>) -> Option<&'a Declared<'a>> {
        let start = *cursor;
        let mut best: Option<&Declared<'_>> = None;
        for tool in self.iter() {
            let longer = best.is_none_or(|best| tool.name.len() > best.name.len());
            let mut after = start;
            if longer && !tool.name.is_empty() && after.eat(tool.name) {
                let next = after.text.char(after.at);
                if !next.is_some_and(|c| c.is_alphanumeric() || c == '_') {
                    best = Some(tool);
                    *cursor = after;
                }
            }
        }
        best
    }
}

impl<'a> Declared<'a> {
    /// Returns the only parameter of a tool, if it has just one.
    pub(super) fn only_parameter(&self) -> Option<&'a str> {
        let properties = self.schema.get("properties").and_then(Value::as_object)?;
        let mut names = properties.keys();
        let only = names.next()?;
        names.next().is_none().then_some(only.as_str())
    }

    /// Returns true if `object` has a key that is no parameter of the tool, unless the tool's schema allows other keys.
    pub(super) fn lacks_one_of(&self, object: &Object) -> bool {
        let properties = self.schema.get("properties").and_then(Value::as_object);
        !self.allows_other_keys()
            && properties.is_some_and(|known| object.keys().any(|key| !known.contains_key(key)))
    }

    /// Returns true if a key of any name may be a parameter of the tool: its schema names none, or allows others.
    pub(super) fn is_open(&self) -> bool {
        self.allows_other_keys() || self.schema.get("properties").is_none()
    }

    fn allows_other_keys(&self) -> bool {
        matches!(self.schema.get("additionalProperties"), Some(more) if more != false)
            || self.schema.get("patternProperties").is_some()
    }

    /// Returns true if `object` lacks a required parameter of the tool.
    pub(super) fn misses_required_in(&self, object: &Object) -> bool {
        let required = self.schema.get("required").and_then(Value::as_array);
        let mut names = required.into_iter().flatten().filter_map(Value::as_str);
        names.any(|name| !object.has(name))
    }
}
