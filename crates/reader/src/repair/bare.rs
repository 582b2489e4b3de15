//! Text without quotes.

use super::{
    ChangeKind, Failure, Parser, ReadErrorKind, Shape, lookahead::ENDS, quotes::Quote, wording,
};
use crate::{
    error::ReadError,
    scalar::{has_other_quotes, literal},
    strict,
    tape::{Kind, quote_into},
};

impl Parser<'_> {
    /// Reads a string in another language's notation: `r"a\d"`, `ObjectId("x")`. Returns false if no such string stands
    /// here.
    pub(super) fn of_other_language(&mut self, keyed: bool) -> Result<bool, Failure> {
        if let Some(end) = self.constructed()? {
            self.at = end;
            self.change(ChangeKind::Call, wording::CONSTRUCTOR);
            return Ok(true);
        }
        let Some(width) = self.string_prefix()? else {
            return Ok(false);
        };
        self.at += width;
        self.change(ChangeKind::Literal, wording::PREFIX);
        if let Some(quote) = Quote::open(self.bytes, self.at) {
            self.string(quote, keyed)?;
        }
        Ok(true)
    }

    /// Returns the number of letters before a string's quote, as in `rb"…"`; `None` if no complete string with such
    /// letters stands here.
    fn string_prefix(&mut self) -> Result<Option<usize>, Failure> {
        let rest = &self.bytes[self.at..];
        let width = rest
            .iter()
            .take(2)
            .take_while(|b| b"rRbBuUfF".contains(b))
            .count();
        let &[quote @ (b'"' | b'\''), first, ..] = rest.get(width..).unwrap_or_default() else {
            return Ok(None);
        };
        // `[a", b"]`: these strings lack their first quotes.
        if width == 0 || matches!(first, b',' | b']' | b'}' | b' ') {
            return Ok(None);
        }
        let close = self.close_quote(self.at + width + 1, quote, 2000)?;
        Ok(close
            .filter(|&close| self.delimited(close + 1))
            .map(|_| width))
    }

    /// Reads a call with one string, such as `ObjectId("x")`, as that string. Returns the end of the call; `None` if no
    /// such call stands here.
    fn constructed(&mut self) -> Result<Option<usize>, Failure> {
        let start = self.at;
        let rest = &self.bytes[start..];
        if !rest.first().is_some_and(u8::is_ascii_uppercase) {
            return Ok(None);
        }
        let name = rest
            .iter()
            .position(|b| !b.is_ascii_alphanumeric())
            .unwrap_or(rest.len());
        let [b'(', quote @ (b'"' | b'\''), ..] = rest[name..] else {
            return Ok(None);
        };
        let open = start + name + 1;
        let Some(close) = self.close_quote(open + 1, quote, 200)? else {
            return Ok(None);
        };
        if self.bytes.get(close + 1) != Some(&b')') || !self.delimited(close + 2) {
            return Ok(None);
        }
        let made = self.tape.made.len();
        self.tape.made.push('"');
        self.spell(open + 1, close)?;
        self.push_made(made);
        Ok(Some(close + 2))
    }

    /// Reads a value without quotes: a literal, a number, or words. `keyed` is true for the value of a member.
    pub(super) fn bare(&mut self, keyed: bool) -> Result<(), Failure> {
        let start = self.at;
        // Numbers as JSON writes them are read at once.
        if let Some(end) = strict::number(self.bytes, start).filter(|&end| self.delimited(end)) {
            self.at = end;
            self.push(Kind::Number, false, start, end);
            return Ok(());
        }
        let word = self.bytes[start..]
            .iter()
            .position(|b| !b.is_ascii_alphabetic())
            .map_or(self.bytes.len(), |end| start + end);
        if let Some(kind) = literal(&self.text[start..word]).filter(|_| self.delimited(word)) {
            self.at = word;
            self.push(kind, false, start, word);
            if !matches!(&self.text[start..word], "true" | "false" | "null") {
                self.change(ChangeKind::Literal, wording::LITERAL);
            }
            return Ok(());
        }
        let end = self.bare_end(start, keyed)?;
        let text = self.text[start..end].trim_end();
        if text.is_empty() {
            return Err(self
                .refuse(ReadErrorKind::Syntax, wording::VALUE_EXPECTED)
                .into());
        }
        self.at = end;
        // `[a", "b"]`: only the opening quote is missing.
        if self.peek() == Some(b'"') && self.delimited(end + 1) {
            self.at += 1;
            let made = self.tape.made.len();
            self.tape.made.push('"');
            self.spell(start, start + text.len())?;
            let follows_bare = self.follows_bare();
            self.push_made(made);
            match follows_bare || text.contains([',', ';', ':', '=']) {
                true => self.change_uncertain(ChangeKind::Quotes, wording::QUOTE_OPENED),
                false => self.add_quote(text, wording::QUOTE_OPENED),
            }
            return Ok(());
        }
        let kind = match literal(text) {
            Some(kind) => {
                if !matches!(text, "true" | "false" | "null") {
                    self.change(ChangeKind::Literal, wording::LITERAL);
                }
                kind
            }
            None if strict::number(text.as_bytes(), 0) == Some(text.len()) => Kind::Number,
            None => Kind::Bare,
        };
        if kind == Kind::Bare {
            self.log.rebuilt();
            if let Some(frame) = self.frames.last_mut() {
                frame.bare += 1;
            }
            // A backslash may begin an escape, as in a string, or be meant as it stands.
            if text.contains('\\') {
                let note = wording::BACKSLASH_IN_BARE;
                self.change_uncertain(ChangeKind::Escapes, note);
            }
            if text.contains(['{', '[', '"']) || text.starts_with([':', '=', '(', ';']) {
                let note = wording::MARK_IN_BARE;
                self.change_uncertain(ChangeKind::Unquoted, note);
            }
        }
        self.push(kind, false, start, start + text.len());
        Ok(())
    }

    /// Returns true if the value before has no quotes either. In a list, both values may then be one text with a comma
    /// inside.
    pub(super) fn follows_bare(&self) -> bool {
        let last = self.tape.nodes.last().map(|last| last.kind);
        !self.keyed() && !matches!(last, Some(Kind::String | Kind::Array | Kind::Object) | None)
    }

    pub(super) fn made_string(&mut self, text: &str) {
        let start = self.tape.made.len();
        quote_into(&mut self.tape.made, text);
        let end = self.tape.made.len();
        self.push(Kind::String, true, start, end);
    }

    /// Returns true if the text at `at` shows that a value without quotes ends there.
    fn delimited(&self, at: usize) -> bool {
        let next = crate::byte_search::skip_space(self.bytes, at);
        match self.bytes.get(next) {
            None | Some(b'}' | b']') => true,
            Some(b',') => !self.grouped(at),
            Some(b')') => self
                .frames
                .iter()
                .any(|frame| matches!(frame.shape, Shape::Call | Shape::Tuple)),
            _ => false,
        }
    }

    /// Returns true if a comma stands within a number: in `1,000` in an object, where a key ought to follow the comma.
    fn grouped(&self, comma: usize) -> bool {
        let keyed = self.keyed();
        keyed
            && self.bytes.get(comma) == Some(&b',')
            && self.bytes[..comma].last().is_some_and(u8::is_ascii_digit)
            && self
                .bytes
                .get(comma + 1..comma + 4)
                .is_some_and(|group| group.iter().all(u8::is_ascii_digit))
            && !matches!(self.bytes.get(comma + 4), Some(b'0'..=b'9' | b':'))
    }

    fn bare_end(&mut self, start: usize, keyed: bool) -> Result<usize, ReadError> {
        let bytes = self.bytes;
        let mut at = start;
        let mut parens = 0usize;
        while let Some(&b) = bytes.get(at) {
            match b {
                b'(' => parens += 1,
                b')' if parens > 0 => parens -= 1,
                b')' if self
                    .frames
                    .iter()
                    .any(|frame| matches!(frame.shape, Shape::Call | Shape::Tuple)) =>
                {
                    break;
                }
                b',' if parens > 0 && self.closes_paren(at)? => {}
                b',' if self.grouped(at) => at += 3,
                b',' if keyed && !self.settled(start, at) && self.goes_on(at + 1)? => {}
                b',' | b'}' | b']' => break,
                // A single quote of a pair, or the next key; any other quote belongs to quoted speech.
                b'"' if !keyed || self.delimited(at + 1) || self.key_ahead(at)? => break,
                b'/' if bytes.get(at + 1) == Some(&b'*') => break,
                // The slashes of an address are no comment.
                b'/' if bytes.get(at + 1) == Some(&b'/')
                    && (bytes[at - 1].is_ascii_whitespace() || self.settled(start, at)) =>
                {
                    break;
                }
                b'#' if at > start && bytes[at - 1].is_ascii_whitespace() => break,
                b'`' | b'<' if ENDS.iter().any(|end| bytes[at..].starts_with(end)) => break,
                b'\n' if !keyed => break,
                b'\n' => {
                    let next = self.skip_space_ahead(at)?;
                    if matches!(
                        bytes.get(next),
                        None | Some(b'}' | b']' | b'`' | b'<' | b'/' | b'#' | b'"')
                    ) || self.key_ahead(next)?
                    {
                        break;
                    }
                    at = next - 1;
                }
                b';' if self.settled(start, at) => break,
                b';' if keyed => {
                    let next = self.skip_space_ahead(at + 1)?;
                    if self.key_ahead(next)? {
                        break;
                    }
                }
                // `[1 2]`
                b' ' if !keyed && self.settled(start, at) && self.starts_value(at + 1) => break,
                // `a: 1 b: 2`: a number or a literal, and the next key.
                b' ' if keyed && self.settled(start, at) && self.key_ahead(at + 1)? => break,
                _ => {}
            }
            at += 1;
        }
        self.spend(at - start)?;
        Ok(at.min(bytes.len()))
    }

    /// Returns true if the comma before `from` belongs to a value without quotes: more of the value follows the comma,
    /// not the next member, the end of the object or a quotation mark.
    fn goes_on(&mut self, from: usize) -> Result<bool, ReadError> {
        let next = self.skip_space_ahead(from)?;
        let ends = matches!(
            self.bytes.get(next),
            None | Some(b'}' | b']' | b',' | b'/' | b'#' | b'"' | b'\'' | b'.' | b'`' | b'<')
        );
        Ok(!ends && !self.key_ahead(next)?)
    }

    fn closes_paren(&mut self, from: usize) -> Result<bool, ReadError> {
        let bytes = &self.bytes[from..self.bytes.len().min(from + 200)];
        let end = bytes
            .iter()
            .position(|b| b"){}[]\n\"".contains(b))
            .unwrap_or(bytes.len());
        self.spend(end)?;
        Ok(bytes.get(end) == Some(&b')'))
    }

    fn settled(&self, start: usize, end: usize) -> bool {
        let text = &self.text[start..end];
        literal(text).is_some() || strict::number(text.as_bytes(), 0) == Some(text.len())
    }

    /// Reads a key that has no quotes or only a closing quote, and puts the key on the tape as a string. Returns true
    /// if the key had a closing quote.
    pub(super) fn bare_key(&mut self) -> Result<bool, Failure> {
        let start = self.at;
        let mut at = start;
        while let Some(&b) = self.bytes.get(at) {
            if b":={}[],\"'\n".contains(&b) || (b == b')' && self.top().shape == Shape::Call) {
                break;
            }
            at += 1;
        }
        let mut text = self.text[start..at].trim_end();
        // `**name**: value`, as Markdown has it.
        if self.loose {
            text = text.trim_matches('*').trim();
        }
        if text.is_empty() {
            return Err(self
                .refuse(ReadErrorKind::Syntax, wording::KEY_EXPECTED)
                .into());
        }
        self.at = at;
        let half = matches!(self.peek(), Some(b'"' | b'\''));
        self.at += usize::from(half);
        self.made_string(text);
        if half {
            self.supply(ChangeKind::Quotes, wording::QUOTE_OPENED);
        } else if self.top().shape != Shape::Call && matches!(self.peek(), Some(b':' | b'=')) {
            match has_other_quotes(text) {
                true => self.change_uncertain(ChangeKind::Unquoted, wording::KEY_QUOTED),
                false => self.change(ChangeKind::Unquoted, wording::KEY_QUOTED),
            }
        }
        Ok(half)
    }
}
