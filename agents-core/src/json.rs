use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned};
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};
use std::{borrow::Cow, collections::BTreeMap, fmt, sync::Arc};

/// Valid JSON text, kept as it was written but for white space around the value, so that numbers of any size stay
/// exact; cheap to clone.
///
/// ```
/// # use agents_core as agents;
/// use agents::Json;
///
/// let amount = Json::parse("9007199254740993").unwrap();
/// assert_eq!(amount.as_str(), "9007199254740993");
/// assert_eq!(amount.to::<u64>().unwrap(), 9007199254740993);
/// ```
#[derive(Clone)]
pub struct Json(Arc<RawValue>);

impl Json {
    /// Checks that `text` is valid JSON and keeps it, without white space before and after the value.
    ///
    /// # Errors
    /// When `text` is not one JSON value.
    pub fn parse(text: impl AsRef<str>) -> Result<Self, serde_json::Error> {
        serde_json::from_str::<&RawValue>(text.as_ref()).map(|raw| Json(raw.to_owned().into()))
    }

    /// Creates the JSON `null`.
    pub(crate) fn null() -> Self {
        Json(RawValue::NULL.to_owned().into())
    }

    /// Serializes a value.
    ///
    /// # Errors
    /// When `value` refuses to be serialised, or has a map with keys that cannot be written as strings.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        to_raw_value(value).map(|raw| Json(raw.into()))
    }

    /// Creates a JSON string of this text.
    pub fn string(text: &str) -> Self {
        Json(to_raw_value(text).unwrap_or_default().into())
    }

    /// Returns the JSON as the text that was kept.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// Deserializes a `T`.
    ///
    /// # Errors
    /// When the text does not fit `T`.
    pub fn to<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.as_str())
    }

    /// Parses into a tree of values. In the tree, integers beyond 64 bits become floats; only the text of the `Json`
    /// keeps them exact.
    ///
    /// # Errors
    /// When a number is too large even for a float (`1e999`), brackets nest deeper than 127 levels, or an escape such
    /// as `\ud800` in a string is only one half of a surrogate pair.
    pub fn to_value(&self) -> Result<Value, serde_json::Error> {
        self.to()
    }

    /// Returns the text that a model reads: a string bare, any other value as JSON. A string with an escape that stands
    /// for no character stays JSON.
    pub(crate) fn to_text(&self) -> String {
        match self.as_str().starts_with('"') {
            true => self
                .to::<String>()
                .unwrap_or_else(|_| self.as_str().to_owned()),
            false => self.as_str().to_owned(),
        }
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(|raw| Json(raw.into()))
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Json {}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Returns JSON with sorted keys and no white space, so that equal values have equal texts. Numbers keep their digits,
/// so that two integers beyond 2^53 do not become one; `1.0` and `1` stay two texts.
pub(crate) fn canonical(json: &str) -> Cow<'_, str> {
    if is_canonical(json) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len());
    write(json, &mut out);
    Cow::Owned(out)
}

/// Returns `true` if valid JSON is sure to be canonical already, as models mostly write it.
fn is_canonical(json: &str) -> bool {
    let bytes = json.as_bytes();
    // Last key of the innermost open object, and last keys of the objects around it.
    let (mut last, mut outer): (Option<&str>, Vec<Option<&str>>) = (None, Vec::new());
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => return false,
            b'{' | b'[' => {
                // Mostly no object holds another: then nothing is kept for the objects around.
                if depth > 0 {
                    outer.push(last);
                }
                (last, depth) = (None, depth + 1);
            }
            b'}' | b']' => (last, depth) = (outer.pop().flatten(), depth.saturating_sub(1)),
            b'"' => {
                let text = &json[at + 1..];
                let Some(end) = text.bytes().position(|byte| matches!(byte, b'"' | b'\\')) else {
                    return false;
                };
                let (text, rest) = text.split_at(end);
                if rest.starts_with('\\') {
                    return false;
                }
                at += end + 1;
                if rest.as_bytes().get(1) == Some(&b':') {
                    if depth == 0 || last.is_some_and(|last| last >= text) {
                        return false;
                    }
                    last = Some(text);
                }
            }
            _ => {}
        }
        at += 1;
    }
    true
}

// Recursion is bounded: arguments that nest too deep are refused before, and a schema was a tree.
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
    use super::{canonical, is_canonical, write};

    #[test]
    fn what_is_canonical_stays_as_it_is() {
        for text in [
            "{}",
            "[]",
            "null",
            "-1.50e3",
            r#""plain ä text""#,
            r#"{"a":[1,{"b":"c:d","c":"{"},[]],"b":{"a":1}}"#,
            r#"[{"b":1},{"a":2}]"#,
        ] {
            assert!(is_canonical(text), "{text}");
            let mut written = String::new();
            write(text, &mut written);
            assert_eq!(written, text);
        }
    }

    #[test]
    fn what_is_not_is_written_anew() {
        for (text, written) in [
            (r#"{"b":1,"a":2}"#, r#"{"a":2,"b":1}"#),
            (r#"{"a":1,"a":2}"#, r#"{"a":2}"#),
            (r#"{"a":{"c":1,"b":2}}"#, r#"{"a":{"b":2,"c":1}}"#),
            (r#"{"a":[1,2 ]}"#, r#"{"a":[1,2]}"#),
            (r#""\u0041""#, r#""A""#),
            (r#"{"\u0062":1,"a":"\""}"#, r#"{"a":"\"","b":1}"#),
            (" 1", "1"),
        ] {
            assert!(!is_canonical(text), "{text}");
            assert_eq!(canonical(text), written);
        }
    }

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
