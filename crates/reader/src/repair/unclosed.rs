//! Strings that are never closed.

use super::{ChangeKind, Failure, Parser, ReadErrorKind, Shape, quotes::Quote, wording};
use crate::{
    byte_search::string_special, error::ReadError, scalar::literal, strict, tape::escape_into,
};

impl Parser<'_> {
    /// Reads a string that the end of the text cut off, or that swallowed the brackets after its missing quote.
    pub(super) fn unclosed(&mut self, quote: Quote, body: usize) -> Result<(), Failure> {
        let mut rest = &self.text[body..];
        if let Quote::Triple(_) = quote {
            return Err(self
                .refuse(ReadErrorKind::Syntax, wording::TRIPLE_UNCLOSED)
                .into());
        }
        for mark in ["\n```", "</tool_call", "<|"] {
            if let Some(end) = rest.find(mark) {
                rest = &rest[..end];
            }
        }
        self.closed_early = true;
        let inside = self.without_closers(rest);
        let (inside, note) = match inside {
            Some(inside) => (self.before_member(inside), wording::QUOTE_CLOSED),
            None => (rest, wording::STRING_ENDED),
        };
        let end = body + inside.len();
        let is_plain = !inside.contains(['{', '}', '[', ']', '"', ':', '\n'])
            && !inside.is_empty()
            && !inside.ends_with(',')
            && (self.keyed() || !inside.contains(','))
            && !self.follows_bare()
            && !rest[inside.len()..].starts_with(' ');
        match end < body + rest.len() {
            // All brackets are there, so only the quote is missing.
            true if is_plain => self.supply(ChangeKind::Quotes, note),
            true => self.change_uncertain(ChangeKind::Quotes, note),
            false => self.change_uncertain(ChangeKind::CutOff, note),
        }
        self.at = end;
        let start = self.tape.made.len();
        self.tape.made.push('"');
        self.spell(body, end)?;
        self.push_made(start);
        Ok(())
    }

    /// Appends text to a string in the second buffer, with the escapes that JSON demands.
    pub(super) fn spell(&mut self, body: usize, end: usize) -> Result<(), ReadError> {
        let (mut from, mut at) = (body, body);
        loop {
            at = string_special(&self.bytes[..end], at, b'"');
            let Some(&b) = self.bytes[..end].get(at) else {
                break;
            };
            if b == b'\\'
                && let Some(width) = strict::escape(&self.bytes[at..end])
            {
                at += width;
                continue;
            }
            self.tape.made.push_str(&self.text[from..at]);
            at = match b {
                b'\\' => self.odd_escape(at)?.min(end),
                0..0x20 if !matches!(b, b'\n' | b'\r' | b'\t') => return Err(self.control(at)),
                _ => {
                    escape_into(&mut self.tape.made, &self.text[at..=at]);
                    at + 1
                }
            };
            from = at;
        }
        self.tape.made.push_str(&self.text[from.min(end)..end]);
        Ok(())
    }

    /// Returns the text without the brackets at its end that close all open ones. Returns `None` if one of them is
    /// missing, or if the text itself has the brackets that they would close.
    fn without_closers<'t>(&self, text: &'t str) -> Option<&'t str> {
        let mut inside = text.trim_end();
        for frame in &self.frames {
            let close = match frame.shape {
                Shape::Object => '}',
                Shape::Array => ']',
                Shape::Tuple | Shape::Call => ')',
            };
            inside = inside.strip_suffix(close)?.trim_end();
        }
        let balance = |open: char, close: char| {
            let count = |c: char| text.matches(c).count();
            count(open) < count(close)
        };
        (!self.frames.is_empty() && (balance('{', '}') || balance('[', ']') || balance('(', ')')))
            .then_some(inside)
    }

    /// Returns the text before a member that follows the unclosed string: `first, b: 1`. Returns the whole text if no
    /// member follows.
    fn before_member<'t>(&self, inside: &'t str) -> &'t str {
        if !self.keyed() {
            return inside;
        }
        for (comma, _) in inside.match_indices(',').take(8) {
            let Some((key, value)) = inside[comma + 1..].split_once(':') else {
                break;
            };
            let value = value.split(',').next().unwrap_or_default().trim();
            let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let key = key.trim();
            if !key.is_empty()
                && key.chars().all(word)
                && (literal(value).is_some()
                    || strict::number(value.as_bytes(), 0) == Some(value.len()))
            {
                return inside[..comma].trim_end();
            }
        }
        inside
    }
}
