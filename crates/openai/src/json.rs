//! JSON that both formats write: fields, and calls in the form that servers accept.

use agents_core::model::prompted;
use serde::Serialize;
use serde_json::json;

/// Returns the id of a tool call, which servers require; `call` if the call has none.
pub(crate) fn id(id: &str) -> &str {
    match id {
        "" => "call",
        id => id,
    }
}

/// Returns the name of a tool call as servers take it, since models invent other names: its first 64 characters, with
/// `_` for each that servers refuse; `unnamed` if the call has no name.
pub(crate) fn name(name: &str) -> String {
    let valid = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let name: String = name
        .chars()
        .take(64)
        .map(|c| if valid(c) { c } else { '_' })
        .collect();
    match name.is_empty() {
        true => "unnamed".to_owned(),
        false => name,
    }
}

/// Returns the arguments of a tool call as the JSON object that most servers require. A text that is no object becomes
/// the field `malformed_arguments` of an object, and an empty text becomes `{}`.
pub(crate) fn arguments(text: &str) -> String {
    match text.trim() {
        "" => "{}".to_owned(),
        text if prompted::is_object(text) => text.to_owned(),
        text => json!({ "malformed_arguments": text }).to_string(),
    }
}

pub(crate) fn field(out: &mut Vec<u8>, key: &[u8], text: &str) {
    out.extend_from_slice(key);
    put(out, text);
}

pub(crate) fn put<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    // Strings and JSON trees always serialise, and writing into memory does not fail.
    let _ = serde_json::to_writer(out, value);
}
