//! Walk over the text, which collects calls, content and thinking.

use super::call::{self, Call};
use super::detection::{Look, Mode, Step};
use super::place::Place;
use super::table::ANY_THOUGHT_END;
use super::text::Text;
use super::tools::Tools;
use super::{Declared, Printed, PrintedCall, Syntax, json, wording};
use crate::ChangeKind;

/// Number of bytes that may be examined without finding a call before the search for calls ends. Otherwise, text that
/// repeats the beginning of a call would take quadratic time.
const FUEL: usize = 1 << 20;

/// Number of bytes that a step may examine in vain for free; a step that examines more takes all of them from the
/// allowance of the whole text.
const FREE_WORK: usize = 64;

#[derive(Debug)]
pub(super) struct Scanner<'a> {
    tools: &'a [Declared<'a>],
    mode: Mode,
    place: Place,
    fuel: usize,
    /// `true` inside unclosed thinking, where only text in a wrapper is a call.
    wrapped_only: bool,
    out: Printed,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(tools: &'a [Declared<'a>]) -> Self {
        Self {
            tools,
            mode: Mode::Speech,
            place: Place::default(),
            fuel: FUEL,
            wrapped_only: false,
            out: Printed::default(),
        }
    }

    pub(super) fn start_thinking(&mut self) {
        self.mode = Mode::Thinking(ANY_THOUGHT_END);
        self.out.thinking = Some(String::new());
    }

    /// Reads an unfinished text as far as more text could not change the result. Returns the offset reached.
    pub(super) fn advance(&mut self, text: &str) -> usize {
        self.walk(&Text::new(text, false))
    }

    /// Reads the rest of the text, which is complete now.
    pub(super) fn finish(&mut self, text: &str) {
        self.walk(&Text::new(text, true));
        if matches!(self.mode, Mode::Thinking(_)) && !self.wrapped_only {
            self.reconsider_thinking();
        }
    }

    pub(super) fn take_content(&mut self) -> String {
        std::mem::take(&mut self.out.content)
    }

    pub(super) fn into_printed(mut self) -> Printed {
        self.out.thinking = self.out.thinking.filter(|thinking| !thinking.is_empty());
        if self.place.series.lost || self.fuel == 0 {
            for call in &mut self.out.calls {
                let change = call::doubt(ChangeKind::Located, "", wording::CALL_UNREAD);
                call.changes.extend(change.into());
            }
        }
        self.out
    }

    /// Reads unclosed thinking a second time, since it may have ended in a call.
    fn reconsider_thinking(&mut self) {
        let Some(thinking) = self.out.thinking.take() else {
            return;
        };
        let mut inner = Scanner::new(self.tools);
        inner.wrapped_only = true;
        inner.finish(&thinking);
        self.out.thinking = Some(inner.out.content);
        self.out.calls.append(&mut inner.out.calls);
        self.out.undeclared.append(&mut inner.out.undeclared);
        self.place.series.lost |= inner.place.series.lost;
    }

    fn look(&self) -> Look<'_> {
        Look {
            tools: Tools(self.tools),
            place: &self.place,
            wrapped_only: self.wrapped_only,
            exhausted: self.fuel == 0,
        }
    }

    fn walk(&mut self, text: &Text<'_>) -> usize {
        let mut at = 0;
        while at < text.len() {
            text.ask();
            let step = self.look().at(text, at, self.mode);
            if text.unsettled() {
                break;
            }
            let is_call = matches!(step, Step::Calls { .. } | Step::Undeclared { .. });
            let next = self.take(text, at, step);
            let in_vain = text.work().saturating_sub(next - at);
            if !is_call && in_vain > FREE_WORK {
                self.fuel = self.fuel.saturating_sub(in_vain);
            }
            at = next;
        }
        at
    }
}

/// Carries out the steps that the detection has found: adds content, thinking and calls to the result.
impl Scanner<'_> {
    fn take(&mut self, text: &Text<'_>, at: usize, step: Step) -> usize {
        match step {
            Step::Say(to) => self.say(text.slice(at, to), to),
            Step::Mention { to, quoted } => {
                self.say(text.slice(at, to), to);
                match quoted {
                    true => self.place.series.mention(),
                    false => self.place.series.lost = true,
                }
                to
            }
            Step::Drop(to) => {
                self.place.cut();
                to
            }
            Step::Unread(to) => {
                self.place.cut();
                self.place.series.lost = true;
                to
            }
            Step::Header { to, lost } => {
                self.place.open_message();
                self.place.series.lost |= lost;
                to
            }
            Step::Think { to, close } => {
                self.place.cut();
                self.mode = Mode::Thinking(close);
                self.out.thinking.get_or_insert_default();
                to
            }
            Step::Thought(to) => {
                self.out
                    .thinking
                    .get_or_insert_default()
                    .push_str(text.slice(at, to));
                to
            }
            Step::ThoughtEnds(to) => {
                self.mode = Mode::Speech;
                to
            }
            Step::Calls { to, syntax, calls } => {
                self.place.call();
                self.place.series.lost |= calls.lost;
                self.mode = Mode::Closing;
                let calls = calls.list.into_iter();
                self.out
                    .calls
                    .extend(calls.map(|call| printed(call, syntax)));
                to
            }
            Step::Undeclared { to, syntax, call } => {
                self.place.call();
                self.mode = Mode::Closing;
                self.out.undeclared.push(printed(call, syntax));
                to
            }
            Step::Closed => {
                self.mode = Mode::Speech;
                at
            }
        }
    }

    fn say(&mut self, content: &str, to: usize) -> usize {
        self.place.say(content);
        self.out.content.push_str(content);
        to
    }
}

fn printed(call: Call, syntax: Syntax) -> PrintedCall {
    let Call {
        name,
        arguments,
        in_full,
        changes,
    } = call;
    let intact = !in_full && json::intact(&arguments);
    PrintedCall {
        name,
        arguments,
        is_valid: intact,
        syntax,
        changes,
    }
}
