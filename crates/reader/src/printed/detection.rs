//! Detection of calls, thinking and markers at one place in the text. Detection has no side effects, so it can be
//! repeated when more text has arrived.

use super::body;
use super::call::Call;
use super::envelope::{self, Bare};
use super::named_json;
use super::place::Place;
use super::python;
use super::syntax::Body;
use super::syntax::Syntax;
use super::table::{
    CALLS_LANGUAGE, FRAMING, MESSAGE, MESSAGE_END, START, THINKING, WRAPPERS, Wrapper,
};
use super::text::{Cursor, Text};
use super::tools::Tools;

/// Number of bytes that a failed search for a call may examine for free. A search that examines more takes all of its
/// bytes from the allowance of the whole text.
const FREE_WORK: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mode {
    Speech,
    /// The scanner is in the model's thinking, until one of these markers.
    Thinking(&'static [&'static str]),
    /// The scanner is right after a call, where its closing marker and surplus brackets may follow.
    Closing,
}

/// Next step of the scanner, after one place of the text was examined.
pub(super) enum Step {
    /// The text up to this offset is content of the message.
    Say(usize),
    /// The text up to the first offset is content: no call begins there. The second number is how many bytes were
    /// examined in vain.
    Failed(usize, usize),
    /// The text up to this offset is a marker, and no content.
    Drop(usize),
    /// The text up to this offset is the header of a message, or the marker that ends a header.
    Header(usize),
    Think {
        to: usize,
        close: &'static [&'static str],
    },
    Thought(usize),
    ThoughtEnds(usize),
    Calls {
        to: usize,
        syntax: Syntax,
        calls: Vec<Call>,
    },
    /// The call names a tool that is not declared. It is printed in the tags that a family of models, such as Qwen or
    /// GLM, uses for calls.
    Undeclared {
        to: usize,
        syntax: Syntax,
        call: Call,
    },
    /// The markers and brackets that belong to the call before have ended.
    Closed,
}

/// State of the scanner at the place that is examined: what decides whether a call may begin there.
pub(super) struct Look<'a> {
    pub(super) tools: Tools<'a>,
    pub(super) place: &'a Place,
    /// `true` if only text in a wrapper is a call, as within unclosed thinking.
    pub(super) wrapped_only: bool,
    /// `true` if the allowance of the search for calls is used up, so that the rest is content.
    pub(super) exhausted: bool,
}

impl Look<'_> {
    pub(super) fn at(&self, text: &Text<'_>, at: usize, mode: Mode) -> Step {
        match mode {
            Mode::Speech => self.speech(text, at),
            Mode::Thinking(ends) => thinking(Cursor::new(text, at), ends),
            Mode::Closing => closing(Cursor::new(text, at)),
        }
    }

    fn speech(&self, text: &Text<'_>, at: usize) -> Step {
        let cursor = Cursor::new(text, at);
        let found = match text.rest(at).as_bytes()[0] {
            b'<' => self
                .python_tag(cursor)
                .or_else(|| self.marker(cursor))
                .or_else(|| self.wrapper(cursor)),
            b'[' => self
                .marker(cursor)
                .or_else(|| self.wrapper(cursor))
                .or_else(|| self.bare(cursor)),
            b'{' => self.bare(cursor),
            b'`' => self.fence(cursor),
            b' ' | b't' if self.place.starts_text() && self.starts_header(cursor) => {
                self.header(cursor)
            }
            _ if self.place.starts_line() => self.action(cursor).or_else(|| self.name(cursor)),
            _ => None,
        };
        found.unwrap_or_else(|| {
            let to = at + plain_len(text.rest(at));
            if text.work() > FREE_WORK {
                Step::Failed(to, text.work())
            } else {
                Step::Say(to)
            }
        })
    }

    fn marker(&self, cursor: Cursor<'_, '_>) -> Option<Step> {
        if self.place.in_code() {
            return None;
        }
        let mut after = cursor;
        for (open, close) in THINKING {
            if !self.wrapped_only && after.eat(open) {
                return Some(Step::Think {
                    to: after.at,
                    close: std::slice::from_ref(close),
                });
            }
        }
        if after.eat_any(FRAMING) {
            return Some(Step::Drop(after.at));
        }
        if after.eat(MESSAGE) {
            return Some(Step::Header(after.at));
        }
        if after.eat(START) || after.eat("<|channel|>") {
            return self.header(after);
        }
        None
    }

    fn wrapper(&self, cursor: Cursor<'_, '_>) -> Option<Step> {
        let wrapper = WRAPPERS
            .iter()
            .find(|wrapper| cursor.looking_at(wrapper.open))?;
        let out_of_place = wrapper.syntax == Syntax::AtemXml && !self.place.starts_message();
        if out_of_place || self.exhausted {
            return None;
        }
        let mut after = cursor;
        if !wrapper.keep_open {
            after.at += wrapper.open.len();
        }
        let (body, calls) = body::read(&mut after, wrapper, self.tools)?;
        let aside = wrapper.syntax == Syntax::AtemXml
            && self.place.opens_message()
            && !ends_message(past_close(after));
        if aside {
            return None;
        }
        if calls.is_empty() && body == Body::Json {
            return self.undeclared(cursor, wrapper);
        }
        self.found(cursor, after, wrapper.syntax.around(body), calls)
    }

    /// Finds a complete call of a tool that is not declared, without any other error:
    /// `<tool_call>{"name": "attic", "arguments": {}}</tool_call>`.
    fn undeclared(&self, from: Cursor<'_, '_>, wrapper: &Wrapper) -> Option<Step> {
        let mut cursor = from;
        cursor.at += wrapper.open.len();
        cursor.skip_space();
        let (call, end) = envelope::undeclared(cursor, self.tools)?;
        let after = Cursor::new(from.text, end);
        let mut close = after;
        close.skip_space();
        let ends = close.peek().is_none() || close.looking_at(wrapper.close);
        if !ends || self.place.is_quoted_until(past_close(after)) {
            return None;
        }
        Some(Step::Undeclared {
            to: end,
            syntax: wrapper.syntax.around(Body::Json),
            call,
        })
    }

    /// Returns the step for the calls that were found: quoted calls are content. `None` if `calls` is empty.
    pub(super) fn found(
        &self,
        from: Cursor<'_, '_>,
        after: Cursor<'_, '_>,
        syntax: Syntax,
        calls: Vec<Call>,
    ) -> Option<Step> {
        if calls.is_empty() {
            return None;
        }
        debug_assert!(from.at < after.at, "a call has a length");
        if self.place.is_quoted_until(past_close(after)) {
            return Some(Step::Say(after.at));
        }
        Some(Step::Calls {
            to: after.at,
            syntax,
            calls,
        })
    }

    fn bare(&self, cursor: Cursor<'_, '_>) -> Option<Step> {
        if self.wrapped_only || self.exhausted || !self.place.stands_free() {
            return None;
        }
        let list = cursor.looking_at("[");
        match envelope::bare(cursor, self.tools) {
            Bare::Calls { end, body, calls } => {
                let syntax = if list {
                    Syntax::JsonList
                } else {
                    Syntax::BareJson
                };
                let after = Cursor::new(cursor.text, end);
                // In the middle of a sentence, a call is mentioned, not made.
                if !self.place.starts_line() && !ends_line(past_close(after)) {
                    return Some(Step::Say(end));
                }
                return self.found(cursor, after, syntax.around(body), calls);
            }
            Bare::Data(end) => return Some(Step::Say(end)),
            Bare::Prose => {}
        }
        let mut after = cursor;
        let mut name = cursor;
        name.eat("[");
        self.tools
            .eat_name(&mut name)
            .filter(|_| list && name.looking_at("("))?;
        let calls = python::calls(&mut after, self.tools);
        if !ends_line(past_close(after)) {
            return None;
        }
        self.found(cursor, after, Syntax::BarePythonic, calls)
    }

    /// Reads a fenced block that holds only calls: as JSON or, in a block fenced as `tool_code`, in Python's syntax.
    fn fence(&self, cursor: Cursor<'_, '_>) -> Option<Step> {
        let mut inside = cursor;
        let opens = self.place.starts_line() && !self.place.in_code();
        if self.wrapped_only || self.exhausted || !opens || !inside.eat("```") {
            return None;
        }
        let language = inside.take_while(|c| c.is_alphanumeric() || c == '_');
        if !matches!(
            language,
            "" | "json" | "tool_call" | "tool_calls" | CALLS_LANGUAGE
        ) {
            return None;
        }
        if language == CALLS_LANGUAGE
            && let Some(step) = self.tool_code(cursor, inside)
        {
            return Some(step);
        }
        inside.skip_space();
        let wrapper = if inside.looking_at("[") {
            Syntax::JsonList
        } else {
            Syntax::BareJson
        };
        let mut found = Vec::new();
        let mut syntax = wrapper;
        while let Bare::Calls { end, body, calls } = envelope::bare(inside, self.tools) {
            found.extend(calls);
            syntax = wrapper.around(body);
            inside.at = end;
            inside.skip_space();
        }
        let whole = inside.eat("```");
        whole.then(|| self.found(cursor, inside, syntax, found))?
    }

    /// Reads a call such as `f({"n":5})` that stands on a line of its own.
    fn name(&self, cursor: Cursor<'_, '_>) -> Option<Step> {
        if self.wrapped_only || self.exhausted || self.place.in_code() {
            return None;
        }
        let mut after = cursor;
        let tool = self.tools.eat_name(&mut after)?;
        after.skip_space();
        if !after.eat("(") {
            return None;
        }
        after.skip_space();
        let arguments = named_json::arguments(&mut after, &[])?;
        after.skip_space();
        if !after.eat(")") || !ends_line(after) {
            return None;
        }
        self.found(
            cursor,
            after,
            Syntax::CallJson,
            vec![Call::new(tool.name, arguments)],
        )
    }
}

fn thinking(cursor: Cursor<'_, '_>, ends: &[&str]) -> Step {
    let mut after = cursor;
    if after.eat_any(ends) {
        // The start of a message ends the message before it, and is still to be read.
        let resume = if cursor.looking_at(START) {
            cursor.at
        } else {
            after.at
        };
        return Step::ThoughtEnds(resume);
    }
    after.next_char();
    after.skip_while(|c| !matches!(c, '<' | '['));
    Step::Thought(after.at)
}

/// Reads markers that close calls. They may be doubled, cut off, or belong to another family of models.
fn closing(cursor: Cursor<'_, '_>) -> Step {
    let mut after = cursor;
    if after.eat("}") || after.eat("]") {
        return Step::Drop(after.at);
    }
    after.skip_space();
    for wrapper in WRAPPERS {
        if after.eat(wrapper.close) {
            return Step::Drop(after.at);
        }
    }
    let rest = cursor.text.len() - after.at;
    let cut_off = |wrapper: &Wrapper| after.ends_in_part_of(&[wrapper.close]);
    if rest > 1 && WRAPPERS.iter().any(cut_off) {
        return Step::Drop(cursor.text.len());
    }
    Step::Closed
}

/// Moves the cursor past all markers at its place that close calls.
fn past_close<'c, 't>(cursor: Cursor<'c, 't>) -> Cursor<'c, 't> {
    let mut after = cursor;
    let mut past = cursor;
    loop {
        after.skip_space();
        if !WRAPPERS.iter().any(|wrapper| after.eat(wrapper.close)) {
            return past;
        }
        past = after;
    }
}

/// Returns true if the line ends here, or a marker or a semicolon follows, so that the call before is not part of a
/// sentence.
fn ends_line(mut cursor: Cursor<'_, '_>) -> bool {
    cursor.skip_while(|c| c.is_whitespace() && c != '\n');
    matches!(cursor.peek(), None | Some(b'\n' | b'<' | b'[' | b';'))
}

/// Returns true if only space follows up to the end of this message.
fn ends_message(mut cursor: Cursor<'_, '_>) -> bool {
    cursor.skip_space();
    cursor.peek().is_none() || MESSAGE_END.iter().any(|end| cursor.looking_at(end))
}

/// Returns the length of the text at the beginning of `rest` that is surely content: no call or marker begins within
/// it.
fn plain_len(rest: &str) -> usize {
    let mut chars = rest.char_indices();
    let Some((_, first)) = chars.next() else {
        return 0;
    };
    let ends = |c: char| matches!(c, '<' | '{' | '[' | '`');
    if first == '\n' {
        return 1;
    }
    let space = first.is_whitespace();
    for (at, char) in chars {
        if ends(char) || space && (char == '\n' || !char.is_whitespace()) {
            return at;
        }
        if char == '\n' {
            return at + 1;
        }
    }
    rest.len()
}
