//! Recovers a tool call that Ollama could not parse.
//!
//! For some models, mainly gpt-oss, the server parses the calls. If the model's JSON is broken, the server answers
//! `error parsing tool call: raw='..', err=..` instead of the model's message. The client turns that error into a
//! malformed call, which the run can repair like any other. See ollama/ollama issues 11704, 12064, 12884 and 17638.

use agents_core::{
    Effects,
    model::{Request, ToolCall},
    tool::ToolSpec,
};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

/// Returns the call of a tool that the server quotes in its error message, since it could not parse the call; `None` if
/// the message quotes no call, or if the request has no tools.
pub(crate) fn call(complaint: &str, request: &Request<'_>) -> Option<ToolCall> {
    if !request.has_tools() {
        return None;
    }
    let (_, rest) = complaint.split_once("error parsing tool call: raw='")?;
    let (raw, _) = rest.rsplit_once("', err=")?;
    if let Some((name, arguments)) = read_named_call(raw) {
        return Some(ToolCall {
            id: String::new(),
            name,
            arguments,
        });
    }
    Some(ToolCall {
        id: String::new(),
        name: guessed_tool(raw, request),
        arguments: raw.to_owned(),
    })
}

/// Reads a quoted call whose text names its tool, as some models write it: the name and the arguments.
fn read_named_call(raw: &str) -> Option<(String, String)> {
    #[derive(Deserialize)]
    struct Named<'a> {
        name: String,
        #[serde(borrow, alias = "parameters")]
        arguments: &'a RawValue,
    }
    let mut documents = serde_json::Deserializer::from_str(raw).into_iter::<Named<'_>>();
    let Named { name, arguments } = documents.next()?.ok()?;
    Some((name, arguments.get().to_owned()))
}

/// Guesses which tool a quoted call is for, since the error message has no name: the only one that fits the text. A tool
/// fits if the text has all its required parameters and, if it requires none, any other one or no name of a field.
///
/// A guess is no ground for an effect: if the tool writes, the name is empty, as it is if none or several fit. The call
/// is then answered as one of an unknown tool, so that the model tries again.
fn guessed_tool(raw: &str, request: &Request<'_>) -> String {
    let has = |name: &str| raw.contains(&format!("\"{name}\""));
    let fits = |tool: &&ToolSpec| {
        let schema = &tool.input_schema;
        let required = schema.get("required").and_then(Value::as_array);
        let mut required = required
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .peekable();
        let properties = schema.get("properties").and_then(Value::as_object);
        match required.peek() {
            Some(_) => required.all(has),
            None => {
                let mut names = properties.into_iter().flat_map(|all| all.keys());
                !raw.contains('"') || names.any(|name| has(name))
            }
        }
    };
    let mut offered = request.tools().peekable();
    let is_only = offered.peek().is_some() && request.tools().nth(1).is_none();
    let mut fitting = offered.filter(|tool| is_only || fits(tool));
    match (fitting.next(), fitting.next()) {
        (Some(tool), None) if tool.effects != Effects::Writes => tool.name.to_string(),
        _ => String::new(),
    }
}
