//! Operations of a document, as far as a tool needs them.

use crate::{
    document::Document,
    error::Fault,
    parameter::{Parameter, Place},
    schema::Schemas,
    security, wording,
};
use agents_http_tool::Method;
use serde_json::{Map, Value, json};

/// Largest schema of a tool's arguments that is shown to a model, in bytes.
const LARGEST_SCHEMA: usize = 64 << 10;

/// Longest description of a tool that is shown to a model, in characters.
const LONGEST_DESCRIPTION: usize = 1_000;

/// Longest name of a tool that every provider of models takes.
const LONGEST_NAME: usize = 64;

/// HTTP methods of operations that can be tools, with their keys in the document.
const METHODS: [(&str, Method); 6] = [
    ("get", Method::Get),
    ("head", Method::Head),
    ("post", Method::Post),
    ("put", Method::Put),
    ("patch", Method::Patch),
    ("delete", Method::Delete),
];

/// Headers that hold an idempotency key, by which a server recognises a repeated request.
const IDEMPOTENCY_KEYS: [&str; 2] = ["idempotency-key", "x-idempotency-key"];

/// Media types of bodies: JSON, unless the document names a different JSON type; forms; and plain text.
const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";
const TEXT: &str = "text/plain; charset=utf-8";

/// Operation of an OpenAPI document that can be a tool.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    /// Name of the tool that the operation becomes.
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) body: Option<Body>,
    /// JSON Schema of the arguments of the tool.
    pub(crate) schema: Value,
    /// Name of the header for an idempotency key; `None` if the operation takes none.
    pub(crate) idempotency_key: Option<String>,
    /// Alternative sets of security schemes, by name: a call needs the secrets of one of the sets.
    pub(crate) security: Vec<Vec<String>>,
}

/// Body of an operation's requests, as the document describes it.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    /// Name of the tool's argument that holds the body.
    pub(crate) argument: String,
    pub(crate) kind: BodyKind,
    /// Media type with which the body is sent.
    pub(crate) media_type: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyKind {
    Json,
    Form,
    Text,
}

/// Kind of a body, its media type and its schema, and whether it has to be given.
type ReadBody = (BodyKind, String, Value, bool);

/// Operation that cannot be a tool: its name, the field, and what is wrong there.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) operation: String,
    pub(crate) text: String,
}

/// Returns the operations of the document, path by path.
pub(crate) fn all(document: &Document) -> Vec<Result<Operation, Problem>> {
    let mut found = Vec::new();
    for (path, item) in document.paths() {
        let item = match document.resolve(item) {
            Ok(item) => item,
            Err(what) => {
                let text = wording::unfit(path, "paths", &what);
                found.push(Err(Problem {
                    operation: path.clone(),
                    text,
                }));
                continue;
            }
        };
        for (key, method) in METHODS {
            if let Some(operation) = item.get(key) {
                found.push(one(document, path, item, method, operation));
            }
        }
    }
    found
}

fn one(
    document: &Document,
    path: &str,
    item: &Value,
    method: Method,
    operation: &Value,
) -> Result<Operation, Problem> {
    // An id may have no character that every model can write.
    let id = operation["operationId"].as_str().map(written);
    let id = id.filter(|id| !id.is_empty());
    let name =
        id.unwrap_or_else(|| written(&format!("{}{path}", method.to_string().to_lowercase())));
    let read = |keeps_all| read(document, path, item, method, operation, &name, keeps_all);
    let made = match read(false) {
        Ok(Some(operation)) => Ok(operation),
        // There are many schemas: each is shown once.
        Ok(None) => read(true).map(|operation| operation.expect("all references are kept")),
        Err(problem) => Err(problem),
    };
    made.map_err(|(place, what)| Problem {
        text: wording::unfit(&name, &place, &what),
        operation: name.clone(),
    })
}

/// Reads an operation. The result is `None` if its schemas are too many to write each in its place, so that it is read
/// again with references.
fn read(
    document: &Document,
    path: &str,
    item: &Value,
    method: Method,
    operation: &Value,
    name: &str,
    keeps_all: bool,
) -> Result<Option<Operation>, Fault> {
    let mut schemas = Schemas::new(document, keeps_all);
    let (mut parameters, mut properties, mut required) =
        (Vec::<Parameter>::new(), Map::new(), Vec::new());
    let mut idempotency_key = None;
    // What an operation says of a parameter goes before what its path says.
    let own = list(operation, "parameters");
    for (nth, value) in own.iter().chain(&list(item, "parameters")).enumerate() {
        let Some((mut parameter, schema)) = Parameter::read(document, &mut schemas, value)? else {
            continue;
        };
        let is_same = |one: &Parameter| one.name == parameter.name && one.place == parameter.place;
        if nth >= own.len() && parameters.iter().any(is_same) {
            continue;
        }
        if parameter.place == Place::Header
            && IDEMPOTENCY_KEYS.contains(&&*parameter.name.to_ascii_lowercase())
        {
            idempotency_key = Some(parameter.name);
            continue;
        }
        if properties.contains_key(&parameter.argument) {
            parameter.argument = format!("{}_{:?}", parameter.name, parameter.place).to_lowercase();
        }
        if parameter.is_required {
            required.push(Value::from(parameter.argument.as_str()));
        }
        properties.insert(parameter.argument.clone(), schema);
        parameters.push(parameter);
    }
    check_path(path, &parameters)?;
    let body = match operation.get("requestBody") {
        Some(body) => body_of(document, &mut schemas, body)?,
        None => None,
    };
    let body = body.map(|(kind, media_type, schema, is_required)| {
        let argument = match properties.contains_key("body") {
            true => "request_body",
            false => "body",
        };
        if is_required {
            required.push(Value::from(argument));
        }
        properties.insert(argument.to_owned(), schema);
        Body {
            argument: argument.to_owned(),
            kind,
            media_type,
        }
    });
    let mut schema =
        json!({"type": "object", "properties": properties, "additionalProperties": false});
    if !required.is_empty() {
        schema["required"] = Value::Array(required);
    }
    let definitions = schemas
        .definitions()
        .map_err(|what| ("$ref".to_owned(), what))?;
    if schemas.is_many() {
        return Ok(None);
    }
    if !definitions.is_empty() {
        schema["$defs"] = Value::Object(definitions);
    }
    let size = schema.to_string().len();
    if size > LARGEST_SCHEMA {
        if !keeps_all {
            return Ok(None);
        }
        return Err((
            "requestBody".to_owned(),
            wording::too_large(size, LARGEST_SCHEMA),
        ));
    }
    Ok(Some(Operation {
        name: name.to_owned(),
        description: description(operation, method, path),
        method,
        path: path.to_owned(),
        parameters,
        body,
        schema,
        idempotency_key,
        security: security::alternatives(document, operation),
    }))
}

fn list(value: &Value, key: &str) -> Vec<Value> {
    value[key].as_array().cloned().unwrap_or_default()
}

fn check_path(path: &str, parameters: &[Parameter]) -> Result<(), Fault> {
    let mut named: Vec<&str> = Vec::new();
    let mut rest = path;
    while let Some((_, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').unwrap_or((after, ""));
        named.push(name);
        rest = after;
    }
    let declared = || parameters.iter().filter(|one| one.place == Place::Path);
    let at = |name: &str, what: &str| Err((format!("parameters.{name}"), what.to_owned()));
    for name in &named {
        if !declared().any(|one| one.name == *name) {
            return at(name, wording::PATH_NOT_DECLARED);
        }
    }
    match declared().find(|one| !named.contains(&one.name.as_str())) {
        Some(parameter) => at(&parameter.name, wording::PATH_NOT_NAMED),
        None => Ok(()),
    }
}

/// Reads the description of an operation's body; `None` if its requests have none, or leave out an optional one that
/// cannot be sent.
fn body_of(
    document: &Document,
    schemas: &mut Schemas<'_>,
    body: &Value,
) -> Result<Option<ReadBody>, Fault> {
    let at = |what: String| ("requestBody".to_owned(), what);
    let body = document.object(body, "requestBody").map_err(at)?;
    let Some(content) = body
        .get("content")
        .and_then(Value::as_object)
        .filter(|content| !content.is_empty())
    else {
        return Ok(None);
    };
    let of_kind = |fits: fn(&str) -> bool| {
        let mut content = content.iter();
        content.find(|(kind, _)| fits(kind.split(';').next().unwrap_or_default().trim()))
    };
    let json = of_kind(|kind| kind == JSON)
        .or_else(|| of_kind(|kind| kind.ends_with("+json") || kind == "*/*"));
    let form = of_kind(|kind| kind == FORM);
    let text = of_kind(|kind| kind == "text/plain");
    let is_required = body.get("required") == Some(&Value::Bool(true));
    let (kind, media_type, media) = match (json, form, text) {
        // A range of types is none that can be sent.
        (Some((name, media)), ..) if name.contains('*') => (BodyKind::Json, JSON, media),
        (Some((name, media)), ..) => (BodyKind::Json, name.as_str(), media),
        (_, Some((_, media)), _) => (BodyKind::Form, FORM, media),
        (_, _, Some((_, media))) => (BodyKind::Text, TEXT, media),
        // A body that may be left out is left out.
        _ if !is_required => return Ok(None),
        _ => {
            return Err(at(wording::media_types(
                &content.keys().collect::<Vec<_>>(),
            )));
        }
    };
    let schema = match media.get("schema") {
        Some(schema) => schemas.inline(schema).map_err(at)?,
        None => json!({}),
    };
    Ok(Some((kind, media_type.to_owned(), schema, is_required)))
}

fn description(operation: &Value, method: Method, path: &str) -> String {
    let said = |key: &str| {
        operation[key]
            .as_str()
            .unwrap_or_default()
            .trim()
            .to_owned()
    };
    let (summary, details) = (said("summary"), said("description"));
    let mut text = match (summary.as_str(), details.as_str()) {
        ("", "") => format!("{method} {path}"),
        (summary, "") => summary.to_owned(),
        ("", details) => details.to_owned(),
        (summary, details) if details.starts_with(summary) => details.to_owned(),
        (summary, details) => format!("{summary}\n{details}"),
    };
    if operation["deprecated"] == true {
        text.insert_str(0, "Deprecated. ");
    }
    match text.char_indices().nth(LONGEST_DESCRIPTION) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Returns the text with `_` in place of characters that models cannot write in a tool's name: one `_` for several in a
/// row, and none at the beginning or the end. A name of more than 64 characters is cut, and ends with `_` and a mark
/// that tells it from others.
pub(crate) fn written(text: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || c == '-' {
            c
        } else {
            '_'
        }
    };
    let mut name: String = text.chars().map(plain).collect();
    while name.contains("__") {
        name = name.replace("__", "_");
    }
    let name = name.trim_matches('_');
    if name.len() <= LONGEST_NAME {
        return name.to_owned();
    }
    // Two long names that begin alike stay apart.
    let mark = name.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    let cut = name[..LONGEST_NAME - 9].trim_end_matches('_');
    format!("{cut}_{mark:08x}")
}

#[cfg(test)]
mod tests {
    use super::written;

    #[test]
    fn every_model_can_write_the_name_of_a_tool() {
        assert_eq!(written("pets/list.all"), "pets_list_all");
        assert_eq!(written("get/pets/{id}"), "get_pets_id");
        let (one, other) = (written(&"a".repeat(70)), written(&"a".repeat(71)));
        assert_eq!((one.len(), other.len()), (64, 64));
        assert_ne!(one, other);
        let cut = written(&format!("{}/{}", "a".repeat(54), "b".repeat(20)));
        assert_eq!((cut.len(), cut.contains("__")), (63, false), "{cut}");
    }
}
