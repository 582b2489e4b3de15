//! Python calls: `[f(n=5, s='a'), g()]`, also without the brackets.

use super::Declared;
use super::call::{Call, Calls};
use super::json_scalars::{Number, number, quoted};
use super::nested::{self, Leaves};
use super::object::Object;
use super::schema::Types;
use super::table::CALL_METHOD;
use super::text::{Cursor, Text};
use super::tools::Tools;

/// Reads calls in Python's syntax one after another, in brackets or not, with commas or line breaks between.
pub(super) fn calls(cursor: &mut Cursor<'_, '_>, tools: Tools<'_>) -> Calls {
    let bracketed = cursor.eat("[");
    let mut calls = Calls::default();
    loop {
        cursor.skip_while(|c| c.is_whitespace() || c == ',' || c == ';');
        if bracketed && cursor.eat("]") {
            break;
        }
        let start = *cursor;
        let Some(name) = name(cursor, tools) else {
            *cursor = start;
            break;
        };
        let Some(arguments) = arguments(cursor, tools, name) else {
            // The complete calls before it count.
            calls.lost = true;
            *cursor = start;
            break;
        };
        let call = tools.get(name).map(|tool| {
            let text = cursor.text.slice(start.at, cursor.at);
            arguments.of(tool, text)
        });
        calls.add(call.into());
    }
    calls
}

/// Reads calls of declared tools in Python's syntax, without other text between: `f(n=5)`, also as `f.call(n=5)`, with
/// semicolons or line breaks. The cursor stops behind the last of them.
pub(super) fn statements(cursor: &mut Cursor<'_, '_>, tools: Tools<'_>) -> Option<Calls> {
    let mut calls = Calls::default();
    loop {
        let mut next = *cursor;
        next.skip_while(|c| c.is_whitespace() || c == ';');
        let Some(tool) = tools.eat_name(&mut next) else {
            return (!calls.is_empty()).then_some(calls);
        };
        next.eat(CALL_METHOD);
        if !next.looking_at("(") {
            return None;
        }
        let open = next.at;
        let arguments = arguments(&mut next, tools, tool.name)?;
        // The text without the method, which does not belong to the tool.
        let text = format!("{}{}", tool.name, next.text.slice(open, next.at));
        calls.add(arguments.of(tool, &text).into());
        *cursor = next;
    }
}

/// Arguments in the parentheses of a call in Python's syntax.
enum Arguments {
    Named(Object),
    /// The call has one argument, an object that is given as JSON.
    Object(String),
}

impl Arguments {
    /// Creates the call of a tool with these arguments. `text` is the text of the whole call, which is kept if an
    /// argument has no parameter.
    fn of(self, tool: &Declared<'_>, text: &str) -> Call {
        match self {
            Self::Named(object) if tool.lacks_one_of(&object) => Call::in_full(tool.name, text),
            Self::Named(object) => Call::new(tool.name, object.into_json()),
            Self::Object(json) => Call::new(tool.name, json),
        }
    }
}

/// Reads a function's name, up to its parenthesis.
fn name<'t>(cursor: &mut Cursor<'_, 't>, tools: Tools<'_>) -> Option<&'t str> {
    let from = cursor.at;
    if tools.eat_name(cursor).is_none() {
        cursor.skip_while(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-'));
    }
    let name = cursor.text.slice(from, cursor.at);
    cursor.skip_space();
    (!name.is_empty() && cursor.looking_at("(")).then_some(name)
}

fn arguments(cursor: &mut Cursor<'_, '_>, tools: Tools<'_>, name: &str) -> Option<Arguments> {
    cursor.eat("(");
    let mut object = Object::default();
    loop {
        cursor.skip_while(|c| c.is_whitespace() || c == ',');
        if cursor.eat(")") {
            return Some(Arguments::Named(object));
        }
        let start = *cursor;
        let key = key(cursor);
        cursor.skip_space();
        if !key.is_empty() && cursor.eat("=") {
            cursor.skip_space();
            let types = tools.get(name).map(|tool| Types::of(tool.schema, key));
            let types = types.unwrap_or_default();
            object.set(key, nested::value(cursor, &mut Literals { types })?);
        } else {
            // A value without a name is only read if the tool has a single parameter.
            *cursor = start;
            let quoted = matches!(cursor.peek()?, b'"' | b'\'' | b'{');
            let json = nested::value(cursor, &mut Literals::default()).filter(|_| quoted)?;
            if !object.is_empty() {
                return None;
            }
            if json.starts_with('{') {
                cursor.skip_space();
                return cursor.eat(")").then_some(Arguments::Object(json));
            }
            object.set(tools.get(name)?.only_parameter()?, json);
        }
        cursor.skip_space();
        if !matches!(cursor.peek()?, b',' | b')') {
            return None;
        }
    }
}

fn key<'t>(cursor: &mut Cursor<'_, 't>) -> &'t str {
    cursor.take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

/// Returns the JSON for a text that is exactly one Python literal; `None` for any other text.
pub(super) fn literal(raw: &str) -> Option<String> {
    let text = Text::new(raw, true);
    let mut cursor = Cursor::new(&text, 0);
    let json = nested::value(&mut cursor, &mut Literals::default())?;
    cursor.skip_space();
    (cursor.at == text.len()).then_some(json)
}

/// Keys and scalars as Python writes them; JSON's words, such as `true`, are understood too.
#[derive(Default)]
struct Literals {
    /// Types that the schema allows for the value, which has to be read from its beginning.
    types: Types,
}

impl Leaves for Literals {
    fn key(&mut self, cursor: &mut Cursor<'_, '_>) -> Option<String> {
        if matches!(cursor.peek()?, b'"' | b'\'') {
            return string(cursor);
        }
        let word = key(cursor);
        (!word.is_empty()).then(|| word.to_owned())
    }

    fn scalar(&mut self, cursor: &mut Cursor<'_, '_>, depth: usize) -> Option<String> {
        if matches!(cursor.peek()?, b'"' | b'\'') {
            return string(cursor).map(|text| quoted(&text));
        }
        let word = cursor.take_while(|c| !matches!(c, ',' | ')' | ']' | '}' | '\n' | '"' | '\''));
        let word = word.trim();
        Some(match word {
            "" => return None,
            "True" | "true" => "true".into(),
            "False" | "false" => "false".into(),
            "None" | "null" => "null".into(),
            _ => match number(word) {
                Some(Number::Integer(digits) | Number::Fraction(digits)) => {
                    let types = if depth == 0 {
                        self.types
                    } else {
                        Types::default()
                    };
                    types.number(word, &digits)
                }
                None if word.contains(['(', '[', '{', '=']) => return None,
                None => quoted(word),
            },
        })
    }
}

/// Reads a quoted string with the usual escapes of Python, such as `\n` and `\x41`. A backslash that begins no such
/// escape is kept.
fn string(cursor: &mut Cursor<'_, '_>) -> Option<String> {
    let quote = ["\"\"\"", "'''", "\"", "'"]
        .into_iter()
        .find(|quote| cursor.eat(quote))?;
    let mut text = String::new();
    loop {
        if cursor.eat(quote) {
            return Some(text);
        }
        match cursor.next_char()? {
            '\\' => escape(cursor, &mut text)?,
            char => text.push(char),
        }
    }
}

fn escape(cursor: &mut Cursor<'_, '_>, text: &mut String) -> Option<()> {
    let start = *cursor;
    let char = cursor.next_char()?;
    let simple = match char {
        'n' => Some('\n'),
        't' => Some('\t'),
        'r' => Some('\r'),
        '0' => Some('\0'),
        '\\' | '"' | '\'' => Some(char),
        'x' => hex(cursor, 2).and_then(char::from_u32),
        'u' => unicode(cursor),
        'U' => hex(cursor, 8).and_then(char::from_u32),
        _ => None,
    };
    match simple {
        Some(simple) => text.push(simple),
        None => {
            *cursor = start;
            text.push('\\');
        }
    }
    Some(())
}

/// Reads the digits of `\u` in a string: four, or a surrogate pair of two such escapes.
fn unicode(cursor: &mut Cursor<'_, '_>) -> Option<char> {
    let high = hex(cursor, 4)?;
    if !(0xD800..0xDC00).contains(&high) {
        return char::from_u32(high);
    }
    let low = cursor.eat("\\u").then(|| hex(cursor, 4))??;
    let units = [u16::try_from(high).ok()?, u16::try_from(low).ok()?];
    char::decode_utf16(units).next()?.ok()
}

fn hex(cursor: &mut Cursor<'_, '_>, digits: usize) -> Option<u32> {
    let mut code: u32 = 0;
    for _ in 0..digits {
        code = code.checked_mul(16)? + cursor.next_char()?.to_digit(16)?;
    }
    Some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_become_json() {
        let check =
            |raw: &str, json: Option<&str>| assert_eq!(literal(raw).as_deref(), json, "{raw}");
        check(
            "[1, 'a', True, None, (2.50,)]",
            Some(r#"[1,"a",true,null,[2.50]]"#),
        );
        check(
            r#"{'k': {"n": -1}, w: false,}"#,
            Some(r#"{"k":{"n":-1},"w":false}"#),
        );
        check(
            r"'a\n\'b\' \d \x41 \u00e9 \ud83d\ude00'",
            Some(r#""a\n'b' \\d A é 😀""#),
        );
        check("'''two\n'lines' '''", Some(r#""two\n'lines' ""#));
        check("12345678901234567890", Some("12345678901234567890"));
        check("[1, 2", None);
        check("[1 2]", Some(r#"["1 2"]"#));
        check("{'a'}", None);
        check("f(x)", None);
    }
}
