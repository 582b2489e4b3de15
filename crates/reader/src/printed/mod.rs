//! Tool calls that a model printed as text.
//!
//! Local models are trained on many syntaxes. A server parses one of them, and passes on the others as text. [`read`]
//! understands all of them at once, for the declared tools (whole JSON calls of other tools are listed apart):
//!
//! ```text
//! <tool_call>{"name":"weather","arguments":{"city":"Oslo"}}</tool_call>
//! [TOOL_CALLS]weather[ARGS]{"city":"Oslo"}
//! <|tool_call_start|>[weather(city="Oslo")]<|tool_call_end|>
//! ```
//!
//! A syntax is a wrapper with a body inside. The wrappers, and all other markers, are in one table. A body is
//! recognised by its beginning. The scanner walks over the text once, and looks at each marker. If an answer depends
//! on text still to come, it is put off: streaming needs nothing else.
//!
//! JSON arguments are passed on as they were printed, damage included: the reader of arguments repairs them by the
//! schema. Other syntaxes become a JSON object, typed by the schema. A call that the end of the text cuts off inside
//! a value is no call: half an argument must not pass for the whole.

mod body;
mod call;
mod detection;
mod envelope;
mod gemma;
mod header;
mod json;
mod json_scalars;
mod named_json;
mod nested;
mod object;
mod pairs;
mod params;
mod place;
mod python;
mod scanner;
mod schema;
mod series;
mod stream;
mod syntax;
mod table;
#[cfg(test)]
mod tests;
mod text;
mod tools;
mod untagged;
mod wording;

use serde_json::Value;

use crate::Changes;

pub use self::stream::Stream;
pub use self::syntax::Syntax;

/// Declaration of a tool that the model may call; only calls of declared tools are in [`Printed::calls`].
#[derive(Clone, Copy, Debug)]
pub struct Declared<'a> {
    /// Name of the tool that may be called.
    pub name: &'a str,
    /// JSON Schema of the tool's arguments.
    pub schema: &'a Value,
}

/// A tool call that was found in the text of a model.
///
/// ```
/// use agents_reader::printed::{Declared, Syntax, read};
///
/// let schema = serde_json::json!({"type": "object", "properties": {"n": {"type": "integer"}}});
/// let tools = [Declared { name: "f", schema: &schema }];
/// let said = read("<tool_call>{\"name\": \"f\", \"arguments\": {\"n\": 1,}}</tool_call>", &tools);
/// let call = &said.calls[0];
/// assert_eq!((call.name.as_str(), call.is_valid), ("f", false));
/// // The damage is kept for the reader of the arguments.
/// assert_eq!(call.arguments, r#"{"n": 1,}"#);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrintedCall {
    /// Name of the tool that is called.
    pub name: String,
    /// Arguments as a JSON text, with the damage that the model may have made: a text for [`read`](crate::read).
    ///
    /// If the call holds more than the tool's arguments, this is the whole call, such as
    /// `{"name": "f", "arguments": {"n": 1}, "m": 2}`. Reading the whole call reports the dropped text, so nothing is
    /// lost in silence.
    pub arguments: String,
    /// `true` if `arguments` is valid JSON of the arguments, without anything else.
    pub is_valid: bool,
    /// Syntax in which the call was printed.
    pub syntax: Syntax,
    /// Changes that were made to read the call, such as a value whose end had to be inferred. They are uncertain if the
    /// text could have meant another call, or more calls than were read. The changes that the reader of the arguments
    /// makes are not among them.
    ///
    /// ```
    /// use agents_reader::printed::{Declared, read};
    ///
    /// let schema = serde_json::json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    /// let tools = [Declared { name: "f", schema: &schema }];
    /// let call = r#"{"name": "f", "arguments": {"n": 1}}"#;
    /// let both = read(&format!("{call}, {call}"), &tools);
    /// assert!(both.calls.len() == 2 && both.calls[0].changes.is_empty());
    /// // Something between the calls may be a call as well.
    /// let some = read(&format!("{call}, {{\"nome\": \"f\"}}, {call}"), &tools);
    /// assert!(some.calls[0].changes.uncertain().is_some());
    /// ```
    pub changes: Changes,
}

/// A model's text, split into content, thinking and tool calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// Text that is neither a call nor thinking nor a marker, with its white space unchanged.
    pub content: String,
    /// Text that the model printed as thinking, between its markers or up to the end of the answer; `None` if the
    /// answer has no thinking, or only empty thinking.
    pub thinking: Option<String>,
    /// Calls of declared tools, in the order in which they were printed.
    pub calls: Vec<PrintedCall>,
    /// Calls of tools that are not declared, printed as whole JSON calls in the tags that a family of models uses for
    /// calls.
    pub undeclared: Vec<PrintedCall>,
}

/// Reads a complete answer and extracts the calls of the declared tools.
///
/// Text that only looks like a call stays in `content`: a tag without a call in it, an example in a code block with
/// other text, data with a `name`. A closing tag may be missing. A fenced block that holds only calls is read as calls.
/// A whole JSON call in the tags of a family is in `undeclared` if its name is not declared.
///
/// ```
/// use agents_reader::printed::{Declared, read};
///
/// let schema = serde_json::json!({"type": "object", "properties": {"city": {"type": "string"}}});
/// let tools = [Declared { name: "weather", schema: &schema }];
/// let said = read("Let me see. <tool_call>{\"name\": \"weather\", \"arguments\": {\"city\": \"Oslo\"}}</tool_call>", &tools);
/// assert_eq!(said.content.trim(), "Let me see.");
/// assert_eq!((&*said.calls[0].name, &*said.calls[0].arguments), ("weather", r#"{"city": "Oslo"}"#));
/// ```
pub fn read(text: &str, tools: &[Declared<'_>]) -> Printed {
    if !table::SIGNS.iter().any(|sign| text.contains(sign)) {
        return Printed {
            content: text.to_owned(),
            ..Printed::default()
        };
    }
    let mut scanner = scanner::Scanner::new(tools);
    scanner.finish(text);
    scanner.into_printed()
}
