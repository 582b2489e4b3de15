//! Calls in tags that look like XML, with raw text as values.
//!
//! Values are not escaped, so a value may hold tags itself: those of another call, or its own end tag. A value ends at
//! an end tag behind which the call goes on or ends; tags that open inside of it close inside of it. If the text could
//! be read in another way, the call says so.

use serde_json::Value;

use super::Declared;
use super::call::{Call, Calls, doubt};
use super::named_json;
use super::object::Object;
use super::schema::{Types, property};
use super::series::skip_links;
use super::table::{Dialect, Wrapper};
use super::text::Cursor;
use super::tools::Tools;
use super::wording;
use crate::{ChangeKind, Changes};

/// Grammar of a call in tags: the spelling of its tags, the wrapper around it and the tools that it may name.
struct Grammar<'a> {
    dialect: &'a Dialect,
    wrapper: &'a Wrapper,
    tools: Tools<'a>,
}

/// Reads the calls of a wrapper whose parameters are in tags, one call after another.
pub(super) fn calls(
    cursor: &mut Cursor<'_, '_>,
    dialect: &Dialect,
    wrapper: &Wrapper,
    tools: Tools<'_>,
) -> Calls {
    let grammar = Grammar {
        dialect,
        wrapper,
        tools,
    };
    let mut calls = Calls::default();
    loop {
        let before = *cursor;
        skip_links(cursor);
        if !cursor.eat(dialect.call) {
            *cursor = before;
            return calls;
        }
        let Some((name, arguments, changes)) = grammar.call(cursor) else {
            // The complete calls before it count.
            calls.lost = true;
            *cursor = before;
            return calls;
        };
        let call = tools.get(name);
        let call = call.map(|tool| Call::new(tool.name, arguments).changed(changes));
        calls.add(call.into());
    }
}

/// Value of a parameter, up to its end.
struct Ended {
    end: usize,
    /// Length of the end tag; 0 if the value has none.
    tag: usize,
    /// Reason why the value may end elsewhere; `None` if its end is certain.
    doubt: Option<&'static str>,
}

impl Grammar<'_> {
    /// Reads the name, the arguments and the changes of the call whose tag has just been opened.
    fn call<'t>(&self, cursor: &mut Cursor<'_, 't>) -> Option<(&'t str, String, Changes)> {
        let name = self.name_of_tag(cursor)?;
        let unknown = Declared {
            name,
            schema: &Value::Null,
        };
        let tool = self.tools.get(name).unwrap_or(&unknown);
        let mut changes = Changes::default();
        let arguments = self.arguments(cursor, tool, &mut changes)?;
        Some((name, arguments, changes))
    }

    fn arguments(
        &self,
        cursor: &mut Cursor<'_, '_>,
        tool: &Declared<'_>,
        changes: &mut Changes,
    ) -> Option<String> {
        let Grammar {
            dialect, wrapper, ..
        } = self;
        let mut object = Object::default();
        loop {
            cursor.skip_space();
            if cursor.eat(dialect.param) {
                let key = self.name_of_tag(cursor)?.trim();
                let types = Types::of(tool.schema, key);
                let (raw, unsure) = self.value(cursor, tool, key, types)?;
                let raw = if dialect.padded { unpadded(raw) } else { raw };
                object.set(key, types.json(raw));
                if let Some(note) = unsure {
                    changes.extend(doubt(ChangeKind::Located, key, note).into());
                }
            } else if cursor.eat(dialect.call_end)
                || cursor.looking_at(wrapper.close)
                || cursor.looking_at(dialect.call)
            {
                return Some(object.into_json());
            } else if cursor.eat(dialect.param_end) {
                // The end tag was printed twice.
            } else if object.is_empty() && cursor.looking_at("{") {
                let borders = [dialect.call_end, wrapper.close, dialect.call];
                let raw = named_json::arguments(cursor, &borders)?;
                cursor.skip_space();
                cursor.eat(dialect.call_end);
                return Some(raw);
            } else if cursor.ends_in_part_of(&[dialect.call_end, wrapper.close]) {
                // A call that was cut off is good if no required parameter is missing.
                let whole = !object.is_empty() && !tool.misses_required_in(&object);
                return whole.then(|| object.into_json());
            } else {
                return None;
            }
        }
    }

    /// Reads the value of a parameter and its end tag, which may be missing or misspelt. Returns the value and the
    /// reason why it may end elsewhere.
    fn value<'t>(
        &self,
        cursor: &mut Cursor<'_, 't>,
        tool: &Declared<'_>,
        key: &str,
        types: Types,
    ) -> Option<(&'t str, Option<&'static str>)> {
        let text = cursor.text;
        let from = cursor.at;
        let closed = self.closed(*cursor, tool);
        let is_closed = closed.is_some();
        let mut found = closed.or_else(|| self.unclosed(*cursor, tool))?;
        let mut value = text.slice(from, found.end);
        // Only text can hold tags. Other values end at the first end tag, which may be printed twice.
        if !types.takes_text()
            && let Some((first, rest)) = value.split_once(self.dialect.param_end)
            && rest.replace(self.dialect.param_end, "").trim().is_empty()
        {
            value = first;
            found.doubt = None;
        }
        if !is_closed && let Some(before) = self.before_misspelt_end(value, key) {
            value = before;
            found.doubt = found.doubt.filter(|note| *note != wording::END_INFERRED);
        }
        text.count(found.end - from);
        cursor.at = found.end + found.tag;
        Some((value, found.doubt))
    }

    /// Finds the end tag of a value. Tags that open inside of the value have to close inside of it.
    fn closed(&self, from: Cursor<'_, '_>, tool: &Declared<'_>) -> Option<Ended> {
        let Dialect {
            call,
            call_end,
            param,
            param_end,
            ..
        } = *self.dialect;
        let text = from.text;
        let tags = [
            param_end,
            param,
            call,
            call_end,
            self.wrapper.close,
            self.wrapper.open,
        ];
        let (mut params, mut calls) = (0, 0);
        let mut after = from;
        let mut is_first = true;
        let mut note = None;
        loop {
            let next = text.find_first(after.at, &tags);
            let Some((end, tag)) = next.filter(|_| is_first || !text.is_endless()) else {
                text.count(text.len() - from.at);
                text.set_endless();
                return None;
            };
            after.at = end + tag.len();
            if tag == param_end && params == 0 {
                if self.ends_value(after) {
                    // A single word before two end tags is rather a word than a text with a tag.
                    let value = text.slice(from.at, end);
                    let is_word = value
                        .split_once(param_end)
                        .is_some_and(|(first, _)| !first.trim().contains(char::is_whitespace));
                    let doubt = note.or(is_word.then_some(wording::TAG_IN_VALUE));
                    let tag = tag.len();
                    return Some(Ended { end, tag, doubt });
                }
            } else if tag == param_end {
                params -= 1;
            } else if tag == param {
                params += 1;
                if self.is_parameter(after, tool) {
                    note = Some(wording::TAG_IN_VALUE);
                }
            } else if tag == call {
                calls += 1;
                if self.is_tool(after) {
                    note = Some(wording::TAG_IN_VALUE);
                }
            } else if tag == call_end && calls > 0 {
                calls -= 1;
            } else if tag == call_end && self.ends_call(after) {
                note = Some(wording::TAG_IN_VALUE);
            }
            is_first = false;
        }
    }

    /// Finds the end of a value that has no end tag of its own: the tag of the next parameter or call, or the end of
    /// this call.
    fn unclosed(&self, from: Cursor<'_, '_>, tool: &Declared<'_>) -> Option<Ended> {
        let Dialect {
            call,
            call_end,
            param,
            param_end,
            ..
        } = *self.dialect;
        let tags = [param_end, param, call, call_end, self.wrapper.close];
        let mut after = from;
        loop {
            let Some((end, tag)) = from.text.find_first(after.at, &tags) else {
                from.text.count(from.text.len() - from.at);
                return None;
            };
            let is_first = after.at == from.at;
            after.at = end + tag.len();
            let ends = if tag == param_end {
                self.ends_value(after)
            } else if tag == param {
                self.is_parameter(after, tool)
            } else if tag == call {
                self.is_tool(after)
            } else {
                tag == self.wrapper.close || self.ends_call(after)
            };
            if ends {
                let doubt = if is_first && tag != param_end {
                    // Without another tag the value can end nowhere else, unless the tag of a parameter is text.
                    (tag == param || tag == call).then_some(wording::END_INFERRED)
                } else {
                    Some(wording::TAG_IN_VALUE)
                };
                let tag = if tag == param_end { tag.len() } else { 0 };
                return Some(Ended { end, tag, doubt });
            }
        }
    }

    /// Returns true if the call goes on or ends behind the end tag of a value.
    fn ends_value(&self, mut after: Cursor<'_, '_>) -> bool {
        after.skip_space();
        let tags = [self.dialect.param, self.dialect.call_end];
        tags.iter().any(|tag| after.looking_at(tag)) || self.is_behind_call(after)
    }

    /// Returns true if the wrapper goes on or ends behind the end tag of a call.
    fn ends_call(&self, mut after: Cursor<'_, '_>) -> bool {
        after.skip_space();
        self.is_behind_call(after)
    }

    fn is_behind_call(&self, after: Cursor<'_, '_>) -> bool {
        let (call, wrapper) = (self.dialect.call, self.wrapper);
        let tags = [call, wrapper.close, wrapper.open];
        tags.iter().any(|tag| after.looking_at(tag))
            || after.ends_in_part_of(&[self.dialect.call_end, wrapper.close])
    }

    /// Returns true if the name behind the opening tag of a parameter is that of a parameter of the tool.
    fn is_parameter(&self, after: Cursor<'_, '_>, tool: &Declared<'_>) -> bool {
        self.name(after)
            .is_some_and(|name| tool.is_open() || property(tool.schema, name).is_some())
    }

    fn is_tool(&self, after: Cursor<'_, '_>) -> bool {
        self.name(after)
            .is_some_and(|name| self.tools.get(name).is_some())
    }

    /// Reads the name in an opening tag, and moves past the tag.
    fn name_of_tag<'t>(&self, cursor: &mut Cursor<'_, 't>) -> Option<&'t str> {
        let name = cursor.take_until(self.dialect.name_end)?;
        if self.dialect.name_end != TAG_END {
            let attributes = cursor.take_word(MAX_NAME, |c| !matches!(c, '<' | '>'));
            if !cursor.eat(TAG_END) || !attributes.is_empty() && !attributes.starts_with(' ') {
                return None;
            }
        }
        Some(name)
    }

    /// Returns the name in an opening tag.
    fn name<'t>(&self, mut after: Cursor<'_, 't>) -> Option<&'t str> {
        let name = after.take_word(MAX_NAME, |c| !matches!(c, '<' | '>' | '"' | '\n'));
        after.looking_at(self.dialect.name_end).then(|| name.trim())
    }

    /// Returns the part of a value before a misspelt end tag: `</content>` for the parameter `content`, or `</param>`.
    fn before_misspelt_end<'t>(&self, value: &'t str, key: &str) -> Option<&'t str> {
        let (before, tag) = value.trim_end().strip_suffix('>')?.rsplit_once("</")?;
        let own = self.dialect.param_end.trim_matches(['<', '/', '>']);
        let is_own = tag == key || tag.len() > 3 && (own.starts_with(tag) || tag.starts_with(own));
        let opening = format!("<{tag}");
        (is_own && !before.contains(&opening)).then_some(before)
    }
}

const TAG_END: &str = ">";

/// Maximum length in bytes of the name in a tag.
const MAX_NAME: usize = 200;

/// Removes the one line break that some families of models print at each end of a parameter's value.
fn unpadded(raw: &str) -> &str {
    let raw = raw.strip_prefix('\n').unwrap_or(raw);
    raw.strip_suffix('\n').unwrap_or(raw)
}
