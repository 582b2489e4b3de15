//! Stored text, made safe for a terminal. Models and tools wrote it.

use agents_core::screen::is_plain;
pub(crate) use agents_core::screen::{shorten, shown};
use std::borrow::Cow;

/// Returns JSON text in which the characters that are not safe are escaped, as JSON writes them. Line breaks stay.
pub(crate) fn inert_json(json: &str) -> Cow<'_, str> {
    if json.chars().all(|c| c == '\n' || is_plain(c)) {
        return Cow::Borrowed(json);
    }
    let mut inert = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            c if c == '\n' || is_plain(c) => inert.push(c),
            c => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    inert.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    Cow::Owned(inert)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn inert_json_is_the_same_json() {
        let value = json!({"a\u{9b}": "\u{1b}[2J \u{202e} \u{e0041} ü\n"});
        for text in [
            value.to_string(),
            serde_json::to_string_pretty(&value).unwrap(),
        ] {
            let inert = inert_json(&text);
            assert!(inert.chars().all(|c| c == '\n' || is_plain(c)), "{inert}");
            assert_eq!(serde_json::from_str::<Value>(&inert).unwrap(), value);
        }
    }
}
