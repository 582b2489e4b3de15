//! Strings, and the question where they end.
//!
//! A quote ends a string if what follows could follow a string; otherwise it
//! belongs to the text and should have been escaped. What follows is judged
//! from a bounded look ahead.

use super::{ChangeKind, Failure, Parser, RefusalKind, Shape, ahead::ENDS, quotes::Quote};
use crate::reader::{
    refusal::Refusal,
    scan::string_special,
    strict,
    tape::{Kind, escape_into, quote_into},
};

/// What a quote inside a string turned out to be.
enum Verdict {
    /// It ends the string.
    End,
    /// It belongs to the text.
    Inner,
}

impl Parser<'_> {
    /// A string in the place of a key.
    pub(super) fn key_string(&mut self, quote: Quote) -> Result<(), Failure> {
        self.read_string(quote, |parser, after| {
            let next = parser.skip_space_ahead(after)?;
            Ok(match parser.bytes.get(next) {
                None | Some(b':' | b'=' | b',' | b'}' | b']' | b'"' | b'/' | b'\'') => Verdict::End,
                Some(_) if next > after => Verdict::End,
                _ => Verdict::Inner,
            })
        })
    }

    /// A string in the place of a value.
    pub(super) fn string(&mut self, quote: Quote, keyed: bool) -> Result<(), Failure> {
        self.read_string(quote, |parser, after| parser.verdict(after, keyed))
    }

    fn read_string(
        &mut self,
        quote: Quote,
        judge: impl Fn(&mut Self, usize) -> Result<Verdict, Failure>,
    ) -> Result<(), Failure> {
        let open = self.at;
        let body = open + quote.width();
        let lead = quote.lead();
        // Text up to `from` has been copied to the second buffer, once there is
        // a reason to copy.
        let mut from = body;
        let mut at = body;
        let mut made = None;
        let mut embedded_end = None;
        let mut tried_embedded = false;
        if quote != Quote::Double {
            self.change(ChangeKind::Quotes, "quotes made double");
            made = Some(self.begin());
        }
        let end = loop {
            at = string_special(self.bytes, at, lead);
            let Some(&b) = self.bytes.get(at) else {
                break None;
            };
            if let Some(width) = quote.closes(self.bytes, at) {
                let verdict = match quote {
                    Quote::Triple(_) => Verdict::End,
                    _ if embedded_end == Some(at) => Verdict::End,
                    _ if embedded_end.is_some_and(|end| at < end) => Verdict::Inner,
                    _ => judge(self, at + width)?,
                };
                match verdict {
                    Verdict::End => break Some((at, width)),
                    Verdict::Inner => {
                        if !tried_embedded {
                            tried_embedded = true;
                            embedded_end = self.embedded(body, quote)?;
                        }
                        if embedded_end.is_none()
                            && let Some(cut) = self.opens_key(at, body)?
                        {
                            self.change(ChangeKind::Quotes, "closing quote added");
                            break Some((cut, 0));
                        }
                        if b == b'"' {
                            let start = *made.get_or_insert_with(|| self.begin());
                            debug_assert!(start <= self.tape.made.len());
                            self.flush(from, at);
                            self.tape.made.push_str("\\\"");
                            from = at + width;
                        }
                        self.change(ChangeKind::Quotes, "quote inside a string escaped");
                        at += width;
                        continue;
                    }
                }
            }
            match b {
                b'\\' => {
                    if let Some(width) = strict::escape(&self.bytes[at..]) {
                        at += width;
                        continue;
                    }
                    made.get_or_insert_with(|| self.begin());
                    self.flush(from, at);
                    at = self.odd_escape(at)?;
                    from = at;
                }
                b'"' => {
                    made.get_or_insert_with(|| self.begin());
                    self.flush(from, at);
                    self.tape.made.push_str("\\\"");
                    at += 1;
                    from = at;
                }
                b'\n' | b'\r' | b'\t' | 0x08 | 0x0C => {
                    made.get_or_insert_with(|| self.begin());
                    self.flush(from, at);
                    escape_into(&mut self.tape.made, &self.text[at..=at]);
                    self.change(ChangeKind::Escapes, "raw control character escaped");
                    at += 1;
                    from = at;
                }
                0..0x20 => {
                    self.at = at;
                    return Err(self
                        .refuse(
                            RefusalKind::Syntax,
                            "a control character stands in a string; escape or remove it",
                        )
                        .into());
                }
                // The first byte of some other character.
                _ => at += 1,
            }
        };
        match end {
            Some((end, width)) => {
                self.at = end + width;
                // A block that starts on a line of its own and has the closing
                // quote on another: the last line break is layout.
                if end > body + 1
                    && self.bytes[body] == b'\n'
                    && self.bytes[end - 1] == b'\n'
                    && from == end
                {
                    let kept = self.tape.made.len() - 2;
                    self.tape.made.truncate(kept);
                    self.change(
                        ChangeKind::Escapes,
                        "line break before the closing quote dropped",
                    );
                }
                match made {
                    None if width == 1 => self.push(Kind::String, false, open, self.at),
                    None => {
                        let start = self.begin();
                        self.flush(from, end);
                        self.finish_made(start);
                    }
                    Some(start) => {
                        // A cut may fall before text that was copied already.
                        if from > end {
                            self.tape.made.truncate(start);
                            quote_into(&mut self.tape.made, &self.text[body..end]);
                            let done = self.tape.made.len();
                            self.push(Kind::String, true, start, done);
                        } else {
                            self.flush(from, end);
                            self.finish_made(start);
                        }
                    }
                }
                Ok(())
            }
            None => self.unclosed(quote, body),
        }
    }

    /// Starts a string in the second buffer.
    fn begin(&mut self) -> usize {
        let start = self.tape.made.len();
        self.tape.made.push('"');
        start
    }

    fn flush(&mut self, from: usize, to: usize) {
        self.tape.made.push_str(&self.text[from..to]);
    }

    fn finish_made(&mut self, start: usize) {
        self.tape.made.push('"');
        let end = self.tape.made.len();
        self.push(Kind::String, true, start, end);
    }

    /// Writes an escape that JSON does not have in a way it has, and returns
    /// where the text goes on.
    fn odd_escape(&mut self, at: usize) -> Result<usize, Failure> {
        let rest = &self.text[at + 1..];
        let Some(c) = rest.chars().next() else {
            // The text ends inside an escape.
            self.change(ChangeKind::Closed, "unfinished escape dropped");
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
                ("`\\x` escape rewritten", next + 2)
            }
            'u' => {
                let digits = rest[1..]
                    .bytes()
                    .take(4)
                    .take_while(u8::is_ascii_hexdigit)
                    .count();
                if digits == 4 {
                    out.push('\u{FFFD}');
                    ("half a surrogate pair replaced", next + 4)
                } else if rest.len() == 1 + digits {
                    ("unfinished escape dropped", self.bytes.len())
                } else {
                    self.at = at;
                    return Err(self
                        .refuse(RefusalKind::Syntax, "`\\u` needs four hexadecimal digits")
                        .into());
                }
            }
            '\n' => ("escaped line break kept", {
                out.push_str("\\n");
                next
            }),
            // `\d`, `\.`: a pattern or a path whose backslash was meant.
            c if c.is_ascii_alphanumeric()
                || (c.is_ascii_punctuation() && !matches!(c, '\'' | '`' | '$' | '&' | '!')) =>
            {
                out.push_str("\\\\");
                ("backslash escaped", at + 1)
            }
            c => {
                escape_into(out, c.encode_utf8(&mut [0; 4]));
                ("needless backslash dropped", next)
            }
        };
        self.change(ChangeKind::Escapes, note);
        Ok(next)
    }

    /// Judges the quote that ends just before `after`, in a value.
    fn verdict(&mut self, after: usize, keyed: bool) -> Result<Verdict, Failure> {
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
            b'`' | b'<' => ends(ENDS.iter().any(|end| bytes[next..].starts_with(end))),
            b';' => ends(keyed),
            _ if self.frames.is_empty() => ends(apart),
            b':' => Inner,
            b'"' | b'\'' => ends(if keyed { self.key_ahead(next)? } else { apart }),
            _ if !keyed => {
                ends(apart && (self.starts_value(next) || Quote::open(bytes, next).is_some()))
            }
            _ => ends(
                (bytes[after..next].contains(&b'\n') || Quote::open(bytes, next).is_some())
                    && self.key_ahead(next)?,
            ),
        })
    }

    /// A quote and a comma: does a member or an element follow?
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
            Some(_) if keyed => {
                self.key_ahead(next)? || self.key_without_colon(next)? || self.key_cut_off(next)?
            }
            Some(_) if self.starts_value(next) || Quote::open(bytes, next).is_some() => true,
            // A loose word is an element, if no quote comes before the next comma.
            Some(_) => {
                let end = bytes[next..]
                    .iter()
                    .position(|b| b",]\n\"".contains(b))
                    .map_or(bytes.len(), |end| next + end);
                self.spend(end - next)?;
                bytes.get(end) != Some(&b'"') || matches!(bytes.get(end + 1), Some(b',' | b']'))
            }
        };
        Ok(if ends { Verdict::End } else { Verdict::Inner })
    }

    /// `"key" "value"`, the colon forgotten.
    fn key_without_colon(&mut self, at: usize) -> Result<bool, Failure> {
        if self.bytes.get(at) != Some(&b'"') {
            return Ok(false);
        }
        let Some(end) = self.close_quote(at + 1, b'"', 80)? else {
            return Ok(false);
        };
        let next = self.skip_space_ahead(end + 1)?;
        Ok(next > end + 1 && self.starts_value(next))
    }

    /// `"ke`: the text ends inside a key.
    fn key_cut_off(&mut self, at: usize) -> Result<bool, Failure> {
        let Some(quote) = Quote::open(self.bytes, at) else {
            return Ok(false);
        };
        let rest = &self.bytes[at + quote.width()..];
        self.spend(rest.len().min(80))?;
        let word = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
        Ok(rest.len() < 80 && rest.iter().all(|b| word(b) || quote.lead() == *b))
    }

    /// A quote and closing brackets: does the document go on as it should?
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
            Some(b'"' | b'\'') if glued => false,
            Some(_) if outside => true,
            Some(b',') => {
                let next = self.skip_space_ahead(at + 1)?;
                match bytes.get(next) {
                    None | Some(b'}' | b']' | b'/' | b'#') => true,
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

    /// `"New York, "gender": …`: the quote at `at` opens a key, so the string
    /// ended at the comma or line break before it.
    fn opens_key(&mut self, at: usize, body: usize) -> Result<Option<usize>, Refusal> {
        if !self.frames.last().is_some_and(super::Frame::keyed) {
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

    /// JSON inside a string whose quotes nobody escaped: where it ends, if its
    /// brackets balance and the string closes right after.
    fn embedded(&mut self, body: usize, quote: Quote) -> Result<Option<usize>, Failure> {
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
        Ok(matches!(
            self.verdict(end + 1, self.frames.last().is_some_and(super::Frame::keyed))?,
            Verdict::End
        )
        .then_some(end))
    }

    /// A string that the end of the text cut off, or whose closing quote is
    /// missing, so that it swallowed the brackets after it.
    fn unclosed(&mut self, quote: Quote, body: usize) -> Result<(), Failure> {
        let mut rest = &self.text[body..];
        if let Quote::Triple(_) = quote {
            return Err(self
                .refuse(RefusalKind::Syntax, "a triple quote is never closed")
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
            Some(inside) => (self.before_member(inside), "closing quote added"),
            None => (rest, "the text ended inside a string, which was closed"),
        };
        let end = body + inside.len();
        self.change(
            if end < body + rest.len() {
                ChangeKind::Quotes
            } else {
                ChangeKind::Closed
            },
            note,
        );
        self.at = end;
        let start = self.tape.made.len();
        self.tape.made.push('"');
        let mut from = body;
        let mut at = body;
        while at < end {
            at = string_special(&self.bytes[..end], at, b'"');
            match self.bytes[..end].get(at) {
                None => break,
                Some(b'\\') => match strict::escape(&self.bytes[at..end]) {
                    Some(width) => at += width,
                    None => {
                        self.flush(from, at);
                        at = self.odd_escape(at)?.min(end);
                        from = at;
                    }
                },
                Some(0..0x20) if !matches!(self.bytes[at], b'\n' | b'\r' | b'\t') => {
                    self.at = at;
                    return Err(self
                        .refuse(
                            RefusalKind::Syntax,
                            "a control character stands in a string; escape or remove it",
                        )
                        .into());
                }
                Some(_) => {
                    self.flush(from, at);
                    escape_into(&mut self.tape.made, &self.text[at..=at]);
                    at += 1;
                    from = at;
                }
            }
        }
        self.flush(from, end.max(from));
        self.finish_made(start);
        Ok(())
    }

    /// The text without the brackets that close all that is open, unless they
    /// belong to the text itself.
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

    /// `first, b: 1`: a member follows the string that was not closed.
    fn before_member<'t>(&self, inside: &'t str) -> &'t str {
        if !self.frames.last().is_some_and(super::Frame::keyed) {
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
                && (super::bare::literal(value).is_some()
                    || strict::number(value.as_bytes(), 0) == Some(value.len()))
            {
                return inside[..comma].trim_end();
            }
        }
        inside
    }
}
