//! Check that a document fits a schema as it stands; the document is not altered.

use std::fmt::Write;

use serde_json::Value;

use super::{
    error::{ReadError, ReadErrorKind},
    schema::{Rest, Schema, Shape, Types},
    tape::{Kind, Tape, push_key},
    wording,
};

/// First place of a document that does not fit the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Misfit {
    /// Index on the tape of the node that does not fit the schema.
    pub(super) at: usize,
    /// Index of the shape (the compiled schema) that the node should have had.
    shape: usize,
    why: Why,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    Type,
    Choice,
    Limit(&'static str),
    /// The object lacks the required field with this index in the schema.
    Missing(usize),
    Unknown,
    Twice,
    Work,
}

/// Checks that the value at `at` fits the shape, without changes; else returns the first misfit. If none of several
/// alternatives fits, the misfit that lies furthest on in the document counts. `budget` bounds the work, since nested
/// unions could ask for an exponential amount.
pub(super) fn fit(
    schema: &Schema,
    tape: &Tape<'_>,
    at: usize,
    shape_at: usize,
    budget: &mut usize,
) -> Result<(), Misfit> {
    let misfit = |why| {
        Err(Misfit {
            at,
            shape: shape_at,
            why,
        })
    };
    let Some(left) = budget.checked_sub(1) else {
        return misfit(Why::Work);
    };
    *budget = left;
    let shape = schema.shape(shape_at);
    if !shape.branches.is_empty() {
        let mut deepest = Misfit {
            at,
            shape: shape_at,
            why: Why::Type,
        };
        for &branch in &shape.branches {
            match fit(schema, tape, at, branch, budget) {
                Ok(()) => return Ok(()),
                Err(misfit) if misfit.at > deepest.at => deepest = misfit,
                Err(_) => {}
            }
        }
        return Err(deepest);
    }
    if !shape.types.has(type_of(tape, at)) {
        return misfit(match shape.choices {
            Some(_) => Why::Choice,
            None => Why::Type,
        });
    }
    if let Some(choices) = &shape.choices
        && !choices.iter().any(|choice| equals(tape, at, choice))
    {
        return misfit(Why::Choice);
    }
    match tape.kind(at) {
        Kind::Object => object(schema, tape, at, shape_at, budget)?,
        Kind::Array => {
            if !shape.first.is_empty() || shape.items.is_some() {
                for (n, child) in tape.children(at).enumerate() {
                    if let Some(item) = shape.first.get(n).copied().or(shape.items) {
                        fit(schema, tape, child, item, budget)?;
                    }
                }
            } else if let Some(twice) = tape.contradiction(at) {
                return Err(Misfit {
                    at: twice,
                    shape: shape_at,
                    why: Why::Twice,
                });
            }
        }
        _ => {}
    }
    match shape
        .limits
        .as_ref()
        .and_then(|limits| limits.broken(tape, at))
    {
        Some(limit) => misfit(Why::Limit(limit)),
        None => Ok(()),
    }
}

fn object(
    schema: &Schema,
    tape: &Tape<'_>,
    at: usize,
    shape_at: usize,
    budget: &mut usize,
) -> Result<(), Misfit> {
    let shape = schema.shape(shape_at);
    if shape.fields.is_empty() && shape.patterns.is_empty() && shape.rest == Rest::Keep {
        return match tape.contradiction(at) {
            Some(at) => Err(Misfit {
                at,
                shape: shape_at,
                why: Why::Twice,
            }),
            None => Ok(()),
        };
    }
    let mut seen = Seen::new(shape.fields.len());
    let mut others = false;
    // Members mostly come in the order of the fields.
    let mut expected = 0;
    for (key, value) in tape.members(at) {
        match field(shape, tape, key, expected) {
            Some(n) => {
                expected = n + 1;
                if !seen.insert(n) {
                    return Err(Misfit {
                        at: key,
                        shape: shape_at,
                        why: Why::Twice,
                    });
                }
                fit(schema, tape, value, shape.fields[n].shape, budget)?;
            }
            None => {
                others = true;
                match rest(shape, tape, key) {
                    Rest::Keep => {}
                    Rest::Shape(shape) => fit(schema, tape, value, shape, budget)?,
                    Rest::Drop | Rest::Refuse => {
                        return Err(Misfit {
                            at: key,
                            shape: shape_at,
                            why: Why::Unknown,
                        });
                    }
                }
            }
        }
    }
    if let Some(missing) = shape
        .fields
        .iter()
        .enumerate()
        .position(|(n, field)| field.required && !seen.has(n))
    {
        return Err(Misfit {
            at,
            shape: shape_at,
            why: Why::Missing(missing),
        });
    }
    if others && let Some(at) = tape.contradiction(at) {
        return Err(Misfit {
            at,
            shape: shape_at,
            why: Why::Twice,
        });
    }
    Ok(())
}

/// Returns the index of the field whose name is exactly this key; `None` if no field has this name. The field with the
/// index `expected` is tried first.
pub(super) fn field(shape: &Shape, tape: &Tape<'_>, key: usize, expected: usize) -> Option<usize> {
    let name = tape.string(key);
    if shape
        .fields
        .get(expected)
        .is_some_and(|field| field.name == name)
    {
        return Some(expected);
    }
    shape.fields.iter().position(|field| field.name == name)
}

/// Returns the rule of the shape for a key that is not a field: whether the member is kept, dropped or refused, or
/// which shape its value must have.
pub(super) fn rest(shape: &Shape, tape: &Tape<'_>, key: usize) -> Rest {
    if shape.patterns.is_empty() {
        return shape.rest;
    }
    let name = tape.string(key);
    shape
        .patterns
        .iter()
        .find(|(pattern, _)| pattern.matches(&name))
        .map_or(shape.rest, |&(_, shape)| Rest::Shape(shape))
}

/// Set of small numbers, such as the indices of the fields that an object has.
pub(super) struct Seen {
    low: u64,
    high: Vec<bool>,
}

impl Seen {
    pub(super) fn new(size: usize) -> Self {
        Self {
            low: 0,
            high: vec![false; size.saturating_sub(64)],
        }
    }

    /// Adds a number, and returns true if it is new.
    pub(super) fn insert(&mut self, n: usize) -> bool {
        let new = !self.has(n);
        match n.checked_sub(64) {
            Some(n) => self.high[n] = true,
            None => self.low |= 1 << n,
        }
        new
    }

    pub(super) fn has(&self, n: usize) -> bool {
        match n.checked_sub(64) {
            Some(n) => self.high[n],
            None => self.low & (1 << n) != 0,
        }
    }
}

/// Returns the JSON type of a value; a float such as `5.0` counts as a fraction because of its spelling.
pub(super) fn type_of(tape: &Tape<'_>, at: usize) -> Types {
    match tape.kind(at) {
        Kind::Null => Types::NULL,
        Kind::True | Kind::False => Types::BOOLEAN,
        Kind::Number
            if tape
                .text(at)
                .bytes()
                .any(|b| matches!(b, b'.' | b'e' | b'E')) =>
        {
            Types::FRACTION
        }
        Kind::Number => Types::INTEGER,
        Kind::String => Types::STRING,
        Kind::Array => Types::ARRAY,
        Kind::Object => Types::OBJECT,
        Kind::Bare | Kind::Missing | Kind::Set => Types::NONE,
    }
}

/// Returns true if a value of the text equals this value of the schema, such as one of an `enum`.
pub(super) fn equals(tape: &Tape<'_>, at: usize, value: &Value) -> bool {
    match (tape.kind(at), value) {
        (Kind::Null, Value::Null)
        | (Kind::True, Value::Bool(true))
        | (Kind::False, Value::Bool(false)) => true,
        (Kind::Number, Value::Number(number)) => {
            let text = tape.text(at);
            number.to_string() == text || (text.len() < 16 && text.parse().ok() == number.as_f64())
        }
        (Kind::String, Value::String(text)) => tape.string(at) == *text,
        (Kind::Array | Kind::Object, Value::Array(_) | Value::Object(_)) => {
            tape.intact
                && serde_json::from_str::<Value>(tape.text(at)).is_ok_and(|held| held == *value)
        }
        _ => false,
    }
}

impl Misfit {
    /// Returns true if the misfit is a key that no field of the schema has.
    pub(super) fn is_unknown_key(self) -> bool {
        self.why == Why::Unknown
    }

    /// Creates the misfit of a key at `at` that the shape does not know.
    pub(super) fn unknown(at: usize, shape: usize) -> Self {
        Misfit {
            at,
            shape,
            why: Why::Unknown,
        }
    }

    /// Creates the misfit of an object at `at` that lacks the field with this index.
    pub(super) fn missing(at: usize, shape: usize, field: usize) -> Self {
        Misfit {
            at,
            shape,
            why: Why::Missing(field),
        }
    }

    /// Returns the misfit as an error with the path, the expected value and the value found.
    pub(super) fn refuse(self, schema: &Schema, tape: &Tape<'_>) -> ReadError {
        let found = tape.excerpt(self.at);
        let mut path = tape.path(self.at);
        let shape = schema.shape(self.shape);
        let (kind, reason) = match self.why {
            Why::Type => (
                ReadErrorKind::Mismatch,
                wording::mismatch(&schema.types(self.shape).describe(), &found),
            ),
            Why::Choice => (
                ReadErrorKind::Mismatch,
                wording::mismatch(&one_of(shape), &found),
            ),
            Why::Limit(limit) => (ReadErrorKind::Mismatch, wording::beyond(&found, limit)),
            Why::Missing(field) => {
                push_key(&mut path, &shape.fields[field].name);
                (ReadErrorKind::Mismatch, wording::MISSING.into())
            }
            Why::Unknown => (
                ReadErrorKind::Mismatch,
                wording::unknown_key(&found, &known(shape)),
            ),
            Why::Twice => (ReadErrorKind::Ambiguous, wording::TWICE.into()),
            Why::Work => (ReadErrorKind::TooLong, wording::TOO_MUCH_WORK.into()),
        };
        ReadError::of(kind, reason).below(path)
    }
}

/// Returns the values that the schema allows, as a part of an error message.
pub(super) fn one_of(shape: &Shape) -> String {
    const MAX_LISTED: usize = 12;
    let choices = shape.choices.as_deref().unwrap_or_default();
    let mut text = String::from(if choices.len() > 1 { "one of " } else { "" });
    for (n, choice) in choices.iter().take(MAX_LISTED).enumerate() {
        _ = write!(text, "{}{choice}", if n > 0 { ", " } else { "" });
    }
    if choices.len() > MAX_LISTED {
        text.push_str(", …");
    }
    text
}

/// Returns the keys that the schema knows, as a part of an error message.
pub(super) fn known(shape: &Shape) -> String {
    const MAX_LISTED: usize = 20;
    let mut text = String::from("the keys are ");
    for (n, field) in shape.fields.iter().take(MAX_LISTED).enumerate() {
        _ = write!(text, "{}`{}`", if n > 0 { ", " } else { "" }, field.name);
    }
    if shape.fields.len() > MAX_LISTED {
        text.push_str(", …");
    }
    text
}
