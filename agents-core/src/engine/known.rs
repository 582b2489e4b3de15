//! Known values among arguments: the tool gets them as the evidence spells them.

use super::rules::Rules;
use crate::{
    error::ReadError,
    evidence::{self, Origin, Respelled},
    reader::{Change, ChangeKind, Changes},
    tool::Prepared,
};
use serde_json::value::RawValue;
use std::{
    borrow::Cow,
    collections::{BTreeMap, VecDeque},
    ops::Range,
};

/// Arguments that were read, with their known values in the spelling of the evidence.
pub(super) struct Spelled<'t> {
    pub(super) prepared: Prepared,
    pub(super) origins: Vec<Origin>,
    /// The arguments as text: that which was read, or with other spellings.
    pub(super) text: Cow<'t, str>,
    /// The spellings that were replaced.
    pub(super) changes: Changes,
}

/// Reads arguments into the tool's type. A known value that the evidence spells in another way is replaced in the text,
/// before anybody is asked about the arguments. If reading is strict, such a value does not fit.
pub(super) fn prepare<'t>(rules: &Rules<'_>, text: &'t str) -> Result<Spelled<'t>, ReadError> {
    let (mut prepared, mut known) = rules.prepare(text)?;
    let (mut text, mut changes) = (Cow::Borrowed(text), Changes::default());
    let mut strings = match known.respelled.is_empty() {
        true => VecDeque::new(),
        false => strings(&text),
    };
    while let Some(string) = strings.pop_back() {
        let is_it = |one: &&Respelled| one.written == string.text;
        let Some(one) = known.respelled.iter().find(is_it).cloned() else {
            continue;
        };
        // Another field may have the same text. Reading tells which one is the known value.
        let mut other = text.clone().into_owned();
        let spelling = serde_json::Value::from(&*one.spelling).to_string();
        other.replace_range(string.place, &spelling);
        let Ok((read, now)) = rules.prepare(&other) else {
            continue;
        };
        if now.respelled.len() >= known.respelled.len() {
            continue;
        }
        if rules.strict {
            let error = evidence::to_be_respelled(&one.written, &one.spelling);
            return Err(ReadError::new(string.path, error));
        }
        let note = evidence::respelled(&one.written);
        let change = Change::new(ChangeKind::Enum, string.path, note).original(&one.written);
        changes.0.insert(0, change);
        (text, prepared, known) = (other.into(), read, now);
    }
    match known.respelled.first() {
        Some(one) => {
            let error = evidence::to_be_respelled(&one.written, &one.spelling);
            Err(ReadError::new("", error))
        }
        None => Ok(Spelled {
            prepared,
            origins: known.origins,
            text,
            changes,
        }),
    }
}

/// String in a JSON text.
struct JsonString {
    path: String,
    place: Range<usize>,
    text: String,
}

/// Returns all strings of a JSON text that are no keys, in their order.
fn strings(json: &str) -> VecDeque<JsonString> {
    let mut found = VecDeque::new();
    visit(json, 0, String::new(), &mut found);
    found
        .make_contiguous()
        .sort_by_key(|string| string.place.start);
    found
}

// Recursion is bounded: arguments that nest too deep are refused before.
fn visit(json: &str, at: usize, path: String, found: &mut VecDeque<JsonString>) {
    let place = |part: &RawValue| at + (part.get().as_ptr().addr() - json.as_ptr().addr());
    match json.trim_start().bytes().next() {
        Some(b'{') => {
            let members = serde_json::from_str::<BTreeMap<Cow<'_, str>, &RawValue>>(json);
            for (key, value) in members.into_iter().flatten() {
                let path = match path.is_empty() {
                    true => key.into_owned(),
                    false => format!("{path}.{key}"),
                };
                visit(value.get(), place(value), path, found);
            }
        }
        Some(b'[') => {
            let items = serde_json::from_str::<Vec<&RawValue>>(json);
            for (index, item) in items.into_iter().flatten().enumerate() {
                visit(item.get(), place(item), format!("{path}[{index}]"), found);
            }
        }
        Some(b'"') => {
            if let Ok(text) = serde_json::from_str(json) {
                found.push_back(JsonString {
                    path,
                    place: at..at + json.len(),
                    text,
                });
            }
        }
        _ => {}
    }
}
