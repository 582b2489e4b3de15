//! Lenient, schema-led reader of JSON as models write it.
//!
//! A model's tool call is valid JSON most of the time. Otherwise it has a comma too many, Python's `True`, prose
//! around it or a number in quotes. It may also be cut off. [`read`] accepts both kinds, led by the schema of the
//! wanted value:
//!
//! ```
//! use agents_reader::read;
//! use serde_json::json;
//!
//! let schema = json!({
//!     "type": "object",
//!     "properties": {"path": {"type": "string"}, "lines": {"type": "integer"}},
//!     "required": ["path"],
//! });
//! let reading = read("Sure! {'path': 'notes.md', lines: \"10\",}", &schema)?;
//! assert_eq!(reading.json, r#"{"path":"notes.md","lines":10}"#);
//! assert!(!reading.changes.is_empty());
//! # Ok::<(), agents_reader::ReadError>(())
//! ```
//!
//! The steps of reading a text:
//!
//! 1. *strict*: text that is valid and fits comes back borrowed, untouched.
//! 2. *locate*: otherwise the value is searched for in fences, tags, calls and prose.
//! 3. *repair*: a candidate that is not valid JSON is repaired.
//! 4. *coerce*: the value is converted to the shape that the schema describes.
//!
//! The reader never guesses in silence. If neither the text nor the schema determines what was meant, the result is a
//! [`ReadError`] with the reason, or a reading that is marked as uncertain. [`Changes`] lists all changes; further ones
//! of a kind are only counted. A member that is valid and fits is never altered, and every number keeps its exact
//! value. Time is linear in the length of the text. Depth is bounded, whatever the input.
//!
//! # Certain and uncertain readings
//!
//! No text is lost in silence. A change is [uncertain](Change::uncertain) if the text could have meant something else.
//! Examples are dropped text that may belong to the value, a missing bracket or quote with two possible places, and a
//! number that was taken out of a longer text. A caller that cannot undo its actions asks [`Changes::uncertain`], and
//! rejects an uncertain reading.
//!
//! # What else there is
//!
//! [`diagnose`] lists everything that is wrong with a text. [`growing`] reads a text that is still
//! being written. [`printed`] finds tool calls that a model printed in its answer.

mod atoms;
mod byte_search;
mod change;
mod closeness;
mod coerce;
mod copies;
mod depth;
mod diagnose;
mod error;
mod fit;
mod growing;
mod keys;
#[cfg(test)]
mod laws;
mod limits;
mod locate;
mod log;
mod misfits;
mod number;
mod pattern;
mod print;
pub mod printed;
mod repair;
mod scalar;
mod schema;
mod strict;
mod surroundings;
mod tape;
#[cfg(test)]
mod tests;
mod text;
mod unknown;
mod wording;
mod wrapper;

use std::borrow::Cow;

use serde_json::Value;

use self::{
    byte_search::skip_space,
    coerce::{Coercer, work},
    error::too_deep,
    fit::fit,
    locate::{Found, Json},
    log::Log,
    strict::Stop,
    tape::{Kind, Tape, quote_into},
};
pub use self::{
    change::{Change, ChangeKind, Changes},
    depth::check_depth,
    diagnose::{Diagnosis, diagnose},
    error::{ReadError, ReadErrorKind},
    growing::{Growing, growing},
    schema::Schema,
    text::{normalize_separators, strip_fences},
};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Maximum depth of nested brackets, which is the depth that `serde_json` reads as well.
pub(crate) const MAX_DEPTH: usize = 127;

/// Maximum length of a text in bytes; a longer text is an error, since offsets are kept in 32 bits.
const MAX_LENGTH: usize = 1 << 30;

/// Result of reading a text: valid JSON and the changes that were needed.
///
/// ```
/// use agents_reader::lenient;
/// use std::borrow::Cow;
///
/// let untouched = lenient(r#"{"a": 1}"#)?;
/// assert!(matches!(untouched.json, Cow::Borrowed(_)) && untouched.changes.is_empty());
///
/// let mended = lenient("{a: 1}")?;
/// assert_eq!(mended.json, r#"{"a":1}"#);
/// assert_eq!(mended.changes.len(), 1);
/// # Ok::<(), agents_reader::ReadError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading<'a> {
    /// Valid JSON. It is borrowed if it is the input, or a part of the input, as it stands.
    pub json: Cow<'a, str>,
    /// Changes that were made to the text to get `json`; empty if there were none.
    pub changes: Changes,
}

/// Reads text that should be JSON of this schema, and repairs what the schema settles.
///
/// The text is first read as [`lenient`] does, except that the schema chooses among several values. The value is then
/// converted as [`coerce`] does.
///
/// If the schema accepts only text, a text that is not valid JSON is taken as it stands, and so is a JSON list or
/// object. If the schema wants an object, call syntax such as `f(a=1)` is read. So are members without braces, also as
/// items of a list.
///
/// ```
/// use agents_reader::{ChangeKind::*, read};
/// use serde_json::json;
///
/// let object = json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]});
/// for (change, text, schema, json) in [
///     (Coerced, "{'a': '1',}", &object, r#"{"a":1}"#),
///     (Call, "f(a=1)", &object, r#"{"a":1}"#),
///     (Brackets, "a: 1", &object, r#"{"a":1}"#),
///     (Located, "- a: 1", &object, r#"{"a":1}"#),
///     (Unquoted, "see {x}", &json!({"type": "string"}), r#""see {x}""#),
///     (Listed, "- x\n- y", &json!({"type": "array", "items": {"type": "string"}}), r#"["x","y"]"#),
///     (Defaulted, r#"{"a": }"#, &json!({"properties": {"a": {"default": 1}}}), r#"{"a":1}"#),
/// ] {
///     let reading = read(text, schema)?;
///     assert_eq!(reading.json, json);
///     assert!(reading.changes.any(change));
/// }
/// # Ok::<(), agents_reader::ReadError>(())
/// ```
///
/// # Errors
///
/// If nothing can be read without guessing, if no value in the text can be made to fit, or if the text is too long or
/// nests too deep.
pub fn read<'a>(raw: &'a str, schema: &Value) -> Result<Reading<'a>, ReadError> {
    Schema::new(schema).read(raw)
}

/// Reads text that should be JSON, without knowing its shape.
///
/// Valid JSON comes back unchanged, unless a key stands twice in one object with different values. That is an error,
/// and so is a text that only a schema could settle.
///
#[doc = include_str!("docs/syntax.md")]
///
/// # Errors
///
/// If the text cannot be read without guessing: several values in prose, `[007]`, a key without a value, a key with two
/// values. Also if the text has no JSON, is too long or nests too deep.
pub fn lenient(raw: &str) -> Result<Reading<'_>, ReadError> {
    match strictly(raw)? {
        Ok(tape) => match tape.contradiction(0) {
            Some(node) => {
                Err(ReadError::of(ReadErrorKind::Ambiguous, wording::TWICE).below(tape.path(node)))
            }
            None => Ok(untouched(raw)),
        },
        Err(tried) => match copies::said_once(raw) {
            Some(once) => lenient(once).map(said_twice),
            None => Ok(reading(raw, locate::locate(raw, None, tried)?)),
        },
    }
}

/// Brings valid JSON into the shape of a schema; a value that fits comes back unchanged.
///
#[doc = include_str!("docs/shape.md")]
///
/// # Errors
///
/// If the text is not valid JSON, cannot be brought into shape without guessing, is too long or nests too deep.
pub fn coerce<'a>(json: &'a str, schema: &Value) -> Result<Reading<'a>, ReadError> {
    Schema::new(schema).coerce(json)
}

/// Checks that valid JSON fits a schema as it stands: types, required fields, allowed values, bounds and patterns.
///
/// If a schema lists `properties`, other keys do not fit, unless the list is empty or the schema says that it allows
/// them. A key that stands twice does not fit either, unless the schema does not name the key and both values are
/// equal.
///
/// ```
/// use agents_reader::fits;
/// use serde_json::json;
///
/// let schema = json!({"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}});
/// assert!(fits(r#"{"n": 2}"#, &schema).is_ok());
/// assert_eq!(fits(r#"{"n": 0}"#, &schema).unwrap_err().path(), "n");
/// ```
///
/// # Errors
///
/// If the text is not valid JSON, is too long, nests too deep, or does not fit. If it does not fit, the error names the
/// first place that does not fit, the expected value and the value found.
pub fn fits(json: &str, schema: &Value) -> Result<(), ReadError> {
    Schema::new(schema).fits(json)
}

impl Schema {
    /// Reads text by this schema; see [`read`].
    ///
    /// # Errors
    ///
    /// See [`read`].
    pub fn read<'a>(&self, raw: &'a str) -> Result<Reading<'a>, ReadError> {
        let tape = match strictly(raw)? {
            Ok(tape) => tape,
            Err(_) if self.wants_text() => return Ok(as_text(raw)),
            Err(tried) => {
                return match copies::said_once(raw) {
                    Some(once) => self.read(once).map(said_twice),
                    None => Ok(reading(raw, locate::locate(raw, Some(self), tried)?)),
                };
            }
        };
        self.shaped(raw, &tape)
    }

    /// Brings valid JSON into the shape of this schema; see [`coerce`].
    ///
    /// # Errors
    ///
    /// See [`coerce`].
    pub fn coerce<'a>(&self, json: &'a str) -> Result<Reading<'a>, ReadError> {
        let tape = strictly(json)?.map_err(invalid)?;
        self.shaped(json, &tape)
    }

    /// Checks that valid JSON fits this schema as it stands; see [`fits`].
    ///
    /// # Errors
    ///
    /// See [`fits`].
    pub fn fits(&self, json: &str) -> Result<(), ReadError> {
        let tape = strictly(json)?.map_err(invalid)?;
        fit(self, &tape, 0, self.root(), &mut work(json.len()))
            .map_err(|misfit| misfit.refuse(self, &tape))
    }

    fn shaped<'a>(&self, raw: &'a str, tape: &Tape<'a>) -> Result<Reading<'a>, ReadError> {
        if fit(self, tape, 0, self.root(), &mut work(raw.len())).is_ok() {
            return Ok(untouched(raw));
        }
        if self.wants_text() && matches!(tape.kind(0), Kind::Array | Kind::Object) {
            return Ok(as_text(raw));
        }
        let mut coercer = Coercer::new(self, raw.len());
        coercer.document(tape)?;
        Ok(Reading {
            json: coercer.out.into(),
            changes: coercer.log.finish(),
        })
    }

    /// Returns true if the schema accepts only text, so that any text will do.
    fn wants_text(&self) -> bool {
        let root = self.shape(self.root());
        root.branches.is_empty()
            && root.choices.is_none()
            && root.limits.is_none()
            && root.types == schema::Types::STRING
    }
}

/// Reads a text as strict JSON, and returns its tape (the parsed nodes). If the text is not one valid value, the inner
/// error is the byte at which a value begins that is not valid, or `usize::MAX` if other text follows a valid value.
/// The outer error is a text that is too long or nests too deep.
fn strictly(raw: &str) -> Result<Result<Tape<'_>, usize>, ReadError> {
    if raw.len() > MAX_LENGTH {
        return Err(ReadError::of(
            ReadErrorKind::TooLong,
            "the text is too long; write less",
        ));
    }
    let mut tape = Tape::new(raw);
    tape.nodes.reserve(raw.len() / 16 + 8);
    let start = skip_space(raw.as_bytes(), 0);
    match strict::scan(raw.as_bytes(), start, &mut tape.nodes) {
        Ok(end) if skip_space(raw.as_bytes(), end) == raw.len() => {
            tape.intact = true;
            Ok(Ok(tape))
        }
        // The value itself is fine, but more text follows it.
        Ok(_) => Ok(Err(usize::MAX)),
        Err(Stop::Syntax(_)) => Ok(Err(start)),
        Err(Stop::TooDeep(at)) => Err(too_deep(at)),
    }
}

fn invalid(_: usize) -> ReadError {
    ReadError::of(ReadErrorKind::Syntax, "this is not valid JSON")
}

fn untouched(raw: &str) -> Reading<'_> {
    Reading {
        json: raw.into(),
        changes: Changes::default(),
    }
}

/// Adds the change by which a copy of the value was left out, which stood beside it in a string.
fn said_twice(mut reading: Reading<'_>) -> Reading<'_> {
    let change = Change::new(ChangeKind::Duplicate, "", wording::SAID_TWICE);
    reading.changes.extend(change.into());
    reading
}

/// Returns the whole text as a JSON string, for a schema that accepts only text.
fn as_text(raw: &str) -> Reading<'_> {
    let mut json = String::with_capacity(raw.len() + 2);
    quote_into(&mut json, raw);
    let mut log = Log::default();
    log.add(
        ChangeKind::Unquoted,
        String::new,
        "the text itself taken as the value",
    );
    Reading {
        json: json.into(),
        changes: log.finish(),
    }
}

fn reading(raw: &str, found: Found) -> Reading<'_> {
    let json = match found.json {
        Json::Part(start, end) => raw[start..end].into(),
        Json::Made(json) => json.into(),
    };
    Reading {
        json,
        changes: found.log.finish(),
    }
}
