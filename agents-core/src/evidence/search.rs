//! Search for a value in JSON and in texts.

use super::{iban, numeral, text::Text};
use crate::Json;
use serde_json::Value;

/// Place of a value in the evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The value stands by itself in the evidence, and not within a longer text.
    Whole,
    /// The value is a part of a longer text in the evidence.
    InText,
}

/// Value in the evidence that is the one looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Match {
    pub(super) found: Place,
    /// Spelling of the evidence; `None` if the value is spelled in the same way, or is no text.
    pub(super) spelling: Option<String>,
}

/// Looks for a value in another value: in its items, members and texts, but not in the keys of objects.
pub(super) fn find(value: &Value, within: &Value) -> Vec<Match> {
    let mut matches = Vec::new();
    collect(value, within, &mut matches);
    matches
}

// Recursion is bounded: serde_json reads no values that nest deeper.
fn collect(value: &Value, within: &Value, matches: &mut Vec<Match>) {
    if let Some(spelling) = whole(value, within) {
        matches.push(Match {
            found: Place::Whole,
            spelling,
        });
        return;
    }
    match within {
        Value::Array(items) => items.iter().for_each(|item| collect(value, item, matches)),
        Value::Object(members) => members
            .values()
            .for_each(|member| collect(value, member, matches)),
        Value::String(text) => {
            let spellings = in_text(value, text).into_iter();
            matches.extend(spellings.map(|spelling| Match {
                found: Place::InText,
                spelling,
            }));
        }
        _ => {}
    }
}

/// Returns `true` if a call's arguments fit a claim: all fields of the claim have the same value among the arguments. A
/// field that is `null` in the claim may be missing among the arguments. A claim that is no object fits any arguments.
pub(super) fn has_fields(input: &Json, claimed: &Value) -> bool {
    let Some(claimed) = claimed.as_object() else {
        return true;
    };
    let Ok(Value::Object(input)) = input.to_value() else {
        return claimed.is_empty();
    };
    claimed.iter().all(|(field, value)| match input.get(field) {
        Some(given) => is_equal(value, given),
        None => value.is_null(),
    })
}

/// Returns `true` for two equal values: numbers are compared by their value, and texts exactly.
fn is_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            numeral::decimal(one) == numeral::decimal(other)
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other)
                    .all(|(one, other)| is_equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let has = |(key, value): (&String, &Value)| {
                other.get(key).is_some_and(|other| is_equal(value, other))
            };
            one.len() == other.len() && one.iter().all(has)
        }
        _ => one == other,
    }
}

/// Compares two values apart from their notation, such as upper case or `5` and `"5"`. Returns `None` if they differ,
/// else the spelling of the second, if it is another.
#[expect(
    clippy::option_option,
    reason = "the outer one says whether they are the same"
)]
fn whole(value: &Value, within: &Value) -> Option<Option<String>> {
    match (value, within) {
        (Value::String(value), Value::String(within)) => {
            let within = within.trim();
            let joined = iban::joined(within);
            let is_same = |value: &str, within: &str| {
                let value = normal(value);
                !value.is_empty() && value == normal(within)
            };
            let value_joined = iban::joined(value);
            let spellings = [Some(within), joined.as_deref()].into_iter().flatten();
            let written = [Some(&**value), value_joined.as_deref()];
            let mut pairs =
                spellings.flat_map(|one| written.into_iter().flatten().map(move |of| (of, one)));
            let spelling = pairs.find(|(of, one)| is_same(of, one))?.1;
            Some(other_than(value, spelling))
        }
        (Value::String(text), Value::Number(number)) => {
            let written = number.to_string();
            let is_same = numeral::numeral(text.trim()) == Some(numeral::decimal(number));
            (is_same || text.trim() == written).then(|| other_than(text, &written))
        }
        (Value::Number(number), Value::String(text)) => {
            let is_same = numeral::numeral(text.trim()) == Some(numeral::decimal(number));
            (is_same || text.trim() == number.to_string()).then_some(None)
        }
        (Value::Null | Value::Bool(_), _) => (value == within).then_some(None),
        _ => is_equal(value, within).then_some(None),
    }
}

/// Returns the spelling, if the value has another.
fn other_than(value: &str, spelling: &str) -> Option<String> {
    (value != spelling).then(|| spelling.to_owned())
}

/// Returns the spellings in which a value is a part of a text; `None` in place of a spelling that is the value's own.
fn in_text(value: &Value, text: &str) -> Vec<Option<String>> {
    match value {
        Value::String(value) => {
            let text = Text::new(text);
            let mut found = text.spellings(value);
            // An account in groups may stand for one without.
            found.extend(
                iban::joined(value)
                    .iter()
                    .flat_map(|joined| text.spellings(joined)),
            );
            let found = found.iter().map(|spelling| other_than(value, spelling));
            found.collect()
        }
        Value::Number(number) => match Text::new(text).has_number(number) {
            true => vec![None],
            false => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// Returns a text in lower case, with single spaces, to compare texts.
fn normal(text: &str) -> String {
    let words = text.split_whitespace().map(str::to_lowercase);
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
