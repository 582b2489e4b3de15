//! First bytes of secrets, by which a search passes quickly over text that holds none, as nearly all text does.

use super::{MIN_SECRET_CHARS, spelling::meant};

/// Table of the places that each byte may have at the beginning of any secret, in any spelling. Each byte has a
/// bit for each of the first [`MIN_SECRET_CHARS`] places, and the two bits below.
pub(super) struct Heads {
    bits: [u8; 256],
    /// Is `true` if a secret begins with a backslash itself.
    backslash: bool,
}

/// Bit of a byte that, after backslashes, may stand for the first character of a secret.
const ESCAPED: u8 = 1 << MIN_SECRET_CHARS;
/// Bit of a byte that begins an escape: the bytes behind it say nothing about the secret.
const SPELLED: u8 = ESCAPED << 1;

impl Default for Heads {
    fn default() -> Self {
        Heads::of(std::iter::empty())
    }
}

impl Heads {
    /// Creates the table of these texts, each of at least [`MIN_SECRET_CHARS`] characters.
    pub(super) fn of<'a>(patterns: impl Iterator<Item = &'a str>) -> Heads {
        let mut heads = Heads {
            bits: [0; 256],
            backslash: false,
        };
        for pattern in patterns {
            heads.backslash |= pattern.starts_with('\\');
            for (place, byte) in pattern.bytes().take(MIN_SECRET_CHARS).enumerate() {
                heads.add(byte, 1 << place);
                if byte == b' ' {
                    heads.add(b'+', 1 << place);
                }
                if byte.is_ascii_control() {
                    heads.add(b' ', 1 << place);
                }
            }
            let first = pattern.chars().next();
            for letter in 0..=u8::MAX {
                if matches!(letter, b'u' | b'x') || meant(letter) == first {
                    heads.add(letter, ESCAPED);
                }
            }
        }
        for byte in [b'%', b'\\'] {
            heads.add(byte, SPELLED | (ESCAPED - 1));
        }
        heads
    }

    fn add(&mut self, byte: u8, bits: u8) {
        self.bits[usize::from(byte)] |= bits;
    }

    fn has(&self, byte: u8, bits: u8) -> bool {
        self.bits[usize::from(byte)] & bits != 0
    }

    /// Returns `true` if a secret may begin with this byte.
    pub(super) fn may_begin(&self, byte: u8) -> bool {
        self.has(byte, 1)
    }

    /// Returns the next place, from `from` on, at which a whole secret may begin.
    pub(super) fn next(&self, text: &[u8], from: usize) -> Option<usize> {
        let mut at = from;
        loop {
            let rest = text.get(at..)?;
            at += rest.iter().position(|byte| self.may_begin(*byte))?;
            if self.fit(&text[at..]) {
                return Some(at);
            }
            at = self.past(text, at);
        }
    }

    /// Returns the place at which to continue the search after this place.
    pub(super) fn past(&self, text: &[u8], at: usize) -> usize {
        // The outcome is the same for each backslash of a run, because all of them escape the same letter.
        match text[at] {
            b'\\' if !self.backslash => at + run(&text[at..]),
            _ => at + 1,
        }
    }

    /// Returns `true` if a secret may begin with these bytes.
    fn fit(&self, text: &[u8]) -> bool {
        if text.first() == Some(&b'\\') {
            let letter = text.get(run(text));
            return self.backslash || letter.is_some_and(|letter| self.has(*letter, ESCAPED));
        }
        for (place, byte) in text.iter().take(MIN_SECRET_CHARS).enumerate() {
            if !self.has(*byte, 1 << place) {
                return false;
            }
            if self.has(*byte, SPELLED) {
                return true;
            }
        }
        text.len() >= MIN_SECRET_CHARS
    }
}

/// Returns the number of backslashes at the beginning of the text.
fn run(text: &[u8]) -> usize {
    text.iter().take_while(|byte| **byte == b'\\').count()
}
