//! History -> the bytes of a request. What was encoded for one turn is not encoded again for the
//! next: it stays in the history's slot, and a turn costs one copy of it.
//!
//! ```text
//! {"model":..,"stream":  false  ,"options":{..}  ,"tools":[..]  ,"messages":[  ..  ]  ,"format":{..}  }
//! └── Ready::head ────┘         └─ settings ───┘ └─ ToolSet ──┘             slot      └─ last turn ──┘
//! ```

use crate::config::Ready;
use agents_core::model::{Message, Request, ToolCall, prompted};
use serde::Serialize;
use std::hash::{DefaultHasher, Hash, Hasher};

/// How this request offers its tools, and so how its history is spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Native,
    Prompted,
    Constrained,
}

/// What the history's slot holds: messages as JSON, each with a comma after it.
#[derive(Default)]
struct Encoded {
    spelling: Spelling,
    covered: usize,
    messages: Vec<u8>,
    /// The grammar's schema, where there is one.
    format: String,
}

/// Whose bytes these are: as long as it is equal, they can be taken further. Where the tools are
/// part of the first message, they count.
#[derive(Default, PartialEq)]
enum Spelling {
    #[default]
    Native,
    Prompted(u64),
    Constrained(u64),
}

/// The request's body.
pub(crate) fn body(ready: &Ready, request: &Request<'_>, mode: Mode, stream: bool) -> Vec<u8> {
    request.history().wire(|encoded: &mut Encoded, messages| {
        encoded.catch_up(request, messages, mode);
        let Ready { head, settings, .. } = ready;
        let tools = if mode == Mode::Native {
            request.tools_json()
        } else {
            None
        };
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
            // A model that has to follow a schema cannot call.
            Some(format) if !request.has_tools() => {
                body.extend_from_slice(b",\"format\":");
                json(&mut body, format);
            }
            _ if mode == Mode::Constrained && request.has_tools() => {
                body.extend_from_slice(b",\"format\":");
                body.extend_from_slice(encoded.format.as_bytes());
            }
            _ => {}
        }
        body.push(b'}');
        body
    })
}

impl Encoded {
    /// Encodes the messages that are new. Begins anew where the bytes are somebody else's.
    fn catch_up(&mut self, request: &Request<'_>, messages: &[Message], mode: Mode) {
        let spelling = Spelling::of(request, mode);
        if self.spelling != spelling || self.covered > messages.len() {
            *self = Encoded {
                spelling,
                ..Encoded::default()
            };
        }
        if mode == Mode::Native {
            messages[self.covered..]
                .iter()
                .for_each(|message| self.native(message));
        } else {
            self.plain(request, messages, mode);
        }
        self.covered = messages.len();
    }

    fn native(&mut self, message: &Message) {
        let out = &mut self.messages;
        match message {
            Message::System { content } => open(out, "system", content),
            Message::User { content } => open(out, "user", content),
            Message::Assistant {
                content,
                thinking,
                calls,
            } => assistant(out, content, thinking.as_deref(), calls),
            Message::Tool {
                tool_call_id,
                name,
                content,
            } => {
                open(out, "tool", content);
                field(out, b",\"tool_name\":", name);
                if !tool_call_id.is_empty() {
                    field(out, b",\"tool_call_id\":", tool_call_id);
                }
            }
        }
        out.extend_from_slice(b"},");
    }

    fn plain(&mut self, request: &Request<'_>, messages: &[Message], mode: Mode) {
        let mut new = messages[self.covered..].iter();
        if self.covered == 0 && request.has_tools() && !messages.is_empty() {
            let instructions = prompted::instructions(request.tools());
            match messages.first() {
                Some(Message::System { content }) => {
                    new.next();
                    self.text(
                        "system",
                        &format!("{}\n\n{instructions}", content.trim_end()),
                    );
                }
                _ => self.text("system", &instructions),
            }
            for example in prompted::examples(request.tools()) {
                self.plainly(&example, mode);
            }
            if mode == Mode::Constrained {
                self.format = prompted::constrained(request.tools(), request.format());
            }
        }
        for message in new {
            self.plainly(message, mode);
        }
    }

    fn plainly(&mut self, message: &Message, mode: Mode) {
        match (message, mode) {
            (Message::Assistant { content, calls, .. }, Mode::Constrained) if calls.is_empty() => {
                self.text("assistant", &prompted::answer_text(content));
            }
            _ => {
                let (role, text) = prompted::plain(message);
                self.text(role, &text);
            }
        }
    }

    fn text(&mut self, role: &str, content: &str) {
        open(&mut self.messages, role, content);
        self.messages.extend_from_slice(b"},");
    }
}

impl Spelling {
    fn of(request: &Request<'_>, mode: Mode) -> Self {
        match mode {
            Mode::Native => Spelling::Native,
            Mode::Prompted => Spelling::Prompted(fingerprint(request)),
            Mode::Constrained => Spelling::Constrained(fingerprint(request)),
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

/// The model's own message. Ollama reads `arguments` into a map and refuses a request in which
/// they are anything else; so a call that was never valid goes back as the text it was, and a
/// good one exactly as the model wrote it.
fn assistant(out: &mut Vec<u8>, content: &str, thinking: Option<&str>, calls: &[ToolCall]) {
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
            field(out, b"\"id\":", &call.id);
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
