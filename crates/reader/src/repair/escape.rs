//! Escapes that JSON does not have.

use super::{ChangeKind, Parser, ReadErrorKind, wording};
use crate::{error::ReadError, tape::escape_into};

impl Parser<'_> {
    /// Rewrites an escape that JSON does not have, and returns the place where the text goes on.
    pub(super) fn odd_escape(&mut self, at: usize) -> Result<usize, ReadError> {
        let rest = &self.text[at + 1..];
        let Some(c) = rest.chars().next() else {
            // The text ends inside an escape.
            self.change(ChangeKind::CutOff, wording::ESCAPE_DROPPED);
            return Ok(self.bytes.len());
        };
        let out = &mut self.tape.made;
        let next = at + 1 + c.len_utf8();
        let (note, next) = match c {
            'x' if rest
                .get(1..3)
                .is_some_and(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit())) =>
            {
                let code = u32::from_str_radix(&rest[1..3], 16).unwrap_or_default();
                escape_into(
                    out,
                    char::from_u32(code)
                        .map_or(String::new(), String::from)
                        .as_str(),
                );
                (wording::HEX_ESCAPE, next + 2)
            }
            'u' => {
                let digits = rest[1..]
                    .bytes()
                    .take(4)
                    .take_while(u8::is_ascii_hexdigit)
                    .count();
                if digits == 4 {
                    out.push('\u{FFFD}');
                    (wording::HALF_PAIR, next + 4)
                } else if rest.len() == 1 + digits {
                    (wording::ESCAPE_DROPPED, self.bytes.len())
                } else {
                    self.at = at;
                    return Err(self.refuse(ReadErrorKind::Syntax, wording::HEX_EXPECTED));
                }
            }
            // `\d`, `\.`: a pattern or a path with an intended backslash. Before white space, such as a line break, it
            // continues a line of code or escapes a space.
            c if c.is_ascii_alphanumeric()
                || c.is_whitespace()
                || (c.is_ascii_punctuation() && !matches!(c, '\'' | '`' | '$' | '&' | '!')) =>
            {
                out.push_str("\\\\");
                (wording::BACKSLASH_ESCAPED, at + 1)
            }
            c => {
                escape_into(out, c.encode_utf8(&mut [0; 4]));
                (wording::BACKSLASH_DROPPED, next)
            }
        };
        self.change(ChangeKind::Escapes, note);
        Ok(next)
    }
}
