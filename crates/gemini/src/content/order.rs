//! The order of the parts of a reply, with their thought signatures. The server demands each signature back on its part.
//!
//! A reply of ours has one text, one reasoning and a list of calls. The opaque data of its reasoning says how the parts
//! followed each other. A text and a call are taken from the message, and any other part stands there whole.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Part of a reply, as far as the order of the parts has to be kept: its content is in the message.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Place {
    /// Text of the reply: a stretch of the message's text.
    Text(Stretch),
    /// Thought of the reply: a stretch of the message's reasoning.
    Thought(Stretch),
    /// Call of a tool: the next of the message's calls.
    Call {
        /// Is `true` if the server gave the call an id, by which it finds the result.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        id: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    /// A part that only the server understands, such as code that it ran.
    Part(Box<RawValue>),
}

/// Stretch of the text or the reasoning of a message, which is one part of the reply.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Stretch {
    /// Number of bytes of the stretch.
    pub(super) length: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) signature: Option<String>,
}

/// Part of a reply that goes back to the server with the next request.
pub(super) enum Piece<'a> {
    Text {
        text: &'a str,
        is_thought: bool,
        signature: Option<&'a str>,
    },
    Call {
        number: usize,
        has_id: bool,
        signature: Option<&'a str>,
    },
    Part(&'a RawValue),
}

/// Returns the parts of a message with their content, in order; `None` if the order does not fit the message, since it
/// was made for another one.
pub(super) fn pieces<'a>(
    order: &'a [Place],
    mut text: &'a str,
    mut thoughts: &'a str,
    calls: usize,
) -> Option<Vec<Piece<'a>>> {
    let mut number = 0;
    let mut pieces = Vec::with_capacity(order.len());
    for place in order {
        pieces.push(match place {
            Place::Text(stretch) => said(&mut text, stretch, false)?,
            Place::Thought(stretch) => said(&mut thoughts, stretch, true)?,
            Place::Call { id, signature } => {
                number += 1;
                Piece::Call {
                    number: number - 1,
                    has_id: *id,
                    signature: signature.as_deref(),
                }
            }
            Place::Part(json) => Piece::Part(json),
        });
    }
    (text.is_empty() && thoughts.is_empty() && number == calls).then_some(pieces)
}

fn said<'a>(text: &mut &'a str, stretch: &'a Stretch, is_thought: bool) -> Option<Piece<'a>> {
    let (taken, rest) = text.split_at_checked(stretch.length)?;
    *text = rest;
    Some(Piece::Text {
        text: taken,
        is_thought,
        signature: stretch.signature.as_deref(),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{Place, pieces};

    #[test]
    fn an_order_fits_only_its_message() {
        let stored = concat!(
            r#"[{"thought":{"length":2}},{"text":{"length":3,"signature":"s"}},{"call":{"id":true,"signature":"t"}},"#,
            r#"{"call":{}},{"part":{"executableCode":{"code": "1"}}}]"#,
        );
        let order: Vec<Place> = serde_json::from_str(stored).unwrap();
        assert_eq!(serde_json::to_string(&order).unwrap(), stored);
        let fits = |text, thoughts, calls| pieces(&order, text, thoughts, calls).is_some();
        assert!(fits("abc", "hm", 2));
        for (text, thoughts, calls) in [
            ("ab", "hm", 2),
            ("abcd", "hm", 2),
            ("abc", "hé", 2),
            ("abc", "hm", 1),
        ] {
            assert!(!fits(text, thoughts, calls), "{text} {thoughts} {calls}");
        }
    }
}
