//! Repair of broken JSON onto a tape, with a note of each change.
//!
//! A small machine walks the text once. It wants a value, a key, or the continuation after a value. Open brackets are
//! on a stack of bounded depth, never on the call stack. Looks ahead are paid for from an allowance that is
//! proportional to the text. Reading therefore stays linear, whatever the input.

pub(super) mod bare;
mod close;
mod escape;
mod key;
mod lookahead;
mod quotes;
mod string;
#[cfg(test)]
mod tests;
mod unclosed;
mod verdict;
mod wording;

use std::fmt::Write;

use super::{
    MAX_DEPTH,
    change::ChangeKind,
    error::{ReadError, ReadErrorKind},
    log::Log,
    tape::{Kind, Node, Tape, push_key},
};
use quotes::Quote;

/// Result of repairing a text that is not valid JSON.
pub(super) struct Repaired<'a> {
    pub(super) tape: Tape<'a>,
    pub(super) log: Log,
    /// Offset at which reading stopped, right after the value.
    pub(super) end: usize,
}

/// Beginning of the text that is repaired: a value, the members of an object, or the arguments of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// The text begins with a whole value.
    Value,
    /// The text begins with the members of an object whose opening brace is missing.
    Members,
    /// The text begins with the arguments of a call, behind its opening parenthesis.
    Arguments,
}

/// Reason why a text could not be repaired.
#[derive(Debug)]
pub(super) enum Failure {
    /// A key or a value begins with an escaped quote: the text seems to be the inside of a string.
    Escaped,
    Refused(ReadError),
}

impl From<ReadError> for Failure {
    fn from(refusal: ReadError) -> Self {
        Self::Refused(refusal)
    }
}

/// Repairs the value that starts at `from`, and reports each change.
pub(super) fn repair<'a>(
    text: &'a str,
    from: usize,
    start: Start,
    allowance: &mut usize,
) -> Result<Repaired<'a>, Failure> {
    let mut parser = Parser {
        text,
        bytes: text.as_bytes(),
        at: from,
        tape: Tape::new(text),
        frames: Vec::new(),
        log: Log::default(),
        allowance: *allowance,
        separated: false,
        closed_early: false,
        loose: start == Start::Members,
        inner: 0,
        brackets: 0,
    };
    parser.tape.nodes.reserve((text.len() - from) / 16);
    let result = parser.run(start);
    *allowance = parser.allowance;
    result?;
    parser.judge_brackets();
    let Parser {
        tape, log, at: end, ..
    } = parser;
    Ok(Repaired { tape, log, end })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Object,
    Array,
    /// A tuple of Python: `(1, 2)`
    Tuple,
    /// The arguments of a call: `f(a=1)`
    Call,
}

#[derive(Debug, Clone, Copy)]
struct Frame {
    node: u32,
    shape: Shape,
    /// `true` if the object was opened by two braces: `{{`.
    doubled: bool,
    /// Index on the tape of the key whose value is being read, or was read last.
    key: u32,
    /// Number of members or elements that were read so far.
    count: u32,
    /// Number of values in the bracket that have no quotes, for the question whether commas belong to a text.
    bare: u32,
}

impl Frame {
    fn keyed(&self) -> bool {
        matches!(self.shape, Shape::Object | Shape::Call)
    }
}

/// Token that the parser expects next.
enum Want {
    Value,
    Key,
    /// A comma, a closing bracket or another continuation after a value.
    Rest,
    Nothing,
}

struct Parser<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    tape: Tape<'a>,
    frames: Vec<Frame>,
    log: Log,
    /// Number of bytes that the parser may still read ahead, so that damaged text takes linear time.
    allowance: usize,
    /// `true` if the last token was a comma.
    separated: bool,
    /// `true` if the early end of the text has been reported.
    closed_early: bool,
    /// `true` if the braces around the members are missing, so that members may have list marks.
    loose: bool,
    /// Number of quotes without an escape inside the string that is being read.
    inner: u32,
    /// Number of brackets that were of the wrong kind, missing, or too early.
    brackets: u32,
}

impl<'a> Parser<'a> {
    fn run(&mut self, start: Start) -> Result<(), Failure> {
        let mut want = match start {
            Start::Value => Want::Value,
            Start::Members => {
                self.open(Shape::Object, 0)?;
                self.change(ChangeKind::Brackets, "opening brace added");
                Want::Key
            }
            Start::Arguments => {
                self.open(Shape::Call, 0)?;
                self.change(ChangeKind::Call, "call syntax read as an object");
                Want::Key
            }
        };
        loop {
            #[cfg(test)]
            super::laws::step(1);
            want = match want {
                Want::Value => self.value()?,
                Want::Key => self.key()?,
                Want::Rest => self.rest()?,
                Want::Nothing => return Ok(()),
            };
        }
    }

    fn value(&mut self) -> Result<Want, Failure> {
        self.skip_trivia()?;
        let keyed = self.keyed();
        if self.at_end() {
            return Ok(self.missing(keyed));
        }
        let first = self.bytes[self.at];
        match first {
            b'{' => {
                self.open(Shape::Object, 1)?;
                if self.peek() == Some(b'{') {
                    self.at += 1;
                    self.change(ChangeKind::Brackets, "doubled braces made single");
                    self.top().doubled = true;
                }
                Ok(Want::Key)
            }
            b'[' => {
                self.open(Shape::Array, 1)?;
                Ok(Want::Value)
            }
            b'(' => {
                self.open(Shape::Tuple, 1)?;
                self.change(ChangeKind::Brackets, "parentheses read as a list");
                Ok(Want::Value)
            }
            b'}' | b']' | b')' => Ok(self.missing(keyed)),
            b',' if keyed => Ok(self.missing(keyed)),
            b',' if !self.frames.is_empty() => {
                self.at += 1;
                self.change(ChangeKind::TrailingComma, "stray comma dropped");
                Ok(Want::Value)
            }
            b':' if keyed => {
                self.at += 1;
                self.change(ChangeKind::Colon, "doubled colon made single");
                Ok(Want::Value)
            }
            b'.' if !keyed && self.ellipsis() => Ok(Want::Rest),
            b'\\' if self.bytes.get(self.at + 1) == Some(&b'"') => Err(Failure::Escaped),
            _ => {
                self.separated = false;
                match Quote::open(self.bytes, self.at) {
                    Some(quote) => self.string(quote, keyed)?,
                    None if first.is_ascii_alphabetic() && self.of_other_language(keyed)? => {}
                    None => self.bare(keyed)?,
                }
                Ok(self.complete())
            }
        }
    }

    /// Reads on where a value is missing. In an object, a node stands for the missing value.
    fn missing(&mut self, keyed: bool) -> Want {
        if keyed {
            self.push(Kind::Missing, false, self.at, self.at);
            self.complete();
        }
        Want::Rest
    }

    fn rest(&mut self) -> Result<Want, Failure> {
        if self.frames.is_empty() {
            return Ok(Want::Nothing);
        }
        self.skip_trivia()?;
        if self.at_end() {
            self.close_all();
            return Ok(Want::Nothing);
        }
        let keyed = self.top().keyed();
        let next = if keyed { Want::Key } else { Want::Value };
        let b = self.bytes[self.at];
        match b {
            b',' => {
                self.at += 1;
                self.separated = true;
                Ok(next)
            }
            b'}' | b']' | b')' => self.close(b),
            b'.' if self.ellipsis() => Ok(Want::Rest),
            // In a list, `;` is a comma only behind quotes and brackets: `[0; 5]` is five zeros to some.
            b';' if keyed || self.closed_before() => {
                self.at += 1;
                self.separated = true;
                self.supply(ChangeKind::MissingComma, "`;` read as a comma");
                Ok(next)
            }
            _ if if keyed {
                self.key_ahead(self.at)?
            } else {
                self.starts_value(self.at)
            } =>
            {
                if !self.separated {
                    self.supply(ChangeKind::MissingComma, "comma added");
                }
                Ok(next)
            }
            b':' if !keyed => Err(self
                .refuse(
                    ReadErrorKind::Syntax,
                    "a key stands in a list; put the pair in braces",
                )
                .into()),
            _ => Err(self
                .refuse(
                    ReadErrorKind::Syntax,
                    "this does not follow a value; expected a comma or a closing bracket",
                )
                .into()),
        }
    }

    /// Returns true if the value just read ends with a mark of its own, such as a quote or a bracket.
    fn closed_before(&self) -> bool {
        let before = self.text[..self.at].trim_end();
        !before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '_'))
    }

    /// Counts the value just read in its bracket, and expects what follows a value.
    fn complete(&mut self) -> Want {
        if let Some(frame) = self.frames.last_mut() {
            frame.count += 1;
        }
        Want::Rest
    }

    fn ellipsis(&mut self) -> bool {
        let found = self.bytes[self.at..].starts_with(b"...");
        if found {
            self.at += 3;
            self.separated = false;
            self.change(ChangeKind::Ellipsis, "ellipsis dropped");
        }
        found
    }

    fn open(&mut self, shape: Shape, width: usize) -> Result<(), ReadError> {
        if self.frames.len() == MAX_DEPTH {
            return Err(self.refuse(
                ReadErrorKind::TooDeep,
                "brackets nest too deep; flatten the value",
            ));
        }
        let node = self.tape.nodes.len() as u32;
        let kind = if matches!(shape, Shape::Object | Shape::Call) {
            Kind::Object
        } else {
            Kind::Array
        };
        self.push(kind, false, self.at, self.at);
        self.at += width;
        self.separated = false;
        self.frames.push(Frame {
            node,
            shape,
            doubled: false,
            key: 0,
            count: 0,
            bare: 0,
        });
        Ok(())
    }

    fn push(&mut self, kind: Kind, made: bool, start: usize, end: usize) {
        let next = self.tape.nodes.len() as u32 + 1;
        self.tape.nodes.push(Node {
            kind,
            made,
            start: start as u32,
            end: end as u32,
            next,
        });
    }

    /// Returns the innermost open bracket. It is only called if a bracket is open.
    fn top(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a bracket is open")
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn change(&mut self, kind: ChangeKind, note: &'static str) {
        let Self {
            log, tape, frames, ..
        } = self;
        log.add(kind, || path(tape, frames), note);
    }

    /// Reports a mark that was supplied: a bracket, a quote, a comma or a colon.
    fn supply(&mut self, kind: ChangeKind, note: &'static str) {
        self.log.rebuilt();
        self.change(kind, note);
    }

    /// Reports an uncertain change, after which the text could mean something else.
    fn change_uncertain(&mut self, kind: ChangeKind, note: &'static str) {
        let Self {
            log, tape, frames, ..
        } = self;
        log.rebuilt();
        log.add_uncertain(kind, || path(tape, frames), note);
    }

    fn refuse(&self, kind: ReadErrorKind, reason: &str) -> ReadError {
        ReadError::of(kind, reason)
            .at(self.at)
            .below(path(&self.tape, &self.frames))
    }

    /// Subtracts bytes that are read ahead from the allowance. Fails if the allowance has fewer left.
    fn spend(&mut self, bytes: usize) -> Result<(), ReadError> {
        #[cfg(test)]
        super::laws::step(bytes);
        match self.allowance.checked_sub(bytes) {
            Some(left) => {
                self.allowance = left;
                Ok(())
            }
            None => Err(self.refuse(
                ReadErrorKind::TooLong,
                "too tangled to be read; write plain JSON",
            )),
        }
    }
}

/// Returns the path of the value that is being read, such as `a.b[0]`.
fn path(tape: &Tape<'_>, frames: &[Frame]) -> String {
    let mut path = String::new();
    for frame in frames {
        if !frame.keyed() {
            _ = write!(path, "[{}]", frame.count);
        } else if (frame.key as usize) < tape.nodes.len() && frame.key > frame.node {
            push_key(&mut path, &tape.string(frame.key as usize));
        }
    }
    path
}
