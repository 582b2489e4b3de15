//! Lists and objects of the syntaxes that are nearly JSON, written as JSON.
//!
//! Python literals and Gemma's arguments nest alike and differ in their leaves. The nesting is therefore here,
//! without recursion, and leaves are a trait.

use super::json_scalars::quoted;
use super::text::Cursor;

/// Keys and scalars in the notation of one syntax, such as Python's. Lists and objects are read alike for all syntaxes.
pub(super) trait Leaves {
    /// `true` if a closing bracket also closes the forgotten ones inside it.
    const FORGIVING: bool = false;

    /// Reads a key of an object, without its colon.
    fn key(&mut self, cursor: &mut Cursor<'_, '_>) -> Option<String>;

    /// Reads a value that is no list or object, as JSON. `depth` counts the brackets around it.
    fn scalar(&mut self, cursor: &mut Cursor<'_, '_>, depth: usize) -> Option<String>;

    /// Moves past the space between a colon and a value, unless that space may belong to the value.
    fn skip_after_colon(&self, cursor: &mut Cursor<'_, '_>) {
        cursor.skip_space();
    }

    /// Returns true if the text ends here, so that open brackets count as closed.
    fn ends_here(&self, _cursor: &Cursor<'_, '_>) -> bool {
        false
    }
}

/// Reads the value at the cursor, with all that it contains, and returns it as JSON.
pub(super) fn value(cursor: &mut Cursor<'_, '_>, leaves: &mut impl Leaves) -> Option<String> {
    let mut json = String::new();
    let mut open: Vec<u8> = Vec::new();
    loop {
        cursor.skip_space();
        if !open.is_empty() && leaves.ends_here(cursor) {
            close_all(&mut json, &open);
            return Some(json);
        }
        let next = cursor.peek()?;
        if let Some(depth) = closes(&open, next, leaves) {
            cursor.at += 1;
            close_all(&mut json, &open[depth..]);
            open.truncate(depth);
        } else {
            if needs_comma(&json) {
                json.push(',');
            }
            if open.last() == Some(&b'}') {
                json.push_str(&quoted(&leaves.key(cursor)?));
                cursor.skip_space();
                if !cursor.eat(":") {
                    return None;
                }
                json.push(':');
                leaves.skip_after_colon(cursor);
            }
            match cursor.peek()? {
                b'[' => descend(cursor, &mut open, &mut json, b']'),
                b'(' => descend(cursor, &mut open, &mut json, b')'),
                b'{' => descend(cursor, &mut open, &mut json, b'}'),
                _ => json.push_str(&leaves.scalar(cursor, open.len())?),
            }
            if json.ends_with(['[', '{']) {
                continue;
            }
        }
        // A value has ended.
        if open.is_empty() {
            return Some(json);
        }
        cursor.skip_space();
        if cursor.eat(",") || leaves.ends_here(cursor) {
            continue;
        }
        closes(&open, cursor.peek()?, leaves)?;
    }
}

/// Returns the number of brackets that stay open once this byte has closed one; `None` if it closes none.
fn closes<L: Leaves>(open: &[u8], byte: u8, _leaves: &L) -> Option<usize> {
    match open.iter().rposition(|close| *close == byte)? {
        depth if L::FORGIVING || depth + 1 == open.len() => Some(depth),
        _ => None,
    }
}

fn descend(cursor: &mut Cursor<'_, '_>, open: &mut Vec<u8>, json: &mut String, close: u8) {
    cursor.at += 1;
    cursor.text.count(1);
    open.push(close);
    json.push(if close == b'}' { '{' } else { '[' });
}

/// Returns true if a comma must come before the next value: the JSON so far ends with a value.
fn needs_comma(json: &str) -> bool {
    !json.is_empty() && !json.ends_with(['[', '{', ':', ','])
}

fn close_all(json: &mut String, open: &[u8]) {
    json.extend(open.iter().rev().map(|close| written(*close)));
}

/// Returns the closing bracket as JSON writes it; a tuple's `)` becomes `]`.
fn written(close: u8) -> char {
    if close == b'}' { '}' } else { ']' }
}
