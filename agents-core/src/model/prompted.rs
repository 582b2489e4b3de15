//! Tools for a model that has no template for them: by prompt, and by example.
//!
//! The system prompt gets [`instructions`], a few [`examples`] stand before the first message, and calls and
//! results become [`plain`] text. The model's reply is text too; the run finds the calls in it as it does for
//! every model that prints them.
//!
//! The reason for examples: a model of 135M parameters that had only read instructions never called in our trials.
//! With two worked examples for each tool in the history it did. Calls in `<tool_call>` tags led to calls in a
//! third of the turns, and bare JSON in two thirds. Examples without a result made it call for ever, and examples
//! with results only made it chat. One round of each, and results that say whose turn it is, led to calls and
//! answers.
//!
//! A model that cannot keep to a format at all can be held to it by a grammar. [`constrained`] is the schema of "a
//! call or an answer", and [`read_constrained`] reads such a reply.

mod constrained;
mod example;
mod single_call;

pub use constrained::{Constrained, answer_text, constrained, read_constrained};
pub(crate) use single_call::may_be_call;
pub use single_call::read_call;

use super::{Message, ToolCall};
use crate::tool::ToolSpec;
use serde_json::{Map, Value, value::RawValue};
use std::{borrow::Cow, fmt::Write};

/// Number of tools from which on each tool has one worked example instead of two, to keep the prompt short.
const MANY_TOOLS: usize = 5;

/// Returns the text to append to the system prompt of a model without tool support: every tool with its parameters and
/// an example, and how to call it. A tool by which a model gives up has only a sentence with its call.
///
/// ```
/// # use agents_core as agents;
/// use agents::{Effects, model::prompted::instructions, tool::ToolSpec};
/// use serde_json::json;
///
/// let tool = ToolSpec::new("read_file", "Read a file's contents.", Effects::Reads, json!({
///     "type": "object",
///     "properties": { "path": { "type": "string", "description": "Path, relative to the workspace." } },
///     "required": ["path"],
/// }))
/// .example(json!({ "path": "docs/notes.txt" }));
/// assert_eq!(instructions([&tool]), r#"## read_file
/// Read a file's contents.
/// - path (string): Path, relative to the workspace.
/// Example: {"name": "read_file", "arguments": {"path":"docs/notes.txt"}}
///
/// To use a tool, answer with its call and nothing else. You will be given its result. When you have what you need, answer in plain words."#);
/// ```
pub fn instructions<'a>(tools: impl IntoIterator<Item = &'a ToolSpec>) -> String {
    let (ways_out, tools): (Vec<_>, Vec<_>) = tools.into_iter().partition(|tool| tool.last_resort);
    let mut out = String::new();
    for tool in &tools {
        // Writing into a string cannot fail.
        let _ = writeln!(out, "## {}\n{}", tool.name, tool.description.trim());
        for line in parameters(&tool.input_schema) {
            let _ = writeln!(out, "- {line}");
        }
        let _ = writeln!(
            out,
            "Example: {}\n",
            spelled(&tool.name, &worked(tool, 0).to_string())
        );
    }
    if !tools.is_empty() {
        out.push_str(
            "To use a tool, answer with its call and nothing else. You will be given its result. \
             When you have what you need, answer in plain words.",
        );
    }
    for tool in ways_out {
        let gap = if out.is_empty() { "" } else { "\n\n" };
        let call = spelled(&tool.name, "{\"reason\": \"...\"}");
        let _ = write!(
            out,
            "{gap}{} For that, and for nothing else, answer with {call}",
            tool.description.trim()
        );
    }
    out
}

/// Returns `true` if at least one of the tools does work, other than giving up.
///
/// The tools by which a model gives up, such as those of a repair agent, do no work. A model that has no other tools
/// should not be constrained to "a call or an answer": giving up would then be one of only two things that it can say.
///
/// ```
/// # use agents_core as agents;
/// use agents::{Effects, model::prompted::any_work, tool::ToolSpec};
/// use serde_json::json;
///
/// let now = ToolSpec::new("now", "The time.", Effects::Reads, json!({ "type": "object" }));
/// assert!(any_work([&now]) && !any_work([]));
/// ```
pub fn any_work<'a>(tools: impl IntoIterator<Item = &'a ToolSpec>) -> bool {
    tools.into_iter().any(|tool| !tool.last_resort)
}

/// Returns worked examples as earlier turns of the conversation: for each tool a request, the call
/// that answers it, the result of the call and the reply. Tools that only let a model give up have no examples.
///
/// If there are fewer than 5 tools, one more request and its call follow for each tool, without a result. The real
/// request comes next, so that the model answers it with a call too. Without a result among the examples a small model
/// never stops calling; with results only, the model never begins.
///
/// ```
/// # use agents_core as agents;
/// use agents::{Effects, model::prompted::{examples, plain}, tool::ToolSpec};
///
/// let schema = serde_json::json!({"type": "object", "properties": {"city": {"type": "string"}}});
/// let weather = ToolSpec::new("weather", "The weather in a city.", Effects::Reads, schema)
///     .example(serde_json::json!({"city": "Oslo"}));
/// // What stands between the system prompt and the first real message.
/// let turns = examples([&weather]);
/// let roles: Vec<_> = turns.iter().map(|turn| plain(turn).0).collect();
/// assert_eq!(roles[..4], ["user", "assistant", "user", "assistant"]);
/// assert_eq!(plain(&turns[1]).1, r#"{"name": "weather", "arguments": {"city":"Oslo"}}"#);
/// ```
pub fn examples<'a>(tools: impl IntoIterator<Item = &'a ToolSpec>) -> Vec<Message> {
    // A model that is shown how to give up gives up.
    let tools: Vec<_> = tools.into_iter().filter(|tool| !tool.last_resort).collect();
    let mut turns = Vec::new();
    for tool in &tools {
        let result = result(tool, &worked(tool, 0));
        called(tool, 0, &mut turns);
        turns.push(Message::User {
            content: result_text(&tool.name, &result).into(),
        });
        let content = format!("The result is {result}");
        turns.push(Message::Assistant {
            content,
            thinking: None,
            calls: Vec::new(),
        });
    }
    if tools.len() < MANY_TOOLS {
        tools.iter().for_each(|tool| called(tool, 1, &mut turns));
    }
    turns
}

/// Adds an invented request and the call that answers it to the worked examples.
fn called(tool: &ToolSpec, number: usize, turns: &mut Vec<Message>) {
    let arguments = worked(tool, number);
    turns.push(Message::User {
        content: wish(tool, &arguments).into(),
    });
    let call = ToolCall {
        id: String::new(),
        name: tool.name.to_string(),
        arguments: arguments.to_string(),
    };
    turns.push(Message::Assistant {
        content: String::new(),
        thinking: None,
        calls: vec![call],
    });
}

/// Returns a possible result of the tool for an example, as text that differs from the arguments.
fn result(tool: &ToolSpec, arguments: &Value) -> String {
    let Some(schema) = &tool.output_schema else {
        return "done".to_owned();
    };
    if example::is_any_text(schema) {
        let mut given = arguments.as_object().into_iter().flat_map(Map::values);
        return match given.find(|value| value.is_string() || value.is_number()) {
            Some(Value::String(of)) => format!("text about {of}"),
            Some(of) => format!("text about {of}"),
            None => "some text".to_owned(),
        };
    }
    match example::nth_example_of(schema, 1) {
        Value::String(text) => text,
        Value::Null => "done".to_owned(),
        value => value.to_string(),
    }
}

/// Converts a message for a model without tool support into a role and a text; images and files are left out.
///
/// ```
/// # use agents_core as agents;
/// use agents::model::{Message, prompted::plain};
///
/// let result = Message::Tool { tool_call_id: "1".into(), name: "weather".into(), content: "sunny".into() };
/// assert_eq!(plain(&result), ("user", "Result of weather: sunny\nAnswer now, or call again.".into()));
/// ```
pub fn plain(message: &Message) -> (&'static str, Cow<'_, str>) {
    match message {
        Message::System { content } => ("system", content.into()),
        Message::User { content } => ("user", content.text.as_str().into()),
        Message::Assistant { content, calls, .. } => ("assistant", with_calls(content, calls)),
        Message::Tool { name, content, .. } => ("user", result_text(name, content).into()),
    }
}

/// Formats a text followed by tool calls, each on a line of its own.
///
/// ```
/// # use agents_core as agents;
/// use agents::model::{ToolCall, prompted::with_calls};
///
/// let call = ToolCall { id: "1".into(), name: "weather".into(), arguments: r#"{"city": "Rome"}"#.into() };
/// let text = "Let me look.\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Rome\"}}";
/// assert_eq!(with_calls("Let me look.", &[call]), text);
/// ```
pub fn with_calls<'a>(content: &'a str, calls: &[ToolCall]) -> Cow<'a, str> {
    let mut text = Cow::Borrowed(content);
    for call in calls {
        let text = text.to_mut();
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&call_text(call));
    }
    text
}

/// Formats a tool call as text; arguments that are not JSON are kept as the model wrote them, and blank ones become an
/// empty string.
pub(crate) fn call_text(call: &ToolCall) -> String {
    match call.arguments.trim() {
        "" => spelled(&call.name, "\"\""),
        arguments => spelled(&call.name, arguments),
    }
}

/// Formats a tool result as text that names the tool, and asks the model to answer or to call again.
///
/// The text of a failure asks for nothing, because a small model would repeat the failure as its answer.
pub(crate) fn result_text(name: &str, content: &str) -> String {
    let then = if content.starts_with("ERROR ") {
        ""
    } else {
        "\nAnswer now, or call again."
    };
    format!("Result of {name}: {content}{then}")
}

/// Returns `true` if the text `arguments` is a single JSON object.
///
/// ```
/// # use agents_core as agents;
/// use agents::model::prompted::is_object;
///
/// assert!(is_object(r#" {"city": "Rome"}"#));
/// assert!(!is_object(r#"{"city": "Rome"} {}"#)); // two of them
/// assert!(!is_object(r#"{"city": "Rome""#));
/// ```
pub fn is_object(arguments: &str) -> bool {
    arguments.trim_start().starts_with('{') && serde_json::from_str::<&RawValue>(arguments).is_ok()
}

fn spelled(name: &str, arguments: &str) -> String {
    format!(
        "{{\"name\": {}, \"arguments\": {arguments}}}",
        Value::from(name)
    )
}

/// Returns the tool's own example of this number, or else arguments made from its schema.
fn worked(tool: &ToolSpec, number: usize) -> Cow<'_, Value> {
    match tool.examples.get(number) {
        Some(example) => Cow::Borrowed(example),
        None => Cow::Owned(example::nth_example_of(&tool.input_schema, number)),
    }
}

/// Returns a request in words that this call would answer, for a worked example.
fn wish(tool: &ToolSpec, arguments: &Value) -> String {
    let mut text = first_line(&tool.description).to_owned();
    for (index, (name, value)) in arguments.as_object().into_iter().flatten().enumerate() {
        let between = if index == 0 { " " } else { ", " };
        let _ = match value {
            Value::String(value) => write!(text, "{between}{name} {value}"),
            value => write!(text, "{between}{name} {value}"),
        };
    }
    text
}

/// Returns a line `name (type): description` for each parameter of a tool; `optional` stands behind the type of one
/// that is not required.
fn parameters(schema: &Value) -> Vec<String> {
    let required = |name: &str| {
        let list = schema.get("required").and_then(Value::as_array);
        list.is_some_and(|list| list.iter().any(|entry| entry == name))
    };
    let properties = schema.get("properties").and_then(Value::as_object);
    let line = |(name, property): (&String, &Value)| {
        let mut line = format!("{name} ({}", kind(example::resolve(schema, property)));
        if !required(name) {
            line += ", optional";
        }
        line.push(')');
        if let Some(text) = property.get("description").and_then(Value::as_str) {
            line += ": ";
            line += first_line(text);
        }
        line
    };
    properties.into_iter().flatten().map(line).collect()
}

/// Returns a parameter's schema in a few words: its type, or its choices.
fn kind(schema: &Value) -> String {
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        let each: Vec<_> = choices
            .iter()
            .map(|choice| {
                choice
                    .as_str()
                    .map_or_else(|| choice.to_string(), str::to_owned)
            })
            .collect();
        return each.join(" | ");
    }
    match schema.get("type") {
        Some(Value::String(name)) if name == "array" => match schema.get("items") {
            Some(items) => format!("list of {}", kind(items)),
            None => "list".to_owned(),
        },
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => {
            let each: Vec<_> = names
                .iter()
                .filter_map(Value::as_str)
                .filter(|name| *name != "null")
                .collect();
            each.join(" | ")
        }
        _ => "value".to_owned(),
    }
}

fn first_line(text: &str) -> &str {
    text.trim().lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests;
