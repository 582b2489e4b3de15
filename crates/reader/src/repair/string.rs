//! Strings, which are copied only if something in them must change.

use super::{
    ChangeKind, Failure, Frame, Parser, ReadErrorKind, quotes::Quote, verdict::Verdict, wording,
};
use crate::{
    byte_search::string_special,
    error::ReadError,
    strict,
    tape::{Kind, escape_into},
};

/// String that is being read. If its text had to change, the part up to `from` is already in the tape's second buffer.
struct Spelling {
    body: usize,
    from: usize,
    /// Start of the string's copy in the second buffer; `None` while the string stands unchanged in the text.
    made: Option<usize>,
    /// `true` if all backslashes of the string are literal, as in a path on Windows.
    literal: bool,
}

impl Parser<'_> {
    /// Reads a string in the place of a key.
    pub(super) fn key_string(&mut self, quote: Quote) -> Result<(), Failure> {
        self.read_string(quote, Self::key_verdict)
    }

    /// Reads a string in the place of a value.
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
        let mut spelling = Spelling {
            body,
            from: body,
            made: None,
            literal: false,
        };
        let mut at = body;
        // The end of JSON inside this string, if there is any; it is looked for once.
        let mut embedded = None;
        self.inner = 0;
        // True if a quote inside a list could just as well open the next element.
        let mut doubtful = false;
        if quote != Quote::Double {
            self.change(ChangeKind::Quotes, wording::QUOTES_DOUBLED);
            self.begin(&mut spelling);
        }
        loop {
            at = string_special(self.bytes, at, quote.first_byte());
            let Some(&b) = self.bytes.get(at) else {
                return self.unclosed(quote, body);
            };
            let Some(width) = quote.closes(self.bytes, at) else {
                at = self.special(&mut spelling, at, b)?;
                continue;
            };
            let verdict = match (quote, embedded) {
                (Quote::Triple(_), _) => Verdict::End,
                (_, Some(Some(end))) if at == end => Verdict::End,
                (_, Some(Some(end))) if at < end => Verdict::Inner,
                _ => judge(self, at + width)?,
            };
            match verdict {
                Verdict::End if doubtful && self.inner % 2 == 1 => {
                    let reason = wording::QUOTE_MISSING;
                    return Err(self.refuse(ReadErrorKind::Ambiguous, reason).into());
                }
                Verdict::End => {
                    if self.inner % 2 == 1 {
                        // An unpaired quote may be one too many, and no part of the text.
                        let note = wording::QUOTE_UNPAIRED;
                        self.change_uncertain(ChangeKind::Quotes, note);
                    }
                    return Ok(self.finish(spelling, open, at, width)?);
                }
                Verdict::Joined(next) => {
                    self.change(ChangeKind::Quotes, wording::JOINED);
                    self.copy_to(&mut spelling, at, next);
                    at = next;
                }
                Verdict::Inner => {
                    let inside = match embedded {
                        Some(found) => found,
                        None => self.embedded(body, quote)?,
                    };
                    embedded = Some(inside);
                    if inside.is_none()
                        && let Some(cut) = self.opens_key(at, body)?
                    {
                        // If there are two commas, one may belong to the text.
                        let commas = self.text[cut..at].matches(',').count();
                        let note = wording::QUOTE_CLOSED;
                        match commas > 1 {
                            true => self.change_uncertain(ChangeKind::Quotes, note),
                            false => self.add_quote(&self.text[body..cut], note),
                        }
                        return Ok(self.finish(spelling, open, cut, 0)?);
                    }
                    doubtful |= self.opens_element(at, body, width);
                    self.inner += 1;
                    let note = wording::QUOTE_ESCAPED;
                    match at == body || self.could_delimit(at, width) {
                        true => self.change_uncertain(ChangeKind::Quotes, note),
                        false => self.supply(ChangeKind::Quotes, note),
                    }
                    if b == b'"' {
                        self.copy_to(&mut spelling, at, at + width);
                        self.tape.made.push_str("\\\"");
                    }
                    at += width;
                }
            }
        }
    }

    /// Reports a closing quote that was supplied for this text. A bracket or another quote in the text may have stood
    /// outside of the string.
    pub(super) fn add_quote(&mut self, text: &str, note: &'static str) {
        match text.contains(['{', '}', '[', ']', '"', '\n']) {
            true => self.change_uncertain(ChangeKind::Quotes, note),
            false => self.supply(ChangeKind::Quotes, note),
        }
    }

    /// Returns true if a quote that was taken for text stands where a string might open or close, so that the repair is
    /// uncertain.
    fn could_delimit(&self, at: usize, width: usize) -> bool {
        let before = self.text[..at].trim_end().as_bytes().last();
        let rest = self.text[at + width..].trim_start().as_bytes();
        matches!(before, Some(b',' | b':' | b';' | b'{' | b'['))
            || match rest {
                [] | [b':' | b'}' | b']', ..] => true,
                // A word behind a comma is no key: it would have a colon.
                [b',' | b';', after @ ..] if self.keyed() => {
                    let next = after.trim_ascii_start().first();
                    !next.is_some_and(|b| b.is_ascii_alphabetic() || *b >= 0x80)
                }
                [b',' | b';', ..] => true,
                _ => false,
            }
    }

    /// Reads a byte inside a string that needs attention, such as a backslash or a control character. Returns the place
    /// to go on from.
    fn special(&mut self, spelling: &mut Spelling, at: usize, b: u8) -> Result<usize, Failure> {
        let next = match b {
            b'\\' if spelling.literal && !matches!(self.bytes.get(at + 1), Some(b'\\' | b'"')) => {
                self.copy_to(spelling, at, at + 1);
                self.tape.made.push_str("\\\\");
                at + 1
            }
            b'\\' => match strict::escape(&self.bytes[at..]) {
                Some(width) => return Ok(at + width),
                // `C:\Users\new`: one backslash is no escape, so none of them is.
                None if !spelling.literal && self.starts_drive_path(spelling.body) => {
                    spelling.literal = true;
                    spelling.from = spelling.body;
                    if let Some(start) = spelling.made {
                        self.tape.made.truncate(start + 1);
                    }
                    self.change(ChangeKind::Escapes, wording::PATH_ESCAPED);
                    return Ok(spelling.body);
                }
                None => {
                    self.copy_to(spelling, at, at);
                    spelling.from = self.odd_escape(at)?;
                    return Ok(spelling.from);
                }
            },
            b'"' => {
                self.copy_to(spelling, at, at + 1);
                self.tape.made.push_str("\\\"");
                at + 1
            }
            b'\n' | b'\r' | b'\t' | 0x08 | 0x0C => {
                self.copy_to(spelling, at, at + 1);
                escape_into(&mut self.tape.made, &self.text[at..=at]);
                self.change(ChangeKind::Escapes, wording::CONTROL_ESCAPED);
                at + 1
            }
            0..0x20 => return Err(self.control(at).into()),
            // The first byte of some other character.
            _ => at + 1,
        };
        Ok(next)
    }

    pub(super) fn control(&mut self, at: usize) -> ReadError {
        self.at = at;
        self.refuse(ReadErrorKind::Syntax, wording::CONTROL)
    }

    /// Returns true if a string starts like a path on a drive whose first backslash is not escaped.
    fn starts_drive_path(&self, body: usize) -> bool {
        matches!(self.bytes.get(body..), Some([letter, b':', b'\\', next, ..])
            if letter.is_ascii_alphabetic() && *next != b'\\')
    }

    /// Starts the copy of the string in the second buffer, unless it has started. A string is copied once its text must
    /// change.
    fn begin(&mut self, spelling: &mut Spelling) {
        if spelling.made.is_none() {
            spelling.made = Some(self.tape.made.len());
            self.tape.made.push('"');
        }
    }

    /// Copies the string's text up to `to` into the second buffer. The next copy starts at `next`.
    fn copy_to(&mut self, spelling: &mut Spelling, to: usize, next: usize) {
        self.begin(spelling);
        self.tape.made.push_str(&self.text[spelling.from..to]);
        spelling.from = next;
    }

    /// Puts the string on the tape. Its text ends at `end`. Its closing quote is the next `width` bytes, or missing if
    /// `width` is 0.
    fn finish(
        &mut self,
        mut spelling: Spelling,
        open: usize,
        end: usize,
        width: usize,
    ) -> Result<(), ReadError> {
        let body = spelling.body;
        self.at = end + width;
        if spelling.made.is_none() && width == 1 {
            self.push(Kind::String, false, open, self.at);
            return Ok(());
        }
        self.begin(&mut spelling);
        let start = spelling.made.unwrap_or_default();
        if spelling.from > end {
            // The end lies before text that is copied already.
            self.tape.made.truncate(start + 1);
            self.spell(body, end)?;
        } else {
            // A block that starts on a line of its own and has the closing quote
            // on another: the last line break is layout.
            let block = end > body + 1 && self.bytes[body] == b'\n' && self.bytes[end - 1] == b'\n';
            if block && spelling.from == end {
                let kept = self.tape.made.len() - 2;
                self.tape.made.truncate(kept);
                self.change(ChangeKind::Escapes, wording::LINE_BREAK_DROPPED);
            }
            self.copy_to(&mut spelling, end, end);
        }
        self.push_made(start);
        Ok(())
    }

    pub(super) fn push_made(&mut self, start: usize) {
        self.tape.made.push('"');
        let end = self.tape.made.len();
        self.push(Kind::String, true, start, end);
    }

    /// Returns true if a quote after a comma could open the next element of a list: `["a, "b"]`.
    fn opens_element(&self, at: usize, body: usize, width: usize) -> bool {
        self.frames.last().is_some_and(|frame| !frame.keyed())
            && self.text[body..at].trim_end().ends_with(',')
            && self
                .bytes
                .get(at + width)
                .is_some_and(|b| !b.is_ascii_whitespace() && *b != b',')
    }

    /// Returns true if the innermost open bracket holds members, not elements.
    pub(super) fn keyed(&self) -> bool {
        self.frames.last().is_some_and(Frame::keyed)
    }
}
