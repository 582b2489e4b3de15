//! JSON, intact or damaged: the ends of values and the members of objects.
//!
//! Nothing is repaired here. Damage inside arguments is left to the reader that can repair it; this module only finds
//! where a value ends.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::text::Text;

/// Returns true if a text is one whole, valid JSON value.
pub(super) fn intact(raw: &str) -> bool {
    serde_json::from_str::<&RawValue>(raw).is_ok()
}

/// Returns the end of the JSON value that starts here, if it is valid.
pub(super) fn valid_end(text: &Text<'_>, from: usize) -> Option<usize> {
    let rest = text.rest(from);
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
    match values.next() {
        Some(Ok(value)) => {
            text.count(value.get().len());
            // The value starts at a bracket, so there is no space before it.
            Some(from + value.get().len())
        }
        Some(Err(error)) if error.is_eof() => {
            text.count(rest.len());
            text.touch();
            None
        }
        // The error is only known by line; damage is soon found again.
        Some(Err(_)) | None => None,
    }
}

/// Returns the end of a bracketed value that may be invalid: past its own closing bracket, or `None` if that is
/// missing.
pub(super) fn balanced_end(raw: &str) -> Option<usize> {
    balance(raw).0
}

/// Returns true if the text stops inside a value, so that the value may be incomplete. A brace at the end says that
/// the text was finished, and that only a quote is missing.
pub(super) fn stops_inside_value(raw: &str) -> bool {
    let whole = |c: char| c.is_whitespace() || matches!(c, '}' | ']' | ',');
    match balance(raw) {
        (Some(_), _) => false,
        (None, true) => !raw.trim_end().ends_with('}'),
        (None, false) => !raw.ends_with(whole) && !raw.ends_with(['"', '\'']),
    }
}

/// Returns the end of a bracketed value, or `None` if it is not closed. The flag is true if the text stops inside a
/// string.
fn balance(raw: &str) -> (Option<usize>, bool) {
    let mut open = Vec::new();
    let mut quote = None;
    let mut escaped = false;
    // True if a value or key may start here, so that a quote opens a string.
    let mut fresh = true;
    for (at, byte) in raw.bytes().enumerate() {
        if let Some(end) = quote {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                _ if byte == end => quote = None,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => quote = Some(byte),
            b'\'' if fresh => quote = Some(byte),
            b'{' | b'[' => open.push(byte + 2),
            b'}' | b']' => {
                // A bracket also closes the forgotten ones inside it.
                match open.iter().rposition(|close| *close == byte) {
                    Some(depth) => open.truncate(depth),
                    None => {
                        open.pop();
                    }
                }
                if open.is_empty() {
                    return (Some(at + 1), false);
                }
            }
            _ => {}
        }
        if !byte.is_ascii_whitespace() {
            fresh = matches!(byte, b'{' | b'[' | b',' | b':' | b'(');
        }
    }
    (None, quote.is_some())
}

/// Key of an object, with the text of its value as it stands.
pub(super) struct Member<'t> {
    pub(super) key: Cow<'t, str>,
    pub(super) value: &'t str,
    /// Place in the object where the key begins; `end` is the place where the value ends.
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Returns the members of an object, as far as they can be told apart.
pub(super) fn members(object: &str) -> Vec<Member<'_>> {
    let mut members = Vec::new();
    let mut at = usize::from(object.starts_with('{'));
    loop {
        at += space(&object[at..]);
        match object.as_bytes().get(at) {
            Some(b',') => at += 1,
            None | Some(b'}') => return members,
            Some(_) => {
                let start = at;
                let Some((key, used)) = key(&object[at..]) else {
                    return members;
                };
                at += used;
                at += space(&object[at..]);
                let used = value_len(&object[at..]);
                let value = object[at..at + used].trim_end();
                let end = at + value.len();
                at += used;
                members.push(Member {
                    key,
                    value,
                    start,
                    end,
                });
            }
        }
    }
}

/// Returns a key or a name without its quotes; `None` if it has no quotes.
pub(super) fn string(raw: &str) -> Option<Cow<'_, str>> {
    let raw = raw.trim();
    if raw.starts_with('"') {
        return serde_json::from_str::<String>(raw).ok().map(Cow::Owned);
    }
    let inner = raw.strip_prefix('\'')?.strip_suffix('\'')?;
    Some(Cow::Borrowed(inner))
}

fn space(raw: &str) -> usize {
    raw.len() - raw.trim_start().len()
}

/// Returns the key at the beginning of the text, and the length up to the end of its colon.
fn key(raw: &str) -> Option<(Cow<'_, str>, usize)> {
    let (key, used) = match raw.as_bytes()[0] {
        b'"' | b'\'' => {
            let used = string_len(raw)?;
            (string(&raw[..used])?, used)
        }
        _ => {
            let used = raw.find(|c: char| !c.is_alphanumeric() && c != '_')?;
            (Cow::Borrowed(&raw[..used]), used)
        }
    };
    let gap = space(&raw[used..]);
    let colon = raw[used + gap..].starts_with(':');
    (colon && !key.is_empty()).then_some((key, used + gap + 1))
}

/// Returns the length of the string that starts here, with both quotes.
fn string_len(raw: &str) -> Option<usize> {
    let quote = raw.as_bytes()[0];
    let mut escaped = false;
    for (at, byte) in raw.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            _ if byte == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

fn value_len(raw: &str) -> usize {
    match raw.as_bytes().first() {
        Some(b'{' | b'[') => balanced_end(raw).unwrap_or(raw.len()),
        Some(b'"' | b'\'') => string_len(raw).unwrap_or(raw.len()),
        _ => raw.find([',', '}', ']']).unwrap_or(raw.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_found_past_strings_and_damage() {
        let check = |raw: &str, end: Option<usize>| assert_eq!(balanced_end(raw), end, "{raw}");
        check(r#"{"a":"}"} tail"#, Some(9));
        check(r#"{'a':'}'} tail"#, Some(9));
        check(r#"{"a":"it's"} tail's"#, Some(12));
        check(r#"{"a":"\"}"} tail"#, Some(11));
        check(r#"{"a":[1,2} tail"#, Some(10));
        check(r#"{"a":{"b":1}"#, None);
    }

    #[test]
    fn values_are_whole_or_cut() {
        let check = |raw: &str, cut: bool| assert_eq!(stops_inside_value(raw), cut, "{raw}");
        check(r#"{"a":"b"#, true);
        check(r#"{"a":12"#, true);
        check(r#"{"a":"#, true);
        check(r#"{"a":"b""#, false);
        check(r#"{"a":12,"#, false);
        check(r#"{"a":[1]"#, false);
        check(r#"{"a":"b}"#, false);
        check(r#"{"a":12} "x"#, false);
    }

    #[test]
    fn members_survive_damage_in_values() {
        let keys = |raw| {
            let members = members(raw);
            members
                .iter()
                .map(|m| format!("{}={}", m.key, m.value))
                .collect::<Vec<_>>()
                .join("|")
        };
        assert_eq!(keys(r#"{"a": 1, "b" : {"c": 2}}"#), r#"a=1|b={"c": 2}"#);
        assert_eq!(keys(r#"{'a': 'x' b: [1}"#), "a='x'|b=[1}");
        assert_eq!(keys(r#"{"a": {"b": "cut}}"#), r#"a={"b": "cut}}"#);
        assert_eq!(keys("{"), "");
    }
}
