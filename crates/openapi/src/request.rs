//! Requests, made of an operation and the arguments of a call.

use crate::{
    error::CallError,
    operation::{BodyKind, Operation},
    parameter::{Place, encoded, plain},
};
use agents_core::Json;
use agents_http_tool::HttpArgs;
use serde_json::Value;

/// Returns the HTTP request for a call of the operation with these arguments, at the server with this base URL.
pub(crate) fn of(
    operation: &Operation,
    base: &str,
    args: &Value,
    key: &str,
) -> Result<HttpArgs, CallError> {
    let mut path = operation.path.clone();
    let mut query = Vec::new();
    let mut request = HttpArgs::get("");
    request.method = operation.method;
    for parameter in &operation.parameters {
        let value = match args.get(&parameter.argument) {
            None | Some(Value::Null) if parameter.place != Place::Path => continue,
            value => value.unwrap_or(&Value::Null),
        };
        match parameter.place {
            Place::Path => {
                let text = parameter.in_path(value).map_err(CallError::arguments)?;
                path = path.replace(&format!("{{{}}}", parameter.name), &text);
            }
            Place::Query => parameter.in_query(value, &mut query),
            Place::Header => {
                let text = parameter.in_header(value).map_err(CallError::arguments)?;
                request.headers.insert(parameter.name.clone(), text);
            }
        }
    }
    if let Some(header) = &operation.idempotency_key {
        request.headers.insert(header.clone(), key.to_owned());
    }
    request.url = format!("{base}{path}");
    if !query.is_empty() {
        request.url.push('?');
        request.url.push_str(&query.join("&"));
    }
    if let Some(body) = &operation.body
        && let Some(value) = args.get(&body.argument)
    {
        let kind = body.media_type.clone();
        request.headers.insert("content-type".to_owned(), kind);
        request.body = match body.kind {
            // A string is sent bare, so that one of JSON is sent as its text.
            BodyKind::Json if value.is_string() => Some(Json::string(&value.to_string())),
            BodyKind::Json => Json::of(value).ok(),
            BodyKind::Form => Some(Json::string(&form(value))),
            BodyKind::Text => Some(Json::string(&plain(value))),
        };
    }
    Ok(request)
}

/// Returns an object as the body of an HTML form: `a=1&b=2`. The member `b` of an object `a` is written `a[b]=1`, and a
/// list gives a pair for each item; the members of an item that is an object are written `a[0][b]=1`. Members that are
/// `null` are left out.
fn form(value: &Value) -> String {
    let mut pairs = Vec::new();
    for (name, value) in value.as_object().into_iter().flatten() {
        add(name, value, &mut pairs);
    }
    pairs.join("&")
}

fn add(name: &str, value: &Value, pairs: &mut Vec<String>) {
    match value {
        Value::Null => {}
        Value::Object(members) => {
            for (member, value) in members {
                add(&format!("{name}[{member}]"), value, pairs);
            }
        }
        Value::Array(items) => {
            for (nth, item) in items.iter().enumerate() {
                match item {
                    Value::Object(_) => add(&format!("{name}[{nth}]"), item, pairs),
                    item => pairs.push(format!("{}={}", encoded(name), encoded(&plain(item)))),
                }
            }
        }
        value => pairs.push(format!("{}={}", encoded(name), encoded(&plain(value)))),
    }
}
