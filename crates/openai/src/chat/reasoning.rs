//! Reasoning that goes back to the server with the calls that it led to.
//!
//! DeepSeek, Moonshot and others require their `reasoning_content`, and OpenRouter its `reasoning_details`, which hold
//! signatures. The opaque data of the reasoning is the name of the field, and its value unless that is the text itself.

use super::PROVIDER;
use crate::json::put;
use agents_core::model::Thinking;
use serde_json::{Map, Value};

/// Reasoning of a reply that is being read.
#[derive(Default)]
pub(super) struct Reasoning {
    text: String,
    /// Name of the field in which the server sent the text, and in which it gets the text back.
    field: Option<&'static str>,
    details: Vec<Map<String, Value>>,
}

impl Reasoning {
    /// Adds a fragment of the reasoning's text, which came in the field of this name.
    pub(super) fn push(&mut self, field: Option<&'static str>, piece: &str) {
        self.text.push_str(piece);
        self.field = self.field.or(field);
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.details.is_empty()
    }

    /// Adds details of the reasoning, as some gateways send them. The fragments of one detail are joined.
    pub(super) fn push_details(&mut self, details: Vec<Map<String, Value>>) {
        for detail in details {
            let same = |held: &&mut Map<String, Value>| {
                ["type", "index"]
                    .iter()
                    .all(|key| held.get(*key) == detail.get(*key))
                    && detail.contains_key("index")
            };
            match self.details.last_mut().filter(same) {
                Some(held) => join(held, detail),
                None => self.details.push(detail),
            }
        }
    }

    /// Returns the reasoning, with what goes back to the server; `None` if the reply has no reasoning.
    pub(super) fn finish(self) -> Option<Thinking> {
        let thinking = Thinking::from(self.text);
        let thinking = match (self.details.is_empty(), self.field) {
            (false, _) => {
                let details = Value::from_iter(self.details);
                thinking.with_opaque(PROVIDER, format!("reasoning_details={details}"))
            }
            (true, Some(field)) => thinking.with_opaque(PROVIDER, field),
            (true, None) => thinking,
        };
        (!thinking.is_empty()).then_some(thinking)
    }
}

/// Adds a fragment to a detail of the reasoning: its texts are joined, and its other values replace those before.
fn join(held: &mut Map<String, Value>, piece: Map<String, Value>) {
    for (key, value) in piece {
        let is_text = matches!(&*key, "text" | "summary" | "data");
        match (held.get_mut(&key), value) {
            (_, Value::Null) => {}
            (Some(Value::String(text)), Value::String(piece)) if is_text => text.push_str(&piece),
            (_, value) => {
                held.insert(key, value);
            }
        }
    }
}

/// Encodes the field in which the server gets its reasoning back.
pub(super) fn put_back(out: &mut Vec<u8>, thinking: &Thinking, kept: &str) {
    let (field, value) = match kept.split_once('=') {
        Some((field, value)) => (field, Some(value)),
        None => (kept, None),
    };
    out.extend_from_slice(b",");
    put(out, field);
    out.push(b':');
    match value {
        Some(json) => out.extend_from_slice(json.as_bytes()),
        None => put(out, &**thinking),
    }
}
