//! Detection of calls, thinking and markers at one place in the text. Detection has no side effects, so it can be
//! repeated when more text has arrived.

use super::body;
use super::call::{Call, Calls};
use super::envelope::{self, Bare};
use super::named_json;
use super::place::Place;
use super::python;
use super::series::skip_links;
use super::syntax::Body;
use super::syntax::Syntax;
use super::table::{
    CALLS_LANGUAGE, CHANNEL, DIALECTS, FRAMING, MESSAGE, MESSAGE_END, START, THINKING, WRAPPERS,
    Wrapper, opens_call,
};
use super::text::{Cursor, Text};
use super::tools::Tools;

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
    /// The text up to `to` is content: it mentions calls, and does not make them.
    Mention {
        to: usize,
        /// `true` if the calls are quoted, or stand in code within a sentence.
        quoted: bool,
    },
    /// The text up to this offset is a marker, and no content.
    Drop(usize),
    /// The text up to this offset is a marker of a call that could not be read. The call itself is content.
    Unread(usize),
    /// The text up to `to` is the header of a message, or the marker that ends a header.
    Header {
        to: usize,
        /// `true` if the message is a call that could not be read.
        lost: bool,
    },
    Think {
        to: usize,
        close: &'static [&'static str],
    },
    Thought(usize),
    ThoughtEnds(usize),
    Calls {
        to: usize,
        syntax: Syntax,
        calls: Calls,
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
            _ => self
                .links(cursor)
                .or_else(|| self.action(cursor))
                .or_else(|| self.name(cursor)),
        };
        let to = at + plain_len(text.rest(at));
        // A marker that no call could be read from may belong to one.
        let is_marker = || !self.place.in_code() && opens_call(cursor);
        match found {
            Some(step) => step,
            None if is_marker() => Step::Mention { to, quoted: false },
            None => Step::Say(to),
        }
    }

    /// Returns the step over what may stand between a call and the next one.
    fn links(&self, cursor: Cursor<'_, '_>) -> Option<Step> {
        let mut after = cursor;
        if self.place.series.goes_on() {
            skip_links(&mut after);
        }
        (after.at > cursor.at).then_some(Step::Say(after.at))
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
            return Some(Step::Header {
                to: after.at,
                lost: false,
            });
        }
        if after.eat(START) || after.eat(CHANNEL) {
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
        let mut inside = after;
        inside.skip_space();
        let holds_other = WRAPPERS
            .iter()
            .any(|other| other.open != wrapper.open && inside.looking_at(other.open));
        let is_tag_of_dialect = wrapper.keep_open
            || DIALECTS
                .iter()
                .any(|dialect| inside.looking_at(dialect.call));
        if holds_other && !is_tag_of_dialect && !self.place.in_code() {
            // One wrapper around another, as `<tool_calls>` around `<tool_call>`.
            return Some(Step::Drop(after.at));
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
        calls: Calls,
    ) -> Option<Step> {
        if calls.is_empty() {
            return None;
        }
        debug_assert!(from.at < after.at, "a call has a length");
        if self.place.is_quoted_until(past_close(after)) {
            return Some(Step::Mention {
                to: after.at,
                quoted: !self.place.in_fence(),
            });
        }
        Some(Step::Calls {
            to: after.at,
            syntax,
            calls,
        })
    }

    fn bare(&self, cursor: Cursor<'_, '_>) -> Option<Step> {
        if self.wrapped_only || self.exhausted {
            return None;
        }
        if !self.place.stands_free() {
            return self.aside(cursor);
        }
        match self.one(cursor) {
            One::Calls(end, syntax, calls) => {
                let after = Cursor::new(cursor.text, end);
                let is_line = match syntax {
                    // A call in words that other words follow is code.
                    Syntax::BarePythonic => self.place.series.goes_on(),
                    _ => self.place.starts_call(),
                };
                self.made(is_line, cursor, after, syntax, calls)
            }
            One::Data(end) => Some(Step::Say(end)),
            One::Prose => None,
        }
    }

    /// Returns the step over a call that is part of other text, such as code; `None` if no call begins here.
    fn aside(&self, cursor: Cursor<'_, '_>) -> Option<Step> {
        if self.place.in_data() {
            return None;
        }
        // A block of code may be meant as a call; code within a sentence is not.
        let quoted = self.place.in_code() && !self.place.in_fence();
        let is_damaged = || self.place.in_code() && envelope::names_tool(cursor, self.tools);
        let to = match self.one(cursor) {
            One::Calls(end, ..) => end,
            One::Data(end) if is_damaged() => end,
            One::Prose if is_damaged() => cursor.at + 1,
            One::Data(_) | One::Prose => return None,
        };
        Some(Step::Mention { to, quoted })
    }

    /// Reads what begins at the cursor without a wrapper, as one call or one list of calls.
    fn one(&self, cursor: Cursor<'_, '_>) -> One {
        let list = cursor.looking_at("[");
        match envelope::bare(cursor, self.tools) {
            Bare::Calls { end, body, calls } => {
                let wrapper = match list {
                    true => Syntax::JsonList,
                    false => Syntax::BareJson,
                };
                return One::Calls(end, wrapper.around(body), calls);
            }
            Bare::Data(end) => return One::Data(end),
            Bare::Prose => {}
        }
        if !list {
            return self.named(cursor).unwrap_or(One::Prose);
        }
        let mut name = cursor;
        name.eat("[");
        if self.tools.eat_name(&mut name).is_none() || !name.looking_at("(") {
            return One::Prose;
        }
        let mut after = cursor;
        let calls = python::calls(&mut after, self.tools);
        match calls.is_empty() {
            true => One::Prose,
            false => One::Calls(after.at, Syntax::BarePythonic, calls),
        }
    }

    /// Reads a call such as `f({"n":5})`.
    fn named(&self, cursor: Cursor<'_, '_>) -> Option<One> {
        let mut after = cursor;
        let tool = self.tools.eat_name(&mut after)?;
        after.skip_space();
        if !after.eat("(") {
            return None;
        }
        after.skip_space();
        let arguments = named_json::arguments(&mut after, &[])?;
        after.skip_space();
        let call = Call::new(tool.name, arguments);
        after
            .eat(")")
            .then(|| One::Calls(after.at, Syntax::CallJson, call.into()))
    }

    /// Checks that a series of calls, one of which ends here, ends with its line, so that it is no part of a sentence.
    /// The error is the place where the series ends.
    fn ends_series<'c, 't>(&self, mut after: Cursor<'c, 't>) -> Result<(), Cursor<'c, 't>> {
        while !ends_line(after) {
            let mut next = after;
            skip_links(&mut next);
            if WRAPPERS.iter().any(|wrapper| next.looking_at(wrapper.open)) {
                return Ok(());
            }
            match self.one(next) {
                One::Calls(end, ..) if next.at > after.at => {
                    after = past_close(Cursor::new(next.text, end));
                }
                _ => return Err(after),
            }
        }
        Ok(())
    }

    /// Returns the step for calls that stand on a line of their own, or in a series that does. Calls in the middle of a
    /// sentence are mentioned, not made.
    fn made(
        &self,
        is_line: bool,
        from: Cursor<'_, '_>,
        after: Cursor<'_, '_>,
        syntax: Syntax,
        calls: Calls,
    ) -> Option<Step> {
        if !is_line && let Err(end) = self.ends_series(past_close(after)) {
            return Some(Step::Mention {
                to: end.at,
                quoted: false,
            });
        }
        self.found(from, after, syntax, calls)
    }

    /// Reads a fenced block that holds only calls: as JSON or, in a block fenced as `tool_code`, in Python's syntax.
    fn fence(&self, cursor: Cursor<'_, '_>) -> Option<Step> {
        let mut inside = cursor;
        let opens = self.place.starts_call() && !self.place.in_code();
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
        if language == CALLS_LANGUAGE {
            let step = self.tool_code(cursor, inside);
            let mut code = inside;
            code.skip_space();
            if step.is_some() || !matches!(code.peek(), Some(b'{' | b'[')) {
                let (to, quoted) = (inside.at, false);
                return step.or(Some(Step::Mention { to, quoted }));
            }
        }
        inside.skip_space();
        let wrapper = if inside.looking_at("[") {
            Syntax::JsonList
        } else {
            Syntax::BareJson
        };
        let mut found = Calls::default();
        let mut syntax = wrapper;
        while let Bare::Calls { end, body, calls } = envelope::bare(inside, self.tools) {
            found.add(calls);
            syntax = wrapper.around(body);
            inside.at = end;
            skip_links(&mut inside);
        }
        let whole = inside.eat("```");
        whole.then(|| self.found(cursor, inside, syntax, found))?
    }

    /// Reads a call such as `f({"n":5})` that stands on a line of its own, or in a series.
    fn name(&self, cursor: Cursor<'_, '_>) -> Option<Step> {
        let in_code = self.place.in_code() || !self.place.starts_call();
        if self.wrapped_only || self.exhausted || in_code {
            return None;
        }
        let One::Calls(end, syntax, calls) = self.named(cursor)? else {
            return None;
        };
        let after = Cursor::new(cursor.text, end);
        self.made(self.place.series.goes_on(), cursor, after, syntax, calls)
    }
}

/// Text without a wrapper: calls up to this offset, data up to this offset, or prose.
enum One {
    Calls(usize, Syntax, Calls),
    Data(usize),
    Prose,
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
