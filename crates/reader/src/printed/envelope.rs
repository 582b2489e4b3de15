//! Calls as JSON objects: `{"name":"f","arguments":{}}` and its variants.

use super::call::{Call, Calls};
use super::json::{self, Member};
use super::object::Object;
use super::series::skip_links;
use super::syntax::Body;
use super::table::Wrapper;
use super::text::Cursor;
use super::tools::Tools;
use crate::surroundings::runs_on;

const NAMES: &[&str] = &["name", "tool_name", "function", "tool"];
const ARGUMENTS: &[&str] = &["arguments", "parameters", "args", "input"];
/// Keys of a call's JSON that hold neither its name nor its arguments.
const OTHERS: &[&str] = &["type", "id", "tool_call_id", "tool_calls"];

/// Reads the calls in JSON between a wrapper's opening and its end.
pub(super) fn in_wrapper(
    cursor: &mut Cursor<'_, '_>,
    wrapper: &Wrapper,
    tools: Tools<'_>,
) -> Calls {
    let text = cursor.text;
    let mut calls = Calls::default();
    loop {
        let from = cursor.at;
        if let Some(end) = json::valid_end(text, from).filter(|&end| !runs_on(text.rest(end))) {
            calls.add(of_value(text.slice(from, end), Trust::Wrapped, tools).1);
            cursor.at = end;
        } else {
            // Valid JSON may hold a closing marker. Damaged JSON ends at the first marker, or where the next call
            // opens.
            let border = text.find_first(from, &[wrapper.close, wrapper.open]);
            let end = border.map_or(text.len(), |(at, _)| at);
            let region = text.slice(from, end);
            text.count(region.len());
            let trust = if border.is_some() {
                Trust::Wrapped
            } else {
                Trust::CutOff
            };
            calls.add(of_values(region, trust, tools).1);
            cursor.at = end;
            return calls;
        }
        let mut next = *cursor;
        next.skip_while(|c| c.is_whitespace() || matches!(c, '}' | ']'));
        skip_links(&mut next);
        if !next.looking_at("{") {
            return calls;
        }
        *cursor = next;
    }
}

/// Reads a flawless call of a tool that is not declared. Returns the call and its end.
pub(super) fn undeclared(cursor: Cursor<'_, '_>, tools: Tools<'_>) -> Option<(Call, usize)> {
    if cursor.peek()? != b'{' {
        return None;
    }
    let end = json::valid_end(cursor.text, cursor.at)?;
    let members = json::members(cursor.text.slice(cursor.at, end));
    let find = |keys: &[&str]| members.iter().find(|m| keys.contains(&&*m.key));
    let name = json::string(find(NAMES)?.value)?;
    let arguments = find(ARGUMENTS)?.value;
    let is_one = !name.trim().is_empty() && tools.get(&name).is_none();
    (is_one && arguments.starts_with('{')).then(|| (Call::new(&name, arguments.to_owned()), end))
}

/// Result of reading JSON that stands in the text without a wrapper.
pub(super) enum Bare {
    Calls {
        end: usize,
        body: Body,
        calls: Calls,
    },
    /// The JSON up to this offset is data, and no call.
    Data(usize),
    Prose,
}

/// Reads JSON without a wrapper: a call, data, or the beginning of prose. Only the name of a declared tool tells a call
/// from data.
pub(super) fn bare(cursor: Cursor<'_, '_>, tools: Tools<'_>) -> Bare {
    let text = cursor.text;
    if !may_be_call(cursor, tools) {
        return Bare::Prose;
    }
    let rest = text.rest(cursor.at);
    let end = json::valid_end(text, cursor.at)
        .map(|end| end - cursor.at)
        .map(|end| end + run_on(&rest[end..]))
        .or_else(|| {
            let end = json::balanced_end(rest);
            if end.is_none() {
                text.touch();
            }
            end
        });
    text.count(end.unwrap_or(rest.len()));
    let (len, found, trust) = match end {
        Some(len) => (len, &rest[..len], Trust::Bare),
        None => (rest.len(), rest, Trust::CutOff),
    };
    let (body, calls) = of_value(found, trust, tools);
    match end {
        _ if !calls.is_empty() => {
            let len = if end.is_none() && rest.starts_with('[') {
                rest.rfind('}').map_or(len, |last| last + 1)
            } else {
                len
            };
            Bare::Calls {
                end: cursor.at + len,
                body,
                calls,
            }
        }
        Some(len) => Bare::Data(cursor.at + len),
        None => Bare::Prose,
    }
}

/// Returns the length of the text on this line after an object that was closed too early: `, "limit": 1}`. Returns 0 if
/// no member follows the object.
fn run_on(rest: &str) -> usize {
    match runs_on(rest) {
        true => rest.find('\n').unwrap_or(rest.len()),
        false => 0,
    }
}

/// Returns true if the first key of the JSON could be that of a call; other JSON is not examined further.
fn may_be_call(cursor: Cursor<'_, '_>, tools: Tools<'_>) -> bool {
    first_key(cursor, tools) != FirstKey::Other
}

/// Returns true if the JSON begins with the name of a declared tool.
pub(super) fn names_tool(cursor: Cursor<'_, '_>, tools: Tools<'_>) -> bool {
    first_key(cursor, tools) == FirstKey::OfTool
}

/// First key of JSON that may be a call.
#[derive(PartialEq, Eq)]
enum FirstKey {
    /// The key, or the name behind it, is the name of a declared tool.
    OfTool,
    /// The key is one of those that calls have.
    OfCall,
    Other,
}

fn first_key(mut cursor: Cursor<'_, '_>, tools: Tools<'_>) -> FirstKey {
    if cursor.eat("[") {
        cursor.skip_space();
    }
    if !cursor.eat("{") {
        return FirstKey::Other;
    }
    let mut word = || {
        cursor.skip_space();
        let quote = if cursor.eat("'") { '\'' } else { '"' };
        cursor.eat("\"");
        let word = cursor.take_while(|c| !matches!(c, '\n' | '{' | '}') && c != quote);
        cursor.skip_while(|c| c == quote);
        cursor.skip_space();
        let colon = cursor.eat(":");
        cursor.skip_space();
        (word, colon, matches!(cursor.peek(), Some(b'"')))
    };
    let (key, colon, text) = word();
    let of_tool = |is_one| match is_one {
        true => FirstKey::OfTool,
        false => FirstKey::Other,
    };
    if !colon {
        return FirstKey::Other;
    }
    if NAMES.contains(&key) && text {
        // A name with an escape in it is read properly later.
        let (name, ..) = word();
        return of_tool(name.contains('\\') || tools.get(name).is_some());
    }
    let known = [NAMES, ARGUMENTS, OTHERS];
    match known.iter().any(|keys| keys.contains(&key)) {
        true => FirstKey::OfCall,
        false => of_tool(tools.get(key).is_some()),
    }
}

/// Certainty that JSON is a call, by the text around it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// The JSON is in a wrapper, which marks a call. A name alone is then a call without arguments.
    Wrapped,
    Bare,
    /// The text ends inside the JSON, so that its arguments may be incomplete.
    CutOff,
}

fn of_value(value: &str, trust: Trust, tools: Tools<'_>) -> (Body, Calls) {
    match value.strip_prefix('[') {
        Some(list) => of_values(list, trust, tools),
        None => of_object(value, trust, tools),
    }
}

/// Reads the calls of a list, even if commas are missing or other text stands between them.
fn of_values(list: &str, trust: Trust, tools: Tools<'_>) -> (Body, Calls) {
    let mut calls = Calls::default();
    for (object, closed) in objects(list) {
        let trust = if closed && trust == Trust::CutOff {
            Trust::Bare
        } else {
            trust
        };
        calls.add(of_object(object, trust, tools).1);
    }
    (Body::Json, calls)
}

/// Returns the objects of a list, each with `true` if its closing bracket is there.
fn objects(list: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut rest = list;
    std::iter::from_fn(move || {
        rest = &rest[rest.find('{')?..];
        let end = json::balanced_end(rest).map(|end| end + run_on(&rest[end..]));
        let (object, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        Some((object, end.is_some()))
    })
}

fn of_object(object: &str, trust: Trust, tools: Tools<'_>) -> (Body, Calls) {
    let members = json::members(object);
    // OpenAI's two envelopes around this envelope, each opened once.
    let outer = members
        .iter()
        .find(|m| m.key == "tool_calls" && m.value.starts_with('['));
    if let Some(list) = outer {
        let mut calls = Calls::default();
        for (object, closed) in objects(list.value) {
            let trust = if closed { Trust::Bare } else { trust };
            calls.add(of_function(&json::members(object), object, trust, tools).1);
        }
        return (Body::Json, calls);
    }
    of_function(&members, object, trust, tools)
}

fn of_function(
    members: &[Member<'_>],
    object: &str,
    trust: Trust,
    tools: Tools<'_>,
) -> (Body, Calls) {
    match members
        .iter()
        .find(|m| m.key == "function" && m.value.starts_with('{'))
    {
        Some(inner) => {
            let is_envelope =
                |m: &Member<'_>| m.key == "function" || is_one_of(&[NAMES, OTHERS], m);
            let (body, mut calls) =
                of_members(&json::members(inner.value), inner.value, trust, tools);
            if !members.iter().all(is_envelope) {
                let in_full = |call: &Call| Call::in_full(&call.name, object);
                calls.list = calls.list.iter().map(in_full).collect();
            }
            (body, calls)
        }
        None => of_members(members, object, trust, tools),
    }
}

fn is_one_of(names: &[&[&str]], member: &Member<'_>) -> bool {
    names.iter().any(|names| names.contains(&&*member.key))
}

fn of_members(
    members: &[Member<'_>],
    object: &str,
    trust: Trust,
    tools: Tools<'_>,
) -> (Body, Calls) {
    let find = |keys: &[&str]| members.iter().rposition(|m| keys.contains(&&*m.key));
    let name = find(NAMES).and_then(|at| Some((at, json::string(members[at].value)?)));
    if let Some((at, name)) = name
        && let Some(tool) = tools.get(&name)
    {
        let arguments = match find(ARGUMENTS) {
            // The reader judges text beside arguments that are complete.
            Some(at) if json::intact(members[at].value) && !stands_alone(members, at, object) => {
                let call = Call::in_full(tool.name, object.trim_end());
                return (Body::Json, call.into());
            }
            Some(at) => arguments(with_rest(members, at, object), object, trust),
            None if trust == Trust::Wrapped && object.trim_end().ends_with('}') => {
                Some(text_beside(members, at, object).unwrap_or_else(|| flat(members)))
            }
            None => None,
        };
        let call = arguments.map(|arguments| Call::new(tool.name, arguments));
        return (Body::Json, call.into());
    }
    let mut calls = Calls::default();
    for member in members {
        match tools.get(&member.key) {
            Some(tool) if member.value.starts_with('{') => {
                calls.add(Call::new(tool.name, member.value.to_owned()).into());
            }
            _ => return (Body::NameKeyed, Calls::default()),
        }
    }
    (Body::NameKeyed, calls)
}

/// Returns true if the member at `at` is the only one of the object that could hold an argument, and no member follows
/// the object.
fn stands_alone(members: &[Member<'_>], at: usize, object: &str) -> bool {
    let others = members.iter().enumerate().filter(|&(n, _)| n != at);
    let runs_on = json::balanced_end(object).is_some_and(|end| runs_on(&object[end..]));
    !runs_on
        && others
            .into_iter()
            .all(|(_, member)| is_one_of(&[NAMES, OTHERS], member))
}

/// Returns, as one JSON object, the arguments that stand beside the name and not in a member of their own.
fn flat(members: &[Member<'_>]) -> String {
    let mut object = Object::default();
    for Member { key, value, .. } in members {
        if !NAMES.contains(&&**key) && !OTHERS.contains(&&**key) {
            object.set(key, (*value).to_owned());
        }
    }
    object.into_json()
}

/// Returns the text of the arguments; `None` if they are incomplete. Some models print them as a string that holds
/// JSON, which is then unpacked.
fn arguments(raw: &str, object: &str, trust: Trust) -> Option<String> {
    match raw.as_bytes().first() {
        Some(b'"') => {
            let Some(text) = json::string(raw) else {
                return Some(raw.to_owned());
            };
            let text = text.trim();
            Some(if text.is_empty() { "{}" } else { text }.to_owned())
        }
        Some(b'{') if !json::intact(raw) => {
            // Text that ran into the envelope took its closing brace along.
            if trust == Trust::CutOff && json::stops_inside_value(raw) {
                return None;
            }
            let shared = object.trim_end().ends_with(raw) && json::balanced_end(raw).is_none();
            let own = raw.strip_suffix('}').filter(|_| shared).unwrap_or(raw);
            // Without a single key nothing can be repaired, and it is no call.
            own.contains(':').then(|| own.to_owned())
        }
        None => None,
        _ if raw == "null" => Some("{}".to_owned()),
        _ => Some(raw.to_owned()),
    }
}

/// Returns the arguments with the text behind them that can belong to nothing else: `Vega, 0.03` in
/// `{"name": "f", "arguments": Vega, 0.03}`.
fn with_rest<'t>(members: &[Member<'t>], at: usize, object: &'t str) -> &'t str {
    let Member { value, end, .. } = members[at];
    if value.starts_with('{') {
        return value;
    }
    let is_json = json::intact(value);
    let keys = [NAMES, ARGUMENTS, OTHERS];
    // Text may run into words that look like a key.
    let ends = |m: &&Member<'_>| is_json || keys.iter().any(|keys| keys.contains(&&*m.key));
    let to = match members[at + 1..].iter().find(ends) {
        Some(next) => next.start,
        None => inside(object).max(end),
    };
    match with_letters(&object[end..to]) {
        Some(_) => trimmed(&object[end - value.len()..to]),
        None => value,
    }
}

/// Returns the text beside the name if that text is not made of members only, and so holds an argument without a key.
fn text_beside(members: &[Member<'_>], name: usize, object: &str) -> Option<String> {
    let end = inside(object);
    with_letters(object.get(members.last()?.end..end)?)?;
    let before = &object[usize::from(object.starts_with('{'))..members[name].start];
    let after = &object[members[name].end..end];
    Some(trimmed(&format!("{before}{}", trimmed(after))).to_owned())
}

/// Returns the place of the object's own closing brace, or the end of the object.
fn inside(object: &str) -> usize {
    let object = object.trim_end();
    object.strip_suffix('}').unwrap_or(object).len()
}

/// Returns the text if it has letters or digits, and `None` if it is only brackets, commas and space.
fn with_letters(text: &str) -> Option<&str> {
    text.contains(char::is_alphanumeric).then_some(text)
}

fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == ',')
}
