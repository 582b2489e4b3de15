//! What is wrong with arguments, all of it at once: a model that is told one thing a turn needs a turn for each.

use super::{expectation, expected::is_settled};
use crate::{
    error::{ArgumentError, Misfits},
    reader::{self, Refusal, Schema},
    recovery,
};
use serde_json::Value;

/// So many are told; the rest is counted.
const MOST: usize = 8;

/// Among so many it is looked for what a strict reading has found.
const MOST_COMPARED: usize = 64;

/// What is said of one of several may be so long; what is longer goes without the schema, which the model has, and is
/// cut after that.
const LONGEST: usize = 400;

/// What is wrong at a place, with what the schema says of it.
pub(crate) fn with_expectation(misfit: ArgumentError, schema: &Value, text: &str) -> ArgumentError {
    match expectation(schema, text, &misfit.path) {
        Some(said) => {
            let message = format!("{}; it has to follow {said}", misfit.message);
            ArgumentError::new(misfit.path, message)
        }
        None => misfit,
    }
}

/// What is at fault first. A strict reading stops at whatever it does not take, which a lenient one may settle: a
/// number for a text, a key in another style. That is not at fault where anything else is.
pub(crate) fn at_fault(first: ArgumentError, schema: &Value, text: &str) -> ArgumentError {
    let compiled = Schema::new(schema);
    let listed = |lenient| compiled.misfits(text, lenient, MOST_COMPARED).listed;
    let touches = |misfit: &Refusal| {
        is_within(misfit.path(), &first.path) || is_within(&first.path, misfit.path())
    };
    let left = listed(true);
    if left.iter().any(touches) {
        return first;
    }
    // What is missing is settled by no reading, nor is what only the type knows of.
    let said = serde_json::from_str::<Value>(text)
        .is_ok_and(|whole| recovery::value_at(&whole, &first.path).is_some());
    let settled = said
        && (expectation(schema, text, &first.path).is_none() || listed(false).iter().any(touches));
    match left.into_iter().next() {
        Some(left) if settled => left.into(),
        _ => first,
    }
}

/// The same misfit in the words of the reader, where it knows of it: those of a type are about Rust. Of a place where
/// one of several shapes may be meant, the type knows more.
pub(crate) fn as_read(
    misfit: ArgumentError,
    schema: &Value,
    text: &str,
    lenient: bool,
) -> ArgumentError {
    let found = Schema::new(schema).misfits(text, lenient, MOST_COMPARED);
    let mut listed = found.listed.into_iter();
    match listed.find(|listed| listed.path() == misfit.path) {
        Some(said) if is_settled(schema, text, &misfit.path) => said.into(),
        _ => misfit,
    }
}

/// All that is wrong with arguments, the one that was found first among it; nothing if that is all.
pub(crate) fn misfits(first: &ArgumentError, schema: &Value, text: &str, lenient: bool) -> Misfits {
    let reader::Misfits { listed, mut more } = Schema::new(schema).misfits(text, lenient, MOST + 1);
    let mut all: Vec<ArgumentError> = listed.into_iter().map(ArgumentError::from).collect();
    // A type that is read by way of serde's own buffer fails as a whole: what is below says where.
    let within = |misfit: &ArgumentError| is_within(&misfit.path, &first.path);
    if all.iter().filter(|misfit| within(misfit)).count() < 2 {
        let around = |misfit: &ArgumentError| is_within(&first.path, &misfit.path);
        let place = all
            .iter()
            .position(|misfit| within(misfit) || around(misfit))
            .unwrap_or_else(|| place_of(&first.path, &all, schema));
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

/// Whether a path leads to this place, or to somewhere within it.
fn is_within(path: &str, place: &str) -> bool {
    place.is_empty()
        || path
            .strip_prefix(place)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// Where a misfit that only the type knows of comes in the order of the schema.
fn place_of(path: &str, all: &[ArgumentError], schema: &Value) -> usize {
    let fields = schema.get("properties").and_then(Value::as_object);
    let rank = |path: &str| {
        let name = path.split(['.', '[']).next();
        fields.and_then(|fields| fields.keys().position(|field| Some(field.as_str()) == name))
    };
    let before = |misfit: &&ArgumentError| rank(&misfit.path) <= rank(path);
    all.iter().take_while(before).count()
}

fn short(misfit: ArgumentError, schema: &Value, text: &str) -> ArgumentError {
    let whole = with_expectation(misfit.clone(), schema, text);
    match (whole.message.len(), misfit.message.len()) {
        (..=LONGEST, _) => whole,
        (_, ..=LONGEST) => misfit,
        _ => {
            let end = misfit.message.floor_char_boundary(LONGEST);
            ArgumentError::new(misfit.path, format!("{}…", &misfit.message[..end]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{as_read, at_fault, misfits};
    use crate::error::ArgumentError;
    use serde_json::{Value, json};

    fn check(first: (&str, &str), text: &str, expected: &str) {
        let fields: serde_json::Map<String, Value> = ('a'..='l')
            .map(|name| (name.to_string(), json!({"type": "integer"})))
            .collect();
        let schema = json!({"type": "object", "properties": fields, "required": ["b"]});
        let all = misfits(&ArgumentError::new(first.0, first.1), &schema, text, true);
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
        // Only the type knows of it.
        check(
            ("c", "no u8"),
            r#"{"c": 1, "a": "x"}"#,
            &format!("3 things do not fit: {a}; {b}; {c}"),
        );
        // The type could not say where.
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
            // These are at fault themselves.
            ("metres", r#"{"plate": 7, "metres": "truck"}"#, "metres"),
            (
                "even",
                r#"{"plate": "7", "metres": "truck", "even": 3}"#,
                "even",
            ),
            ("plate", r#"{"plate": "7", "metres": 3}"#, "plate"),
            ("", r#"{"plate": 7, "metres": "truck"}"#, ""),
        ] {
            let first = ArgumentError::new(first, "no");
            assert_eq!(at_fault(first, &schema, text).path, expected, "{text}");
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
        let first = ArgumentError::new("a", "x".repeat(5000));
        let schema = json!({"properties": {
            "a": {"type": "integer"},
            "b": {"type": "integer", "description": "y".repeat(5000)},
        }});
        let all = misfits(&first, &schema, r#"{"a": [], "b": []}"#, false);
        let lengths: Vec<_> = all.listed.iter().map(|one| one.message.len()).collect();
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
            let typed = ArgumentError::new(path, "input contains invalid characters");
            assert_eq!(as_read(typed, &schema, text, true).message, said, "{text}");
        }
    }
}
