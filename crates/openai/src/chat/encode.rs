//! Encodes a request's body. Messages that were encoded for one turn are kept in the history's slot, so that the next
//! turn only copies them.
//!
//! ```text
//! {"model":..,"stream":  false  ,settings..  ,"tools":[..]  ,"messages":[  ..  ]  ,"response_format":{..}  }
//! └──── head ─────────┘         └ template ┘ └─ ToolSet ──┘             slot      └────── last turn ─────┘
//! ```

use super::{PROVIDER, reasoning};
use crate::{
    config::{Config, RequestTemplate},
    json::{arguments, field, id, name, put},
    schema,
};
use agents_core::model::{
    Capabilities, Content, Media, Message, Request, Thinking, ToolCall, prompted,
};
use agents_http::CallIds;
use serde_json::json;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Encoded conversation, kept between requests in the slot of the history: messages as JSON, each with a comma after
/// it.
#[derive(Default)]
struct Encoded {
    /// Fingerprint of the tools that the prompt describes; `None` if the server takes tools.
    prompted: Option<u64>,
    message_count: usize,
    messages: Vec<u8>,
    ids: CallIds,
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
        encoded.encode_new(request, messages, able);
        let RequestTemplate { head, settings, .. } = template;
        let tools = if able.tools {
            request.tools_json()
        } else {
            None
        };
        let tools = tools.map(|tools| config.tool_dialect.fit_tools(tools));
        let tools = tools.as_deref();
        let size = head.len() + settings.len() + tools.map_or(0, str::len) + encoded.messages.len();
        let mut body = Vec::with_capacity(size + 128);
        body.extend_from_slice(head);
        body.extend_from_slice(if stream { b"true" } else { b"false" });
        body.extend_from_slice(settings);
        if stream {
            body.extend_from_slice(template.stream_settings.as_bytes());
        }
        if let Some(tools) = tools {
            body.extend_from_slice(template.tool_settings.as_bytes());
            body.extend_from_slice(b",\"tools\":");
            body.extend_from_slice(tools.as_bytes());
        }
        body.extend_from_slice(b",\"messages\":[");
        body.extend_from_slice(encoded.messages.strip_suffix(b",").unwrap_or_default());
        body.push(b']');
        let format = request.format().filter(|_| able.structured_output);
        if let Some(format) =
            format.and_then(|format| schema::response_format(format, &config.answer_dialect))
        {
            body.extend_from_slice(b",\"response_format\":");
            put(&mut body, &format);
        }
        body.push(b'}');
        body
    })
}

impl Encoded {
    /// Encodes the messages that are new since the last request. It starts over if the kept bytes were made for other
    /// tools, or cover more messages than there are.
    fn encode_new(&mut self, request: &Request<'_>, messages: &[Message], able: Capabilities) {
        let prompted = (!able.tools).then(|| fingerprint(request));
        if self.prompted != prompted || self.message_count > messages.len() {
            *self = Encoded {
                prompted,
                ..Encoded::default()
            };
        }
        let mut new = &messages[self.message_count..];
        if able.tools {
            push_native(&mut self.messages, &mut self.ids, new);
        } else {
            if self.message_count == 0 {
                new = self.push_instructions(request, new);
            }
            new.iter().for_each(|message| self.push_text(message));
        }
        self.message_count = messages.len();
    }

    /// Describes the tools in front of the first message, for a model that takes none by the API; returns the messages
    /// that are left.
    fn push_instructions<'m>(
        &mut self,
        request: &Request<'_>,
        messages: &'m [Message],
    ) -> &'m [Message] {
        if !request.has_tools() || messages.is_empty() {
            return messages;
        }
        let instructions = prompted::instructions(request.tools());
        let (system, rest) = match messages {
            [Message::System { content }, rest @ ..] => {
                (format!("{}\n\n{instructions}", content.trim_end()), rest)
            }
            rest => (instructions, rest),
        };
        self.push_text(&Message::System { content: system });
        for example in prompted::examples(request.tools()) {
            self.push_text(&example);
        }
        rest
    }

    fn push_text(&mut self, message: &Message) {
        let out = &mut self.messages;
        let (role, text) = prompted::plain(message);
        open(out, role);
        content(out, &text, message.media());
        out.extend_from_slice(b"},");
    }
}

fn fingerprint(request: &Request<'_>) -> u64 {
    let mut tools = DefaultHasher::new();
    for tool in request.tools() {
        (tool.declaration(), &tool.examples).hash(&mut tools);
    }
    tools.finish()
}

fn push_native(out: &mut Vec<u8>, ids: &mut CallIds, messages: &[Message]) {
    // A result is a text alone, so its images follow in a message behind the last result.
    let mut shown: Vec<&Content> = Vec::new();
    for message in messages {
        if !matches!(message, Message::Tool { .. }) {
            push_shown(out, &mut shown);
        }
        match message {
            Message::System { content: text } => {
                open(out, "system");
                content(out, text, &[]);
            }
            Message::User { content: said } => {
                open(out, "user");
                content(out, said, &said.media);
            }
            Message::Assistant {
                content,
                thinking,
                calls,
            } => assistant(out, ids, content, thinking.as_ref(), calls),
            Message::Tool {
                tool_call_id,
                content: result,
                ..
            } => {
                open(out, "tool");
                content(out, result, &[]);
                let id = ids.of_result(tool_call_id, id(tool_call_id));
                field(out, b",\"tool_call_id\":", id);
                if !result.media.is_empty() {
                    shown.push(result);
                }
            }
        }
        out.extend_from_slice(b"},");
    }
    push_shown(out, &mut shown);
}

fn push_shown(out: &mut Vec<u8>, shown: &mut Vec<&Content>) {
    if shown.is_empty() {
        return;
    }
    let media: Vec<_> = shown
        .drain(..)
        .flat_map(|result| result.media.iter().cloned())
        .collect();
    open(out, "user");
    content(out, "Attached to the results above:", &media);
    out.extend_from_slice(b"},");
}

fn assistant(
    out: &mut Vec<u8>,
    ids: &mut CallIds,
    text: &str,
    thinking: Option<&Thinking>,
    calls: &[ToolCall],
) {
    open(out, "assistant");
    match text.is_empty() && !calls.is_empty() {
        true => out.extend_from_slice(b",\"content\":null"),
        false => content(out, text, &[]),
    }
    if calls.is_empty() {
        return;
    }
    if let Some(thinking) = thinking
        && let Some(kept) = thinking.opaque(PROVIDER)
    {
        reasoning::put_back(out, thinking, kept);
    }
    for (index, call) in calls.iter().enumerate() {
        let start: &[u8] = match index {
            0 => b",\"tool_calls\":[{\"id\":",
            _ => b",{\"id\":",
        };
        field(out, start, &ids.of_call(&call.id, id(&call.id)));
        field(
            out,
            b",\"type\":\"function\",\"function\":{\"name\":",
            &name(&call.name),
        );
        field(out, b",\"arguments\":", &arguments(&call.arguments));
        out.extend_from_slice(b"}}");
    }
    out.push(b']');
}

/// Encodes the content of a message: a text, or parts if there are images or files.
fn content(out: &mut Vec<u8>, text: &str, media: &[Media]) {
    if media.is_empty() {
        return field(out, b",\"content\":", text);
    }
    let text = (!text.is_empty()).then(|| json!({ "type": "text", "text": text }));
    let media = media.iter().map(|media| {
        let url = media.data_url();
        match media.is_image() {
            true => json!({ "type": "image_url", "image_url": { "url": url } }),
            false => {
                let name = media.name().unwrap_or("file");
                json!({ "type": "file", "file": { "filename": name, "file_data": url } })
            }
        }
    });
    let parts: Vec<_> = text.into_iter().chain(media).collect();
    out.extend_from_slice(b",\"content\":");
    put(out, &parts);
}

fn open(out: &mut Vec<u8>, role: &str) {
    out.extend_from_slice(b"{\"role\":\"");
    out.extend_from_slice(role.as_bytes());
    out.push(b'"');
}
