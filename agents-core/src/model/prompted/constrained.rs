use crate::{model::ToolCall, tool::ToolSpec};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use std::borrow::Cow;

/// Reply of a model that was constrained to the grammar of [`constrained`].
///
/// ```
/// # use agents_core as agents;
/// use agents::model::prompted::{Constrained, read_constrained};
///
/// let said = |text| read_constrained(text).unwrap();
/// assert_eq!(said(r#"{"answer": "It is noon."}"#), Constrained::Answer("It is noon.".into()));
/// assert!(matches!(said(r#"{"name": "now", "arguments": {}}"#), Constrained::Call(call) if call.name == "now"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Constrained {
    /// The model calls this tool.
    Call(ToolCall),
    /// The model gives its answer: text, or JSON if the answer had to follow a schema.
    Answer(String),
}

/// Returns the JSON Schema of a reply that is either one tool call or an answer.
///
/// The reply is `{"name": .., "arguments": {..}}` or `{"answer": ..}`. `answer` is the schema of the answer; if it is
/// `None`, the answer is a string. If no tool [does work](super::any_work), the model should not be constrained.
///
/// The schema is text because the order of its keys counts. A grammar makes the model write the keys in the order
/// of the schema. The model thus has to choose the tool before it fills in the arguments.
///
/// ```
/// # use agents_core as agents;
/// use agents::{Effects, model::prompted::constrained, tool::ToolSpec};
/// use serde_json::json;
///
/// let now = ToolSpec::new("now", "The time.", Effects::Reads, json!({ "type": "object" }));
/// assert_eq!(constrained([&now], None), concat!(
///     r#"{"oneOf":[{"type":"object","properties":{"answer":{"type":"string"}},"required":["answer"],"#,
///     r#""additionalProperties":false},"#,
///     r#"{"type":"object","properties":{"name":{"const":"now"},"arguments":{"type":"object"}},"#,
///     r#""required":["name","arguments"],"additionalProperties":false}]}"#,
/// ));
/// ```
pub fn constrained<'a>(
    tools: impl IntoIterator<Item = &'a ToolSpec>,
    answer: Option<&Value>,
) -> String {
    let mut shared = Vec::new();
    let answer = match answer {
        Some(schema) => embed(schema, "answer.", &mut shared),
        None => json!({ "type": "string" }),
    };
    let mut choices = vec![format!(
        "{{\"type\":\"object\",\"properties\":{{\"answer\":{answer}}},\"required\":[\"answer\"],\
         \"additionalProperties\":false}}"
    )];
    for (index, tool) in tools.into_iter().enumerate() {
        let arguments = embed(&tool.input_schema, &format!("t{index}."), &mut shared);
        let name = Value::from(&*tool.name);
        choices.push(format!(
            "{{\"type\":\"object\",\"properties\":{{\"name\":{{\"const\":{name}}},\"arguments\":{arguments}}},\
             \"required\":[\"name\",\"arguments\"],\"additionalProperties\":false}}"
        ));
    }
    let choices = choices.join(",");
    if shared.is_empty() {
        return format!("{{\"oneOf\":[{choices}]}}");
    }
    let shared: Vec<_> = shared
        .iter()
        .map(|(name, schema)| format!("{}:{schema}", Value::from(&**name)))
        .collect();
    format!(
        "{{\"oneOf\":[{choices}],\"$defs\":{{{}}}}}",
        shared.join(",")
    )
}

/// Moves a schema's definitions to `shared`, which stands at the root of the new schema, because references are
/// resolved from the root. The prefix keeps the names of different tools apart.
fn embed(schema: &Value, prefix: &str, shared: &mut Vec<(String, Value)>) -> Value {
    let mut schema = schema.clone();
    for key in ["definitions", "$defs"] {
        let taken = schema.as_object_mut().and_then(|object| object.remove(key));
        let Some(Value::Object(definitions)) = taken else {
            continue;
        };
        for (name, mut definition) in definitions {
            redirect(&mut definition, prefix);
            shared.push((format!("{prefix}{name}"), definition));
        }
    }
    redirect(&mut schema, prefix);
    schema
}

/// Redirects every reference from `#/definitions/X` to `#/$defs/{prefix}X`.
fn redirect(schema: &mut Value, prefix: &str) {
    let mut left = vec![schema];
    while let Some(at) = left.pop() {
        match at {
            Value::Object(object) => {
                if let Some(Value::String(path)) = object.get_mut("$ref") {
                    let name = ["#/definitions/", "#/$defs/"]
                        .iter()
                        .find_map(|start| path.strip_prefix(start));
                    if let Some(name) = name {
                        *path = format!("#/$defs/{prefix}{name}");
                    }
                }
                left.extend(object.values_mut());
            }
            Value::Array(items) => left.extend(items),
            _ => {}
        }
    }
}

/// Parses a reply that follows [`constrained`]. Returns `None` if the reply does not, for example because it was cut
/// off; such a reply counts as plain text.
///
/// ```
/// # use agents_core as agents;
/// use agents::model::prompted::{Constrained, read_constrained};
///
/// let said = r#"{"name": "pay", "arguments": {"cents": 9007199254740993}}"#;
/// let Some(Constrained::Call(call)) = read_constrained(said) else { panic!() };
/// assert_eq!((&*call.name, &*call.arguments), ("pay", r#"{"cents": 9007199254740993}"#));
///
/// let said = read_constrained(r#"{"answer": "It is done."}"#);
/// assert_eq!(said, Some(Constrained::Answer("It is done.".into())));
/// assert_eq!(read_constrained(r#"{"answer": "It is"#), None);
/// ```
pub fn read_constrained(text: &str) -> Option<Constrained> {
    #[derive(Deserialize)]
    struct Either<'a> {
        #[serde(borrow)]
        name: Option<Cow<'a, str>>,
        #[serde(borrow)]
        arguments: Option<&'a RawValue>,
        #[serde(borrow)]
        answer: Option<&'a RawValue>,
    }
    match serde_json::from_str(text).ok()? {
        Either {
            name: Some(name),
            arguments: Some(arguments),
            answer: None,
        } => Some(Constrained::Call(ToolCall {
            id: String::new(),
            name: name.into_owned(),
            arguments: arguments.get().to_owned(),
        })),
        Either {
            name: None,
            arguments: None,
            answer: Some(answer),
        } => {
            let text = serde_json::from_str::<String>(answer.get());
            Some(Constrained::Answer(
                text.unwrap_or_else(|_| answer.get().to_owned()),
            ))
        }
        _ => None,
    }
}

/// Formats an earlier answer as the grammar of [`constrained`] prescribes it, so that the conversation shows the model
/// only that form.
///
/// ```
/// # use agents_core as agents;
/// use agents::model::prompted::answer_text;
///
/// assert_eq!(answer_text("It is sunny."), r#"{"answer": "It is sunny."}"#);
/// assert_eq!(answer_text(r#"{"sky": "blue"}"#), r#"{"answer": {"sky": "blue"}}"#);
/// ```
pub fn answer_text(content: &str) -> String {
    let given = content.trim_start().starts_with(['{', '[']);
    match serde_json::from_str::<&RawValue>(content) {
        Ok(tree) if given => format!("{{\"answer\": {tree}}}"),
        _ => format!("{{\"answer\": {}}}", Value::from(content)),
    }
}
