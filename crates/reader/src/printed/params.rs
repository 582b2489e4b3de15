//! Calls in tags that look like XML, with raw text as values.

use serde_json::Value;

use super::Declared;
use super::call::Call;
use super::named_json;
use super::object::Object;
use super::schema::Types;
use super::table::{Dialect, Wrapper};
use super::text::Cursor;
use super::tools::Tools;

/// Reads the calls of a wrapper whose parameters are in tags, one call after another.
pub(super) fn calls(
    cursor: &mut Cursor<'_, '_>,
    dialect: &Dialect,
    wrapper: &Wrapper,
    tools: Tools<'_>,
) -> Vec<Call> {
    let mut calls = Vec::new();
    loop {
        let before = *cursor;
        cursor.skip_space();
        if !cursor.eat(dialect.call) {
            *cursor = before;
            return calls;
        }
        let Some((name, arguments)) = call(cursor, dialect, wrapper, tools) else {
            // The complete calls before it count.
            *cursor = before;
            return calls;
        };
        if let Some(tool) = tools.get(name) {
            calls.push(Call::new(tool.name, arguments));
        }
    }
}

/// Reads the name and the arguments of the call whose tag has just been opened.
fn call<'t>(
    cursor: &mut Cursor<'_, 't>,
    dialect: &Dialect,
    wrapper: &Wrapper,
    tools: Tools<'_>,
) -> Option<(&'t str, String)> {
    let name = cursor.take_until(dialect.name_end)?;
    let unknown = Declared {
        name,
        schema: &Value::Null,
    };
    let tool = tools.get(name).unwrap_or(&unknown);
    Some((name, arguments(cursor, dialect, wrapper, tool)?))
}

fn arguments(
    cursor: &mut Cursor<'_, '_>,
    dialect: &Dialect,
    wrapper: &Wrapper,
    tool: &Declared<'_>,
) -> Option<String> {
    let mut object = Object::default();
    loop {
        cursor.skip_space();
        if cursor.eat(dialect.param) {
            let key = cursor.take_until(dialect.name_end)?.trim();
            let raw = value(cursor, dialect, wrapper)?;
            let raw = if dialect.padded { unpadded(raw) } else { raw };
            object.set(key, Types::of(tool.schema, key).json(raw));
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

/// Reads the value of a parameter and its end tag, which may be missing.
fn value<'t>(cursor: &mut Cursor<'_, 't>, dialect: &Dialect, wrapper: &Wrapper) -> Option<&'t str> {
    let from = cursor.at;
    let text = cursor.text;
    let take = |cursor: &mut Cursor<'_, 't>, end: usize, marker: usize| {
        cursor.at = end + marker;
        text.count(end - from);
        Some(text.slice(from, end))
    };
    // If the next parameter comes before an end tag, this value lacks its own.
    let near = text.find_first(from, &[dialect.param_end, dialect.param, dialect.call]);
    if let Some((end, tag)) = near
        && tag == dialect.param_end
    {
        return take(cursor, end, tag.len());
    }
    let ends = [dialect.param, dialect.call_end, wrapper.close];
    let (end, _) = text.find_first(from, &ends)?;
    take(cursor, end, 0)
}

/// Removes the one line break that some families of models print at each end of a parameter's value.
fn unpadded(raw: &str) -> &str {
    let raw = raw.strip_prefix('\n').unwrap_or(raw);
    raw.strip_suffix('\n').unwrap_or(raw)
}
