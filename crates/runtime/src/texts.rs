//! Streamed text: a worker stores it in pieces that expire, and readers put it among the events of the run.
//!
//! Text is not a fact. It is stored beside the journal, and a reader that comes too late finds the reply without it. A
//! piece names the entry by which the model was asked. So a reader knows which request it belongs to, also if a worker has
//! ended in the middle and another one has asked the model again.

use crate::{
    RuntimeError,
    data::{opened, sealed},
    lease::Held,
    run_key::RunKey,
};
use agents_core::run::{Event, EventKind, Timestamp};
use agents_store::{NewText, Store, Text};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{sync::Notify, time::timeout};

/// Time for which streamed text of models is collected before it is stored, so that rows are not too small.
const COLLECTED: Duration = Duration::from_millis(100);
/// Size of the collected text, in bytes, from which on it is stored without waiting for the time.
const ENOUGH: usize = 1024;
/// Time for which the store keeps the streamed text of models.
const KEPT: Duration = Duration::from_secs(60 * 60);

/// Piece of the text of a model, for one request of one agent. Several pieces are stored as one row.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Piece {
    /// Number of the entry by which the model was asked.
    asked: u64,
    at: Timestamp,
    agent: Arc<str>,
    depth: u32,
    place: String,
    is_thinking: bool,
    text: String,
}

/// Piece of a model's text that is not stored yet.
struct Pending {
    piece: Piece,
    /// Number of the request to a model, from 1. Each place of an agent in the run counts its own requests in this
    /// process.
    request: u64,
}

/// Collector of the text of a run that a worker goes on with, which stores the text in pieces.
pub(crate) struct Texts {
    store: Arc<dyn Store>,
    held: Arc<Held>,
    key: RunKey,
    inner: Mutex<Inner>,
    changed: Notify,
}

#[derive(Default)]
struct Inner {
    /// Number of rows of streamed text that this worker has made for the run so far. The number of the next row follows
    /// from it.
    count: u64,
    /// Number of requests to a model that this process has seen, for each place.
    requests: HashMap<String, u64>,
    /// Numbers of the journal entries of the requests to models, in their order, for each place. Entries that are about
    /// to be stored are among them.
    entries: HashMap<String, Vec<u64>>,
    pending: Vec<Pending>,
    /// Rows of encrypted text that the store has not confirmed yet.
    unsent: Vec<NewText>,
    size: usize,
}

impl Texts {
    pub(crate) fn new(store: Arc<dyn Store>, held: Arc<Held>, key: RunKey) -> Self {
        Texts {
            store,
            held,
            key,
            inner: Mutex::default(),
            changed: Notify::new(),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the text of an event that happens in this process, and counts requests to a model.
    pub(crate) fn on(&self, event: &Event) {
        let mut inner = self.inner();
        let (is_thinking, text) = match &event.kind {
            EventKind::ModelRequested { .. } => {
                *inner.requests.entry(event.place.clone()).or_default() += 1;
                return;
            }
            EventKind::Text(text) => (false, text),
            EventKind::Thinking(text) => (true, text),
            _ => return,
        };
        let request = inner.requests.get(&event.place).copied().unwrap_or(0);
        inner.size += text.len();
        let last = inner.pending.last_mut().filter(|last| {
            let piece = &last.piece;
            last.request == request
                && piece.place == event.place
                && piece.is_thinking == is_thinking
        });
        match last {
            Some(last) => last.piece.text.push_str(text),
            None => inner.pending.push(Pending {
                request,
                piece: Piece {
                    asked: 0,
                    at: event.at,
                    agent: event.agent.clone(),
                    depth: event.depth,
                    place: event.place.clone(),
                    is_thinking,
                    text: text.clone(),
                },
            }),
        }
        drop(inner);
        self.changed.notify_one();
    }

    /// Records the number of a journal entry that is about to be stored, if its event is a request to a model.
    pub(crate) fn stores(&self, event: &Event, entry: u64) {
        if matches!(event.kind, EventKind::ModelRequested { .. }) {
            let mut inner = self.inner();
            let entries = inner.entries.entry(event.place.clone()).or_default();
            entries.push(entry);
        }
    }

    /// Returns the rows of text to store: the collected text whose requests have entries, and text that was returned
    /// before and not confirmed with [`sent`](Texts::sent). A store takes each row of text once.
    pub(crate) fn take(&self) -> Result<Vec<NewText>, RuntimeError> {
        let mut inner = self.inner();
        let Inner {
            entries, pending, ..
        } = &mut *inner;
        let asked = |one: &Pending| {
            let nth = usize::try_from(one.request).ok()?.checked_sub(1)?;
            entries.get(&one.piece.place)?.get(nth).copied()
        };
        let mut taken = Vec::new();
        for mut one in std::mem::take(pending) {
            match asked(&one) {
                Some(entry) => {
                    one.piece.asked = entry;
                    taken.push(one.piece);
                }
                None => pending.push(one),
            }
        }
        inner.size = inner.pending.iter().map(|one| one.piece.text.len()).sum();
        if taken.is_empty() {
            return Ok(inner.unsent.clone());
        }
        inner.count += 1;
        // A later worker has a greater fence.
        let number = self.held.lease.fence << 32 | inner.count;
        inner.unsent.push(NewText {
            number,
            contents: sealed(&self.key, &name_of(number), &taken)?,
            keep: KEPT,
        });
        Ok(inner.unsent.clone())
    }

    /// Removes rows of text that the store has confirmed.
    pub(crate) fn sent(&self, texts: &[NewText]) {
        let is_sent = |one: &NewText| texts.iter().any(|sent| sent.number == one.number);
        self.inner().unsent.retain(|one| !is_sent(one));
    }

    fn has_any(&self) -> bool {
        let inner = self.inner();
        !inner.pending.is_empty() || !inner.unsent.is_empty()
    }

    fn has_enough(&self) -> bool {
        self.inner().size >= ENOUGH
    }

    /// Stores collected text while the run goes on. Never returns.
    pub(crate) async fn send(&self) {
        loop {
            while !self.has_any() {
                self.changed.notified().await;
            }
            let enough = async {
                while !self.has_enough() {
                    self.changed.notified().await;
                }
            };
            let _ = timeout(COLLECTED, enough).await;
            let stored = async {
                let texts = self.take()?;
                let any = !texts.is_empty();
                if any {
                    self.store.add_texts(&self.held.lease, &texts).await?;
                    self.sent(&texts);
                }
                Ok::<_, RuntimeError>(any)
            };
            let run = &self.held.lease.run.id;
            match stored.await {
                Ok(true) => {}
                // Its request is about to be stored.
                Ok(false) => tokio::time::sleep(COLLECTED / 10).await,
                Err(error) => {
                    tracing::warn!(run, %error, "streamed text is stored later");
                    tokio::time::sleep(COLLECTED).await;
                }
            }
        }
    }
}

fn name_of(number: u64) -> String {
    format!("text {number}")
}

/// Reader of streamed text, which puts the text among the events of a run.
#[derive(Default)]
pub(crate) struct Reading {
    /// Number of the last stored row of text that this reader has read.
    last: u64,
    /// Text that was read, by the number of the entry of its request.
    read: BTreeMap<u64, Vec<Piece>>,
    /// Requests that have no reply so far, by the places of their agents.
    open: HashMap<String, Open>,
}

struct Open {
    entry: u64,
    request: Event,
    /// Is `true` if the reader was given the event of the request, so that its text may follow.
    is_told: bool,
}

impl Reading {
    /// Returns the number of the last stored row of text that this reader has read.
    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    /// Adds text that was read from the store.
    pub(crate) fn read(&mut self, texts: &[Text], key: &RunKey) -> Result<(), RuntimeError> {
        for text in texts {
            let pieces: Vec<Piece> = opened(key, &name_of(text.number), &text.contents)?;
            for piece in pieces {
                self.read.entry(piece.asked).or_default().push(piece);
            }
            self.last = text.number;
        }
        Ok(())
    }

    /// Adds an event of this entry to `told`, after the text that comes before it. `is_wanted` says whether the reader
    /// wants the event.
    pub(crate) fn on(
        &mut self,
        event: Event,
        entry: u64,
        is_wanted: bool,
        told: &mut impl Extend<Event>,
    ) {
        match event.kind {
            EventKind::ModelReplied { .. } => {
                let open = self.open.remove(&event.place);
                if let Some(mut open) = open.filter(|_| is_wanted) {
                    open.tell(&mut self.read, told);
                }
            }
            EventKind::ModelRequested { .. } => {
                let open = Open {
                    entry,
                    request: event.clone(),
                    is_told: is_wanted,
                };
                self.open.insert(event.place.clone(), open);
            }
            _ => {}
        }
        told.extend(is_wanted.then_some(event));
    }

    /// Adds the text of the requests that have no reply so far to `told`. `entry` is the number of the last entry that
    /// was read.
    pub(crate) fn tell(&mut self, entry: u64, told: &mut impl Extend<Event>) {
        let mut open: Vec<_> = self.open.values_mut().collect();
        open.sort_by_key(|open| open.entry);
        for open in open {
            open.tell(&mut self.read, told);
        }
        // What is left of earlier requests comes too late.
        self.read = self.read.split_off(&(entry + 1));
    }
}

impl Open {
    fn tell(&mut self, read: &mut BTreeMap<u64, Vec<Piece>>, told: &mut impl Extend<Event>) {
        let Some(pieces) = read.remove(&self.entry) else {
            return;
        };
        if !std::mem::replace(&mut self.is_told, true) {
            told.extend([self.request.clone()]);
        }
        let request = &self.request;
        told.extend(pieces.into_iter().map(|piece| Event {
            run_id: request.run_id.clone(),
            seq: request.seq,
            at: piece.at,
            agent: piece.agent,
            depth: piece.depth,
            place: piece.place,
            kind: match piece.is_thinking {
                true => EventKind::Thinking(piece.text),
                false => EventKind::Text(piece.text),
            },
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Runtime, SqliteStore, data::key_of};
    use agents_core::AgentBuilder;
    use agents_store::Claim;
    use std::time::Instant;

    fn event(kind: EventKind) -> Event {
        Event {
            run_id: "run".into(),
            seq: 1,
            at: Timestamp::from_millis(0),
            agent: "clerk".into(),
            depth: 0,
            place: "run/clerk".into(),
            kind,
        }
    }

    /// The run may end while a piece is on its way, and the sender is dropped then.
    #[tokio::test]
    async fn text_is_taken_again_until_the_store_has_it() {
        let store = SqliteStore::in_memory().await.unwrap();
        let runtime = Runtime::open(store.clone());
        let clerk = runtime.agent(AgentBuilder::<String, String>::new("clerk").build());
        clerk.run("Go.").start().await.unwrap();
        let claim = Claim {
            worker: "worker".to_owned(),
            agents: vec!["clerk".to_owned()],
            run: None,
            time: Duration::from_secs(60),
            per_tenant: 0,
            most_claims: 3,
            alone: true,
        };
        let lease = store.claim(&claim).await.unwrap().unwrap();
        let key = key_of(&lease.run, &*runtime.as_client().keys().unwrap()).unwrap();
        let keeping = runtime.keeper().unwrap().keep(lease, Instant::now());
        let texts = Texts::new(Arc::new(store), keeping.held.clone(), key);
        let asked = event(EventKind::ModelRequested {
            turn: 1,
            model: "m".into(),
            choosing: false,
        });
        texts.on(&asked);
        texts.stores(&asked, 7);
        texts.on(&event(EventKind::Text("exchange ".to_owned())));
        let first = texts.take().unwrap();
        assert_eq!((first.len(), texts.has_any()), (1, true));
        texts.on(&event(EventKind::Text("number 1".to_owned())));
        let both = texts.take().unwrap();
        assert_eq!((both.len(), &both[0]), (2, &first[0]));
        texts.sent(&both);
        assert_eq!((texts.take().unwrap().len(), texts.has_any()), (0, false));
    }
}
