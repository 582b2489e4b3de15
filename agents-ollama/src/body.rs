//! Encodes a request's body. Messages that were encoded for one turn are kept in the history's slot, so that the next
//! turn only copies them.
//!
//! ```text
//! {"model":..,"stream":  false  ,"options":{..}  ,"tools":[..]  ,"messages":[  ..  ]  ,"format":{..}  }
//! └──── head ─────────┘         └─ settings ───┘ └─ ToolSet ──┘             slot      └─ last turn ──┘
//! ```

use crate::config::RequestTemplate;
use crate::tokens::at_least;
use agents_core::model::{Media, Message, Request, ToolCall, prompted};
use agents_http::{CallIds, Dialect};
use serde::Serialize;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Mode in which a request offers its tools; the history is encoded by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Native,
    Prompted,
    Constrained,
}

/// Encoded conversation, kept between requests in the slot of the history: messages as JSON, each with a comma after
/// it.
#[derive(Default)]
struct Encoded {
    key: CacheKey,
    message_count: usize,
    messages: Vec<u8>,
    ids: CallIds,
    /// Number of tokens that the texts of these messages have at least.
    tokens: u64,
    /// Schema of the grammar in constrained mode; otherwise empty.
    format: String,
}

/// Key of encoded messages: only for a request with the same key are they extended. It has a hash of the tools if the
/// first message describes them.
#[derive(Default, PartialEq)]
enum CacheKey {
    #[default]
    Native,
    Prompted(u64),
    Constrained(u64),
}

/// Encodes the body of a request. Also returns the number of tokens that its messages have at least.
pub(crate) fn body(
    template: &RequestTemplate,
    dialect: &Dialect,
    request: &Request<'_>,
    mode: Mode,
    stream: bool,
) -> (Vec<u8>, u64) {
    request.history().wire(|encoded: &mut Encoded, messages| {
        encoded.encode_new(request, messages, mode);
        let RequestTemplate { head, settings, .. } = template;
        let tools = if mode == Mode::Native {
            request.tools_json()
        } else {
            None
        };
        let tools = tools.map(|tools| dialect.fit_tools(tools));
        let tools = tools.as_deref();
        let size = head.len() + settings.len() + tools.map_or(0, str::len) + encoded.messages.len();
        let mut body = Vec::with_capacity(size + encoded.format.len() + 64);
        body.extend_from_slice(head);
        body.extend_from_slice(if stream { b"true" } else { b"false" });
        body.extend_from_slice(settings);
        if let Some(tools) = tools {
            body.extend_from_slice(b",\"tools\":");
            body.extend_from_slice(tools.as_bytes());
        }
        body.extend_from_slice(b",\"messages\":[");
        body.extend_from_slice(encoded.messages.strip_suffix(b",").unwrap_or_default());
        body.push(b']');
        match request.format() {
            // A model that has to follow a schema cannot call tools.
            Some(format) if !request.has_tools() => {
                body.extend_from_slice(b",\"format\":");
                json(&mut body, &dialect.fit_or_keep(format));
            }
            _ if mode == Mode::Constrained && request.has_tools() => {
                body.extend_from_slice(b",\"format\":");
                body.extend_from_slice(encoded.format.as_bytes());
            }
            _ => {}
        }
        body.push(b'}');
        (body, encoded.tokens)
    })
}

impl Encoded {
    /// Encodes the messages that are new since the last request. Starts over if the kept bytes have another key, or
    /// cover more messages than there are.
    fn encode_new(&mut self, request: &Request<'_>, messages: &[Message], mode: Mode) {
        let key = CacheKey::of(request, mode);
        if self.key != key || self.message_count > messages.len() {
            *self = Encoded {
                key,
                ..Encoded::default()
            };
        }
        let new = messages[self.message_count..].iter();
        self.tokens += new.map(|message| at_least(message.text())).sum::<u64>();
        if mode == Mode::Native {
            messages[self.message_count..]
                .iter()
                .for_each(|message| self.push_native(message));
        } else {
            self.push_all_as_text(request, messages, mode);
        }
        self.message_count = messages.len();
    }

    fn push_native(&mut self, message: &Message) {
        let out = &mut self.messages;
        match message {
            Message::System { content } => open(out, "system", content),
            Message::User { content } => {
                open(out, "user", content);
                images(out, &content.media);
            }
            Message::Assistant {
                content,
                thinking,
                calls,
            } => assistant(out, &mut self.ids, content, thinking.as_deref(), calls),
            Message::Tool {
                tool_call_id,
                name,
                content,
            } => {
                open(out, "tool", content);
                field(out, b",\"tool_name\":", name);
                if !tool_call_id.is_empty() {
                    let id = self.ids.of_result(tool_call_id, tool_call_id);
                    field(out, b",\"tool_call_id\":", id);
                }
                images(out, &content.media);
            }
        }
        out.extend_from_slice(b"},");
    }

    fn push_all_as_text(&mut self, request: &Request<'_>, messages: &[Message], mode: Mode) {
        let mut new = messages[self.message_count..].iter();
        if self.message_count == 0 && request.has_tools() && !messages.is_empty() {
            let instructions = prompted::instructions(request.tools());
            match messages.first() {
                Some(Message::System { content }) => {
                    new.next();
                    self.push_text(
                        "system",
                        &format!("{}\n\n{instructions}", content.trim_end()),
                    );
                }
                _ => self.push_text("system", &instructions),
            }
            for example in prompted::examples(request.tools()) {
                self.push_message_as_text(&example, mode);
            }
            if mode == Mode::Constrained {
                self.format = prompted::constrained(request.tools(), request.format());
            }
        }
        for message in new {
            self.push_message_as_text(message, mode);
        }
    }

    fn push_message_as_text(&mut self, message: &Message, mode: Mode) {
        match (message, mode) {
            (Message::Assistant { content, calls, .. }, Mode::Constrained) if calls.is_empty() => {
                self.push_text("assistant", &prompted::answer_text(content));
            }
            _ => {
                let (role, text) = prompted::plain(message);
                open(&mut self.messages, role, &text);
                images(&mut self.messages, message.media());
                self.messages.extend_from_slice(b"},");
            }
        }
    }

    fn push_text(&mut self, role: &str, content: &str) {
        open(&mut self.messages, role, content);
        self.messages.extend_from_slice(b"},");
    }
}

impl CacheKey {
    fn of(request: &Request<'_>, mode: Mode) -> Self {
        match mode {
            Mode::Native => CacheKey::Native,
            Mode::Prompted => CacheKey::Prompted(fingerprint(request)),
            Mode::Constrained => CacheKey::Constrained(fingerprint(request)),
        }
    }
}

fn fingerprint(request: &Request<'_>) -> u64 {
    let mut tools = DefaultHasher::new();
    for tool in request.tools() {
        (tool.declaration(), &tool.examples).hash(&mut tools);
    }
    tools.finish()
}

/// Encodes a message of the model. Ollama refuses a request in which `arguments` is not an object. A malformed call is
/// therefore sent as part of the text, and a valid call exactly as the model wrote it.
fn assistant(
    out: &mut Vec<u8>,
    ids: &mut CallIds,
    content: &str,
    thinking: Option<&str>,
    calls: &[ToolCall],
) {
    let (good, bad): (Vec<_>, Vec<_>) = calls
        .iter()
        .partition(|call| prompted::is_object(&call.arguments));
    let bad: Vec<_> = bad.into_iter().cloned().collect();
    open(out, "assistant", &prompted::with_calls(content, &bad));
    if let Some(thinking) = thinking {
        field(out, b",\"thinking\":", thinking);
    }
    for (index, call) in good.iter().enumerate() {
        out.extend_from_slice(if index == 0 {
            b",\"tool_calls\":[{"
        } else {
            b",{"
        });
        if !call.id.is_empty() {
            field(out, b"\"id\":", &ids.of_call(&call.id, &call.id));
            out.push(b',');
        }
        field(out, b"\"function\":{\"name\":", &call.name);
        out.extend_from_slice(b",\"arguments\":");
        out.extend_from_slice(call.arguments.trim().as_bytes());
        out.extend_from_slice(b"}}");
    }
    if !good.is_empty() {
        out.push(b']');
    }
}

/// Encodes the images of a message, which Ollama takes as base64.
fn images(out: &mut Vec<u8>, media: &[Media]) {
    let mut images = media.iter().filter_map(Media::base64).peekable();
    if images.peek().is_none() {
        return;
    }
    out.extend_from_slice(b",\"images\":");
    let images: Vec<_> = images.collect();
    json(out, &images);
}

fn open(out: &mut Vec<u8>, role: &str, content: &str) {
    out.extend_from_slice(b"{\"role\":\"");
    out.extend_from_slice(role.as_bytes());
    field(out, b"\",\"content\":", content);
}

fn field(out: &mut Vec<u8>, key: &[u8], text: &str) {
    out.extend_from_slice(key);
    json(out, text);
}

fn json<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    // Strings and JSON trees always serialise, and writing into memory does not fail.
    let _ = serde_json::to_writer(out, value);
}
