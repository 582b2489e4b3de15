//! The lines of a tape, and how a request is recognised.

use agents_core::{
    Json,
    model::{Message, ModelError, Reply, Request},
    run::{Happened, Moment},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;

/// One line of a tape.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Line {
    /// The first line.
    Tape {
        format: u32,
        run_id: String,
        agent: String,
        input: Json,
    },
    /// The clock was read.
    Clock { key: String, millis: u64 },
    /// A model was asked and replied.
    Exchange(Box<Exchange>),
    /// Something else happened that a run cannot repeat.
    Happened(Box<Entry>),
}

/// The format this version writes, and the only one it reads.
pub(super) const FORMAT: u32 = 3;

/// A request and its reply. Only the messages that were not in an earlier request are written, so
/// that a line's length does not grow with the conversation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Exchange {
    pub(super) model: String,
    /// Where in the run.
    pub(super) place: String,
    /// The digest of the messages that an earlier line holds already.
    pub(super) after: Digest,
    pub(super) messages: Vec<Message>,
    /// The tools that were offered; absent when they are those of the exchange before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tools: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) format: Option<Value>,
    #[serde(flatten)]
    pub(super) said: Said,
}

/// What came back.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Said {
    Reply(Reply),
    Failure(ModelError),
    /// The run ended while the model was thinking.
    Nothing,
}

/// Something that happened, and when in the run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Entry {
    // Not flattened: the text of `Json` does not survive that.
    pub(super) moment: Moment,
    pub(super) what: Happened,
}

/// The digest of the beginning of a conversation; empty for no message at all.
pub(super) type Digest = String;

/// A running digest of a conversation: one value for each prefix, the empty one first.
pub(super) fn prefixes(messages: &[Message]) -> Vec<Digest> {
    prefixes_after(Digest::new(), messages)
}

/// The same of a conversation that goes on; that of its beginning is the first.
pub(super) fn prefixes_after(before: Digest, messages: &[Message]) -> Vec<Digest> {
    let mut digests = vec![before];
    for message in messages {
        let before = digests.last().map(String::as_str).unwrap_or_default();
        let digest = hmac_sha256::Hash::hash(format!("{before}{}", text(message)).as_bytes());
        digests.push(
            digest[..8]
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect(),
        );
    }
    digests
}

/// The conversation from here on as it may be written down: without secrets.
pub(super) fn written<'a>(request: &Request<'a>, from: usize) -> Cow<'a, [Message]> {
    let messages = &request.messages()[from..];
    match request.masker() {
        Some(masker) => Cow::Owned(masker.data(messages.to_vec())),
        None => Cow::Borrowed(messages),
    }
}

/// A message as bytes: two are equal when these are.
pub(super) fn text(message: &Message) -> String {
    serde_json::to_string(message).unwrap_or_default()
}

/// The tools that were offered; an empty list when there were none, so that absence can mean "as
/// before".
pub(super) fn tools_of(request: &Request<'_>) -> Value {
    let none = || Value::Array(Vec::new());
    request
        .tools_json()
        .and_then(|json| serde_json::from_str(json).ok())
        .unwrap_or_else(none)
}
