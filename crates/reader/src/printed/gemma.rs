//! Gemma's calls: `call:f{n:5,s:<|"|>a "b"<|"|>}`.

use serde_json::Value;

use super::call::{Call, Calls};
use super::json;
use super::json_scalars::{Number, number, quoted};
use super::nested::{self, Leaves};
use super::schema::{self, Types};
use super::series::skip_links;
use super::text::Cursor;
use super::tools::Tools;

/// Marks that enclose a string in Gemma's calls; each generation of the models has its own. Text inside is literal.
pub(super) const QUOTES: &[&str] = &["<|\"|>", "<escape>"];

/// Mark before the name of a tool in Gemma's calls.
pub(super) const PREFIX: &str = "call:";

/// Reads the calls in a wrapper of Gemma. Only the first of them may lack its prefix; `close` is the marker that ends
/// the wrapper.
pub(super) fn calls(
    cursor: &mut Cursor<'_, '_>,
    close: &'static str,
    tools: Tools<'_>,
) -> Option<Calls> {
    let mut calls = Calls::from(call(cursor, close, tools)?);
    loop {
        let mut next = *cursor;
        skip_links(&mut next);
        if !next.looking_at(PREFIX) {
            return Some(calls);
        }
        let Some(call) = call(&mut next, close, tools) else {
            calls.lost = true;
            return Some(calls);
        };
        calls.add(call.into());
        *cursor = next;
    }
}

/// Reads a call of Gemma: `call:` with a name and braces. The prefix may be missing.
fn call(cursor: &mut Cursor<'_, '_>, close: &'static str, tools: Tools<'_>) -> Option<Call> {
    cursor.eat(PREFIX);
    cursor.skip_space();
    let tool = tools.eat_name(cursor)?;
    cursor.skip_space();
    if !cursor.looking_at("{") {
        return None;
    }
    let arguments = nested::value(
        cursor,
        &mut Arguments {
            close,
            schema: tool.schema,
            types: Types::default(),
        },
    )?;
    Some(Call::new(tool.name, arguments))
}

struct Arguments<'a> {
    close: &'static str,
    schema: &'a Value,
    /// Types that the schema allows for the parameter whose key was read last.
    types: Types,
}

impl Leaves for Arguments<'_> {
    const FORGIVING: bool = true;

    fn key(&mut self, cursor: &mut Cursor<'_, '_>) -> Option<String> {
        let mut quotes = QUOTES.iter().chain(&["\"", "'"]);
        let key = match quotes.find(|quote| cursor.eat(quote)) {
            Some(quote) => cursor.take_until(quote)?,
            None => {
                let mark = |c| matches!(c, ':' | ',' | '{' | '}' | '[' | ']' | '\n');
                Some(cursor.take_while(|c| !mark(c)).trim()).filter(|key| !key.is_empty())?
            }
        };
        self.types = Types::of(self.schema, key);
        Some(key.to_owned())
    }

    fn scalar(&mut self, cursor: &mut Cursor<'_, '_>, depth: usize) -> Option<String> {
        for quote in QUOTES {
            if cursor.eat(quote) {
                return self.literal(cursor, quote).map(quoted);
            }
        }
        match cursor.peek()? {
            b'"' => self.escaped(cursor),
            b'\'' => self.single_quoted(cursor),
            _ => self.bare(cursor, depth),
        }
    }

    /// Skips space after a colon, except before text without quotes, where it may belong to the text.
    fn skip_after_colon(&self, cursor: &mut Cursor<'_, '_>) {
        let mut value = *cursor;
        value.skip_space();
        if matches!(value.peek(), Some(b'[' | b'{' | b'<' | b'"' | b'\'')) {
            *cursor = value;
        }
    }

    fn ends_here(&self, cursor: &Cursor<'_, '_>) -> bool {
        cursor.looking_at(self.close)
    }
}

impl Arguments<'_> {
    /// Reads a string that ends at the next `quote`. If that quote opens another string, the string ends before the
    /// next key, or else with the wrapper.
    fn literal<'t>(&self, cursor: &mut Cursor<'_, 't>, quote: &'static str) -> Option<&'t str> {
        let start = *cursor;
        if let Some(string) = cursor.take_until(quote) {
            if self.at_end_of_value(*cursor) {
                return Some(string);
            }
            if let Some(comma) = self.next_key(string) {
                *cursor = Cursor::new(start.text, start.at + comma);
                return Some(&string[..comma]);
            }
        }
        *cursor = start;
        self.up_to_close(cursor)
    }

    /// Reads a string in double quotes with JSON's escapes. It ends where a value may end, since quotes inside are
    /// not always escaped.
    fn escaped(&self, cursor: &mut Cursor<'_, '_>) -> Option<String> {
        cursor.at += 1;
        let start = *cursor;
        while let Some(char) = cursor.next_char() {
            if char == '\\' {
                cursor.next_char();
            } else if char == '"' && self.at_end_of_value(*cursor) {
                return Some(unescaped(cursor.text.slice(start.at, cursor.at - 1)));
            }
        }
        *cursor = start;
        self.up_to_close(cursor).map(quoted)
    }

    /// Reads a string in single quotes. It ends where a value may end, so apostrophes do not end it.
    fn single_quoted(&self, cursor: &mut Cursor<'_, '_>) -> Option<String> {
        cursor.at += 1;
        let start = *cursor;
        while let Some(char) = cursor.next_char() {
            if char == '\'' && self.at_end_of_value(*cursor) {
                return Some(quoted(cursor.text.slice(start.at, cursor.at - 1)));
            }
        }
        *cursor = start;
        self.up_to_close(cursor).map(quoted)
    }

    /// Reads a value without quotes: `true`, `null`, a number, or text that lost its quotes.
    fn bare(&self, cursor: &mut Cursor<'_, '_>, depth: usize) -> Option<String> {
        let start = *cursor;
        let word = cursor.take_while(|c| !matches!(c, ',' | '}' | ']' | '<'));
        let trimmed = word.trim();
        if self.at_end_of_value(*cursor) {
            if matches!(trimmed, "true" | "false" | "null") {
                return Some(trimmed.into());
            }
            if let Some(Number::Integer(digits) | Number::Fraction(digits)) = number(trimmed) {
                let types = if depth == 1 {
                    self.types
                } else {
                    Types::default()
                };
                return Some(types.number(trimmed, &digits));
            }
            if depth > 1 && !trimmed.is_empty() {
                return Some(quoted(trimmed));
            }
        }
        if depth > 1 {
            return None;
        }
        // Text without quotes ends only at a known parameter or at the end of the call.
        *cursor = start;
        while cursor.text.byte(cursor.at).is_some() && !self.ends_here(cursor) {
            let here = *cursor;
            match cursor.next_char()? {
                ',' if self.at_key(*cursor) => return self.run(start, here, cursor),
                '}' if self.at_close(*cursor) => return self.run(start, here, cursor),
                _ => {}
            }
        }
        let here = *cursor;
        self.ends_here(cursor)
            .then(|| self.run(start, here, cursor))?
    }

    fn run(
        &self,
        start: Cursor<'_, '_>,
        end: Cursor<'_, '_>,
        cursor: &mut Cursor<'_, '_>,
    ) -> Option<String> {
        cursor.at = end.at;
        let text = start.text.slice(start.at, end.at);
        Some(quoted(text.trim_matches([' ', '\t'])))
    }

    /// Reads the rest of a wrapper as one string without a closing mark. The brace that closes the call is left out.
    fn up_to_close<'t>(&self, cursor: &mut Cursor<'_, 't>) -> Option<&'t str> {
        let end = cursor.text.find(cursor.at, self.close)?;
        let text = cursor.text.slice(cursor.at, end);
        cursor.at = end;
        Some(text.trim_end().strip_suffix('}').unwrap_or(text))
    }

    fn at_end_of_value(&self, mut cursor: Cursor<'_, '_>) -> bool {
        cursor.skip_space();
        matches!(cursor.peek(), None | Some(b',' | b'}' | b']')) || self.ends_here(&cursor)
    }

    fn at_close(&self, mut cursor: Cursor<'_, '_>) -> bool {
        cursor.skip_space();
        cursor.peek().is_none() || self.ends_here(&cursor)
    }

    fn at_key(&self, mut cursor: Cursor<'_, '_>) -> bool {
        cursor.skip_space();
        let key = cursor.take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
        cursor.skip_space();
        cursor.looking_at(":") && schema::property(self.schema, key).is_some()
    }

    /// Returns the place of the comma if a string runs on into the next key at its end: `, key:`.
    fn next_key(&self, string: &str) -> Option<usize> {
        let comma = string.rfind(',')?;
        let key = string[comma + 1..].trim().strip_suffix(':')?.trim();
        schema::property(self.schema, key).map(|_| comma)
    }
}

/// Returns the inside of a string as a JSON string, with the missing escapes added. Invalid escapes are taken
/// literally.
fn unescaped(inside: &str) -> String {
    let mut json = String::from("\"");
    let mut escaped = false;
    for char in inside.chars() {
        // A backslash before white space begins no escape, and stands for itself.
        if escaped && char.is_whitespace() {
            json.push('\\');
        }
        match char {
            '"' if !escaped => json.push_str("\\\""),
            '\n' => json.push_str("\\n"),
            '\r' => json.push_str("\\r"),
            '\t' => json.push_str("\\t"),
            _ => json.push(char),
        }
        escaped = char == '\\' && !escaped;
    }
    json.push('"');
    if json::intact(&json) {
        json
    } else {
        quoted(inside)
    }
}
