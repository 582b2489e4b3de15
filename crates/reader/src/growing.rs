//! Reader of a text that is still being written.

use super::{
    byte_search::{skip_space, string_special},
    coerce::{Coercer, work},
    repair::{self, Start},
    schema::{Schema, Types},
    strict,
    surroundings::thinking,
    tape::{Kind, Node, Tape},
};

/// JSON value of a text so far, while a model is still writing the text.
///
/// ```
/// use agents_reader::{Schema, growing};
/// use serde_json::json;
///
/// let schema = Schema::new(&json!({
///     "type": "object",
///     "properties": {"title": {"type": "string"}, "pages": {"type": "integer"}},
///     "required": ["title", "pages"],
/// }));
/// let so_far = |text| growing(text, &schema).unwrap();
///
/// let value = so_far(r#"{"title": "War and Pe"#);
/// assert_eq!((&*value.json, value.open.as_deref()), (r#"{"title":"War and Pe"}"#, Some("title")));
/// // 12 may become 1225, so it is left out until something follows it.
/// assert_eq!(so_far(r#"{"title": "War and Peace", "pages": 12"#).json, r#"{"title":"War and Peace"}"#);
/// let whole = so_far(r#"{"title": "War and Peace", "pages": 1225}"#);
/// assert_eq!((&*whole.json, whole.is_complete), (r#"{"title":"War and Peace","pages":1225}"#, true));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Growing {
    /// Members and items so far, as valid JSON; required fields may be missing until the value is complete.
    ///
    /// A string that is still being written is included as far as it goes. A number or a word that may go on is left
    /// out.
    pub json: String,
    /// Path of the string in `json` that is still being written; `None` if `json` has no unfinished string.
    pub open: Option<String>,
    /// Is `true` once the value's closing bracket has arrived.
    pub is_complete: bool,
}

/// Reads the beginning of a text that should become JSON of this schema. [`Growing`] has an example.
///
/// Returns `None` until a value begins, and if the text so far cannot be read or cannot fit. Text before the value,
/// such as thinking or the opening of a fence, is skipped, with at most seven brackets that begin no such value. While
/// the text is the beginning of valid JSON, each result is the beginning of the next, apart from the closing quote and
/// brackets. In damaged text a later character may show that an earlier one meant something else. A value begins with a
/// bracket; a list is read only if the schema allows one. `name: value` without braces is not read while it grows.
///
/// The time is proportional to the length of the text. A caller that receives many pieces should therefore read the
/// text when the result is shown, not for each piece.
#[must_use]
pub fn growing(text: &str, schema: &Schema) -> Option<Growing> {
    let bytes = text.as_bytes();
    let types = schema.types(schema.root());
    let mut at = 0;
    let mut tried = 0;
    while let Some(&b) = bytes.get(at) {
        match b {
            b'<' => match thinking(&text[at..]) {
                Some(Some(length)) => {
                    at += length;
                    continue;
                }
                // All text before was thinking.
                Some(None) => tried = 0,
                None => {}
            },
            b'{' | b'[' if tried < MAX_CANDIDATES && (b == b'{' || types.has(Types::ARRAY)) => {
                tried += 1;
                let later_thought = text[at..].contains("</think");
                if !later_thought && let Some(found) = value(text, at, schema) {
                    return Some(found);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Maximum number of brackets at which a value is tried, before the search gives up.
const MAX_CANDIDATES: usize = 8;

/// Reads the value that begins at the bracket `start` of an unfinished text; `None` if the value cannot be read so far.
fn value(text: &str, start: usize, schema: &Schema) -> Option<Growing> {
    match begun(text, start) {
        Some(begun) => {
            let mut tape = Tape::new(begun.json.as_str());
            strict::scan(begun.json.as_bytes(), 0, &mut tape.nodes).ok()?;
            tape.intact = true;
            let open = begun.in_string.then(|| tape.nodes.len() - 1);
            shaped(&tape, schema, open, begun.is_complete)
        }
        None => {
            let mut allowance = work(text.len());
            let repaired = repair::repair(text, start, Start::Value, &mut allowance).ok()?;
            let tape = repaired.tape;
            let is_complete = tape.unclosed.is_empty() && repaired.end < text.len()
                || text[..repaired.end].ends_with(['}', ']']);
            // The missing part of the last value is unknown.
            let last = tape.nodes.len() - 1;
            let Node {
                start: from, made, ..
            } = tape.nodes[last];
            let is_atom = !matches!(
                tape.kind(last),
                Kind::String | Kind::Array | Kind::Set | Kind::Object | Kind::Missing
            );
            let ends_text = tape.nodes[last].end as usize == text.trim_end().len();
            if !is_complete && is_atom && ends_text && !made {
                return value(&text[..from as usize], start, schema);
            }
            let open = (!is_complete && tape.kind(last) == Kind::String).then_some(last);
            shaped(&tape, schema, open, is_complete)
        }
    }
}

fn shaped(
    tape: &Tape<'_>,
    schema: &Schema,
    open: Option<usize>,
    is_complete: bool,
) -> Option<Growing> {
    let mut coercer = Coercer::new(schema, tape.source.len());
    coercer.grows = !is_complete;
    coercer.open = open;
    coercer.document(tape).ok()?;
    Some(Growing {
        open: coercer.open_path,
        json: coercer.out,
        is_complete,
    })
}

/// JSON that was valid as far as it has arrived, with its brackets closed.
struct Begun {
    json: String,
    is_complete: bool,
    /// `true` if the last value is a string without a closing quote so far.
    in_string: bool,
}

/// Token that may come next in unfinished JSON.
enum Next {
    Value,
    /// Expects a key, or the end of the object if the object is empty so far.
    Key,
    /// A comma or a closing bracket is to come.
    More,
}

/// Closes the brackets of unfinished JSON that starts at `start`; `None` if the JSON is not valid so far.
fn begun(text: &str, start: usize) -> Option<Begun> {
    let bytes = text.as_bytes();
    let mut open: Vec<u8> = Vec::new();
    // Everything up to here is complete, except for brackets.
    let mut kept = start;
    let mut at = start;
    let mut next = Next::Value;
    // A bracket has just been opened.
    let mut empty = false;
    loop {
        at = skip_space(bytes, at);
        let Some(&b) = bytes.get(at) else {
            break;
        };
        match next {
            Next::Value if b == b']' && empty => next = Next::More,
            Next::Value => match b {
                b'{' | b'[' => {
                    open.push(b + 2);
                    if open.len() > super::MAX_DEPTH {
                        return None;
                    }
                    at += 1;
                    kept = at;
                    empty = true;
                    next = if b == b'{' { Next::Key } else { Next::Value };
                }
                b'"' => match string(bytes, at + 1)? {
                    Some(end) => {
                        at = end;
                        kept = at;
                        next = Next::More;
                    }
                    None => return Some(in_string(text, start, at, &open)),
                },
                _ => {
                    let rest = &text[at..];
                    let width = rest.find([',', '}', ']', ' ', '\n', '\r', '\t']);
                    let Some(width) = width else {
                        break;
                    };
                    let word = &rest[..width];
                    let is_number = strict::number(word.as_bytes(), 0) == Some(width);
                    if !is_number && !matches!(word, "true" | "false" | "null") {
                        return None;
                    }
                    at += width;
                    kept = at;
                    next = Next::More;
                }
            },
            Next::Key if b == b'}' && empty => next = Next::More,
            Next::Key => {
                if b != b'"' {
                    return None;
                }
                let Some(end) = string(bytes, at + 1)? else {
                    break;
                };
                at = skip_space(bytes, end);
                match bytes.get(at) {
                    Some(b':') => at += 1,
                    Some(_) => return None,
                    None => break,
                }
                empty = false;
                next = Next::Value;
            }
            Next::More => {
                let close = *open.last()?;
                at += 1;
                empty = false;
                if b == close {
                    open.pop();
                    kept = at;
                    if open.is_empty() {
                        break;
                    }
                } else if b == b',' {
                    next = if close == b'}' {
                        Next::Key
                    } else {
                        Next::Value
                    };
                } else {
                    return None;
                }
            }
        }
    }
    let mut json = text[start..kept].to_owned();
    let is_complete = open.is_empty() && !json.is_empty();
    close(&mut json, &open);
    (kept > start).then_some(Begun {
        json,
        is_complete,
        in_string: false,
    })
}

/// Closes an unfinished text that ends within the string that opens at `quote`.
fn in_string(text: &str, start: usize, quote: usize, open: &[u8]) -> Begun {
    let mut json = text[start..].to_owned();
    json.truncate(whole_escapes(&text[quote + 1..]) + quote + 1 - start);
    json.push('"');
    close(&mut json, open);
    Begun {
        json,
        is_complete: false,
        in_string: true,
    }
}

fn close(json: &mut String, open: &[u8]) {
    json.extend(open.iter().rev().map(|&close| char::from(close)));
}

/// Returns the length of a string's inside that is complete: without an unfinished escape or half a pair of escapes.
fn whole_escapes(inside: &str) -> usize {
    let bytes = inside.as_bytes();
    let mut at = 0;
    while let Some(found) = inside[at..].find('\\') {
        let escape = at + found;
        match strict::escape(&bytes[escape..]) {
            Some(width) => at = escape + width,
            None => return escape,
        }
    }
    inside.len()
}

/// Returns the end of the string whose inside begins at `from`: `Some(None)` if the string is not closed yet, `None` if
/// it is invalid.
fn string(bytes: &[u8], from: usize) -> Option<Option<usize>> {
    let mut at = from;
    loop {
        at = string_special(bytes, at, b'"');
        match bytes.get(at) {
            None => return Some(None),
            Some(b'"') => return Some(Some(at + 1)),
            Some(b'\\') => match strict::escape(&bytes[at..]) {
                Some(width) => at += width,
                // The longest escape is a pair of twelve bytes.
                None if bytes.len() - at < 12 => return Some(None),
                None => return None,
            },
            Some(_) => return None,
        }
    }
}
