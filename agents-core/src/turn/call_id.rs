//! The id of a call: a digest of the tool, its version, the canonical input and the call's place
//! in the run. It is the same on any machine, whatever the order of keys and the white space.

use crate::run::{CallState, Node, hex};
use serde_json::value::RawValue;
use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

/// The id of a call; settled once, kept for every attempt.
pub(super) fn of(call: &mut CallState, node: &Node) -> Arc<str> {
    if let Some(id) = &call.id {
        return id.clone();
    }
    let mut digest = hmac_sha256::Hash::new();
    digest.update(call.tool());
    digest.update("@");
    digest.update(call.version.as_deref().unwrap_or_default());
    digest.update([0]);
    digest.update(canonical(call.input().as_str()));
    digest.update([0]);
    digest.update(node.path().to_string());
    digest.update(call.seq.to_le_bytes());
    let id: Arc<str> = hex(&digest.finalize()[..16]).into();
    call.id = Some(id.clone());
    id
}

/// JSON with sorted keys and no white space. Numbers keep their digits, so that two integers
/// beyond 2^53 do not become one; `1.0` and `1` stay two inputs.
pub(super) fn canonical(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    write(json, &mut out);
    out
}

// Recursion is bounded: the text has been accepted by serde_json, which allows 128 levels.
fn write(json: &str, out: &mut String) {
    match json.trim_start().bytes().next() {
        Some(b'{') => match serde_json::from_str::<BTreeMap<Cow<'_, str>, &RawValue>>(json) {
            Ok(members) => {
                separated(out, ['{', '}'], members, |out, (key, value)| {
                    out.push_str(&serde_json::Value::from(key).to_string());
                    out.push(':');
                    write(value.get(), out);
                });
            }
            Err(_) => out.push_str(json),
        },
        Some(b'[') => match serde_json::from_str::<Vec<&RawValue>>(json) {
            Ok(items) => separated(out, ['[', ']'], items, |out, item| write(item.get(), out)),
            Err(_) => out.push_str(json),
        },
        Some(b'"') => match serde_json::from_str::<String>(json) {
            Ok(text) => out.push_str(&serde_json::Value::from(text).to_string()),
            Err(_) => out.push_str(json),
        },
        _ => out.push_str(json.trim()),
    }
}

fn separated<T>(
    out: &mut String,
    [open, close]: [char; 2],
    items: impl IntoIterator<Item = T>,
    mut write: impl FnMut(&mut String, T),
) {
    out.push(open);
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write(out, item);
    }
    out.push(close);
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn order_and_white_space_do_not_matter() {
        assert_eq!(
            canonical(r#" {"b" : [1, 2 ], "a":"\u0041"} "#),
            r#"{"a":"A","b":[1,2]}"#
        );
    }

    #[test]
    fn integers_beyond_two_to_the_53_stay_apart() {
        assert_ne!(canonical("9007199254740993"), canonical("9007199254740992"));
    }
}
