//! A stored run for inspection: its conversations, calls and answers, without its agent.

mod difference;
mod exchanges;
mod model;
mod open_calls;
mod outside;
mod replay;
mod what_if;
mod wording;

pub use difference::Difference;
pub use model::RecordedModel;
pub use open_calls::OpenCall;
pub use what_if::{RecordedCall, WhatIf};

pub(crate) use replay::Replay;

use super::{
    Entry, Fact, JournalError, Started, What, call_path,
    refold::{Stored, refold},
};
use crate::{
    Error, Json,
    budget::Cost,
    model::{Message, Usage},
    run::{Event, Outcome, ToolEnvelope, trace::Trace},
    secret::{Masker, shown},
};
use exchanges::Exchanges;
use outside::Outside;
use serde::de::DeserializeOwned;
use std::{collections::BTreeSet, fmt, sync::Arc};

/// Stored run, for inspection and for experiments. No agent, model or tool is needed.
///
/// | | |
/// |-|-|
/// | what happened | [`outcome`](Recorded::outcome), [`receipts`](Recorded::receipts), [`prompt`](Recorded::prompt), [`messages`](Recorded::messages), [`tools`](Recorded::tools) |
/// | what the run needs in order to go on | [`open_calls`](Recorded::open_calls), [`answer_digest`](Recorded::answer_digest), [`policies`](Recorded::policies) |
/// | test your code on recorded replies | `agent.run(..).model(recorded.model())`: see [`model`](Recorded::model) |
/// | what the code of today does otherwise | `agent.run(..).replay(&recorded)`: see [`Run::replay`](crate::agent::Run::replay) |
/// | what would have happened | `agent.run(..).journal(recorded.what_if()..journal()?)`: see [`what_if`](Recorded::what_if) |
///
/// Secrets are shown by their names.
///
/// ```
/// # use agents_core as agents;
/// # use agents::{Agent, AgentBuilder, testing::{Script, ScriptedModel}};
/// use agents::journal::{MemoryJournal, Recorded};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (model, _) = ScriptedModel::new([Script::text("4")]);
/// let adder = AgentBuilder::<String, u32>::new("adder").prompt("Add.").build();
/// let journal = MemoryJournal::new();
/// adder.run("2 + 2").model(model).journal(journal.clone()).await?;
///
/// let recorded = Recorded::of(journal.entries())?;
/// assert_eq!((recorded.agent(), recorded.input::<String>()?.as_str()), ("adder", "2 + 2"));
/// assert_eq!(recorded.outcome::<u32>().unwrap().result?, 4);
/// assert_eq!(recorded.messages().len(), 3);
///
/// // The same code on the recorded reply, and other code on it.
/// assert_eq!(adder.run("2 + 2").model(recorded.model()).await?, 4);
/// let error = adder.run("2 + 3").model(recorded.model()).await.unwrap_err();
/// assert!(error.to_string().contains("recorded `2 + 2`, now `2 + 3`"));
/// # Ok(())
/// # }
/// ```
pub struct Recorded {
    entries: Vec<Entry>,
    /// Entries of the journal, with the names of secrets in place of references.
    seen: Vec<Entry>,
    /// Stored run, and the runs nested in it, each with its state.
    runs: Vec<Stored>,
    exchanges: Arc<Exchanges>,
    outside: Arc<Outside>,
}

impl Recorded {
    /// Reads the entries of a journal.
    ///
    /// # Errors
    /// When there are no entries, or an entry cannot be read or does not follow from those before it; the message names
    /// the entry.
    pub fn of(entries: Vec<Entry>) -> Result<Recorded, JournalError> {
        let seen = with_names(&entries)?;
        let mut exchanges = Exchanges::default();
        let mut outside = Outside::default();
        let mut stored = entries.iter();
        let (_, runs) = refold(&seen, &Masker::new(), |state, fact, position| {
            let entry = position.entry;
            if let Some(stored) = stored.next() {
                exchanges.on(state, entry.place, &fact, stored);
            }
            outside.on(state, entry.place, &fact, entry);
            position.fold(state, fact)
        })?;
        if runs.is_empty() {
            return Err(JournalError::new(wording::NO_RUN));
        }
        exchanges.end(&runs);
        Ok(Recorded {
            entries,
            seen,
            runs,
            exchanges: Arc::new(exchanges),
            outside: Arc::new(outside),
        })
    }

    pub(crate) fn started(&self) -> &Started {
        &self.runs[0].started
    }

    /// Returns the entries of the journal, in order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns the name of the agent that was run.
    pub fn agent(&self) -> &str {
        &self.started().agent
    }

    /// Returns the id of the run.
    pub fn run_id(&self) -> &str {
        &self.started().run_id
    }

    /// Returns the input of the run.
    ///
    /// # Errors
    /// When the input is no `I`.
    pub fn input<I: DeserializeOwned>(&self) -> Result<I, serde_json::Error> {
        self.started().input.to()
    }

    /// Returns the prompt of the agent that was run, as its model got it: followed by the schema of the answer, unless
    /// the answer is plain text. `None` if there is neither prompt nor schema, the agent has not begun, or no model
    /// drives the agent.
    pub fn prompt(&self) -> Option<&str> {
        match self.exchanges.of("").first()? {
            Message::System { content } => Some(content),
            _ => None,
        }
    }

    /// Returns the last conversation of the agent that was run, with its prompt, its tool calls and their results;
    /// empty if the agent has not begun, or no model drives the agent.
    pub fn messages(&self) -> &[Message] {
        self.exchanges.of("")
    }

    /// Returns the tools that were last offered to the model of the agent that was run, as function declarations; empty
    /// if it made no request. A request for an answer in the form of a schema offers no tools, and is passed over if
    /// there was another.
    pub fn tools(&self) -> Vec<serde_json::Value> {
        let offer = self.exchanges.offer("");
        offer.map_or_else(Vec::new, |offer| offer.tools.to().unwrap_or_default())
    }

    /// Returns the events of the run, in order. They are the events that subscribers got, without the streamed pieces
    /// of texts and of thinking. Events of nested runs are left out.
    ///
    /// The events are numbered anew, from 1. A run that went on in another process has one more
    /// [`RunStarted`](crate::run::EventKind::RunStarted) for each time.
    pub fn events(&self) -> Vec<Event> {
        let mut events: Vec<Event> = Vec::new();
        let run_id: Arc<str> = self.run_id().into();
        // The facts were folded without an error when the journal was read.
        let _ = refold(&self.seen, &Masker::new(), |state, fact, position| {
            let Entry { run, place, at, .. } = *position.entry;
            let (after, told) = state.fold_and_tell(place, fact, at, position.projection);
            if run == 0 {
                let place = state.place(place);
                events.extend(told.kinds.into_iter().zip(1..).map(|(kind, nth)| Event {
                    run_id: run_id.clone(),
                    seq: nth,
                    at,
                    agent: place.agent.clone(),
                    depth: place.depth,
                    place: told.place.clone(),
                    kind,
                }));
            }
            after
        });
        for (event, seq) in events.iter_mut().zip(1..) {
            event.seq = seq;
        }
        events
    }

    /// Returns the receipts of the run's calls, in the order in which the models asked; the receipts of an agent's work
    /// follow that of the call that started it. Calls that are not settled have none. Calls of nested runs are left out.
    pub fn receipts(&self) -> Vec<Arc<ToolEnvelope>> {
        self.runs[0].state.receipts_so_far(0)
    }

    /// Returns the ids of the receipts (`call_id`) of those calls that a part of the run itself carried out: a
    /// delegate, a bridge tool or a hand-off.
    pub fn delegated(&self) -> BTreeSet<&str> {
        let state = &self.runs[0].state;
        // The receipts of an agent that is done do not tell the numbers of its calls.
        let delegated = state.steps.iter().filter_map(|step| match &step.what {
            What::Call { seq, call_id } => {
                let path = call_path(&state.path(step.place).to_string(), *seq);
                let call = self.outside.calls.get(&path)?;
                call.is_delegated.then_some(&**call_id)
            }
            _ => None,
        });
        delegated.collect()
    }

    /// Returns the tokens and requests that the run has used so far, those of nested runs that have ended included.
    pub fn usage(&self) -> Usage {
        self.runs[0].state.usage
    }

    /// Returns the cost of the run so far, as the models reported it or the [prices](crate::agent::Run::price) of the
    /// run gave it, that of nested runs that have ended included; `None` if the cost of a request is not known.
    pub fn cost(&self) -> Option<Cost> {
        self.runs[0].state.place(0).paid.total()
    }

    /// Returns the outcome of the run; `None` if the run has not ended.
    pub fn outcome<O: DeserializeOwned>(&self) -> Option<Outcome<O>> {
        let (started, state) = (self.started(), &self.runs[0].state);
        let masker = Masker::new();
        let outcome = Outcome::stored(state, &started.run_id, &masker)?;
        let traced = started.trace.as_deref();
        let id = traced.and_then(|place| place.split('-').nth(1));
        let id = id.map_or_else(|| started.run_id.replace('-', ""), str::to_owned);
        let steps = state.steps_in_words();
        Some(Outcome {
            trace: Trace { id, steps },
            ..outcome
        })
    }

    /// Returns a model that answers with the recorded replies and errors.
    ///
    /// Each reply or error is given once, to a request with the same messages, tools and answer format as the request
    /// that it answered. The name of the model may differ. A request that was not made in the recorded run ends the run
    /// with [`ErrorKind::Replay`](crate::ErrorKind::Replay); the message of the error names the first difference.
    /// Tools, arms, policies and approvers work as in any run.
    ///
    /// In a run of several agents, [`override_model`](crate::agent::Run::override_model) puts the recorded model in the
    /// place of every model.
    pub fn model(&self) -> RecordedModel {
        RecordedModel::new(self.exchanges.clone())
    }

    /// Returns the replay of this run for the engine, with the model that answers in it.
    pub(crate) fn replayed(&self, model: RecordedModel) -> Replay {
        Replay::new(self, model)
    }

    /// Returns the difference for a replay whose run does not start, with this error.
    pub(crate) fn does_not_start(&self, error: &Error) -> Difference {
        Difference::at(1, "", wording::does_not_start(&format_args!("{error:#}")))
    }

    /// Checks that the recorded run is one of the agent with this name.
    pub(crate) fn is_of(&self, agent: &str) -> Result<(), Difference> {
        match self.agent() == agent {
            true => Ok(()),
            false => Err(Difference::at(
                1,
                "",
                wording::another_agent(self.agent(), agent),
            )),
        }
    }

    /// Starts a variation of the run, in which results of calls or decisions of arms are changed, and the recorded
    /// consequences are left out.
    pub fn what_if(&self) -> WhatIf<'_> {
        WhatIf::new(self)
    }

    /// Returns each entry whose fact can be read, with the fact.
    fn facts(&self) -> impl Iterator<Item = (&Entry, Fact)> {
        let fact = |entry: &Entry| entry.fact.to().ok();
        self.entries
            .iter()
            .filter_map(move |entry| Some((entry, fact(entry)?)))
    }
}

/// Returns entries in which the names of secrets stand in place of references.
fn with_names(entries: &[Entry]) -> Result<Vec<Entry>, JournalError> {
    let named = |entry: &Entry| {
        let fact = Json::parse(shown(entry.fact.as_str()))
            .map_err(|error| JournalError::new(wording::entry_unreadable(entry.seq, &error)))?;
        Ok(Entry {
            fact,
            ..entry.clone()
        })
    };
    entries.iter().map(named).collect()
}

impl fmt::Debug for Recorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorded")
            .field("agent", &self.agent())
            .field("run_id", &self.run_id())
            .field("entries", &self.entries.len())
            .finish_non_exhaustive()
    }
}
