//! Search for one text within another in any spelling: plain, on one line, escaped in JSON or in debug quotes
//! (once or several times), percent-encoded, or any mixture of these.

use super::MIN_SECRET_CHARS;

/// Result of the search at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The text here is something else.
    No,
    /// The beginning of the pattern: the text ended too early to tell.
    Open,
    /// The whole pattern, which ends here.
    To(usize),
}

/// Searches for `pattern` at this place.
pub(super) fn spelled(text: &[u8], at: usize, pattern: &str) -> Found {
    // Mostly the text is something else, which the first bytes show.
    if !may_begin(&text[at..], pattern) {
        return Found::No;
    }
    let mut from = Ends::default();
    from.push(at);
    let (mut open, mut before) = (false, None);
    for (index, c) in pattern.chars().enumerate() {
        let mut to = Ends::default();
        from.each(|at| spellings(text, at, c, &mut to));
        open |= to.open;
        let here = from.last();
        if to.len > 0 {
            from = to;
            before = here.filter(|_| index >= MIN_SECRET_CHARS);
            continue;
        }
        // Shortened text ends with an ellipsis, and the beginning of a secret before it counts as the secret. The
        // last character may have been the beginning of an escape instead of itself.
        let here = here.filter(|_| index >= MIN_SECRET_CHARS);
        let mut cut = here.into_iter().chain(before);
        return match cut.find(|at| is_cut(&text[*at..])) {
            Some(at) => Found::To(at),
            None if open => Found::Open,
            None => Found::No,
        };
    }
    from.last().map_or(Found::No, Found::To)
}

/// Returns `true` if `pattern` could begin here, judged by its first bytes. These are fewer than the characters of
/// a shortened secret.
fn may_begin(text: &[u8], pattern: &str) -> bool {
    if text.first() == Some(&b'\\') {
        return pattern.chars().next().is_none_or(|c| may_escape(text, c));
    }
    let bytes = text
        .iter()
        .zip(pattern.as_bytes())
        .take(MIN_SECRET_CHARS - 1);
    for (byte, expected) in bytes {
        match byte {
            b'%' | b'\\' | b'+' => return true,
            b' ' if expected.is_ascii_control() => {}
            byte if byte != expected => return false,
            _ => {}
        }
    }
    true
}

/// Returns `true` if `c` could be the character that the backslashes here escape.
fn may_escape(text: &[u8], c: char) -> bool {
    let letter = text.iter().find(|byte| **byte != b'\\');
    c == '\\'
        || letter.is_none_or(|letter| matches!(letter, b'u' | b'x') || meant(*letter) == Some(c))
}

/// Returns the character that a letter after a backslash means.
pub(super) fn meant(letter: u8) -> Option<char> {
    match letter {
        b'"' | b'\'' | b'/' => Some(char::from(letter)),
        b'n' => Some('\n'),
        b'r' => Some('\r'),
        b't' => Some('\t'),
        b'b' => Some('\u{8}'),
        b'f' => Some('\u{c}'),
        b'0' => Some('\0'),
        _ => None,
    }
}

/// Returns `true` if a text was shortened here, perhaps in the middle of an escape.
fn is_cut(rest: &[u8]) -> bool {
    // Length in bytes of a pair of surrogates, each behind as many backslashes as nesting may have made of one.
    const LONGEST: usize = 48;
    let in_escape = |byte: &&u8| byte.is_ascii_hexdigit() || b"%\\ux{".contains(byte);
    let escape = match rest.first() {
        Some(b'%' | b'\\') => rest.iter().take(LONGEST).take_while(in_escape).count(),
        _ => 0,
    };
    let rest = &rest[escape..];
    let rest = rest.strip_prefix(b" ").unwrap_or(rest);
    rest.starts_with("…".as_bytes())
}

/// Places where one character may end. A character has few spellings, but each backslash of a run may have been
/// doubled.
struct Ends {
    at: [usize; 64],
    len: usize,
    /// Is `true` if the text ended before a spelling was complete.
    open: bool,
}

impl Default for Ends {
    fn default() -> Self {
        Ends {
            at: [0; 64],
            len: 0,
            open: false,
        }
    }
}

impl Ends {
    fn push(&mut self, end: usize) {
        if self.len < self.at.len() && !self.at[..self.len].contains(&end) {
            self.at[self.len] = end;
            self.len += 1;
        }
    }

    fn each(&self, f: impl FnMut(usize)) {
        self.at[..self.len].iter().copied().for_each(f);
    }

    fn last(&self) -> Option<usize> {
        self.at[..self.len].iter().copied().max()
    }
}

/// Adds the end of every spelling of `c` that begins here.
fn spellings(text: &[u8], at: usize, c: char, ends: &mut Ends) {
    let Some(&first) = text.get(at) else {
        ends.open = true;
        return;
    };
    let mut buffer = [0; 4];
    let bytes = c.encode_utf8(&mut buffer).as_bytes();
    if text[at..].starts_with(bytes) {
        ends.push(at + bytes.len());
    }
    match first {
        b'+' if c == ' ' => ends.push(at + 1),
        // Text on one line has a space for each line break.
        b' ' if c.is_ascii_control() => ends.push(at + 1),
        b'%' => percent(text, at, bytes, ends),
        b'\\' => escaped(text, at, c, ends),
        _ => {}
    }
}

/// Adds the end of `%41`, or of `%2541` where the text was encoded again.
fn percent(text: &[u8], mut at: usize, bytes: &[u8], ends: &mut Ends) {
    for byte in bytes {
        if text.get(at) != Some(&b'%') {
            ends.open |= at == text.len();
            return;
        }
        let (mut digits, mut found) = (at + 1, None);
        loop {
            let Some(pair) = text.get(digits..digits + 2) else {
                ends.open |= found.is_none();
                break;
            };
            digits += 2;
            if hex(pair) == Some(u32::from(*byte)) {
                found = Some(digits);
                // The digits after `%25` may belong to it or to the text.
                if bytes == b"%" {
                    ends.push(digits);
                }
            }
            if pair != b"25" {
                break;
            }
        }
        match found {
            Some(end) => at = end,
            None => return,
        }
    }
    ends.push(at);
}

/// Adds the ends of `\"`, `\n`, `\u00e9` and `\u{e9}`, with one backslash or with as many as nesting has made of
/// one.
fn escaped(text: &[u8], at: usize, c: char, ends: &mut Ends) {
    let run = text[at..].iter().take_while(|byte| **byte == b'\\').count();
    if c == '\\' {
        [2, 4, 8]
            .into_iter()
            .filter(|width| *width <= run)
            .for_each(|width| ends.push(at + width));
    }
    let after = at + run;
    let Some(&letter) = text.get(after) else {
        ends.open = true;
        return;
    };
    if meant(letter) == Some(c) {
        ends.push(after + 1);
    }
    match letter {
        b'u' => unicode(text, after + 1, c, ends),
        b'x' => match text.get(after + 1..after + 3) {
            Some(pair) if hex(pair) == Some(u32::from(c)) => ends.push(after + 3),
            Some(_) => {}
            None => ends.open = true,
        },
        _ => {}
    }
}

/// Adds the end of a character after `\u`: four digits, a pair of surrogates, or `{..}`.
fn unicode(text: &[u8], at: usize, c: char, ends: &mut Ends) {
    if text.get(at) == Some(&b'{') {
        match text[at..].iter().take(9).position(|byte| *byte == b'}') {
            Some(close) if hex(&text[at + 1..at + close]) == Some(u32::from(c)) => {
                ends.push(at + close + 1);
            }
            None if text.len() < at + 9 => ends.open = true,
            _ => {}
        }
        return;
    }
    let mut units = [0; 2];
    let mut at = at;
    for (index, unit) in c.encode_utf16(&mut units).iter().enumerate() {
        if index > 0 {
            let run = text[at..].iter().take_while(|byte| **byte == b'\\').count();
            match text.get(at + run) {
                Some(b'u') if run > 0 => at += run + 1,
                Some(_) => return,
                None => {
                    ends.open = true;
                    return;
                }
            }
        }
        match text.get(at..at + 4) {
            Some(digits) if hex(digits) == Some(u32::from(*unit)) => at += 4,
            Some(_) => return,
            None => {
                ends.open = true;
                return;
            }
        }
    }
    ends.push(at);
}

fn hex(digits: &[u8]) -> Option<u32> {
    let text = std::str::from_utf8(digits).ok()?;
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    plain.then(|| u32::from_str_radix(text, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::{Found, spelled};

    #[test]
    fn every_spelling_of_one_text() {
        let secret = "p\"w/é 😀\n\\%";
        for text in [
            "p\"w/é 😀\n\\%",
            r#"p\"w\/\u00e9 \ud83d\ude00\n\\%"#,
            r#"p\\\"w\\/\\u00E9 \\ud83d\\ude00\\n\\\\%"#,
            "p%22w%2F%C3%A9%20%F0%9F%98%80%0A%5C%25",
            "p%22w%2f%c3%a9+%f0%9f%98%80%0a%5c%25",
            "%70%2522w%252F%25C3%25A9%2520%25F0%259F%2598%2580%250A%255C%2525",
            r#"p\"w/\u{e9} \u{1f600}\n\\%"#,
            r#"\x70\"w/é 😀\n\\%"#,
        ] {
            assert_eq!(
                spelled(text.as_bytes(), 0, secret),
                Found::To(text.len()),
                "{text}"
            );
        }
    }

    #[test]
    fn the_beginning_of_one_that_was_cut_off() {
        let at = |text: &str| spelled(text.as_bytes(), 0, "hunter/22");
        for cut in [
            "hunt…",
            "hunter%…",
            "hunter%2…",
            "hunter%2F2…",
            "hunter\\u002… (9 bytes)",
        ] {
            assert!(matches!(at(cut), Found::To(_)), "{cut}");
        }
        assert_eq!(at("hun…"), Found::No);
    }

    #[test]
    fn something_else_is_told_from_too_little() {
        let at = |text: &str| spelled(text.as_bytes(), 0, "a/b");
        assert_eq!(at("a/c"), Found::No);
        for open in ["a", "a/", "a%", "a%2", "a\\", "a\\u00", "%6", ""] {
            assert_eq!(at(open), Found::Open, "{open}");
        }
    }

    #[test]
    fn backslashes_are_counted_however_often_they_were_doubled() {
        let text = r"\\\\";
        assert_eq!(spelled(text.as_bytes(), 0, r"\\"), Found::To(4));
        assert_eq!(spelled(text.as_bytes(), 0, r"\\\\"), Found::To(4));
        // Three backslashes, doubled twice.
        let text = r"😀\\\\\\#";
        assert_eq!(spelled(text.as_bytes(), 0, r"😀\\#"), Found::To(text.len()));
    }
}
