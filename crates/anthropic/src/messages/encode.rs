//! Encodes a request's body. Messages that were encoded for one turn are kept in the history's slot, so that the next
//! turn only copies them.
//!
//! ```text
//! {"model":..,"max_tokens":..,settings..  ,"stream":true  ,"system":[..]  ,"tools":[..]  ,"messages":[  ..  ]}]  ..}
//! └─────────────── head ───────────────┘                   └──── slot ─────────────────┘                └ marks, format
//! ```
//!
//! The last message stays open: results of tools and what a person says next go into one message.

use super::{
    PROVIDER,
    order::{Piece, Place, pieces},
};
use crate::config::{Config, OUTPUT, RequestTemplate};
use agents_core::model::{Content, Media, Message, Reply, Request, Thinking, ToolCall, prompted};
use agents_http::{CallIds, Dialect};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde::Serialize;
use serde_json::{Value, json, value::RawValue};

/// Encoded conversation, kept between requests in the slot of the history.
#[derive(Default)]
struct Encoded {
    /// Declarations of the tools of the last request that offered any, in the JSON of the run.
    declared: String,
    /// Dialect of the schemas in them.
    dialect: Option<Dialect>,
    /// Declarations of the tools of the last request that offered any, in the JSON of the server, without the last
    /// bracket; empty if the prompt describes the tools.
    tools: Vec<u8>,
    is_prompted: bool,
    message_count: usize,
    /// JSON of the blocks of the system prompt, each with a comma after it.
    system: Vec<u8>,
    /// JSON of the messages; the last one is open, since more content of its role may follow.
    messages: Vec<u8>,
    /// Role of the last message, to which content of the same role is added.
    role: Option<Role>,
    has_reply: bool,
    ids: CallIds,
    /// Is `true` if the model waits for results of its calls, and its last reply has no thinking in front. Thinking is
    /// then left out of the request.
    lacks_thinking: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    User,
    Assistant,
}

/// Encodes the body of a request as JSON. A reply that the server has `paused` follows the conversation.
pub(crate) fn body(
    template: &RequestTemplate,
    config: &Config,
    request: &Request<'_>,
    stream: bool,
    paused: Option<&Reply>,
) -> Vec<u8> {
    request.history().wire(|encoded: &mut Encoded, messages| {
        encoded.encode_new(request, messages, config);
        let begun = encoded.begun(paused);
        let Encoded {
            system,
            tools,
            messages,
            ..
        } = &*encoded;
        let goes_on = request.has_tools() || encoded.has_reply;
        let mark = config.cache.mark();
        let mut body = Vec::with_capacity(
            template.head.len() + system.len() + tools.len() + messages.len() + 512,
        );
        body.extend_from_slice(&template.head);
        // The server refuses to think on after a reply that it did not think about.
        if !encoded.lacks_thinking {
            body.extend_from_slice(&template.thinking);
        }
        if stream {
            body.extend_from_slice(b",\"stream\":true");
        }
        if let Some(system) = system.strip_suffix(b"},") {
            body.extend_from_slice(b",\"system\":[");
            body.extend_from_slice(system);
            body.extend_from_slice(mark);
            body.extend_from_slice(b"}]");
        }
        if let Some(offered) = tools.strip_suffix(b"}") {
            body.extend_from_slice(b",\"tools\":");
            body.extend_from_slice(offered);
            // The mark of the system prompt covers the tools, which precede it.
            if system.is_empty() {
                body.extend_from_slice(mark);
            }
            body.push(b'}');
            body.extend_from_slice(&template.server_tools);
            body.push(b']');
            // Tools that are offered no more stay, since what follows them in the cache would be lost.
            body.extend_from_slice(match request.has_tools() {
                true => &template.tool_choice,
                false => b",\"tool_choice\":{\"type\":\"none\"}",
            });
        } else if let Some(tools) = template.server_tools.strip_prefix(b",") {
            body.extend_from_slice(b",\"tools\":[");
            body.extend_from_slice(tools);
            body.push(b']');
            body.extend_from_slice(&template.tool_choice);
        }
        body.extend_from_slice(b",\"messages\":[");
        match messages.strip_suffix(b"}") {
            Some(blocks) if goes_on && encoded.role == Some(Role::User) => {
                body.extend_from_slice(blocks);
                body.extend_from_slice(mark);
                body.push(b'}');
            }
            _ => body.extend_from_slice(messages),
        }
        body.extend_from_slice(&begun);
        if !messages.is_empty() || !begun.is_empty() {
            body.extend_from_slice(b"]}");
        }
        body.push(b']');
        put_output(&mut body, config, request);
        body.push(b'}');
        body
    })
}

/// Adds the effort of the model and the schema of its answer to the body.
fn put_output(body: &mut Vec<u8>, config: &Config, request: &Request<'_>) {
    let format = request
        .format()
        .filter(|_| config.capabilities.structured_output);
    let mut output = config.output.clone();
    if let Some(schema) = format.and_then(|format| config.answer_dialect.fit(format)) {
        let format = json!({ "type": "json_schema", "schema": schema });
        output.insert("format".into(), format);
    }
    if let Some(output) = config.fields.joined(OUTPUT, output) {
        body.extend_from_slice(b",\"output_config\":");
        put(body, &output);
    }
}

impl Encoded {
    /// Encodes the messages that are new since the last request. It starts over if the kept bytes were made for other
    /// tools that the prompt describes, or cover more messages than there are.
    fn encode_new(&mut self, request: &Request<'_>, messages: &[Message], config: &Config) {
        let takes_tools = config.capabilities.tools;
        let declared = request.tools_json().unwrap_or_default();
        let has_changed = (self.declared != declared || self.dialect != Some(config.tool_dialect))
            && request.has_tools();
        let is_prompted = !takes_tools;
        if self.is_prompted != is_prompted
            || (is_prompted && has_changed)
            || self.message_count > messages.len()
        {
            *self = Encoded {
                is_prompted,
                ..Encoded::default()
            };
        }
        if has_changed {
            declared.clone_into(&mut self.declared);
            self.dialect = Some(config.tool_dialect);
            self.tools.clear();
            if takes_tools {
                put_tools(&mut self.tools, request, &config.tool_dialect);
            }
        }
        let mut new = &messages[self.message_count..];
        if is_prompted && self.message_count == 0 {
            new = self.push_instructions(request, new);
        }
        for message in new {
            match is_prompted {
                true => self.push_text(message),
                false => self.push(message),
            }
        }
        self.message_count = messages.len();
    }

    /// Encodes a reply that the server has paused. It is not kept in the slot, since it is not finished.
    fn begun(&self, paused: Option<&Reply>) -> Vec<u8> {
        let mut begun = Encoded {
            role: self.role,
            ..Encoded::default()
        };
        if let Some(reply) = paused {
            begun.ids = self.ids.clone();
            begun.push_reply(&reply.content, reply.thinking.as_ref(), &reply.calls);
        }
        begun.messages
    }

    /// Describes the tools in front of the first message, for a model that takes none by the API; returns the messages
    /// that are left.
    fn push_instructions<'m>(
        &mut self,
        request: &Request<'_>,
        messages: &'m [Message],
    ) -> &'m [Message] {
        if !request.has_tools() {
            return messages;
        }
        let (system, rest) = match messages {
            [Message::System { content }, rest @ ..] => (content.as_str(), rest),
            rest => ("", rest),
        };
        let instructions = prompted::instructions(request.tools());
        self.push_system(&format!("{}\n\n{instructions}", system.trim_end()));
        for example in prompted::examples(request.tools()) {
            self.push_text(&example);
        }
        rest
    }

    fn push_text(&mut self, message: &Message) {
        let (role, text) = prompted::plain(message);
        match role {
            "system" => self.push_system(&text),
            "assistant" => self.push_said(Role::Assistant, &text, &[]),
            _ => self.push_said(Role::User, &text, message.media()),
        }
    }

    fn push(&mut self, message: &Message) {
        match message {
            Message::System { content } => self.push_system(content),
            Message::User { content } => {
                self.lacks_thinking = false;
                self.push_said(Role::User, content, &content.media);
            }
            Message::Assistant {
                content,
                thinking,
                calls,
            } => self.push_reply(content, thinking.as_ref(), calls),
            Message::Tool {
                tool_call_id,
                content,
                ..
            } => {
                self.block(Role::User);
                let valid = id(tool_call_id);
                let id = self.ids.of_result(tool_call_id, &valid);
                put_result(&mut self.messages, id, content);
            }
        }
    }

    fn push_system(&mut self, text: &str) {
        if !text.trim().is_empty() {
            put_text(&mut self.system, text.trim_start());
            self.system.push(b',');
        }
    }

    /// Prepares for the next block of content: opens a message of this role, unless the last one has it.
    fn block(&mut self, role: Role) {
        let out = &mut self.messages;
        if self.role == Some(role) {
            return out.push(b',');
        }
        if self.role.is_some() {
            out.extend_from_slice(b"]},");
        }
        out.extend_from_slice(match role {
            Role::User => b"{\"role\":\"user\",\"content\":[",
            Role::Assistant => b"{\"role\":\"assistant\",\"content\":[",
        });
        self.role = Some(role);
        self.has_reply |= role == Role::Assistant;
    }

    fn push_said(&mut self, role: Role, text: &str, media: &[Media]) {
        // The server refuses a text that is blank.
        let is_blank = text.trim().is_empty();
        if !is_blank || (media.is_empty() && role == Role::User) {
            self.block(role);
            let text = if is_blank { "(nothing)" } else { text };
            put_text(&mut self.messages, text);
        }
        for media in media {
            self.block(role);
            put_media(&mut self.messages, media);
        }
    }

    fn push_reply(&mut self, text: &str, thinking: Option<&Thinking>, calls: &[ToolCall]) {
        let kept = thinking.and_then(|thinking| thinking.opaque(PROVIDER));
        let order: Vec<Place> = kept
            .and_then(|kept| serde_json::from_str(kept).ok())
            .unwrap_or_default();
        let thought = thinking.map_or("", |thinking| &**thinking);
        let in_order = match order.is_empty() {
            true => None,
            false => pieces(&order, text, thought, calls.len()),
        };
        let in_order = in_order.unwrap_or_else(|| {
            let calls = (0..calls.len()).map(Piece::Call);
            [Piece::text(text)].into_iter().chain(calls).collect()
        });
        let is_thinking = matches!(
            in_order.first(),
            Some(Piece::Thinking { .. } | Piece::Block(_))
        );
        self.lacks_thinking = !calls.is_empty() && !is_thinking;
        for piece in in_order {
            if matches!(piece, Piece::Text { text, .. } if text.trim().is_empty()) {
                continue;
            }
            self.block(Role::Assistant);
            let out = &mut self.messages;
            match piece {
                Piece::Text { text, citations } => {
                    field(out, b"{\"type\":\"text\",\"text\":", text);
                    if !citations.is_empty() {
                        out.extend_from_slice(b",\"citations\":");
                        put(out, citations);
                    }
                    out.push(b'}');
                }
                Piece::Call(number) => {
                    let call = &calls[number];
                    let id = self.ids.of_call(&call.id, &id(&call.id));
                    put_call(out, &id, call);
                }
                Piece::Thinking { text, signature } => {
                    field(out, b"{\"type\":\"thinking\",\"thinking\":", text);
                    if let Some(signature) = signature {
                        field(out, b",\"signature\":", signature);
                    }
                    out.push(b'}');
                }
                Piece::Block(json) => put(out, json),
            }
        }
    }
}

fn put_tools(out: &mut Vec<u8>, request: &Request<'_>, dialect: &Dialect) {
    for tool in request.tools() {
        out.push(if out.is_empty() { b'[' } else { b',' });
        field(out, b"{\"name\":", &tool.name);
        field(out, b",\"description\":", &tool.description);
        out.extend_from_slice(b",\"input_schema\":");
        put(out, &dialect.fit_or_keep(&tool.input_schema));
        out.push(b'}');
    }
}

fn put_call(out: &mut Vec<u8>, id: &str, call: &ToolCall) {
    field(out, b"{\"type\":\"tool_use\",\"id\":", id);
    field(out, b",\"name\":", &name(&call.name));
    out.extend_from_slice(b",\"input\":");
    match serde_json::from_str::<&RawValue>(call.arguments.trim()) {
        Ok(json) if json.get().starts_with('{') => put(out, json),
        // The server takes nothing but an object, so a malformed text goes into one.
        _ if call.arguments.trim().is_empty() => out.extend_from_slice(b"{}"),
        _ => put(out, &json!({ "malformed_arguments": call.arguments })),
    }
    out.push(b'}');
}

fn put_result(out: &mut Vec<u8>, id: &str, result: &Content) {
    field(out, b"{\"type\":\"tool_result\",\"tool_use_id\":", id);
    out.extend_from_slice(b",\"content\":[");
    let is_blank = result.text.trim().is_empty();
    if !is_blank {
        put_text(out, &result.text);
    }
    for (index, media) in result.media.iter().enumerate() {
        if index > 0 || !is_blank {
            out.push(b',');
        }
        put_media(out, media);
    }
    out.push(b']');
    if result.text.starts_with("ERROR ") {
        out.extend_from_slice(b",\"is_error\":true");
    }
    out.push(b'}');
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    field(out, b"{\"type\":\"text\",\"text\":", text);
    out.push(b'}');
}

fn put_media(out: &mut Vec<u8>, media: &Media) {
    let source = match media.base64() {
        None => json!({ "type": "url", "url": media.data_url() }),
        Some(data) => match text_of(media, data) {
            Some(text) => json!({ "type": "text", "media_type": "text/plain", "data": text }),
            None => json!({ "type": "base64", "media_type": media.media_type(), "data": data }),
        },
    };
    let mut block = match media.is_image() {
        true => json!({ "type": "image", "source": source }),
        false => json!({ "type": "document", "source": source }),
    };
    if let Some(name) = media.name().filter(|_| !media.is_image()) {
        block["title"] = Value::from(name);
    }
    put(out, &block);
}

/// Returns the text of a text file; `None` for any other file. The server takes files as text, or as PDF.
fn text_of(media: &Media, data: &str) -> Option<String> {
    let is_text =
        media.media_type().starts_with("text/") || media.media_type() == "application/json";
    let bytes = is_text.then(|| STANDARD.decode(data).ok()).flatten()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the id of a call with `_` for each character that the server refuses, since other models give other ids;
/// `call` if the call has no id.
fn id(id: &str) -> String {
    valid(id, usize::MAX, "call")
}

/// Returns the first 128 characters of a called tool's name with `_` for each character that the server refuses, since
/// a model may invent any name; `unnamed` if the call has no name.
fn name(name: &str) -> String {
    valid(name, 128, "unnamed")
}

fn valid(text: &str, most: usize, if_empty: &str) -> String {
    let valid = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let chars = text.chars().take(most);
    let text: String = chars.map(|c| if valid(c) { c } else { '_' }).collect();
    match text.is_empty() {
        true => if_empty.to_owned(),
        false => text,
    }
}

fn field(out: &mut Vec<u8>, key: &[u8], text: &str) {
    out.extend_from_slice(key);
    put(out, text);
}

fn put<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    // Texts and JSON always serialise, and writing into memory does not fail.
    let _ = serde_json::to_writer(out, value);
}
