//! Half characters in JSON: an escape such as `\ud83d` is one half of a surrogate pair.
//!
//! Some servers cut a text between the two halves. JSON with a half in it is refused by parsers, so the two are joined
//! here: the first half waits for the second, which comes in a later event.

use std::borrow::Cow;

/// First half of a character whose second half has not arrived; `None` if there is none.
pub(super) type Waiting = Option<[u8; 4]>;

/// Returns JSON in which no string has half a character. A first half is taken out, and waits; a second half is put
/// behind the first one that waits, or becomes `U+FFFD`.
pub(super) fn joined<'a>(json: &'a str, waiting: &mut Waiting) -> Cow<'a, str> {
    let has_half = |json: &str| json.contains("\\ud") || json.contains("\\uD");
    if !json.as_bytes().contains(&b'\\') || !has_half(json) {
        return Cow::Borrowed(json);
    }
    let bytes = json.as_bytes();
    let mut out = String::with_capacity(json.len() + 8);
    // Everything before `kept` is in `out`.
    let (mut at, mut kept) = (0, 0);
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            at += 1;
            continue;
        }
        match surrogate(&bytes[at..]) {
            None => at += 2,
            Some((true, first)) => match surrogate(bytes.get(at + 6..).unwrap_or_default()) {
                Some((false, _)) => at += 12,
                _ => {
                    out.push_str(&json[kept..at]);
                    *waiting = Some(first);
                    at += 6;
                    kept = at;
                }
            },
            Some((false, _)) => {
                out.push_str(&json[kept..at]);
                match waiting.take() {
                    Some(first) => {
                        out.push_str("\\u");
                        out.extend(first.map(char::from));
                        out.push_str(&json[at..at + 6]);
                    }
                    None => out.push_str("\\ufffd"),
                }
                at += 6;
                kept = at;
            }
        }
    }
    out.push_str(&json[kept..]);
    Cow::Owned(out)
}

/// Returns the digits of a half that is escaped at the beginning of the text, and whether it is a first half; `None` if
/// there is no half.
fn surrogate(text: &[u8]) -> Option<(bool, [u8; 4])> {
    let digits: [u8; 4] = text.strip_prefix(b"\\u")?.get(..4)?.try_into().ok()?;
    let is_hex = digits.iter().all(u8::is_ascii_hexdigit);
    if !is_hex || !digits[0].eq_ignore_ascii_case(&b'd') {
        return None;
    }
    match digits[1].to_ascii_lowercase() {
        b'8' | b'9' | b'a' | b'b' => Some((true, digits)),
        b'c'..=b'f' => Some((false, digits)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::joined;

    fn texts(pieces: &[&str]) -> String {
        let mut waiting = None;
        let texts = pieces.iter().map(|piece| {
            let json = joined(piece, &mut waiting);
            serde_json::from_str::<String>(&json).unwrap_or_else(|error| panic!("{json}: {error}"))
        });
        texts.collect()
    }

    #[test]
    fn halves_of_a_character() {
        for (pieces, expect) in [
            (&[r#""a\ud83d\ude00b""#][..], "a😀b"),
            (&[r#""a\ud83d""#, r#""\ude00b""#], "a😀b"),
            (&[r#""a\uD83D""#, r#""""#, r#""b\uDE00""#], "ab😀"),
            (&[r#""\ude00 x""#], "\u{fffd} x"),
            (&[r#""x \ud83d""#], "x "),
            (&[r#""\ud83d\ud83d\ude00""#], "😀"),
            (&[r#""\ud83dé""#, r#""\n""#], "é\n"),
            // An escaped backslash is no escape of a half, and `\ud7ff` is a character.
            (&[r#""\\ud83d\ud7ff\\""#], "\\ud83d\u{d7ff}\\"),
            (&[r#""\\\ud83d\ude00""#], "\\😀"),
        ] {
            assert_eq!(texts(pieces), expect, "{pieces:?}");
        }
    }

    #[test]
    fn what_has_no_half_is_not_copied() {
        for json in [r#""plain""#, r#""a\nb\u00e9""#] {
            assert!(
                matches!(joined(json, &mut None), std::borrow::Cow::Borrowed(_)),
                "{json}"
            );
        }
        // What is no JSON stays so.
        for json in ["\\u", "\\ud8", "\\udzzz", "\\"] {
            assert_eq!(joined(json, &mut None), json);
        }
    }
}
