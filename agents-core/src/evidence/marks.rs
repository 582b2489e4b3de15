//! Marks in generated schemas, which are taken out before anybody sees the schema: models get sentences in their place.

use super::wording;
use serde_json::{Map, Value};

/// Key in a tool's schema whose value is a sentence for the description, which says where a known value may come from.
pub(super) const KNOWN: &str = "x-known";
/// Key in an answer's schema whose value is the name of the tool that a claim is about.
pub(super) const DONE: &str = "x-done";

/// Removes the keys `x-known` and `x-done` from a schema, and puts sentences about known values and claims behind the
/// descriptions, which are the doc comments of the user. Returns the names of the tools whose calls the schema has
/// claims of, sorted and each once.
pub(crate) fn without_marks(schema: &mut Value) -> Vec<String> {
    let mut claims = Vec::new();
    visit(schema, &mut claims);
    claims.sort();
    claims.dedup();
    claims
}

fn visit(schema: &mut Value, claims: &mut Vec<String>) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::String(tool)) = members.remove(DONE) {
                describe(members, wording::claim(&tool));
                claims.push(tool);
            }
            if let Some(Value::String(sentence)) = members.remove(KNOWN) {
                describe(members, sentence);
            }
            members
                .values_mut()
                .for_each(|member| visit(member, claims));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| visit(item, claims)),
        _ => {}
    }
}

/// Puts a sentence behind the description of a schema; the sentence becomes the description if the schema has none.
fn describe(members: &mut Map<String, Value>, sentence: String) {
    let said = members.get("description").and_then(Value::as_str);
    let described = match said {
        Some(said) if said.ends_with(['.', '!', '?']) => format!("{said} {sentence}"),
        Some(said) => format!("{said}. {sentence}"),
        None => sentence,
    };
    members.insert("description".to_owned(), described.into());
}
