//! Requests to models and their replies, from a journal.

use crate::{
    Json,
    journal::{Entry, Fact, Finished, Offer, PlaceId, State, Stored},
    model::{Message, ModelError, Reply},
    run::Timestamp,
};
use std::collections::{BTreeMap, BTreeSet};

/// Requests to models in a recorded run, and the replies to them.
#[derive(Default)]
pub(super) struct Exchanges {
    pub(super) requests: Vec<RecordedRequest>,
    /// Conversations, to which messages are only added. A shortened conversation is a new one.
    talks: Vec<Vec<Message>>,
    /// Index of the conversation that each agent is in at present, by the agent's path.
    going: BTreeMap<String, usize>,
    /// Index of the request that is not answered yet, by the path of its agent.
    open: BTreeMap<String, usize>,
    /// Numbers of the facts that began the conversations, by the paths of their agents.
    begun: BTreeMap<String, u64>,
    /// Numbers of the facts that made the offers, by the run and the number of the offer in it.
    offered: BTreeMap<(u32, usize), u64>,
    /// Is `true` if the run ended with an answer or a failure, and was not stopped.
    pub(super) has_ended: bool,
    /// Time of the last fact.
    pub(super) last: Option<Timestamp>,
}

/// Request to a model in a recorded run.
pub(super) struct RecordedRequest {
    /// Path of the place and the turn in which the model was asked.
    pub(super) place: String,
    /// Number of the fact that the model was asked; `at` is its time.
    pub(super) fact: u64,
    pub(super) at: Timestamp,
    /// Number of the fact that began the conversation; `offered` is that of the fact that made the offer.
    begun: u64,
    pub(super) offered: u64,
    /// Path of the agent that asked the model.
    path: String,
    /// Index of the request's conversation; `messages` is the number of its messages that the request had.
    talk: usize,
    messages: usize,
    pub(super) offer: Option<Offer>,
    pub(super) model: String,
    pub(super) said: RecordedAnswer,
}

/// Answer to a recorded request: a reply, an error, or none.
pub(super) enum RecordedAnswer {
    /// A reply, as JSON in which references stand for secrets.
    Reply(Json),
    Failure(ModelError),
    /// No answer: the recorded run went on or ended without one.
    Nothing,
}

impl Exchanges {
    /// Records the requests and the replies that a fact tells of, before the fact is folded.
    pub(super) fn on(&mut self, state: &State, place: PlaceId, fact: &Fact, raw: &Entry) {
        self.last = Some(raw.at);
        match fact {
            // Another conversation begins.
            Fact::Said { .. } | Fact::Chosen { .. } | Fact::Shortened { .. } => {
                self.catch_up(state, place);
                let path = state.path(place).to_string();
                self.going.remove(&path);
                self.begun.insert(path, raw.seq);
            }
            Fact::Offered(_) => {
                self.offered.insert((raw.run, state.offers.len()), raw.seq);
            }
            Fact::Asked { model, offer } => self.asked(state, place, model, *offer, raw),
            Fact::Replied(replied) => self.answered(state, place, reply_in(raw), &replied.model),
            Fact::Unanswered { error, model, .. } => {
                let said = error
                    .clone()
                    .map_or(RecordedAnswer::Nothing, RecordedAnswer::Failure);
                self.answered(state, place, said, model);
            }
            Fact::Done { .. } => {
                self.catch_up(state, place);
            }
            _ => {}
        }
    }

    /// Adds the last messages of each run after the last entry, and records whether the outermost run ended with an
    /// answer or a failure.
    pub(super) fn end(&mut self, runs: &[Stored]) {
        let finished = runs.first().and_then(|run| run.state.finished.as_ref());
        self.has_ended = matches!(
            finished,
            Some(Finished::Answer(_) | Finished::Failed { .. })
        );
        for run in runs {
            for id in (0..).take(run.state.places.len()) {
                self.catch_up(&run.state, id);
            }
        }
    }

    /// Adds the messages that are new at a place to the recorded conversation. Returns the index of that conversation;
    /// `None` if it has no messages.
    fn catch_up(&mut self, state: &State, place: PlaceId) -> Option<usize> {
        let frame = state.place(place).frame.as_ref()?;
        let messages = frame.history.messages();
        if messages.is_empty() {
            return None;
        }
        let path = state.path(place).to_string();
        let talk = *self.going.entry(path).or_insert_with(|| {
            self.talks.push(Vec::new());
            self.talks.len() - 1
        });
        let known = self.talks[talk].len();
        let new = messages.get(known..).unwrap_or_default();
        self.talks[talk].extend_from_slice(new);
        Some(talk)
    }

    fn asked(&mut self, state: &State, place: PlaceId, model: &str, offer: u32, raw: &Entry) {
        let Some(talk) = self.catch_up(state, place) else {
            return;
        };
        let path = state.path(place).to_string();
        let turn = state
            .place(place)
            .frame
            .as_ref()
            .map_or(0, |frame| frame.turns);
        let offer = usize::try_from(offer).ok();
        let offered = offer.and_then(|offer| self.offered.get(&(raw.run, offer)));
        self.open.insert(path.clone(), self.requests.len());
        self.requests.push(RecordedRequest {
            place: format!("{path}/turn{:04}", turn + 1),
            fact: raw.seq,
            at: raw.at,
            begun: self.begun.get(&path).copied().unwrap_or(raw.seq),
            offered: offered.copied().unwrap_or(raw.seq),
            path,
            talk,
            messages: self.talks[talk].len(),
            offer: offer.and_then(|offer| state.offers.get(offer).cloned()),
            model: model.to_owned(),
            said: RecordedAnswer::Nothing,
        });
    }

    fn answered(&mut self, state: &State, place: PlaceId, said: RecordedAnswer, model: &str) {
        let open = self.open.remove(&state.path(place).to_string());
        if let Some(asked) = open.and_then(|open| self.requests.get_mut(open)) {
            asked.said = said;
            model.clone_into(&mut asked.model);
        }
    }

    /// Returns the number of the fact from which the message with this index of a request comes: the beginning of the
    /// conversation, or the request itself.
    pub(super) fn fact_of(&self, asked: &RecordedRequest, index: usize) -> u64 {
        let first = self.requests.iter().find(|first| first.talk == asked.talk);
        match first {
            Some(first) if index < first.messages => asked.begun,
            _ => asked.fact,
        }
    }

    /// Returns the first answered request of the agent that was run that is not among `used`.
    pub(super) fn not_made(&self, used: &BTreeSet<usize>) -> Option<(usize, &RecordedRequest)> {
        let all = self.requests.iter().enumerate();
        let is_own = |asked: &RecordedRequest| asked.path.is_empty();
        let is_answered = |asked: &RecordedRequest| !matches!(asked.said, RecordedAnswer::Nothing);
        let mut left = all.filter(|(index, _)| !used.contains(index));
        left.find(|(_, asked)| is_own(asked) && is_answered(asked))
    }

    /// Returns the messages of a request.
    pub(super) fn messages(&self, asked: &RecordedRequest) -> &[Message] {
        &self.talks[asked.talk][..asked.messages]
    }

    /// Returns the last conversation of the agent at this path; empty if the agent has had no conversation.
    pub(super) fn of(&self, path: &str) -> &[Message] {
        let talk = self.going.get(path);
        talk.map_or(&[], |talk| &self.talks[*talk])
    }

    /// Returns the last offer to the model of the agent at this path without an answer format, or else the last offer.
    /// `None` if the agent made no request.
    pub(super) fn offer(&self, path: &str) -> Option<&Offer> {
        let mut asked = self.requests.iter().rev();
        let of_path = |asked: &&RecordedRequest| asked.path == path;
        let with_tools = |asked: &&RecordedRequest| {
            asked
                .offer
                .as_ref()
                .is_some_and(|offer| offer.format.is_none())
        };
        asked
            .clone()
            .filter(of_path)
            .find(with_tools)
            .or_else(|| asked.find(of_path))?
            .offer
            .as_ref()
    }
}

/// Returns the reply that an entry holds, as JSON in which references stand for secrets.
fn reply_in(raw: &Entry) -> RecordedAnswer {
    #[derive(serde::Deserialize)]
    struct Named {
        replied: Raw,
    }
    #[derive(serde::Deserialize)]
    struct Raw {
        reply: Json,
    }
    match raw.fact.to::<Named>() {
        Ok(Named { replied }) => RecordedAnswer::Reply(replied.reply),
        Err(_) => RecordedAnswer::Nothing,
    }
}

/// Returns the reply as the model gave it, with the secrets that `restore` knows.
pub(super) fn reply_of(
    json: &Json,
    restore: impl FnOnce(&str) -> String,
) -> Result<Reply, serde_json::Error> {
    serde_json::from_str(&restore(json.as_str()))
}
