//! Encodes a request's body. Messages that were encoded for one turn are kept in the history's slot, so that the next
//! turn only copies them.

use super::{CALL, MESSAGE, PROVIDER};
use crate::{
    config::{Config, RequestTemplate, object},
    json::{arguments, field, id, name, put},
    schema,
};
use agents_core::model::{Content, Media, Message, Request, Thinking, ToolCall};
use agents_http::CallIds;
use serde::Deserialize;
use serde_json::{json, value::RawValue};

/// Encoded conversation, kept between requests in the slot of the history: items as JSON, each with a comma after it.
#[derive(Default)]
struct Encoded {
    message_count: usize,
    items: Vec<u8>,
    ids: CallIds,
    /// Declarations of the tools in the JSON of Chat Completions, from which `tools`, in the JSON of the server, was
    /// made. It is made again if those of a request differ.
    declared: String,
    tools: String,
}

/// Encodes the body of a request as JSON.
pub(crate) fn body(
    template: &RequestTemplate,
    config: &Config,
    request: &Request<'_>,
    stream: bool,
) -> Vec<u8> {
    let able = config.capabilities;
    request.history().wire(|encoded: &mut Encoded, messages| {
        if encoded.message_count > messages.len() {
            *encoded = Encoded::default();
        }
        for message in &messages[encoded.message_count..] {
            push(&mut encoded.items, &mut encoded.ids, message);
        }
        encoded.message_count = messages.len();
        let RequestTemplate { head, settings, .. } = template;
        let mut body = Vec::with_capacity(head.len() + settings.len() + encoded.items.len() + 256);
        body.extend_from_slice(head);
        body.extend_from_slice(if stream { b"true" } else { b"false" });
        body.extend_from_slice(settings);
        if stream {
            body.extend_from_slice(template.stream_settings.as_bytes());
        }
        if let Some(declared) = request.tools_json() {
            let declared = config.tool_dialect.fit_tools(declared);
            if encoded.declared != declared {
                encoded.tools = flat(&declared);
                encoded.declared = declared.into_owned();
            }
            body.extend_from_slice(template.tool_settings.as_bytes());
            body.extend_from_slice(b",\"tools\":");
            match (encoded.tools.strip_suffix(']'), &*template.server_tools) {
                (Some(own), tools) if !tools.is_empty() => {
                    body.extend_from_slice(own.as_bytes());
                    body.push(b',');
                    body.extend_from_slice(tools.as_bytes());
                    body.push(b']');
                }
                _ => body.extend_from_slice(encoded.tools.as_bytes()),
            }
        } else if !template.server_tools.is_empty() {
            body.extend_from_slice(b",\"tools\":[");
            body.extend_from_slice(template.server_tools.as_bytes());
            body.push(b']');
        }
        let format = request.format().filter(|_| able.structured_output);
        let format = format.and_then(|format| schema::object(format, &config.answer_dialect));
        let format = format.map(|(schema, strict)| {
            let format =
                json!({ "type": "json_schema", "name": "answer", "strict": strict, "schema": schema });
            object("format", format)
        });
        if let Some(text) = config.fields.joined("text", format.unwrap_or_default()) {
            body.extend_from_slice(b",\"text\":");
            put(&mut body, &text);
        }
        body.extend_from_slice(b",\"input\":[");
        body.extend_from_slice(encoded.items.strip_suffix(b",").unwrap_or_default());
        body.extend_from_slice(b"]}");
        body
    })
}

/// Converts function declarations of Chat Completions into the form of Responses, which has no object around the
/// function.
fn flat(declared: &str) -> String {
    #[derive(Deserialize)]
    struct Declared<'a> {
        #[serde(borrow)]
        function: &'a RawValue,
    }
    let declared: Vec<Declared<'_>> = serde_json::from_str(declared).unwrap_or_default();
    let flat = declared.iter().map(|tool| {
        let function = tool.function.get().trim_start_matches('{');
        format!("{{\"type\":\"function\",\"strict\":false,{function}")
    });
    format!("[{}]", flat.collect::<Vec<_>>().join(","))
}

fn push(out: &mut Vec<u8>, ids: &mut CallIds, message: &Message) {
    match message {
        Message::System { content } => text(out, "system", content),
        Message::User { content } => {
            out.extend_from_slice(b"{\"role\":\"user\",\"content\":");
            parts(out, content);
            out.extend_from_slice(b"},");
        }
        Message::Assistant {
            content,
            thinking,
            calls,
        } => assistant(out, ids, content, thinking.as_ref(), calls),
        Message::Tool {
            tool_call_id,
            content,
            ..
        } => {
            field(
                out,
                b"{\"type\":\"function_call_output\",\"call_id\":",
                ids.of_result(tool_call_id, id(tool_call_id)),
            );
            out.extend_from_slice(b",\"output\":");
            parts(out, content);
            out.extend_from_slice(b"},");
        }
    }
}

/// Encodes a reply of the model as items, in the order in which they came: reasoning has to stand in front of its text
/// or call.
fn assistant(
    out: &mut Vec<u8>,
    ids: &mut CallIds,
    content: &str,
    thinking: Option<&Thinking>,
    calls: &[ToolCall],
) {
    let kept = thinking.and_then(|thinking| thinking.opaque(PROVIDER));
    let order: Vec<&RawValue> = kept
        .and_then(|kept| serde_json::from_str(kept).ok())
        .unwrap_or_default();
    let mut content = Some(content).filter(|text| !text.is_empty());
    let mut calls = calls.iter();
    for item in order {
        let item = item.get();
        match item.trim_matches('"') {
            MESSAGE => content
                .take()
                .iter()
                .for_each(|said| text(out, "assistant", said)),
            CALL => calls
                .next()
                .iter()
                .for_each(|call| function_call(out, ids, call)),
            _ => {
                out.extend_from_slice(item.as_bytes());
                out.push(b',');
            }
        }
    }
    content.iter().for_each(|said| text(out, "assistant", said));
    calls.for_each(|call| function_call(out, ids, call));
}

fn function_call(out: &mut Vec<u8>, ids: &mut CallIds, call: &ToolCall) {
    field(
        out,
        b"{\"type\":\"function_call\",\"call_id\":",
        &ids.of_call(&call.id, id(&call.id)),
    );
    field(out, b",\"name\":", &name(&call.name));
    field(out, b",\"arguments\":", &arguments(&call.arguments));
    out.extend_from_slice(b"},");
}

fn text(out: &mut Vec<u8>, role: &str, content: &str) {
    out.extend_from_slice(b"{\"role\":\"");
    out.extend_from_slice(role.as_bytes());
    field(out, b"\",\"content\":", content);
    out.extend_from_slice(b"},");
}

/// Encodes the content of a message: a text, or parts if there are images or files.
fn parts(out: &mut Vec<u8>, content: &Content) {
    if content.media.is_empty() {
        return put(out, &content.text);
    }
    let text = (!content.is_empty()).then(|| json!({ "type": "input_text", "text": content.text }));
    let media = content.media.iter().map(part);
    let parts: Vec<_> = text.into_iter().chain(media).collect();
    put(out, &parts);
}

fn part(media: &Media) -> serde_json::Value {
    let url = media.data_url();
    match (media.is_image(), media.base64()) {
        (true, _) => json!({ "type": "input_image", "image_url": url }),
        (false, Some(_)) => {
            let name = media.name().unwrap_or("file");
            json!({ "type": "input_file", "filename": name, "file_data": url })
        }
        (false, None) => json!({ "type": "input_file", "file_url": url }),
    }
}
