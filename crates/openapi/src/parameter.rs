//! Parameters of an operation, and how their values are written.

use crate::{document::Document, error::Fault, schema::Schemas, wording};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};

/// Characters that are percent-encoded in a path or a query.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Parameter of an operation: a value in the path, the query or a header of its requests.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    /// Name by which the server knows the parameter.
    pub(crate) name: String,
    /// Name of the argument that holds the parameter's value.
    pub(crate) argument: String,
    pub(crate) place: Place,
    pub(crate) is_required: bool,
    style: Style,
}

/// Part of a request in which a parameter is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Path,
    Query,
    Header,
}

/// Form in which a parameter writes a list or an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// Repeats the name for each item of a list, as in `a=1&a=2`, and gives each member of an object its own name, as
    /// in `b=1&c=2`. That is so in a query alone; elsewhere, the values are joined as in `1,2`.
    Exploded,
    /// Joins the values, as in `1,2`, by this separator.
    Joined(&'static str),
    /// Names the members in brackets, as in `a[b]=1`.
    Deep,
    /// Writes the value as JSON.
    Json,
}

impl Parameter {
    /// Reads a parameter, and returns it with its schema; `None` if the parameter is not sent: a cookie that may be
    /// left out, or a header that the request has anyway.
    pub(crate) fn read(
        document: &Document,
        schemas: &mut Schemas<'_>,
        value: &Value,
    ) -> Result<Option<(Self, Value)>, Fault> {
        let at = |what: String| ("parameters".to_owned(), what);
        let map = document.object(value, "parameters").map_err(at)?;
        let name = map.get("name").and_then(Value::as_str);
        let name = name.ok_or_else(|| at(wording::NO_NAME.to_owned()))?;
        let at = |what: String| (format!("parameters.{name}"), what);
        let is_required = map.get("required") == Some(&Value::Bool(true));
        let place = match map.get("in").and_then(Value::as_str) {
            Some("path") => Place::Path,
            Some("query") => Place::Query,
            Some("header") => Place::Header,
            Some("cookie") if is_required => return Err(at(wording::COOKIE_NEEDED.to_owned())),
            Some("cookie") => return Ok(None),
            _ => return Err(at(wording::UNKNOWN_PLACE.to_owned())),
        };
        let lower = name.to_ascii_lowercase();
        if place == Place::Header
            && [
                "accept",
                "content-type",
                "authorization",
                "host",
                "content-length",
                "cookie",
            ]
            .contains(&&*lower)
        {
            return Ok(None);
        }
        let content = map.get("content").and_then(Value::as_object);
        let (schema, style) = match (map.get("schema"), content) {
            (Some(schema), _) => (schema, style(map, place)),
            (None, Some(content)) => {
                let schema = content.values().next().and_then(|kind| kind.get("schema"));
                (schema.unwrap_or(&Value::Bool(true)), Style::Json)
            }
            (None, None) => return Err(at(wording::NO_SCHEMA.to_owned())),
        };
        let mut schema = schemas.inline(schema).map_err(at)?;
        if let (Some(said), Some(schema)) = (map.get("description"), schema.as_object_mut()) {
            schema.insert("description".to_owned(), said.clone());
        }
        let parameter = Parameter {
            name: name.to_owned(),
            argument: name.to_owned(),
            place,
            is_required: is_required || place == Place::Path,
            style,
        };
        Ok(Some((parameter, schema)))
    }

    /// Returns the value as the text of a parameter in the path, percent-encoded.
    pub(crate) fn in_path(&self, value: &Value) -> Result<String, String> {
        let text = self.joined(value);
        match text.as_str() {
            "" | "." | ".." => Err(wording::unsafe_path(&self.argument)),
            text => Ok(encoded(text)),
        }
    }

    /// Returns the value as the text of a header.
    pub(crate) fn in_header(&self, value: &Value) -> Result<String, String> {
        let text = self.joined(value);
        match text.chars().any(char::is_control) {
            true => Err(wording::not_a_header(&self.argument)),
            false => Ok(text),
        }
    }

    /// Adds the value to the parts of a query, each of the form `name=value`.
    pub(crate) fn in_query(&self, value: &Value, query: &mut Vec<String>) {
        let mut add =
            |name: &str, value: &str| query.push(format!("{}={}", encoded(name), encoded(value)));
        match (value, self.style) {
            (Value::Array(items), Style::Exploded) => {
                for item in items {
                    add(&self.name, &plain(item));
                }
            }
            (Value::Object(members), Style::Exploded) => {
                for (name, value) in members {
                    add(name, &plain(value));
                }
            }
            (Value::Object(members), Style::Deep) => {
                for (name, value) in members {
                    add(&format!("{}[{name}]", self.name), &plain(value));
                }
            }
            (value, _) => add(&self.name, &self.joined(value)),
        }
    }

    fn joined(&self, value: &Value) -> String {
        let separator = match self.style {
            Style::Joined(separator) => separator,
            Style::Exploded | Style::Deep => ",",
            Style::Json => return value.to_string(),
        };
        match value {
            Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(separator),
            Value::Object(members) => {
                let members = members
                    .iter()
                    .map(|(name, value)| format!("{name}{separator}{}", plain(value)));
                members.collect::<Vec<_>>().join(separator)
            }
            value => plain(value),
        }
    }
}

fn style(map: &Map<String, Value>, place: Place) -> Style {
    let named = map.get("style").and_then(Value::as_str).unwrap_or_default();
    let explode = map.get("explode").and_then(Value::as_bool);
    match named {
        "deepObject" => Style::Deep,
        "spaceDelimited" => Style::Joined(" "),
        "pipeDelimited" => Style::Joined("|"),
        _ if place == Place::Query && explode.unwrap_or(true) => Style::Exploded,
        _ => Style::Joined(","),
    }
}

/// Returns a value as the text in a request: a string without its quotes, any other value as JSON.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

pub(crate) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}
