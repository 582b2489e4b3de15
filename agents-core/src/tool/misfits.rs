//! Complete list of what is wrong with arguments. A model that is told one misfit a turn would need a turn for
//! each.

use super::{
    Expected, expectation,
    expected::{is_settled, of_the_field},
    formats::missed_format,
};
use crate::{
    error::{Misfits, ReadError},
    reader::Diagnosis,
    recovery,
};
use serde_json::Value;

/// Maximum number of faults that the model is told at once; further ones are only counted.
const MOST: usize = 8;

/// Maximum length in bytes of one fault among several. A longer one loses the schema, which the model has already. If
/// it is still too long, it is cut.
const LONGEST: usize = 400;

/// Explains why a text does not fit. Returns the error to act on first, and all faults if there are several. `first` is
/// the error of the Rust type, and `found` the diagnosis of the reader for the same text.
pub(crate) fn explain(
    first: ReadError,
    expected: Expected<'_>,
    found: &Diagnosis<'_>,
    text: &str,
    lenient: bool,
) -> (ReadError, Misfits) {
    let mut first = of_the_field(first, expected.schema, text);
    if lenient {
        first = at_fault(first, expected, found, text);
    }
    let first = as_read(first, expected.schema, found, text);
    let first = missed_format(&first, expected.schema, text).unwrap_or(first);
    let all = misfits(&first, expected.schema, found, text);
    (with_expectation(first, expected.schema, text), all)
}

/// Adds to an error the part of the schema that applies at its path.
fn with_expectation(misfit: ReadError, schema: &Value, text: &str) -> ReadError {
    match expectation(schema, text, misfit.path()) {
        Some(said) => {
            let message = format!("{}; it has to follow {said}", misfit.message());
            ReadError::new(misfit.path(), message)
        }
        None => misfit,
    }
}

/// Returns the error that is really at fault. A strict reading stops at the first value that it refuses, such as a
/// number for a text or a key in another style. A lenient reading may settle that value, so that another error is at
/// fault.
fn at_fault(
    first: ReadError,
    expected: Expected<'_>,
    found: &Diagnosis<'_>,
    text: &str,
) -> ReadError {
    let touches = |misfit: &ReadError| {
        is_within(misfit.path(), first.path()) || is_within(first.path(), misfit.path())
    };
    if found.errors.iter().any(touches) {
        return first;
    }
    // No reading settles a missing field, nor a misfit that only the type finds.
    let said = serde_json::from_str::<Value>(text)
        .is_ok_and(|whole| recovery::value_at(&whole, first.path()).is_some());
    let settled = said
        && (expectation(expected.schema, text, first.path()).is_none() || {
            let strictly = expected.compiled.diagnose_strictly(text);
            strictly.errors.iter().any(touches)
        });
    match found.errors.first() {
        Some(left) if settled => left.clone(),
        _ => first,
    }
}

/// Returns the error in the words of the reader, if the reader reports one at the same path: messages of a type are
/// about Rust. Where one of several shapes may be meant, the type knows more, and its error stays.
pub(crate) fn as_read(
    misfit: ReadError,
    schema: &Value,
    found: &Diagnosis<'_>,
    text: &str,
) -> ReadError {
    let mut listed = found.errors.iter();
    match listed.find(|listed| listed.path() == misfit.path()) {
        Some(said) if is_settled(schema, text, misfit.path()) => said.clone(),
        _ => misfit,
    }
}

/// Returns all places where a text does not fit its schema, with `first` among them. If `first` is the only one, the
/// list is empty, because the error of the call names it already.
pub(crate) fn misfits(
    first: &ReadError,
    schema: &Value,
    found: &Diagnosis<'_>,
    text: &str,
) -> Misfits {
    let mut all = found.errors.clone();
    let mut more = found.unlisted;
    // A type that serde reads by way of a buffer fails as a whole. The misfits within it are more precise.
    let within = |misfit: &ReadError| is_within(misfit.path(), first.path());
    if all.iter().filter(|misfit| within(misfit)).count() < 2 {
        let around = |misfit: &ReadError| is_within(first.path(), misfit.path());
        let place = all
            .iter()
            .position(|misfit| within(misfit) || around(misfit))
            .unwrap_or_else(|| place_of(first.path(), &all, schema));
        all.retain(|misfit| !within(misfit) && !around(misfit));
        all.insert(place.min(all.len()), first.clone());
    }
    if all.len() < 2 {
        return Misfits::default();
    }
    more += all.len().saturating_sub(MOST);
    all.truncate(MOST);
    let listed = all.into_iter().map(|misfit| short(misfit, schema, text));
    Misfits {
        listed: listed.collect(),
        more,
    }
}

/// Returns `true` if a path leads to this place or into it.
fn is_within(path: &str, place: &str) -> bool {
    place.is_empty()
        || path
            .strip_prefix(place)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// Returns the position, in the order of the schema, of a fault that only the Rust type finds.
fn place_of(path: &str, all: &[ReadError], schema: &Value) -> usize {
    let fields = schema.get("properties").and_then(Value::as_object);
    let rank = |path: &str| {
        let name = path.split(['.', '[']).next();
        fields.and_then(|fields| fields.keys().position(|field| Some(field.as_str()) == name))
    };
    let before = |misfit: &&ReadError| rank(misfit.path()) <= rank(path);
    all.iter().take_while(before).count()
}

fn short(misfit: ReadError, schema: &Value, text: &str) -> ReadError {
    let whole = with_expectation(misfit.clone(), schema, text);
    let message = misfit.message();
    match (whole.message().len(), message.len()) {
        (..=LONGEST, _) => whole,
        (_, ..=LONGEST) => misfit,
        _ => {
            let end = message.floor_char_boundary(LONGEST);
            ReadError::new(misfit.path(), format!("{}…", &message[..end]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::{Schema, diagnose};
    use serde_json::json;

    fn check(first: (&str, &str), text: &str, expected: &str) {
        let fields: serde_json::Map<String, Value> = ('a'..='l')
            .map(|name| (name.to_string(), json!({"type": "integer"})))
            .collect();
        let schema = json!({"type": "object", "properties": fields, "required": ["b"]});
        let found = diagnose(text, &Schema::new(&schema));
        let all = misfits(&ReadError::new(first.0, first.1), &schema, &found, text);
        let said = match all.is_empty() {
            true => String::new(),
            false => all.to_string(),
        };
        assert_eq!(said, expected, "{text}");
    }

    #[test]
    fn one_is_told_by_itself() {
        check(("a", "no u8"), r#"{"a": "x", "b": 1}"#, "");
        check(("", "no u8"), r#"{"a": "x", "b": 1}"#, "");
        check(("a[0]", "no u8"), r#"{"a": ["x"], "b": 1}"#, "");
        check(("a", "no u8"), r#"{"a": 1, "b": 1}"#, "");
    }

    #[test]
    fn several_are_told_in_the_order_of_the_schema() {
        let (a, b, c) = (
            r#"field `a`: expected an integer, got "x"; it has to follow {"type":"integer"}"#,
            r#"field `b`: required, and missing; add it; it has to follow {"type":"integer"}"#,
            r#"field `c`: no u8; it has to follow {"type":"integer"}"#,
        );
        let text = r#"{"c": "y", "a": "x"}"#;
        check(
            ("c", "no u8"),
            text,
            &format!("3 things do not fit: {a}; {b}; {c}"),
        );
        // The type alone finds the misfit of `c`.
        check(
            ("c", "no u8"),
            r#"{"c": 1, "a": "x"}"#,
            &format!("3 things do not fit: {a}; {b}; {c}"),
        );
        // The type reports its misfit for the whole.
        check(
            ("", "no u8"),
            r#"{"a": "x"}"#,
            &format!("2 things do not fit: {a}; {b}"),
        );
    }

    #[test]
    fn what_a_lenient_reading_settles_is_not_at_fault() {
        let schema = json!({
            "type": "object",
            "properties": {
                "plate": {"type": "string"},
                "metres": {"type": "integer"},
                "even": {"type": "integer"},
            },
            "required": ["plate", "metres"],
        });
        for (first, text, expected) in [
            ("plate", r#"{"plate": 7, "metres": "truck"}"#, "metres"),
            ("plate", r#"{"plate": 7}"#, "metres"),
            ("Plate", r#"{"Plate": "7", "metres": "truck"}"#, "metres"),
            ("length", r#"{"plate": "7", "length": 3}"#, "metres"),
            // In these cases the first error itself is at fault.
            ("metres", r#"{"plate": 7, "metres": "truck"}"#, "metres"),
            (
                "even",
                r#"{"plate": "7", "metres": "truck", "even": 3}"#,
                "even",
            ),
            ("plate", r#"{"plate": "7", "metres": 3}"#, "plate"),
            ("", r#"{"plate": 7, "metres": "truck"}"#, ""),
        ] {
            let first = ReadError::new(first, "no");
            let compiled = Schema::new(&schema);
            let found = diagnose(text, &compiled);
            let by = Expected {
                schema: &schema,
                compiled: &compiled,
            };
            assert_eq!(at_fault(first, by, &found, text).path(), expected, "{text}");
        }
    }

    #[test]
    fn of_many_a_few_are_told_and_the_rest_is_counted() {
        let fields: Vec<String> = ('a'..='l').map(|name| format!("\"{name}\": []")).collect();
        let schema_says = r#"expected an integer, got a list; it has to follow {"type":"integer"}"#;
        let listed: Vec<String> = ('b'..='h')
            .map(|name| format!("field `{name}`: {schema_says}"))
            .collect();
        let first = r#"it has to follow {"type":"integer"}"#;
        check(
            ("a", "no u8"),
            &format!("{{{}}}", fields.join(",")),
            &format!(
                "12 things do not fit: field `a`: no u8; {first}; {}; and 4 more",
                listed.join("; ")
            ),
        );
    }

    #[test]
    fn what_is_long_is_cut() {
        let first = ReadError::new("a", "x".repeat(5000));
        let schema = json!({"properties": {
            "a": {"type": "integer"},
            "b": {"type": "integer", "description": "y".repeat(5000)},
        }});
        let text = r#"{"a": [], "b": []}"#;
        let found = Schema::new(&schema).diagnose_strictly(text);
        let all = misfits(&first, &schema, &found, text);
        let lengths: Vec<_> = all.listed.iter().map(|one| one.message().len()).collect();
        assert_eq!(lengths, [403, 31]);
    }
    #[test]
    fn what_the_reader_knows_of_is_said_in_its_words() {
        let schema = json!({"type": "object", "properties": {
            "n": {"type": "integer", "minimum": 0},
            "size": {"enum": ["s", "m"]},
            "when": {"type": "string", "format": "date"},
        }});
        for (path, text, said) in [
            ("n", r#"{"n": "few"}"#, "expected an integer, got \"few\""),
            ("n", r#"{"n": -1}"#, "-1 is too small"),
            ("n", r#"{"n": 1.5}"#, "expected a whole number, got 1.5"),
            (
                "size",
                r#"{"size": "l"}"#,
                "expected one of \"s\", \"m\", got \"l\"",
            ),
            (
                "when",
                r#"{"when": "soon"}"#,
                "input contains invalid characters",
            ),
        ] {
            let typed = ReadError::new(path, "input contains invalid characters");
            let found = diagnose(text, &Schema::new(&schema));
            let read = as_read(typed, &schema, &found, text);
            assert_eq!(read.message(), said, "{text}");
        }
    }
}
