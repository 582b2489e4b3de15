//! Text from models, tools and servers, made safe for a terminal.

use std::borrow::Cow;

/// Returns the text on one line that is safe for a terminal. Line breaks and tabs become spaces. Other characters that
/// move the cursor, are invisible or change the direction of writing are escaped.
pub fn shown(text: &str) -> Cow<'_, str> {
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

/// Returns text that is safe for a terminal. Of a text longer than `most` characters, the first `most` are kept, and
/// `…` follows them.
pub fn shorten(text: &str, most: usize) -> String {
    let shown = shown(text);
    match shown.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown.into_owned(),
    }
}

/// Returns text that is safe for a terminal. Of a text longer than `most` characters, `most` are kept, half at each
/// end, with `…` between them: the text of an error begins with the event and ends with the reason, so both ends
/// matter.
pub fn squeeze(text: &str, most: usize) -> String {
    let shown = shown(text);
    let count = shown.chars().count();
    if count <= most {
        return shown.into_owned();
    }
    let tail = most / 2;
    let head: String = shown.chars().take(most - tail).collect();
    let tail: String = shown.chars().skip(count - tail).collect();
    format!("{head}…{tail}")
}

/// Returns `true` for a character that a terminal shows as it is. Control characters, zero-width characters, and
/// characters that set the direction of writing are none. Separators of lines, fillers, and tags in which text can be
/// hidden are none either.
pub fn is_plain(c: char) -> bool {
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
    use super::{shorten, shown, squeeze};
    use std::borrow::Cow;

    #[test]
    fn what_is_safe_stays_as_it_is() {
        for text in ["", "delete \"a.txt\"", "Grüße, 日本語, עברית, नमस्ते, 🙂"]
        {
            assert!(matches!(shown(text), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn what_could_deceive_is_spelled_out() {
        for (text, seen) in [
            ("a\r\nb\tc", "a  b c"),
            ("\u{1b}[2J", "\\u{1b}[2J"),
            ("\u{9b}2J", "\\u{9b}2J"),
            ("a\u{202e}txt.exe", "a\\u{202e}txt.exe"),
            ("a\u{2066}b\u{2069}", "a\\u{2066}b\\u{2069}"),
            ("a\u{61c}b", "a\\u{61c}b"),
            ("pay\u{200b}pal", "pay\\u{200b}pal"),
            ("\u{e0041}", "\\u{e0041}"),
        ] {
            assert_eq!(shown(text), seen);
        }
    }

    #[test]
    fn the_end_of_a_failure_is_its_reason() {
        assert_eq!(squeeze("as it is", 8), "as it is");
        assert_eq!(
            squeeze("tried `äöüäöüäöü` in vain: no", 16),
            "tried `ä…vain: no"
        );
        assert_eq!(squeeze("\u{202e}", 4), "\\u…e}");
    }

    #[test]
    fn short_is_as_long_as_it_is_seen() {
        assert_eq!(shorten("abc", 3), "abc");
        assert_eq!(shorten("äbcd", 3), "äbc…");
        assert_eq!(shorten("\u{202e}", 4), "\\u{2…");
    }
}
