//! Where a secret may begin, told by a few bytes: nearly all that is looked through holds none.

use super::{MIN_SECRET_CHARS, spelling::meant};

/// What a byte may be of any secret, however that is spelled: a bit for each of its first places, and these.
pub(super) struct Heads {
    bits: [u8; 256],
    /// A secret begins with a backslash itself.
    backslash: bool,
}

/// After backslashes it may stand for the first character.
const ESCAPED: u8 = 1 << MIN_SECRET_CHARS;
/// With it begins what is not spelled as it is: the bytes behind say nothing.
const SPELLED: u8 = ESCAPED << 1;

impl Default for Heads {
    fn default() -> Self {
        Heads::of(std::iter::empty())
    }
}

impl Heads {
    /// Those of these texts, each of [`MIN_SECRET_CHARS`] characters at least.
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

    /// Whether one may begin with this byte.
    pub(super) fn may_begin(&self, byte: u8) -> bool {
        self.has(byte, 1)
    }

    /// The next place at which all of one may begin, from this one on.
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

    /// Where to look next after this place.
    pub(super) fn past(&self, text: &[u8], at: usize) -> usize {
        // What backslashes escape is the same for each of them.
        match text[at] {
            b'\\' if !self.backslash => at + run(&text[at..]),
            _ => at + 1,
        }
    }

    /// Whether one may begin with these bytes.
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

/// How many backslashes stand here.
fn run(text: &[u8]) -> usize {
    text.iter().take_while(|byte| **byte == b'\\').count()
}
