//! Replacement of one value in a JSON text: all other bytes of the text stay.

use serde_json::{Value, value::RawValue};
use std::borrow::Cow;

/// Returns the value at a path such as `items[2].name`; `None` if the path leads to no value.
pub(crate) fn value_at<'a>(whole: &'a Value, path: &str) -> Option<&'a Value> {
    parts(path).try_fold(whole, |at, part| match part.parse::<usize>() {
        Ok(index) if at.is_array() => at.get(index),
        _ => at.get(part),
    })
}

/// Returns the text of the value at `path` in a JSON text; `None` if the path leads to no value.
pub(crate) fn text_at<'a>(text: &'a str, path: &str) -> Option<&'a str> {
    parts(path).try_fold(text, inner)
}

/// Returns a JSON text with `value` at `path`. The value replaces the one at the path; a missing field is added to its
/// object. `None` if there is no place at the path.
pub(crate) fn put_at(text: &str, path: &str, value: &Value) -> Option<String> {
    let mut parts = parts(path).peekable();
    let (mut from, mut at) = (0, text);
    while let Some(part) = parts.next() {
        match inner(at, part) {
            Some(inner) => {
                from += inner.as_ptr() as usize - at.as_ptr() as usize;
                at = inner;
            }
            // Only the last part of a path can be missing.
            None if parts.peek().is_none() => {
                let open = at.find('{')? + 1;
                let comma = if members(at)?.is_empty() { "" } else { "," };
                let key = Value::from(part);
                let (before, after) = text.split_at(from + open);
                return Some(format!("{before}{key}:{value}{comma}{after}"));
            }
            None => return None,
        }
    }
    Some(format!(
        "{}{value}{}",
        &text[..from],
        &text[from + at.len()..]
    ))
}

/// Returns the text of the member or the element `part` of a JSON text; `None` if it has no such member or element.
fn inner<'a>(whole: &'a str, part: &str) -> Option<&'a str> {
    let found = match whole.trim_start().as_bytes().first()? {
        b'[' => {
            let elements: Vec<&RawValue> = serde_json::from_str(whole).ok()?;
            elements.get(part.parse::<usize>().ok()?).copied()
        }
        _ => {
            let mut members = members(whole)?.into_iter().rev();
            members.find(|(key, _)| key == part).map(|(_, value)| value)
        }
    };
    found.map(RawValue::get)
}

/// Splits a path such as `items[2].name` into its names and indices.
pub(crate) fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split(['.', '[', ']']).filter(|part| !part.is_empty())
}

/// Returns the members of an object in order, repeated keys included; `None` if the text is no JSON object.
fn members(object: &str) -> Option<Vec<(String, &RawValue)>> {
    struct Members;
    impl<'de> serde::de::Visitor<'de> for Members {
        type Value = Vec<(String, &'de RawValue)>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: serde::de::MapAccess<'de>>(
            self,
            mut map: A,
        ) -> Result<Self::Value, A::Error> {
            let mut members = Vec::new();
            while let Some((key, value)) = map.next_entry::<Cow<'de, str>, _>()? {
                members.push((key.into_owned(), value));
            }
            Ok(members)
        }
    }
    let mut json = serde_json::Deserializer::from_str(object);
    serde::Deserializer::deserialize_map(&mut json, Members).ok()
}

#[cfg(test)]
mod tests {
    use super::{put_at, text_at, value_at};
    use serde_json::json;

    #[test]
    fn replaces_in_place() {
        let text = r#"{ "a": 9007199254740993, "items": [ {"n":"x"}, {"n": "two"} ] }"#;
        let put = put_at(text, "items[1].n", &json!(2)).unwrap();
        assert_eq!(
            put,
            r#"{ "a": 9007199254740993, "items": [ {"n":"x"}, {"n": 2} ] }"#
        );
    }

    #[test]
    fn supplies_what_is_missing() {
        assert_eq!(
            put_at(r#"{"a":1}"#, "b", &json!("x")).unwrap(),
            r#"{"b":"x","a":1}"#
        );
        assert_eq!(put_at("{}", "b", &json!(1)).unwrap(), r#"{"b":1}"#);
        assert_eq!(put_at("{}", "b.c", &json!(1)), None);
        assert_eq!(put_at(r#"[{"a":1}]"#, "[1]", &json!(1)), None);
    }

    #[test]
    fn shows_what_is_there() {
        let text = r#"{ "a": 9007199254740993, "items": [ {"n":"x"} ] }"#;
        assert_eq!(text_at(text, "a"), Some("9007199254740993"));
        assert_eq!(text_at(text, "items[0].n"), Some("\"x\""));
        assert_eq!(text_at(text, "items[1].n"), None);
        assert_eq!(text_at("no object", "a"), None);
    }

    #[test]
    fn finds() {
        let whole = json!({"items": [{"n": 1}]});
        assert_eq!(value_at(&whole, "items[0].n"), Some(&json!(1)));
        assert_eq!(value_at(&whole, "items[1].n"), None);
    }
}
