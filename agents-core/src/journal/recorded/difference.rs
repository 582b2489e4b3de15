//! Difference between a request and the recorded ones.

use super::{
    exchanges::{Exchanges, RecordedRequest},
    wording,
};
use crate::{
    Json,
    model::{Message, Request},
};
use std::{cmp::Reverse, fmt};

/// First request of a run that the recorded run did not make, with the recorded request that is most similar.
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
    /// Path of the agent's turn in the run in which the request was made.
    pub place: String,
    /// Number of the message that differs, from 1; `None` if something else differs, such as the tools.
    pub message: Option<usize>,
    /// Excerpt of the recorded text, from shortly before the difference.
    pub recorded: String,
    /// Text of the new request, from shortly before the difference.
    pub now: String,
    what: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

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
            (None, None) if offers_other_tools => wording::other_tools(number),
            (None, None) => wording::other_format(number),
        };
        Difference {
            message: (then.is_some() || is.is_some()).then_some(message),
            recorded,
            now,
            ..Difference::new(place, what)
        }
    }

    /// Creates the difference for a request whose recorded counterpart was never answered.
    pub(super) fn of_end(place: String) -> Difference {
        Difference::new(place, wording::ENDED_UNANSWERED.to_owned())
    }

    fn new(place: String, what: String) -> Difference {
        Difference {
            place,
            message: None,
            recorded: String::new(),
            now: String::new(),
            what,
        }
    }
}

/// Returns a message as text, for a comparison; a model's message as JSON, since its text alone may not tell two apart.
fn said(message: &Message) -> String {
    match message {
        Message::Assistant { .. } => {
            Json::of(message).map_or_else(|_| String::new(), |json| json.as_str().to_owned())
        }
        other => other.text().to_owned(),
    }
}

/// Returns both texts from shortly before the point at which they differ, shortened.
fn parted(then: &str, now: &str) -> (String, String) {
    let pairs = then.chars().zip(now.chars());
    let same = pairs.take_while(|(a, b)| a == b).count();
    let from = same.saturating_sub(20);
    let part = |text: &str| text.chars().skip(from).take(80).collect::<String>();
    (part(then), part(now))
}
