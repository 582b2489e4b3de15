//! Misfits in the words of the schema: a text that misses its format, and a value that fits none of the variants.

use super::{expected::places, wording};
use crate::{
    error::{ReadError, shorten},
    recovery::{path_parts, value_at},
};
use serde_json::Value;

/// Format of JSON Schema: its name, its description with an example, and a check of a text.
type Format = (&'static str, &'static str, fn(&str) -> bool);

/// Formats of JSON Schema that are checked here.
/// The checks are loose: they find texts that are nothing of the kind. The type decides about the rest.
const FORMATS: [Format; 9] = [
    ("date", "a date such as \"2026-11-24\"", is_date),
    (
        "date-time",
        "a date and time such as \"2026-11-24T13:20:00Z\"",
        |text| text.get(..10).is_some_and(is_date) && text.get(11..).is_some_and(begins_as_time),
    ),
    ("time", "a time such as \"13:20:00\"", begins_as_time),
    ("duration", "a duration such as \"PT1H30M\"", |text| {
        text.starts_with(['P', '-'])
    }),
    (
        "uuid",
        "a UUID such as \"67e55044-10b1-426f-9247-bb680e5fe0c8\"",
        |text| text.chars().filter(char::is_ascii_hexdigit).count() == 32,
    ),
    (
        "email",
        "an email address such as \"ada@example.org\"",
        |text| text.contains('@'),
    ),
    ("uri", "a URI such as \"https://example.org/a\"", |text| {
        text.contains(':')
    }),
    ("ipv4", "an address such as \"192.0.2.1\"", |text| {
        text.split('.')
            .filter(|part| part.parse::<u8>().is_ok())
            .count()
            == 4
    }),
    ("ipv6", "an address such as \"2001:db8::1\"", |text| {
        text.contains(':') && !text.contains(char::is_whitespace)
    }),
];

fn is_date(text: &str) -> bool {
    let parts: Vec<_> = text.split('-').collect();
    let is_number = |part: &&str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    matches!(parts[..], [year, month, day] if year.len() == 4 && month.len() == 2 && day.len() == 2)
        && parts.iter().all(is_number)
}

fn begins_as_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    matches!(bytes, [h, hh, b':', m, mm, ..] if [h, hh, m, mm].iter().all(|digit| digit.is_ascii_digit()))
}

/// Returns the error of a text that misses the format of its schema, in words that name the format; `None` if that is
/// not the fault. The text is at the path of the given error. If the type has only said that the whole does not fit,
/// the text may be below that path, too.
pub(super) fn missed_format(misfit: &ReadError, schema: &Value, text: &str) -> Option<ReadError> {
    let whole: Value = serde_json::from_str(text).ok()?;
    let at = value_at(&whole, misfit.path())?;
    // An error with a path is about that very value. A missing field is another matter.
    let is_precise = !misfit.path().is_empty();
    let found = missed(schema, &whole, misfit.path(), at, !is_precise)?;
    let (path, said, expected) = found;
    let message = format!("expected {expected}, got {}", shorten(&said.to_string()));
    Some(ReadError::new(path, message))
}

/// Maximum depth in a value at which texts that miss their format are searched.
const DEEPEST: usize = 8;

/// Searches a value, and if `deeper`, the values in it, for a text that misses the format of its schema.
fn missed<'v>(
    schema: &Value,
    whole: &Value,
    path: &str,
    value: &'v Value,
    deeper: bool,
) -> Option<(String, &'v Value, &'static str)> {
    // Of a precise error, the value is at fault even if it is no text.
    if value.is_string() || !deeper {
        let meant = places(schema, whole, path);
        let [meant] = meant[..] else { return None };
        let meant = resolved(schema, meant);
        let format = meant.get("format")?.as_str()?;
        let (_, expected, fits) = FORMATS.iter().find(|(name, ..)| *name == format)?;
        let fits = value.as_str().is_some_and(fits);
        return (!fits).then(|| (path.to_owned(), value, *expected));
    }
    if !deeper || path_parts(path).count() > DEEPEST {
        return None;
    }
    match value {
        Value::Object(members) => members.iter().find_map(|(key, value)| {
            let path = match path {
                "" => key.clone(),
                path => format!("{path}.{key}"),
            };
            missed(schema, whole, &path, value, deeper)
        }),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .find_map(|(at, value)| missed(schema, whole, &format!("{path}[{at}]"), value, deeper)),
        _ => None,
    }
}

/// Returns the error of a value that looks like none or like several of the variants that the schema allows at its
/// place. The error names all variants. Returns `None` if that is not the fault.
pub(super) fn no_variant(misfit: &ReadError, schema: &Value, text: &str) -> Option<ReadError> {
    let whole: Value = serde_json::from_str(text).unwrap_or_default();
    // The path of a missing field leads to a place that is not there; the one around it is at fault.
    let path = misfit.path();
    let around = path.rfind(['.', '[']).map_or("", |end| &path[..end]);
    let (at, value) = match (value_at(&whole, path), value_at(&whole, around)) {
        (Some(value), _) => (path, value),
        (None, Some(value)) => (around, value),
        // The path is that of another reading of the text.
        (None, None) => return None,
    };
    let variants = variants(schema, &whole, at);
    let meant = variants.iter().filter(|one| is_of(one, value));
    if variants.len() < 2 || meant.count() == 1 {
        return None;
    }
    let names: Vec<_> = variants.iter().map(|one| name_of(one)).collect();
    let names = names.join(", ");
    Some(ReadError::new(at, wording::no_variant(&names)))
}

/// Returns the alternatives that the schema allows at a path, without `null`; empty if the schema there lists no
/// alternatives.
fn variants<'s>(schema: &'s Value, whole: &Value, path: &str) -> Vec<&'s Value> {
    let mut all = Vec::new();
    for place in places(schema, whole, path) {
        let place = resolved(schema, place);
        let listed = ["anyOf", "oneOf"].into_iter();
        let listed = listed
            .filter_map(|key| place.get(key)?.as_array())
            .flatten();
        all.extend(listed.map(|one| resolved(schema, one)));
    }
    all.retain(|one| one.get("type").is_none_or(|ty| ty != "null"));
    all
}

/// Returns the schema to which a reference leads, or the schema itself.
fn resolved<'s>(whole: &'s Value, schema: &'s Value) -> &'s Value {
    let reference = schema.get("$ref").and_then(Value::as_str);
    let target = reference.and_then(|path| whole.pointer(path.strip_prefix('#')?));
    target.unwrap_or(schema)
}

/// Returns `true` if the value looks like this variant. A variant with constants demands one of the constants. An
/// object variant demands an object with its [`tags`], or with its required fields if the variant has no tags. Any
/// other variant demands a value of its type.
fn is_of(variant: &Value, value: &Value) -> bool {
    if let Some(only) = variant.get("const") {
        return only == value;
    }
    if let Some(Value::Array(values)) = variant.get("enum") {
        return values.contains(value);
    }
    let tags = tags(variant);
    let has_tags = tags.iter().all(|(key, tag)| value.get(key) == Some(*tag));
    let has_required = required(variant).all(|key| value.get(key).is_some());
    match variant.get("type").and_then(Value::as_str) {
        Some("object") => value.is_object() && has_tags && (has_required || !tags.is_empty()),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer" | "number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        _ => false,
    }
}

fn required(variant: &Value) -> impl Iterator<Item = &str> {
    let required = variant.get("required").and_then(Value::as_array);
    required.into_iter().flatten().filter_map(Value::as_str)
}

/// Returns the fields of a variant that have a single allowed value (its tags), with that value.
fn tags(variant: &Value) -> Vec<(&String, &Value)> {
    let fields = variant.get("properties").and_then(Value::as_object);
    let fields = fields.into_iter().flatten();
    fields
        .filter_map(|(key, field)| Some((key, field.get("const")?)))
        .collect()
}

/// Returns the short form of a variant that an error shows to a model: `"Unclear"`, `{"reason": ..}`.
fn name_of(variant: &Value) -> String {
    if let Some(only) = variant.get("const") {
        return only.to_string();
    }
    if let Some(Value::Array(values)) = variant.get("enum") {
        let values: Vec<_> = values.iter().map(Value::to_string).collect();
        return values.join(", ");
    }
    let tags = tags(variant);
    let fields = required(variant).map(|key| {
        let tag = tags.iter().find(|(tag, _)| *tag == key);
        let value = tag.map_or_else(|| "..".to_owned(), |(_, value)| value.to_string());
        format!("\"{key}\": {value}")
    });
    let fields: Vec<_> = fields.collect();
    match variant.get("type").and_then(Value::as_str) {
        Some("object") | None if !fields.is_empty() => format!("{{{}}}", fields.join(", ")),
        Some(ty) => match ty {
            "object" => "an object".to_owned(),
            "array" => "a list".to_owned(),
            "string" => "a text".to_owned(),
            "integer" => "an integer".to_owned(),
            "number" => "a number".to_owned(),
            other => format!("a {other}"),
        },
        None => "another value".to_owned(),
    }
}

/// Returns the error of an answer in the words of its schema: the format that is missed, the variants if none fits, or
/// else the error as it is.
pub(crate) fn in_words_of(misfit: ReadError, schema: &Value, text: &str) -> ReadError {
    let found = missed_format(&misfit, schema, text);
    found
        .or_else(|| no_variant(&misfit, schema, text))
        .unwrap_or(misfit)
}
