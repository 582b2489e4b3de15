use super::{bundle::Heard, tape::text};
use agents_core::{
    model::{Message, Request},
    run::Moment,
};
use serde_json::Value;
use std::{cmp::Reverse, fmt};

/// The first point at which a replay differs from its recording.
///
/// ```
/// use agents::{prelude::*, record::{Recording, Replay}};
/// # use agents::testing::{Script, ScriptedModel};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (model, _) = ScriptedModel::new([Script::text("4")]);
/// # let path = std::env::temp_dir().join(format!("agents-divergence-{}.jsonl", std::process::id()));
/// let adder = |prompt| AgentBuilder::<String, String>::new("adder").prompt(prompt).build();
/// adder("Add.").run("2 + 2").model(model).tape(Recording::create(&path)?).await?;
///
/// let replay = Replay::open(&path)?;
/// adder("Add exactly.").run("2 + 2").tape(replay.clone()).await.unwrap_err();
/// let parted = replay.divergence().unwrap();
/// assert_eq!((&*parted.recorded, &*parted.now, parted.message), ("Add.", "Add exactly.", Some(1)));
/// # std::fs::remove_file(path)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// Place of the agent's turn or of the call in the run.
    pub place: String,
    /// Number of the request's message that differs, from 1; `None` if it is not a message.
    pub message: Option<usize>,
    /// What was recorded, from shortly before the difference.
    pub recorded: String,
    /// What there is instead, from shortly before the difference.
    pub now: String,
    what: String,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl Divergence {
    /// A request that is not recorded: against the recorded one that it shares most with.
    pub(super) fn of_request<'a>(
        left: impl Iterator<Item = &'a Heard>,
        request: &Request<'_>,
        now: &[Message],
        tools: &Value,
    ) -> Divergence {
        let place = request.place();
        let shared = |heard: &Heard| {
            let pairs = heard.messages.iter().zip(now);
            pairs.take_while(|(a, b)| a == b).count()
        };
        let nearest =
            left.max_by_key(|heard| (shared(heard), heard.place == place, Reverse(heard.number)));
        let Some(nearest) = nearest else {
            let what =
                "the recording has no more replies; this request was not made when it was recorded";
            return Divergence::new(place, what.to_owned());
        };
        let (number, at) = (nearest.number, shared(nearest));
        let (then, is) = (nearest.messages.get(at), now.get(at));
        let said = |message: Option<&Message>| message.map(said).unwrap_or_default();
        let (recorded, now) = difference(&said(then), &said(is));
        let message = at + 1;
        let what = match (then, is) {
            (Some(_), Some(_)) => format!(
                "request {number} differs from the recording in message {message}: recorded `{recorded}`, now `{now}`"
            ),
            (Some(_), None) => format!(
                "request {number} is shorter than the recorded one: message {message} is missing"
            ),
            (None, Some(_)) => format!(
                "request {number} is longer than the recorded one: message {message} `{now}` was not there"
            ),
            (None, None) if nearest.tools != *tools => {
                format!("request {number} offers other tools than were recorded")
            }
            (None, None) => format!("request {number} asks for another format than was recorded"),
        };
        Divergence {
            message: (then.is_some() || is.is_some()).then_some(message),
            recorded,
            now,
            ..Divergence::new(place, what)
        }
    }

    /// Something that did not happen when this was recorded, or happened to something else.
    pub(super) fn of_moment(moment: &Moment, recorded: Option<&Moment>) -> Divergence {
        let (place, what) = moment.at.rsplit_once('/').unwrap_or(("", &moment.at));
        let what = match what.starts_with("run") {
            true => "a tool would run",
            false => "somebody would be asked",
        };
        let then = recorded.map_or("", |recorded| recorded.asked.as_str());
        let (then, now) = difference(then, moment.asked.as_str());
        let what = match recorded {
            Some(_) => format!(
                "{what} with something else than was recorded: recorded `{then}`, now `{now}`"
            ),
            None => format!("{what} that was not recorded: {now}"),
        };
        Divergence {
            recorded: then,
            now,
            ..Divergence::new(place, what)
        }
    }

    /// A tool would run again, because of what is changed within it.
    pub(super) fn of_change(moment: &Moment) -> Divergence {
        let (place, _) = moment.at.rsplit_once('/').unwrap_or_default();
        let what = format!(
            "a tool would run again, for what is changed lies within it: {}",
            moment.asked
        );
        Divergence {
            now: moment.asked.to_string(),
            ..Divergence::new(place, what)
        }
    }

    pub(super) fn new(place: &str, what: String) -> Divergence {
        Divergence {
            place: place.to_owned(),
            message: None,
            recorded: String::new(),
            now: String::new(),
            what,
        }
    }
}

/// What a message says; everything about it when that is not enough to tell two apart.
fn said(message: &Message) -> String {
    match message {
        Message::System { content } | Message::User { content } | Message::Tool { content, .. } => {
            content.clone()
        }
        Message::Assistant { .. } => text(message).get().to_owned(),
    }
}

/// Both texts from shortly before they part, shortened.
fn difference(then: &str, now: &str) -> (String, String) {
    let same = then
        .chars()
        .zip(now.chars())
        .take_while(|(a, b)| a == b)
        .count();
    let from = same.saturating_sub(20);
    let part = |text: &str| text.chars().skip(from).take(80).collect::<String>();
    (part(then), part(now))
}
