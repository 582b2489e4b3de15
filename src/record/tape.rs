//! The lines of a tape, and how a request is recognised.

use agents_core::{
    Json,
    model::{Message, ModelError, Reply, Request},
    run::{Happened, Moment},
    secret::Masker,
};
use serde::{Deserialize, Serialize};
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};
use std::borrow::Cow;

/// One line of a tape.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Line<'a> {
    /// The first line.
    Tape {
        format: u32,
        run_id: Cow<'a, str>,
        agent: Cow<'a, str>,
        input: Cow<'a, Json>,
    },
    /// The clock was read.
    Clock { key: Cow<'a, str>, millis: u64 },
    /// A model was asked and replied.
    Exchange(Box<Exchange<'a>>),
    /// Something else happened that a run cannot repeat.
    Happened(Box<Entry>),
}

/// The format this version writes, and the only one it reads.
pub(super) const FORMAT: u32 = 4;

/// A request and its reply. Only the messages that were not in an earlier request are written, so
/// that a line's length does not grow with the conversation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Exchange<'a> {
    pub(super) model: Cow<'a, str>,
    /// Where in the run.
    pub(super) place: Cow<'a, str>,
    /// The messages that come first, where earlier lines hold them already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) after: Option<Earlier>,
    pub(super) messages: Cow<'a, [Text]>,
    /// The tools that were offered; absent when they are those of the exchange before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tools: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) format: Option<Cow<'a, Value>>,
    #[serde(flatten)]
    pub(super) said: Said<'a>,
}

/// The beginning of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Earlier {
    /// Which exchange on the tape had it, from 1.
    pub(super) exchange: usize,
    /// So many of its messages.
    pub(super) messages: usize,
}

/// What came back.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Said<'a> {
    Reply(Cow<'a, Reply>),
    Failure(Cow<'a, ModelError>),
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

/// A message as JSON text: two are equal when these are.
pub(super) type Text = Box<RawValue>;

/// What a message is written as. There is none that cannot be.
pub(super) fn text(message: &Message) -> Text {
    to_raw_value(message).unwrap_or_default()
}

/// The same as it may be written down: without secrets.
pub(super) fn written(message: &Message, masker: Option<&Masker>) -> Text {
    let text = text(message);
    match masker.map(|masker| masker.written::<Message>(text.get())) {
        Some(Cow::Owned(masked)) => RawValue::from_string(masked).unwrap_or_default(),
        _ => text,
    }
}

/// The tools that were offered, as text; an empty list when there were none, so that absence can mean "as
/// before".
pub(super) fn tools_of<'a>(request: &Request<'a>) -> &'a str {
    request.tools_json().unwrap_or("[]")
}

/// The same as a tree.
pub(super) fn tree(tools: &str) -> Value {
    serde_json::from_str(tools).unwrap_or_default()
}
