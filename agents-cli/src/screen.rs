//! Stored text, made safe for a terminal. Models and tools wrote it.

use std::borrow::Cow;

/// Returns the text on one line that is safe for a terminal. Line breaks and tabs become spaces. Other characters that
/// move the cursor, are invisible or change the direction of writing are escaped.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => shown.push(' '),
            c if is_plain(c) => shown.push(c),
            c => shown.extend(c.escape_unicode()),
        }
    }
    Cow::Owned(shown)
}

/// Returns the text made safe for a terminal. Of a text longer than `most` characters, the first `most` are kept, and
/// `…` follows them.
pub(crate) fn shorten(text: &str, most: usize) -> String {
    let shown = shown(text);
    match shown.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown.into_owned(),
    }
}

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

/// Returns `true` for a visible character. Not visible are control characters, zero-width characters, and
/// characters that set the direction of writing. Separators of lines, fillers, and tags in which text can be
/// hidden are not visible either.
fn is_plain(c: char) -> bool {
    let unseen = matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}'
    );
    !c.is_control() && !unseen
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn what_could_deceive_is_spelled_out() {
        for (text, seen) in [
            ("a\r\nb\tc", "a  b c"),
            ("\u{1b}[2J", "\\u{1b}[2J"),
            ("\u{9b}2J", "\\u{9b}2J"),
            ("a\u{202e}txt.exe", "a\\u{202e}txt.exe"),
            ("pay\u{200b}pal", "pay\\u{200b}pal"),
            ("Grüße, 日本語", "Grüße, 日本語"),
        ] {
            assert_eq!(shown(text), seen);
        }
        assert_eq!(shorten("\u{202e}", 4), "\\u{2…");
    }

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

    /// Checks the copy of the table: the console of `agents` shows text of models, too.
    #[test]
    fn the_table_of_characters_is_that_of_the_console() {
        let table = |source: &str| {
            let (_, table) = source.split_once("\nfn is_plain(").unwrap();
            table.split_once("\n}\n").unwrap().0.to_owned()
        };
        let console = concat!(env!("CARGO_MANIFEST_DIR"), "/../src/screen.rs");
        let console = std::fs::read_to_string(console).unwrap();
        assert_eq!(table(&console), table(include_str!("screen.rs")));
    }
}
