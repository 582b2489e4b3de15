//! The order of the blocks of a reply. The server demands its thinking back unchanged and in its place.
//!
//! A reply of ours has one text, one reasoning and a list of calls. The opaque data of its reasoning says how the blocks
//! followed each other: a text, a thinking and a call are taken from the message, and any other block stands there whole.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Block of a reply, as far as the order of the blocks has to be kept: its content is in the message.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Place {
    /// Text of the reply: so many bytes of the message's text.
    Text(usize),
    /// Text with citations that the server wants back.
    Cited {
        /// Number of bytes of the message's text that the block has.
        length: usize,
        citations: Vec<Box<RawValue>>,
    },
    /// Call of a tool: the next of the message's calls.
    Call,
    /// Thinking of the reply: a part of the message's reasoning.
    Thinking {
        /// Number of bytes of the message's reasoning that the block has.
        length: usize,
        /// Signature of the thinking, without which the server refuses to take it back; `None` if the server sent none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    /// A block that only the server understands, such as redacted thinking.
    Block(Box<RawValue>),
}

/// Block of a message that goes back to the server, with its content.
pub(super) enum Piece<'a> {
    Text {
        text: &'a str,
        citations: &'a [Box<RawValue>],
    },
    /// Call of the message, by its number, counting from 0.
    Call(usize),
    Thinking {
        text: &'a str,
        signature: Option<&'a str>,
    },
    Block(&'a RawValue),
}

impl<'a> Piece<'a> {
    pub(super) fn text(text: &'a str) -> Self {
        let citations = &[];
        Piece::Text { text, citations }
    }
}

/// Returns the blocks of a message with their content, in order; `None` if the order does not fit the message, since it
/// was made for another one.
pub(super) fn pieces<'a>(
    order: &'a [Place],
    mut text: &'a str,
    mut thinking: &'a str,
    calls: usize,
) -> Option<Vec<Piece<'a>>> {
    let mut next = 0;
    let mut pieces = Vec::with_capacity(order.len());
    for place in order {
        pieces.push(match place {
            Place::Text(length) => Piece::text(take(&mut text, *length)?),
            Place::Cited { length, citations } => Piece::Text {
                text: take(&mut text, *length)?,
                citations,
            },
            Place::Call => {
                next += 1;
                Piece::Call(next - 1)
            }
            Place::Thinking { length, signature } => Piece::Thinking {
                text: take(&mut thinking, *length)?,
                signature: signature.as_deref(),
            },
            Place::Block(json) => Piece::Block(json),
        });
    }
    (text.is_empty() && thinking.is_empty() && next == calls).then_some(pieces)
}

fn take<'a>(text: &mut &'a str, length: usize) -> Option<&'a str> {
    let (taken, rest) = text.split_at_checked(length)?;
    *text = rest;
    Some(taken)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{Place, pieces};

    #[test]
    fn an_order_fits_only_its_message() {
        let stored = r#"[{"thinking":{"length":2,"signature":"s"}},{"text":1},{"cited":{"length":2,"citations":[{"c": 1}]}},"call",{"block":{"b": 1.0}}]"#;
        let order: Vec<Place> = serde_json::from_str(stored).unwrap();
        assert_eq!(serde_json::to_string(&order).unwrap(), stored);
        let fits = |text, thinking, calls| pieces(&order, text, thinking, calls).is_some();
        assert!(fits("abc", "hm", 1));
        for (text, thinking, calls) in [
            ("abcd", "hm", 1),
            ("ab", "hm", 1),
            ("abc", "h", 1),
            ("abc", "hm!", 1),
            ("aé", "hé", 1),
            ("abc", "hm", 0),
            ("abc", "hm", 2),
        ] {
            assert!(!fits(text, thinking, calls), "{text} {thinking} {calls}");
        }
    }
}
