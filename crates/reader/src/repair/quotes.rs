//! Quotation marks that models use.

/// Quotation mark that opened a string; it decides which mark closes the string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quote {
    Double,
    Single,
    Backtick,
    /// Three of these quotes at a time, as in Python.
    Triple(u8),
    /// Curly double quotes: “…”
    CurlyDouble,
    /// Curly single quotes: ‘…’
    CurlySingle,
    /// Angled quotes: «…»
    Angled,
    /// Acute accents in place of quotes: ´…´
    Acute,
}

impl Quote {
    /// Returns the quotation mark that stands at `at` and may open a string.
    pub(super) fn open(bytes: &[u8], at: usize) -> Option<Self> {
        let rest = &bytes[at..];
        Some(match *rest.first()? {
            b @ (b'"' | b'\'') if rest.starts_with(&[b; 3]) && rest.len() > 3 => Self::Triple(b),
            b'"' => Self::Double,
            b'\'' => Self::Single,
            b'`' if !rest.starts_with(b"``") || empty(rest) => Self::Backtick,
            0xE2 => match rest.get(..3)? {
                [_, 0x80, 0x9C..=0x9F] => Self::CurlyDouble,
                [_, 0x80, 0x98..=0x9B] => Self::CurlySingle,
                _ => return None,
            },
            0xC2 if rest.get(1) == Some(&0xAB) => Self::Angled,
            0xC2 if rest.get(1) == Some(&0xB4) => Self::Acute,
            _ => return None,
        })
    }

    /// Returns the length of the quotation mark in bytes.
    pub(super) fn width(self) -> usize {
        match self {
            Self::Double | Self::Single | Self::Backtick => 1,
            Self::Angled | Self::Acute => 2,
            Self::Triple(_) | Self::CurlyDouble | Self::CurlySingle => 3,
        }
    }

    /// Returns the byte to look for besides `"`: the first byte of a mark that may close.
    pub(super) fn first_byte(self) -> u8 {
        match self {
            Self::Double => b'"',
            Self::Single => b'\'',
            Self::Backtick => b'`',
            Self::Triple(b) => b,
            Self::CurlyDouble | Self::CurlySingle => 0xE2,
            Self::Angled | Self::Acute => 0xC2,
        }
    }

    /// Returns the length of the closing mark at `at`, if there is one.
    pub(super) fn closes(self, bytes: &[u8], at: usize) -> Option<usize> {
        let rest = bytes.get(at..)?;
        let first = *rest.first()?;
        match self {
            Self::Double => (first == b'"').then_some(1),
            Self::Single => (first == b'\'').then_some(1),
            Self::Backtick => (first == b'`').then_some(1),
            Self::Triple(b) => rest.starts_with(&[b; 3]).then_some(3),
            Self::CurlyDouble => match rest {
                [b'"', ..] => Some(1),
                [0xE2, 0x80, 0x9C..=0x9F, ..] => Some(3),
                _ => None,
            },
            Self::CurlySingle => match rest {
                [b'\'', ..] => Some(1),
                [0xE2, 0x80, 0x98..=0x9B, ..] => Some(3),
                _ => None,
            },
            Self::Angled => rest.starts_with("»".as_bytes()).then_some(2),
            Self::Acute => rest.starts_with("´".as_bytes()).then_some(2),
        }
    }
}

/// Returns true if two backticks stand for an empty string, and are not the beginning of a fence.
fn empty(rest: &[u8]) -> bool {
    let after = rest[2..].iter().find(|b| !b.is_ascii_whitespace());
    matches!(after, None | Some(b',' | b'}' | b']' | b':'))
}
