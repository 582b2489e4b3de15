//! Calls without tags: Python after a mark that says to run it, and a call in words.

use super::call::Call;
use super::detection::{Look, Step};
use super::named_json;
use super::python;
use super::syntax::Syntax;
use super::table::{ACTION, ACTION_INPUT, PYTHON_TAG, PYTHON_TAG_END};
use super::text::Cursor;

impl Look<'_> {
    /// Reads `<|python_tag|>f.call(n=5)` at the end of a message; elsewhere such a call is a line of code.
    pub(super) fn python_tag(&self, cursor: Cursor<'_, '_>) -> Option<Step> {
        let mut after = cursor;
        if self.place.in_code() || self.exhausted || !after.eat(PYTHON_TAG) {
            return None;
        }
        let tag = after;
        let found = python::statements(&mut after, self.tools).and_then(|calls| {
            let mut end = after;
            end.skip_while(|c| c.is_whitespace() || c == ';');
            let ends =
                end.peek().is_none() || PYTHON_TAG_END.iter().any(|mark| end.looking_at(mark));
            ends.then(|| self.found(cursor, end, Syntax::PythonTag, calls))?
        });
        let names_tool = |mut code: Cursor<'_, '_>| self.tools.eat_name(&mut code).is_some();
        found.or_else(|| names_tool(tag).then_some(Step::Unread(tag.at)))
    }

    /// Reads a block fenced as `tool_code`, if it holds calls without other text.
    pub(super) fn tool_code(
        &self,
        from: Cursor<'_, '_>,
        mut inside: Cursor<'_, '_>,
    ) -> Option<Step> {
        let calls = python::statements(&mut inside, self.tools)?;
        inside.skip_while(|c| c.is_whitespace() || c == ';');
        let whole = inside.eat("```");
        whole.then(|| self.found(from, inside, Syntax::ToolCode, calls))?
    }

    /// Reads `Action: f` and `Action Input: {"n":5}` as the last two lines.
    pub(super) fn action(&self, cursor: Cursor<'_, '_>) -> Option<Step> {
        let mut after = cursor;
        if self.wrapped_only || self.exhausted || self.place.in_code() {
            return None;
        }
        if !self.place.starts_line() || !after.eat(ACTION) {
            return None;
        }
        after.skip_while(|c| c == ' ');
        let tool = self.tools.eat_name(&mut after)?;
        after.skip_while(|c| c.is_whitespace() && c != '\n');
        if !after.eat("\n") {
            return None;
        }
        after.skip_space();
        if !after.eat(ACTION_INPUT) {
            return None;
        }
        after.skip_space();
        let arguments = named_json::arguments(&mut after, &[])?;
        let mut end = after;
        end.skip_space();
        if end.peek().is_some() {
            let (to, quoted) = (after.at, false);
            return Some(Step::Mention { to, quoted });
        }
        let call = Call::new(tool.name, arguments);
        self.found(cursor, end, Syntax::React, call.into())
    }
}
