//! A call that Ollama itself could not read.
//!
//! For some models (gpt-oss above all) the server parses the call, and when the model's JSON is
//! broken answers `error parsing tool call: raw='..', err=..` instead of what was said. That is
//! not a failed request: it is a malformed call like any other, and the run knows what to do with
//! those. See ollama/ollama issues 11704, 12064, 12884 and 17638.

use agents_core::{
    model::{Request, ToolCall},
    tool::ToolSpec,
};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

/// The call within the server's complaint, if that is what it is about.
pub(crate) fn call(complaint: &str, request: &Request<'_>) -> Option<ToolCall> {
    if !request.has_tools() {
        return None;
    }
    let (_, rest) = complaint.split_once("error parsing tool call: raw='")?;
    let (raw, _) = rest.rsplit_once("', err=")?;
    if let Some((name, arguments)) = named(raw) {
        return Some(ToolCall {
            id: String::new(),
            name,
            arguments,
        });
    }
    Some(ToolCall {
        id: String::new(),
        name: whose(raw, request),
        arguments: raw.to_owned(),
    })
}

/// Some models write the name into the call; then both are known.
fn named(raw: &str) -> Option<(String, String)> {
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

/// The server drops the name. One tool is offered, or one only has all its required parameters in
/// the text: that was meant. Otherwise nobody knows, and the nameless call is answered as a call of
/// an unknown tool, so that the model tries again.
fn whose(raw: &str, request: &Request<'_>) -> String {
    let only = |tools: &mut dyn Iterator<Item = &ToolSpec>| match (tools.next(), tools.next()) {
        (Some(tool), None) => Some(tool.name.to_string()),
        _ => None,
    };
    let fits = |tool: &&ToolSpec| {
        let required = tool.input_schema.get("required").and_then(Value::as_array);
        required.is_some_and(|list| {
            let mut names = list.iter().filter_map(Value::as_str).peekable();
            names.peek().is_some() && names.all(|name| raw.contains(&format!("\"{name}\"")))
        })
    };
    only(&mut request.tools())
        .or_else(|| only(&mut request.tools().filter(fits)))
        .unwrap_or_default()
}
