//! Decision where a string ends.
//!
//! A quote ends a string if the text behind it could follow a string. Otherwise the quote belongs to the text and
//! should have been escaped. A bounded look ahead decides.

use super::{Failure, Parser, Shape, lookahead::ENDS, quotes::Quote};
use crate::error::ReadError;

/// Role of a quote that was met inside a string.
pub(super) enum Verdict {
    /// The quote ends the string.
    End,
    /// The quote is a part of the string's text.
    Inner,
    /// The quote ends one of two joined strings, `"a" + "b"`; the text of the second goes on at this place.
    Joined(usize),
}

impl Parser<'_> {
    /// Decides whether the quote that ends just before `after` closes a key.
    pub(super) fn key_verdict(&mut self, after: usize) -> Result<Verdict, Failure> {
        let next = self.skip_space_ahead(after)?;
        Ok(match self.bytes.get(next) {
            None | Some(b':' | b'=' | b',' | b'}' | b']' | b'"' | b'/' | b'\'') => Verdict::End,
            Some(_) if next > after || self.starts_value(next) => Verdict::End,
            _ => Verdict::Inner,
        })
    }

    /// Decides whether the quote that ends just before `after` closes a value.
    pub(super) fn verdict(&mut self, after: usize, keyed: bool) -> Result<Verdict, Failure> {
        use Verdict::{End, Inner};
        let next = self.skip_space_ahead(after)?;
        let apart = next > after;
        let bytes = self.bytes;
        let Some(&b) = bytes.get(next) else {
            return Ok(End);
        };
        let ends = |yes: bool| if yes { End } else { Inner };
        Ok(match b {
            b',' => self.after_comma(next + 1, keyed)?,
            b'}' | b']' => self.after_closers(next)?,
            b')' => ends(
                self.frames
                    .iter()
                    .any(|frame| matches!(frame.shape, Shape::Call | Shape::Tuple))
                    || self.frames.is_empty(),
            ),
            b'/' => ends(matches!(bytes.get(next + 1), Some(b'/' | b'*'))),
            b'#' => ends(apart),
            b'`' | b'<' if ENDS.iter().any(|end| bytes[next..].starts_with(end)) => End,
            b'<' => Inner,
            b';' if !self.frames.is_empty() => {
                let beyond = self.skip_space_ahead(next + 1)?;
                match bytes.get(beyond) {
                    None => End,
                    Some(b'}' | b']') => self.after_closers(beyond)?,
                    Some(_) if keyed => ends(self.key_ahead(beyond)?),
                    // An element in the same quotes, or in brackets.
                    Some(&b) => ends(matches!(b, b'{' | b'[') || b == bytes[after - 1]),
                }
            }
            b'+' if self.inner == 0 => {
                let beyond = self.skip_space_ahead(next + 1)?;
                match bytes.get(beyond) {
                    Some(&b) if b == bytes[after - 1] => Verdict::Joined(beyond + 1),
                    _ => Inner,
                }
            }
            _ if self.frames.is_empty() => ends(apart),
            b':' => Inner,
            b'"' | b'\'' | b'`' => ends(if keyed { self.key_ahead(next)? } else { apart }),
            _ if !keyed => {
                ends(apart && (self.starts_value(next) || Quote::open(bytes, next).is_some()))
            }
            _ if bytes[after..next].contains(&b'\n') || Quote::open(bytes, next).is_some() => {
                ends(self.key_ahead(next)?)
            }
            // On the same line and without quotes, a member needs stronger signs.
            _ => ends(apart && self.inner == 0 && self.member_ahead(next)?),
        })
    }

    /// Decides whether a quote with a comma behind it ends the string, by the member or element that may follow.
    fn after_comma(&mut self, from: usize, keyed: bool) -> Result<Verdict, Failure> {
        let next = self.skip_space_ahead(from)?;
        let bytes = self.bytes;
        let ends = match bytes.get(next) {
            None | Some(b'}' | b']' | b',' | b')') => true,
            Some(b'/') => matches!(bytes.get(next + 1), Some(b'/' | b'*')),
            Some(b'#') => true,
            Some(b'.') => bytes[next..].starts_with(b"..."),
            Some(b'`' | b'<') if ENDS.iter().any(|end| bytes[next..].starts_with(end)) => true,
            _ if self.frames.is_empty() => false,
            // If there are loose quotes in the text, words are a key only on a line of their own.
            Some(_)
                if keyed
                    && self.inner > 0
                    && Quote::open(bytes, next).is_none()
                    && !bytes[from..next].contains(&b'\n') =>
            {
                false
            }
            Some(_) if keyed => {
                self.key_ahead(next)?
                    || self.key_without_colon(next)?
                    || self.key_cut_off(next)?
                    || (self.inner == 0 && self.half_key(next)?.is_some())
            }
            Some(_) if self.starts_value(next) || Quote::open(bytes, next).is_some() => true,
            // A loose word is an element, if no quote comes before the next comma.
            Some(_) => {
                let end = bytes[next..]
                    .iter()
                    .position(|b| b",]\n\"".contains(b))
                    .map_or(bytes.len(), |end| next + end);
                self.spend(end - next)?;
                bytes.get(end) != Some(&b'"')
                    || (self.inner == 0 && matches!(bytes.get(end + 1), Some(b',' | b']')))
            }
        };
        Ok(if ends { Verdict::End } else { Verdict::Inner })
    }

    /// Returns true if a key and a value without a colon stand here: `"key" "value"`.
    fn key_without_colon(&mut self, at: usize) -> Result<bool, Failure> {
        if self.bytes.get(at) != Some(&b'"') {
            return Ok(false);
        }
        let Some(end) = self.close_quote(at + 1, b'"', 80)? else {
            return Ok(false);
        };
        let next = self.skip_space_ahead(end + 1)?;
        let apart = next > end + 1 || !matches!(self.bytes.get(next), Some(b'"' | b'\''));
        Ok(apart && self.starts_value(next))
    }

    /// Returns true if the text ends inside a key: `"ke`, `ke`.
    fn key_cut_off(&mut self, at: usize) -> Result<bool, Failure> {
        let quote = Quote::open(self.bytes, at);
        let rest = &self.bytes[at + quote.map_or(0, Quote::width)..];
        self.spend(rest.len().min(80))?;
        let word = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | 0x80..);
        let closes = |b: &u8| quote.is_some_and(|quote| quote.first_byte() == *b);
        Ok(rest.len() < 80 && rest.iter().all(|b| word(b) || closes(b)))
    }

    /// Decides whether a quote with closing brackets behind it ends the string, by the text that follows them.
    fn after_closers(&mut self, from: usize) -> Result<Verdict, Failure> {
        let mut at = from;
        let mut closed = 0;
        while let Some(b'}' | b']') = self.bytes.get(at) {
            closed += 1;
            at = self.skip_space_ahead(at + 1)?;
        }
        let bytes = self.bytes;
        let outside = closed >= self.frames.len();
        let glued = matches!(bytes[at - 1], b'}' | b']');
        let ends = match bytes.get(at) {
            None | Some(b'/' | b'#') => true,
            Some(b'`' | b'<') => true,
            // A comma may be missing before a key.
            Some(b'"' | b'\'') if glued => {
                let around = self.frames.len().checked_sub(closed + 1);
                around.is_some_and(|at| self.frames[at].keyed()) && self.key_ahead(at)?
            }
            Some(_) if outside => true,
            Some(b',' | b';') => {
                let next = self.skip_space_ahead(at + 1)?;
                match bytes.get(next) {
                    None | Some(b'}' | b']' | b',' | b'/' | b'#') => true,
                    Some(_) => {
                        self.starts_value(next)
                            || self.key_ahead(next)?
                            || Quote::open(bytes, next).is_some()
                    }
                }
            }
            Some(b')') => self
                .frames
                .iter()
                .any(|frame| matches!(frame.shape, Shape::Call | Shape::Tuple)),
            Some(b'.') => bytes[at..].starts_with(b"..."),
            Some(_) => self.starts_value(at) || self.key_ahead(at)?,
        };
        Ok(if ends { Verdict::End } else { Verdict::Inner })
    }

    /// Returns the end of a string that lacks its closing quote, if the quote at `at` opens the next key:
    /// `"New York, "gender": …`. The string then ends at the comma or line break before that quote.
    pub(super) fn opens_key(&mut self, at: usize, body: usize) -> Result<Option<usize>, ReadError> {
        if !self.keyed() {
            return Ok(None);
        }
        let before = self.text[body..at].trim_end_matches([' ', '\t']);
        let cut = match before.as_bytes().last() {
            Some(b',' | b'\n') => body + before.len() - 1,
            _ => return Ok(None),
        };
        if !self.key_ahead(at)? {
            return Ok(None);
        }
        Ok(Some(
            body + self.text[body..cut]
                .trim_end_matches([',', ' ', '\n', '\r', '\t'])
                .len(),
        ))
    }

    /// Returns the end of a string that holds JSON whose quotes are not escaped. The brackets of that JSON have to
    /// balance, and the string has to close right after.
    pub(super) fn embedded(&mut self, body: usize, quote: Quote) -> Result<Option<usize>, Failure> {
        let mut at = self.skip_space_ahead(body)?;
        if !matches!(self.bytes.get(at), Some(b'{' | b'['))
            || !matches!(quote, Quote::Double | Quote::Single)
        {
            return Ok(None);
        }
        let start = at;
        let mut depth = 0usize;
        while let Some(&b) = self.bytes.get(at) {
            match b {
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            at += 1;
            if depth == 0 {
                break;
            }
        }
        self.spend(at - start)?;
        let end = self.skip_space_ahead(at)?;
        if depth > 0 || quote.closes(self.bytes, end).is_none() {
            return Ok(None);
        }
        Ok(matches!(self.verdict(end + 1, self.keyed())?, Verdict::End).then_some(end))
    }
}
