//! Search for one secret in decoded text, in time linear in the text, whatever the secret and the text are.

use super::{MIN_SECRET_CHARS, decode::Placed};
use secrecy::{ExposeSecret, SecretString};

/// Text of a secret to search for, with the table of Knuth, Morris and Pratt: for each beginning of the text, the
/// length of the longest shorter beginning with which it ends.
pub(super) struct Pattern {
    text: SecretString,
    shorter: Vec<usize>,
    /// Number of bytes of the first [`MIN_SECRET_CHARS`] characters, which count as the secret if the text is cut off
    /// behind them.
    least: usize,
}

impl Pattern {
    pub(super) fn new(value: &str) -> Pattern {
        let text: String = value.chars().map(folded_char).collect();
        let bytes = text.as_bytes();
        let mut shorter = vec![0; bytes.len()];
        let mut length = 0;
        for at in 1..bytes.len() {
            while length > 0 && bytes[at] != bytes[length] {
                length = shorter[length - 1];
            }
            if bytes[at] == bytes[length] {
                length += 1;
            }
            shorter[at] = length;
        }
        let least = text.chars().take(MIN_SECRET_CHARS).map(char::len_utf8);
        Pattern {
            least: least.sum(),
            text: text.into(),
            shorter,
        }
    }

    /// Returns the length of the pattern that is searched for, in bytes.
    pub(super) fn len(&self) -> usize {
        self.shorter.len()
    }

    /// Returns the first bytes of the pattern, by which [`Heads`] recognises it.
    pub(super) fn head(&self) -> &[u8] {
        &self.text.expose_secret().as_bytes()[..MIN_SECRET_CHARS]
    }

    /// Calls `found` with the beginning and the end of each occurrence in `text`. `units` is a decoded part of the
    /// text. If the text was cut off, a beginning of the secret at the cut is an occurrence, too.
    ///
    /// Returns the place where an incomplete occurrence at the end of the units begins.
    pub(super) fn search(
        &self,
        text: &str,
        units: &[Placed],
        mut found: impl FnMut(usize, usize),
    ) -> Option<usize> {
        let pattern = self.text.expose_secret().as_bytes();
        let mut length = 0;
        let mut end_of = |length: usize, last: usize| {
            // The last byte may have been the beginning of an escape instead of itself.
            for (length, last) in [(length, last), (length - 1, last.saturating_sub(1))] {
                if length >= self.least && is_cut(text, units[last].to) {
                    found(units[last + 1 - length].from, units[last].to);
                }
            }
        };
        let mut whole = Vec::new();
        for (at, unit) in units.iter().enumerate() {
            let (byte, before) = (folded(unit.byte), length);
            while length > 0 && pattern[length] != byte {
                length = self.shorter[length - 1];
            }
            if pattern[length] == byte {
                length += 1;
            }
            if length <= before && before > 0 {
                end_of(before, at - 1);
            }
            if length == pattern.len() {
                whole.push((units[at + 1 - length].from, unit.to));
                length = self.shorter[length - 1];
            }
        }
        if length > 0 {
            end_of(length, units.len() - 1);
        }
        whole.into_iter().for_each(|(from, to)| found(from, to));
        (length > 0).then(|| units[units.len() - length].from)
    }
}

/// First bytes of all patterns, by which a search quickly passes over text that holds no secret, as nearly all text
/// does. Each byte has a bit for each place that it has in the beginning of a pattern.
pub(super) struct Heads([u8; 256]);

impl Heads {
    pub(super) fn of<'a>(patterns: impl Iterator<Item = &'a Pattern>) -> Heads {
        let mut heads = [0; 256];
        for pattern in patterns {
            for (place, head) in pattern.head().iter().enumerate() {
                for byte in 0..=u8::MAX {
                    if folded(byte) == *head {
                        heads[usize::from(byte)] |= 1 << place;
                    }
                }
            }
        }
        Heads(heads)
    }

    /// Returns `true` if one of the patterns may be in these bytes; `false` is certain.
    pub(super) fn may_be_in(&self, mut bytes: impl Iterator<Item = u8>) -> bool {
        let mut places = 0;
        bytes.any(|byte| {
            places = (places << 1 | 1) & self.0[usize::from(byte)];
            places >> (MIN_SECRET_CHARS - 1) & 1 == 1
        })
    }
}

/// Returns the byte as which this one is compared: text on one line has spaces for line breaks, and forms have `+` for
/// spaces.
fn folded(byte: u8) -> u8 {
    match byte {
        b'+' => b' ',
        byte if byte.is_ascii_control() => b' ',
        byte => byte,
    }
}

fn folded_char(c: char) -> char {
    u8::try_from(c)
        .ok()
        .filter(u8::is_ascii)
        .map_or(c, |byte| char::from(folded(byte)))
}

/// Returns `true` if an ellipsis says that the text was cut here, perhaps in the middle of an escape.
fn is_cut(text: &str, at: usize) -> bool {
    // Length in bytes of a pair of surrogates, each behind as many backslashes as nesting may have made of one.
    const LONGEST: usize = 48;
    let rest = &text.as_bytes()[at..];
    let in_escape = |byte: &&u8| byte.is_ascii_hexdigit() || b"%\\ux{".contains(byte);
    let escape = match rest.first() {
        Some(b'%' | b'\\') => rest.iter().take(LONGEST).take_while(in_escape).count(),
        _ => 0,
    };
    let rest = &rest[escape..];
    let rest = rest.strip_prefix(b" ").unwrap_or(rest);
    rest.starts_with("…".as_bytes())
}
