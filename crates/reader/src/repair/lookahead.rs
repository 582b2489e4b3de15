//! Looks ahead in the text. All looks are paid for from the allowance.

use super::{ChangeKind, Parser, quotes::Quote, wording};
use crate::{
    byte_search::{skip_space, string_special},
    error::ReadError,
};

/// Maximum length in bytes of a key that is looked for ahead; longer text before a colon then counts as no key.
const MAX_KEY: usize = 120;

/// Marks that end a document wherever they stand outside strings.
pub(super) const ENDS: [&[u8]; 3] = [b"```", b"</", b"<|"];

impl Parser<'_> {
    /// Returns true if the document ends here, at the end of the text or at a mark that closes it.
    pub(super) fn at_end(&self) -> bool {
        let rest = &self.bytes[self.at..];
        rest.is_empty()
            || (matches!(rest[0], b'`' | b'<') && ENDS.iter().any(|end| rest.starts_with(end)))
    }

    /// Skips white space of any sort, and comments.
    pub(super) fn skip_trivia(&mut self) -> Result<(), ReadError> {
        loop {
            self.at = skip_space(self.bytes, self.at);
            // In most cases a token follows at once.
            if let Some(b'"' | b',' | b':' | b'{'..=b'}' | b'[' | b']' | b'0'..=b'9') = self.peek()
            {
                return Ok(());
            }
            let rest = &self.bytes[self.at..];
            let start = self.at;
            match rest {
                [b'/', b'/', ..] | [b'#', ..] => {
                    self.at += rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
                }
                [b'/', b'*', ..] => {
                    let end = rest.windows(2).skip(2).position(|pair| pair == b"*/");
                    self.at += end.map_or(rest.len(), |end| end + 4);
                }
                [0x0B | 0x0C | 0x80..=0xFF, ..] => match odd_space(&self.text[self.at..]) {
                    0 => return Ok(()),
                    width => {
                        self.at += width;
                        self.change(ChangeKind::Space, wording::SPACE_DROPPED);
                        continue;
                    }
                },
                _ => return Ok(()),
            }
            let note = wording::COMMENT_DROPPED;
            match is_surely_comment(&self.text[start..self.at]) {
                true => self.change(ChangeKind::Comment, note),
                false => self.change_uncertain(ChangeKind::Comment, note),
            }
        }
    }

    /// Returns the place after white space, without moving there.
    pub(super) fn skip_space_ahead(&mut self, from: usize) -> Result<usize, ReadError> {
        let mut at = skip_space(self.bytes, from);
        while let Some(0x80..) = self.bytes.get(at) {
            match self.text.get(at..).map_or(0, odd_space) {
                0 => break,
                width => at = skip_space(self.bytes, at + width),
            }
        }
        self.spend(at.saturating_sub(from) + 1)?;
        Ok(at)
    }

    /// Returns the place of the next closing quote `mark` within `reach` bytes on the same line; `None` if no such
    /// quote follows.
    pub(super) fn close_quote(
        &mut self,
        from: usize,
        mark: u8,
        reach: usize,
    ) -> Result<Option<usize>, ReadError> {
        let limit = self.bytes.len().min(from.saturating_add(reach));
        let mut at = from;
        let found = loop {
            at = string_special(&self.bytes[..limit], at, mark);
            match self.bytes[..limit].get(at) {
                Some(&b) if b == mark => break Some(at),
                Some(b'\\') => at = (at + 2).min(limit),
                Some(b'\n') | None => break None,
                Some(_) => at += 1,
            }
        };
        self.spend(at.saturating_sub(from) + 1)?;
        Ok(found)
    }

    /// Returns the place after the mark of a list item, such as `- ` in `- key: value`, if items may have marks; `at`
    /// if no mark stands there.
    pub(super) fn past_mark(&self, at: usize) -> usize {
        match self.bytes.get(at..at + 2) {
            Some(b"- " | b"* ") if self.loose && self.frames.len() == 1 => at + 2,
            _ => at,
        }
    }

    /// Returns true if a key and its colon stand at `at`.
    pub(super) fn key_ahead(&mut self, at: usize) -> Result<bool, ReadError> {
        let at = self.past_mark(at);
        let bytes = self.bytes;
        if let Some(quote) = Quote::open(bytes, at) {
            let from = at + quote.width();
            let end = match quote {
                Quote::Double | Quote::Single | Quote::Backtick => self
                    .close_quote(from, quote.first_byte(), MAX_KEY)?
                    .map(|end| end + 1),
                _ => {
                    self.spend(MAX_KEY)?;
                    let reach = bytes.len().min(from + MAX_KEY);
                    (from..reach).find_map(|at| quote.closes(bytes, at).map(|width| at + width))
                }
            };
            let Some(end) = end else { return Ok(false) };
            let next = self.skip_space_ahead(end)?;
            return Ok(match bytes.get(next) {
                Some(b':') => true,
                Some(b'=') => bytes.get(next + 1) != Some(&b'='),
                _ => false,
            });
        }
        // `name`, `"name"` without its first quote, or `two words`; in Markdown also `**name**`.
        let stars = |at: usize| match self.loose {
            true => bytes[at..].iter().take_while(|b| **b == b'*').count(),
            false => 0,
        };
        let at = at + stars(at);
        let mut end = at;
        let mut word = false;
        while let Some(&b) = bytes.get(end)
            && end < at + MAX_KEY
        {
            match b {
                b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | 0x80.. => word = true,
                b'0'..=b'9' | b'-' | b'.' if end > at || b.is_ascii_digit() => {
                    word |= b.is_ascii_digit()
                }
                b' ' if word => {}
                b'"' if word => {
                    end += 1;
                    break;
                }
                _ => break,
            }
            end += 1;
        }
        end += stars(end);
        self.spend(end - at + 1)?;
        let next = self.skip_space_ahead(end)?;
        Ok(word
            && match bytes.get(next) {
                Some(b':') => !bytes[next..].starts_with(b"://"),
                Some(b'=') => bytes.get(next + 1) != Some(&b'='),
                _ => false,
            })
    }

    /// Returns the end of a key at `at` whose closing quote is missing, if its value is certain: `"name: 1`.
    pub(super) fn half_key(&mut self, at: usize) -> Result<Option<usize>, ReadError> {
        if !matches!(self.bytes.get(at), Some(b'"' | b'\''))
            || !self.member_ahead(at + 1)?
            || self.key_ahead(at)?
        {
            return Ok(None);
        }
        let name = self.bytes[at + 1..]
            .iter()
            .position(|b| matches!(b, b':' | b'='));
        Ok(name.map(|name| at + 1 + self.text[at + 1..at + 1 + name].trim_end().len()))
    }

    /// Returns true if `name: value` stands at `at`, with a value that could be nothing else.
    pub(super) fn member_ahead(&mut self, at: usize) -> Result<bool, ReadError> {
        let word = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | 0x80..);
        let rest = &self.bytes[at..self.bytes.len().min(at + MAX_KEY)];
        let end = at + rest.iter().position(|b| !word(b)).unwrap_or(rest.len());
        self.spend(end - at)?;
        let colon = self.skip_space_ahead(end)?;
        if end == at || !matches!(self.bytes.get(colon), Some(b':' | b'=')) {
            return Ok(false);
        }
        let value = self.skip_space_ahead(colon + 1)?;
        Ok(self.starts_value(value))
    }

    /// Returns true if a value could start at `at`; a run of loose words is none.
    pub(super) fn starts_value(&self, at: usize) -> bool {
        let rest = &self.bytes[at..];
        match rest.first() {
            Some(b'{' | b'[' | b'"' | b'\'' | b'-' | b'0'..=b'9') => true,
            Some(b't' | b'f' | b'n' | b'T' | b'F' | b'N') => {
                let end = rest
                    .iter()
                    .position(|b| !b.is_ascii_alphanumeric())
                    .unwrap_or(rest.len());
                crate::scalar::literal(&self.text[at..at + end]).is_some()
            }
            Some(_) => Quote::open(self.bytes, at).is_some(),
            None => false,
        }
    }
}

/// Returns true if a comment cannot be the end of a text without quotes. It has no unpaired quote, no comma at its
/// end, and no word right behind `#`.
fn is_surely_comment(text: &str) -> bool {
    let is_word = text
        .strip_prefix('#')
        .is_some_and(|text| text.starts_with(char::is_alphanumeric));
    !is_word && text.matches('"').count().is_multiple_of(2) && !text.trim_end().ends_with(',')
}

/// Returns the width of a white space character that JSON does not know, or 0.
fn odd_space(text: &str) -> usize {
    match text.chars().next() {
        Some(c @ ('\u{180E}' | '\u{200B}'..='\u{200D}' | '\u{2060}' | '\u{FEFF}')) => c.len_utf8(),
        Some(c) if c.is_whitespace() => c.len_utf8(),
        _ => 0,
    }
}
