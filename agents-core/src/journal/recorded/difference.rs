//! Difference between a request and the recorded ones.

use super::{
    exchanges::{Exchanges, RecordedRequest},
    wording,
};
use crate::{
    Json,
    model::{Message, Request},
};
use serde_json::Value;
use std::{cmp::Reverse, fmt};

/// First point at which a run departs from the recorded run: mostly a request that was not recorded, compared with the
/// most similar recorded request.
///
/// ```
/// # use agents_core as agents;
/// # use agents::{Agent, AgentBuilder, testing::{Script, ScriptedModel}};
/// use agents::journal::{MemoryJournal, Recorded};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (model, _) = ScriptedModel::new([Script::text("4")]);
/// let adder = |prompt| AgentBuilder::<String, String>::new("adder").prompt(prompt).build();
/// let journal = MemoryJournal::new();
/// adder("Add.").run("2 + 2").model(model).journal(journal.clone()).await?;
///
/// let model = Recorded::of(journal.entries())?.model();
/// adder("Add exactly.").run("2 + 2").model(model.clone()).await.unwrap_err();
/// let difference = model.difference().unwrap();
/// assert_eq!((&*difference.recorded, &*difference.now, difference.message), ("Add.", "Add exactly.", Some(1)));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// Place in the new run: that of an agent's turn, of a call, or of an agent that code runs. For a request that is
    /// not made now, the place that it had in the recording. Empty if the run as a whole differs.
    pub place: String,
    /// Number of the message that differs, from 1; `None` if something else differs, such as the tools.
    pub message: Option<usize>,
    /// Number of the recorded fact at which the run departs from the recording, as
    /// [`Entry::seq`](crate::journal::Entry::seq) has it; `None` if the recording breaks off there, or has no more
    /// replies.
    pub fact: Option<u64>,
    /// Recorded text, from shortly before the difference, at most 80 characters; empty if no texts are compared, or the
    /// text is new.
    pub recorded: String,
    /// Text of the new run in its place, from shortly before the difference, at most 80 characters; empty if no texts
    /// are compared, or the text is missing.
    pub now: String,
    what: What,
}

/// Kind of a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    /// The code does this instead, in a sentence.
    This(Box<str>),
    /// The recording ends here.
    Nothing,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.what {
            What::This(what) => what,
            What::Nothing => wording::ENDED_UNANSWERED,
        })?;
        match self.fact {
            Some(fact) => write!(f, " (fact {fact})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Difference {}

impl Difference {
    /// Compares a new request with the recorded ones that are left, and describes how it differs from the most similar
    /// one.
    pub(super) fn of<'a>(
        exchanges: &Exchanges,
        left: impl Iterator<Item = (usize, &'a RecordedRequest)>,
        request: &Request<'_>,
        now: &[Message],
    ) -> Difference {
        let place = request.place();
        let shared = |asked: &RecordedRequest| {
            let pairs = exchanges.messages(asked).iter().zip(now);
            pairs.take_while(|(a, b)| a == b).count()
        };
        let nearest = left
            .max_by_key(|(index, asked)| (shared(asked), asked.place == place, Reverse(*index)));
        let Some((index, nearest)) = nearest else {
            return Difference::new(place, wording::NO_MORE_REPLIES.to_owned());
        };
        let (number, at) = (index + 1, shared(nearest));
        let (then, is) = (exchanges.messages(nearest).get(at), now.get(at));
        let said = |message: Option<&Message>| message.map(said).unwrap_or_default();
        let (recorded, now) = parted(&said(then), &said(is));
        let message = at + 1;
        let offers_other_tools = nearest
            .offer
            .as_ref()
            .is_some_and(|offer| offer.tools.as_str() != request.tools_json().unwrap_or("[]"));
        let what = match (then, is) {
            (Some(_), Some(_)) => wording::other_message(number, message, &recorded, &now),
            (Some(_), None) => wording::message_missing(number, message),
            (None, Some(_)) => wording::message_added(number, message, &now),
            (None, None) if offers_other_tools => {
                let offer = nearest.offer.as_ref();
                let then = offer.map_or("[]", |offer| offer.tools.as_str());
                let tools = changed_tools(then, request.tools_json().unwrap_or("[]"));
                wording::other_tools(number, &tools)
            }
            (None, None) => wording::other_format(number),
        };
        let is_a_message = then.is_some() || is.is_some();
        Difference {
            message: is_a_message.then_some(message),
            fact: Some(match is_a_message {
                true => exchanges.fact_of(nearest, at),
                false => nearest.offered,
            }),
            recorded,
            now,
            ..Difference::new(place, what)
        }
    }

    /// Creates the difference for a request whose recorded counterpart was never answered.
    pub(super) fn of_end(place: String) -> Difference {
        Difference {
            what: What::Nothing,
            ..Difference::new(place, String::new())
        }
    }

    /// Creates a difference from this recorded fact.
    pub(super) fn at(fact: u64, place: impl Into<String>, what: String) -> Difference {
        Difference {
            fact: Some(fact),
            ..Difference::new(place.into(), what)
        }
    }

    /// Adds the recorded text and the text that takes its place now, from shortly before they differ. `what` makes the
    /// sentence of the two.
    pub(super) fn between(
        mut self,
        then: &str,
        now: &str,
        what: impl FnOnce(&str, &str) -> String,
    ) -> Difference {
        (self.recorded, self.now) = parted(then, now);
        self.what = What::This(what(&self.recorded, &self.now).into());
        self
    }

    /// Returns `true` if nothing differs: the recording ends here.
    pub(super) fn is_end(&self) -> bool {
        self.what == What::Nothing
    }

    fn new(place: String, what: String) -> Difference {
        Difference {
            place,
            message: None,
            fact: None,
            recorded: String::new(),
            now: String::new(),
            what: What::This(what.into()),
        }
    }
}

/// Returns a message as text, for a comparison. A model's message is returned as JSON, since the texts of two different
/// messages may be equal.
fn said(message: &Message) -> String {
    match message {
        Message::Assistant { .. } => {
            Json::of(message).map_or_else(|_| String::new(), |json| json.as_str().to_owned())
        }
        other => other.text().to_owned(),
    }
}

/// Returns in words which of the tools differ in two lists of declarations.
fn changed_tools(then: &str, now: &str) -> Vec<String> {
    let named = |text: &str| -> Vec<(String, Value)> {
        let all: Vec<Value> = serde_json::from_str(text).unwrap_or_default();
        let named = all.into_iter().map(|mut tool| {
            let tool = tool["function"].take();
            (tool["name"].as_str().unwrap_or_default().to_owned(), tool)
        });
        named.collect()
    };
    let (then, now) = (named(then), named(now));
    let of = |tools: &[(String, Value)], name: &str| {
        let tool = tools.iter().find(|(own, _)| own == name);
        tool.map(|(_, tool)| tool.clone())
    };
    let mut changed = Vec::new();
    for (name, was) in &then {
        changed.extend(match of(&now, name) {
            None => Some(wording::tool_gone(name)),
            Some(is) if is["parameters"] != was["parameters"] => Some(wording::tool_schema(name)),
            Some(is) if is != *was => Some(wording::tool_described(name)),
            Some(_) => None,
        });
    }
    let new = now.iter().filter(|(name, _)| of(&then, name).is_none());
    changed.extend(new.map(|(name, _)| wording::tool_new(name)));
    changed
}

/// Returns both texts from shortly before they differ, shortened.
fn parted(then: &str, now: &str) -> (String, String) {
    let pairs = then.chars().zip(now.chars());
    let same = pairs.take_while(|(a, b)| a == b).count();
    let from = same.saturating_sub(20);
    let part = |text: &str| text.chars().skip(from).take(80).collect::<String>();
    (part(then), part(now))
}
