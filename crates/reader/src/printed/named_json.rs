//! A name and its arguments as JSON: `f[ARGS]{"n":5}` and its kin.

use super::call::{Call, Calls};
use super::json;
use super::syntax::Body;
use super::table::{SEPARATORS, Wrapper};
use super::text::Cursor;
use super::tools::Tools;

pub(super) fn call(
    cursor: &mut Cursor<'_, '_>,
    wrapper: &Wrapper,
    tools: Tools<'_>,
) -> Option<(Body, Calls)> {
    // DeepSeek prints the kind of the tool before its name.
    let start = *cursor;
    if !(cursor.eat("function") && cursor.eat_any(SEPARATORS)) {
        *cursor = start;
    }
    cursor.eat("functions.");
    let tool = tools.eat_name(cursor)?;
    // Kimi prints the number of the call behind the name.
    if cursor.eat(":") {
        cursor.skip_while(|c| c.is_ascii_digit());
    }
    cursor.skip_space();
    if cursor.eat("[CALL_ID]") {
        cursor.skip_while(|c| c != '[');
    }
    cursor.eat_any(SEPARATORS);
    cursor.skip_space();
    let fenced = cursor.eat("```");
    if fenced {
        cursor.skip_while(char::is_alphanumeric);
        cursor.skip_space();
    }
    let arguments = arguments(cursor, &[wrapper.close, wrapper.open])?;
    if fenced {
        let after = *cursor;
        cursor.skip_space();
        if !cursor.eat("```") {
            *cursor = after;
        }
    }
    let body = if fenced { Body::Fenced } else { Body::Named };
    Some((body, Call::new(tool.name, arguments).into()))
}

/// Reads the JSON object at the cursor as it stands, as the arguments of a call. Valid JSON may hold anything; damaged
/// JSON ends at the first of `borders`. If an object is cut off inside a value, the result is `None`: part of an
/// argument must not pass for the whole.
pub(super) fn arguments(cursor: &mut Cursor<'_, '_>, borders: &[&'static str]) -> Option<String> {
    if cursor.peek()? != b'{' {
        return None;
    }
    if let Some(end) = json::valid_end(cursor.text, cursor.at) {
        let raw = cursor.text.slice(cursor.at, end);
        cursor.at = end;
        return Some(raw.to_owned());
    }
    let border = cursor.text.find_first(cursor.at, borders).map(|(at, _)| at);
    let region = cursor
        .text
        .slice(cursor.at, border.unwrap_or(cursor.text.len()));
    cursor.text.count(region.len());
    let raw = match json::balanced_end(region) {
        Some(end) => &region[..end],
        None => region,
    };
    if border.is_none() && json::stops_inside_value(raw) {
        return None;
    }
    cursor.at += raw.len();
    let raw = raw.trim_end().trim_end_matches("```").trim_end();
    // Without a key or a quoted value nothing can be repaired, and it is no call.
    raw.contains([':', '"']).then(|| raw.to_owned())
}
