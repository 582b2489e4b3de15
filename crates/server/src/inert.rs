//! Text of models and tools, made visible: no character of it hides, moves or reverses others.

use agents_core::{Json, screen::is_plain};
use std::fmt::Write;

/// Returns `true` for a character that people cannot see as it is: it controls a terminal, hides, or reverses text.
pub(crate) fn is_unseen(c: char) -> bool {
    c != '\n' && c != '\t' && !is_plain(c)
}

/// Returns the text, in which characters that cannot be seen are shown by their numbers: `⟨U+202E⟩`.
pub(crate) fn text(text: &str) -> String {
    text.chars()
        .fold(String::with_capacity(text.len()), |mut shown, c| {
            match is_unseen(c) {
                true => {
                    let _ = write!(shown, "⟨U+{:04X}⟩", u32::from(c));
                }
                false => shown.push(c),
            }
            shown
        })
}

/// Returns the JSON text on several lines. Numbers and the order of members stay exactly; characters of strings that
/// cannot be seen are escaped, so the text is still JSON of the same value.
pub(crate) fn json(json: &Json) -> String {
    let mut shown = String::with_capacity(json.as_str().len() * 2);
    let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
    let mut rest = json.as_str().chars().peekable();
    let line = |shown: &mut String, depth: usize| {
        shown.push('\n');
        shown.extend(std::iter::repeat_n("  ", depth));
    };
    while let Some(c) = rest.next() {
        match c {
            _ if in_string => {
                match is_unseen(c) {
                    true => {
                        for unit in c.encode_utf16(&mut [0; 2]) {
                            let _ = write!(shown, "\\u{unit:04x}");
                        }
                    }
                    false => shown.push(c),
                }
                in_string = is_escaped || c != '"';
                is_escaped = c == '\\' && !is_escaped;
            }
            ' ' | '\t' | '\n' | '\r' => {}
            '"' => {
                in_string = true;
                shown.push(c);
            }
            '{' | '[' => {
                shown.push(c);
                while rest.next_if(char::is_ascii_whitespace).is_some() {}
                match rest.next_if(|c| matches!(c, '}' | ']')) {
                    Some(end) => shown.push(end),
                    None => {
                        depth += 1;
                        line(&mut shown, depth);
                    }
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut shown, depth);
                shown.push(c);
            }
            ',' => {
                shown.push(c);
                line(&mut shown, depth);
            }
            ':' => shown.push_str(": "),
            c => shown.push(c),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn unseen_characters_of_a_text_are_shown_by_their_numbers() {
        assert_eq!(text("a\u{202e}b\u{1b}[31m\nc"), "a⟨U+202E⟩b⟨U+001B⟩[31m\nc");
    }

    #[test]
    fn json_stays_the_same_value_and_shows_all_of_its_characters() {
        for given in [
            r#"{"a":[1,2.50,{}],"b":"x \"{,:\\","c":[],"d":{"e":null}}"#,
            "{\"name\":\"\u{202e}evil\u{200b} \u{e0041}\", \"n\" : 9007199254740993 }",
            "[ ]",
            "\"text\"",
        ] {
            let given = Json::parse(given).unwrap();
            let shown = json(&given);
            assert!(!shown.contains(is_unseen), "{shown}");
            let read: Value = serde_json::from_str(&shown).unwrap();
            assert_eq!(read, given.to_value().unwrap(), "{shown}");
        }
        let exact = json(&Json::parse(r#"{"n":1.50,"m":9007199254740993000001}"#).unwrap());
        assert_eq!(
            exact,
            "{\n  \"n\": 1.50,\n  \"m\": 9007199254740993000001\n}"
        );
    }
}
