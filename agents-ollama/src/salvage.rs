//! Recovers a tool call that Ollama could not parse.
//!
//! For some models, mainly gpt-oss, the server parses the calls. If the model's JSON is broken, the server answers
//! `error parsing tool call: raw='..', err=..` instead of the model's message. The client turns that error into a
//! malformed call, which the run can repair like any other. See ollama/ollama issues 11704, 12064, 12884 and 17638.

use agents_core::{
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
        name: infer_tool_name(raw, request),
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

/// Finds out which tool a quoted call is for, since the error message has no name. The tool is known if only one is
/// offered, or if only one has all its required parameters in the text. Otherwise the name is empty, and the call is
/// answered as one of an unknown tool, so that the model tries again.
fn infer_tool_name(raw: &str, request: &Request<'_>) -> String {
    let fits = |tool: &ToolSpec| {
        let required = tool.input_schema.get("required").and_then(Value::as_array);
        required.is_some_and(|list| {
            let mut names = list.iter().filter_map(Value::as_str).peekable();
            names.peek().is_some() && names.all(|name| raw.contains(&format!("\"{name}\"")))
        })
    };
    let (mut offered, mut fitting) = (Vec::new(), Vec::new());
    for tool in request.tools() {
        offered.push(tool);
        if fits(tool) {
            fitting.push(tool);
        }
    }
    match (&offered[..], &fitting[..]) {
        ([only], _) | (_, [only]) => only.name.to_string(),
        _ => String::new(),
    }
}
