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
use std::{borrow::Cow, io};

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
    /// The clock was read, and nothing came after it.
    Clock(Readings),
    /// A model was asked and replied.
    Exchange(Box<Exchange<'a>>),
    /// Something else happened that a run cannot repeat.
    Happened(Box<Entry>),
}

/// The format this version writes, and the only one it reads.
pub(super) const FORMAT: u32 = 5;

/// How the clock was read since the line before: what for, and the milliseconds since 1970.
pub(super) type Readings = Vec<(String, u64)>;

/// A request and its reply. Only the messages that were not in an earlier request are written, so
/// that a line's length does not grow with the conversation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Exchange<'a> {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) clock: Readings,
    pub(super) model: Cow<'a, str>,
    /// Where in the run.
    pub(super) place: Cow<'a, str>,
    /// The messages that come first, where earlier lines hold them already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) after: Option<Earlier>,
    pub(super) messages: Vec<Text>,
    /// The tools that were offered; absent when they are those of the exchange before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tools: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) format: Option<Cow<'a, Value>>,
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
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) clock: Readings,
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

/// Takes the secrets out of a message, so that it may be written down.
pub(super) fn hide(message: &mut Text, masker: Option<&Masker>) {
    let masked = match masker.map(|masker| masker.written::<Message>(message.get())) {
        Some(Cow::Owned(masked)) => masked,
        _ => return,
    };
    *message = RawValue::from_string(masked).unwrap_or_default();
}

impl Line<'_> {
    pub(super) fn text(&self) -> io::Result<String> {
        // Most lines are not longer.
        let mut text = Vec::with_capacity(512);
        serde_json::to_writer(&mut text, self)?;
        String::from_utf8(text).map_err(io::Error::other)
    }

    /// Takes the secrets out of messages. They are looked at one by one: what hides a secret in one says
    /// nothing of another.
    pub(super) fn hide(&mut self, masker: &Masker) {
        if let Line::Exchange(exchange) = self {
            let messages = &mut exchange.messages;
            messages
                .iter_mut()
                .for_each(|message| hide(message, Some(masker)));
        }
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
