//! Encodes a request's body. Messages that were encoded for one turn are kept in the history's slot, so that the next
//! turn only copies them.
//!
//! ```text
//! {"contents":[  ..  ]}]  ,"systemInstruction":{..}  ,"tools":[..]  ,"generationConfig":{..}  ,settings..  }
//!              └────────────────── slot ─────────────────────────┘  └ template, or with the answer's schema
//! ```
//!
//! The last content stays open: results of tools and what a person says next go into one content.

use super::{
    PROVIDER,
    order::{Piece, Place, pieces},
};
use crate::{
    config::{Config, RequestTemplate},
    schema,
};
use agents_core::model::{Content, Media, Message, Request, Thinking, ToolCall, prompted};
use agents_http::{CallIds, Dialect};
use serde::Serialize;
use serde_json::{json, value::RawValue};

/// Text that stands for the thought signature of a call that another model made. Newer models refuse calls without one.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// Encoded conversation, kept between requests in the slot of the history.
#[derive(Default)]
struct Encoded {
    /// Declarations of the tools of the last request that offered any, in the JSON of the run.
    declared: String,
    /// Dialect of the schemas in them.
    dialect: Option<Dialect>,
    /// Declarations of the tools of the last request that offered any, in the JSON of the server; empty if the prompt
    /// describes the tools.
    tools: Vec<u8>,
    is_prompted: bool,
    /// Is `true` for a model that demands thought signatures, and takes images within results.
    is_new: bool,
    message_count: usize,
    /// JSON of the parts of the system prompt, each with a comma after it.
    system: Vec<u8>,
    /// JSON of the contents (Gemini's word for messages); the last one is open, since more parts of its role may
    /// follow.
    contents: Vec<u8>,
    /// Role of the last content, to which parts of the same role are added.
    role: Option<Role>,
    /// Calls of the last reply, by which results find their calls.
    calls: Vec<Called>,
    ids: CallIds,
    /// Place of the last results in the contents, if nothing follows them.
    results: Option<Results>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    User,
    Model,
}

struct Called {
    id: String,
    name: String,
    /// Id under which the call was written; `None` if the server gave the call no id.
    written: Option<String>,
}

/// Place of the results of calls in the encoded contents, to which further results may be added.
struct Results {
    /// Number of messages of the conversation before the results.
    message_count: usize,
    /// Length of the encoded contents before the results.
    length: usize,
    role: Option<Role>,
}

/// Encodes the body of a request as JSON.
pub(crate) fn body(template: &RequestTemplate, config: &Config, request: &Request<'_>) -> Vec<u8> {
    request.history().wire(|encoded: &mut Encoded, messages| {
        encoded.encode_new(request, messages, config);
        let Encoded {
            contents,
            system,
            tools,
            ..
        } = encoded;
        let size = contents.len() + system.len() + tools.len() + template.settings.len();
        let mut body = Vec::with_capacity(size + 512);
        body.extend_from_slice(b"{\"contents\":[");
        body.extend_from_slice(contents);
        if !contents.is_empty() {
            body.extend_from_slice(b"]}");
        }
        body.push(b']');
        if let Some(system) = system.strip_suffix(b",") {
            body.extend_from_slice(b",\"systemInstruction\":{\"parts\":[");
            body.extend_from_slice(system);
            body.extend_from_slice(b"]}");
        }
        let tools = if request.has_tools() { &**tools } else { b"" };
        put_tools(&mut body, tools, &template.server_tools);
        put_generation(&mut body, template, config, request);
        body.extend_from_slice(&template.settings);
        body.push(b'}');
        body
    })
}

/// Encodes the agent's tools, and those that the server runs itself, as JSON.
fn put_tools(body: &mut Vec<u8>, tools: &[u8], server_tools: &[u8]) {
    if tools.is_empty() && server_tools.is_empty() {
        return;
    }
    body.extend_from_slice(b",\"tools\":[");
    if !tools.is_empty() {
        body.extend_from_slice(b"{\"functionDeclarations\":");
        body.extend_from_slice(tools);
        body.push(b'}');
        if !server_tools.is_empty() {
            body.push(b',');
        }
    }
    body.extend_from_slice(server_tools);
    body.push(b']');
}

fn put_generation(
    body: &mut Vec<u8>,
    template: &RequestTemplate,
    config: &Config,
    request: &Request<'_>,
) {
    let format = request
        .format()
        .filter(|_| config.capabilities.structured_output);
    let Some(format) = format else {
        return body.extend_from_slice(&template.generation);
    };
    let mut generation = config.generation.clone();
    generation.insert("responseMimeType".into(), "application/json".into());
    generation.insert(
        "responseJsonSchema".into(),
        config.dialect.fit_or_keep(format).into_owned(),
    );
    body.extend_from_slice(&config.generation(generation));
}

impl Encoded {
    /// Encodes the messages that are new since the last request. It starts over if the kept bytes were made for other
    /// tools that the prompt describes, for another kind of model, or for more messages than there are.
    fn encode_new(&mut self, request: &Request<'_>, messages: &[Message], config: &Config) {
        let declared = request.tools_json().unwrap_or_default();
        let has_changed = (self.declared != declared || self.dialect != Some(config.dialect))
            && request.has_tools();
        let is_prompted = !config.capabilities.tools;
        if self.is_prompted != is_prompted
            || self.is_new != config.is_new
            || (is_prompted && has_changed)
            || self.message_count > messages.len()
        {
            *self = Encoded {
                is_prompted,
                is_new: config.is_new,
                ..Encoded::default()
            };
        }
        if has_changed {
            declared.clone_into(&mut self.declared);
            self.dialect = Some(config.dialect);
            self.tools.clear();
            if !is_prompted {
                put_declarations(&mut self.tools, request, &config.dialect);
            }
        }
        match is_prompted {
            true => self.encode_prompted(request, messages),
            false => self.encode_native(messages),
        }
        self.message_count = messages.len();
    }

    fn encode_native(&mut self, messages: &[Message]) {
        let mut at = self.message_count;
        // Results that are still coming in are put in order anew, together with the earlier ones.
        if let (Some(Message::Tool { .. }), Some(results)) = (messages.get(at), &self.results) {
            at = results.message_count;
            self.contents.truncate(results.length);
            self.role = results.role;
        }
        while let Some(message) = messages.get(at) {
            let is_result = |message: &&Message| matches!(message, Message::Tool { .. });
            let results = messages[at..].iter().take_while(is_result).count();
            if results > 0 {
                self.push_results(at, &messages[at..at + results]);
                at += results;
                continue;
            }
            self.results = None;
            match message {
                Message::System { content } => self.push_system(content),
                Message::User { content } => self.push_said(Role::User, content, &content.media),
                Message::Assistant {
                    content,
                    thinking,
                    calls,
                } => self.push_reply(content, thinking.as_ref(), calls),
                Message::Tool { .. } => {}
            }
            at += 1;
        }
    }

    fn encode_prompted(&mut self, request: &Request<'_>, messages: &[Message]) {
        let mut new = &messages[self.message_count..];
        if self.message_count == 0 && request.has_tools() {
            let (system, rest) = match new {
                [Message::System { content }, rest @ ..] => (content.as_str(), rest),
                rest => ("", rest),
            };
            let instructions = prompted::instructions(request.tools());
            self.push_system(&format!("{}\n\n{instructions}", system.trim_end()));
            for example in prompted::examples(request.tools()) {
                self.push_text(&example);
            }
            new = rest;
        }
        new.iter().for_each(|message| self.push_text(message));
    }

    fn push_text(&mut self, message: &Message) {
        let (role, text) = prompted::plain(message);
        match role {
            "system" => self.push_system(&text),
            "assistant" => self.push_said(Role::Model, &text, &[]),
            _ => self.push_said(Role::User, &text, message.media()),
        }
    }

    fn push_system(&mut self, text: &str) {
        if !text.trim().is_empty() {
            put_text(&mut self.system, text.trim_start());
            self.system.push(b',');
        }
    }

    /// Prepares for the next part: opens a content (Gemini's word for a message) of this role, unless the last one has
    /// it.
    fn part(&mut self, role: Role) {
        let out = &mut self.contents;
        if self.role == Some(role) {
            return out.push(b',');
        }
        if self.role.is_some() {
            out.extend_from_slice(b"]},");
        }
        out.extend_from_slice(match role {
            Role::User => b"{\"role\":\"user\",\"parts\":[".as_slice(),
            Role::Model => b"{\"role\":\"model\",\"parts\":[",
        });
        self.role = Some(role);
    }

    fn push_said(&mut self, role: Role, text: &str, media: &[Media]) {
        let is_blank = text.trim().is_empty();
        if !is_blank || (media.is_empty() && role == Role::User) {
            self.part(role);
            put_text(
                &mut self.contents,
                if is_blank { "(nothing)" } else { text },
            );
        }
        for media in media {
            self.part(role);
            put_media(&mut self.contents, media);
        }
    }

    fn push_reply(&mut self, text: &str, thinking: Option<&Thinking>, calls: &[ToolCall]) {
        self.calls.clear();
        let kept = thinking.and_then(|thinking| thinking.opaque(PROVIDER));
        let order: Vec<Place> = kept
            .and_then(|kept| serde_json::from_str(kept).ok())
            .unwrap_or_default();
        let thoughts = thinking.map_or("", |thinking| &**thinking);
        let in_order = match order.is_empty() {
            true => None,
            false => pieces(&order, text, thoughts, calls.len()),
        };
        let in_order = in_order.unwrap_or_else(|| self.usual(text, calls));
        for piece in in_order {
            match piece {
                // Thoughts alone are no use to the server.
                Piece::Text {
                    text,
                    is_thought,
                    signature: None,
                } if is_thought || text.trim().is_empty() => {}
                Piece::Text {
                    text,
                    is_thought,
                    signature,
                } => {
                    self.part(Role::Model);
                    let out = &mut self.contents;
                    field(out, b"{\"text\":", text);
                    if is_thought {
                        out.extend_from_slice(b",\"thought\":true");
                    }
                    end_part(out, signature);
                }
                Piece::Call {
                    number,
                    has_id,
                    signature,
                } => {
                    self.part(Role::Model);
                    let call = &calls[number];
                    let written = has_id.then(|| self.ids.of_call(&call.id, &call.id));
                    put_call(&mut self.contents, call, written.as_deref());
                    end_part(&mut self.contents, signature);
                    self.calls.push(Called {
                        id: call.id.clone(),
                        name: name(&call.name),
                        written,
                    });
                }
                Piece::Part(json) => {
                    self.part(Role::Model);
                    put(&mut self.contents, json);
                }
            }
        }
    }

    /// Returns the parts of a reply for which no order is kept: another model made it, or it has neither signatures nor
    /// ids.
    fn usual<'a>(&self, text: &'a str, calls: &[ToolCall]) -> Vec<Piece<'a>> {
        let text = Piece::Text {
            text,
            is_thought: false,
            signature: None,
        };
        let calls = (0..calls.len()).map(|number| Piece::Call {
            number,
            has_id: false,
            signature: (self.is_new && number == 0).then_some(NO_SIGNATURE),
        });
        [text].into_iter().chain(calls).collect()
    }

    /// Adds the results of the last reply's calls, in the order of the calls: the server pairs them by their order.
    fn push_results(&mut self, at: usize, results: &[Message]) {
        self.results = Some(Results {
            message_count: at,
            length: self.contents.len(),
            role: self.role,
        });
        let mut left: Vec<(&str, &Content, &Message)> = Vec::with_capacity(results.len());
        for message in results {
            if let Message::Tool {
                tool_call_id,
                content,
                ..
            } = message
            {
                left.push((tool_call_id, content, message));
            }
        }
        let mut shown: Vec<&Media> = Vec::new();
        let calls = std::mem::take(&mut self.calls);
        for call in &calls {
            let found = left.iter().position(|(id, ..)| *id == call.id);
            let content = found.map(|found| left.remove(found).1);
            self.part(Role::User);
            let media = content.map_or(&[][..], |content| &content.media);
            // Newer models see images within a result, and older ones behind the results.
            let within = if self.is_new { media } else { &[] };
            put_result(&mut self.contents, call, content, within);
            shown.extend(media.iter().filter(|_| !self.is_new));
        }
        self.calls = calls;
        for media in shown {
            self.part(Role::User);
            put_media(&mut self.contents, media);
        }
        // A result of no call cannot be one: the server would take it for that of another call.
        for (_, content, message) in left {
            self.push_said(Role::User, &prompted::plain(message).1, &content.media);
        }
    }
}

fn put_declarations(out: &mut Vec<u8>, request: &Request<'_>, dialect: &Dialect) {
    for tool in request.tools() {
        out.push(if out.is_empty() { b'[' } else { b',' });
        field(out, b"{\"name\":", &tool.name);
        field(out, b",\"description\":", &tool.description);
        if let Some(schema) = schema::of_parameters(&tool.input_schema, dialect) {
            out.extend_from_slice(b",\"parametersJsonSchema\":");
            put(out, &schema);
        }
        out.push(b'}');
    }
    if !out.is_empty() {
        out.push(b']');
    }
}

/// Encodes a call, but not yet the end of its part, before which a signature may stand.
fn put_call(out: &mut Vec<u8>, call: &ToolCall, id: Option<&str>) {
    field(out, b"{\"functionCall\":{\"name\":", &name(&call.name));
    if let Some(id) = id {
        field(out, b",\"id\":", id);
    }
    out.extend_from_slice(b",\"args\":");
    match serde_json::from_str::<&RawValue>(call.arguments.trim()) {
        Ok(json) if json.get().starts_with('{') => put(out, json),
        // The server takes nothing but an object, so a malformed text goes into one.
        _ if call.arguments.trim().is_empty() => out.extend_from_slice(b"{}"),
        _ => put(out, &json!({ "malformed_arguments": call.arguments })),
    }
    out.push(b'}');
}

fn put_result(out: &mut Vec<u8>, call: &Called, content: Option<&Content>, media: &[Media]) {
    field(out, b"{\"functionResponse\":{\"name\":", &call.name);
    if let Some(id) = &call.written {
        field(out, b",\"id\":", id);
    }
    let text = content.map_or("ERROR there is no result", |content| &content.text);
    out.extend_from_slice(match text.starts_with("ERROR ") {
        true => b",\"response\":{\"error\":".as_slice(),
        false => b",\"response\":{\"output\":",
    });
    match serde_json::from_str::<&RawValue>(text.trim()) {
        Ok(json) if json.get().starts_with(['{', '[']) => put(out, json),
        _ => put(out, text),
    }
    out.push(b'}');
    for (index, media) in media.iter().enumerate() {
        out.extend_from_slice(if index == 0 { b",\"parts\":[" } else { b"," });
        put_media(out, media);
    }
    out.extend_from_slice(if media.is_empty() { b"}}" } else { b"]}}" });
}

/// Ends a part, and adds its thought signature if it has one.
fn end_part(out: &mut Vec<u8>, signature: Option<&str>) {
    if let Some(signature) = signature {
        field(out, b",\"thoughtSignature\":", signature);
    }
    out.push(b'}');
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    field(out, b"{\"text\":", text);
    out.push(b'}');
}

fn put_media(out: &mut Vec<u8>, media: &Media) {
    let kind = media.media_type();
    put(
        out,
        &match media.base64() {
            Some(data) => json!({ "inlineData": { "mimeType": kind, "data": data } }),
            None => json!({ "fileData": { "mimeType": kind, "fileUri": media.data_url() } }),
        },
    );
}

/// Returns the name of a call as the server takes it, since models invent other names: at most 64 characters, with `_`
/// for each that the server refuses, and before a name that begins with no letter; `unnamed` if the call has no name.
fn name(name: &str) -> String {
    let valid = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    let name: String = name
        .chars()
        .take(64)
        .map(|c| if valid(c) { c } else { '_' })
        .collect();
    match name.chars().next() {
        None => "unnamed".to_owned(),
        Some(first) if first.is_ascii_alphabetic() || first == '_' => name,
        Some(_) => format!("_{}", &name[..name.len().min(63)]),
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
