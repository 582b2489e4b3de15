//! Texts from models and tools, made safe for a terminal.

use std::borrow::Cow;

/// Escapes control characters, which a terminal would execute; line breaks and tabs stay.
pub(super) fn plain(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
    if text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match is_plain(c) {
            true => plain.push(c),
            false => plain.extend(c.escape_unicode()),
        }
    }
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::plain;
    use std::borrow::Cow;

    #[test]
    fn only_what_a_terminal_executes_is_spelled_out() {
        for text in ["", "one\n\ttwo", "Grüße, 日本語, 🙂", r"\u{1b}"] {
            assert!(matches!(plain(text), Cow::Borrowed(same) if same == text));
        }
        for (text, seen) in [
            ("\u{1b}[2J", r"\u{1b}[2J"),
            ("\u{9b}2J\u{7f}", r"\u{9b}2J\u{7f}"),
            ("paid\rfree", r"paid\u{d}free"),
            ("a\u{8}b\0", r"a\u{8}b\u{0}"),
        ] {
            assert_eq!(plain(text), seen);
        }
    }
}
