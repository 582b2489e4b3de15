//! State outside of the process of a generated run: effects, requests, time and the journal's storage.

use agents::{
    async_trait,
    journal::{Entry, Journal, JournalError, MemoryJournal},
    run::{Clock, Event, EventKind, Timestamp},
    tool::ToolContext,
};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};
use tokio::time::Instant;

/// An effect, with its tool, its key and its execution.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Effect {
    pub(super) tool: &'static str,
    pub(super) key: String,
    pub(super) attempt: u32,
    pub(super) at: Timestamp,
}

/// Time for which the service behind `mail` remembers a key.
pub(super) const REMEMBERED: Duration = Duration::from_secs(3600);

/// State outside of the process.
#[derive(Clone)]
pub(super) struct World(Arc<Mutex<Ledger>>);

#[derive(Default)]
struct Ledger {
    effects: Vec<Effect>,
    /// Number of requests to models and approvers.
    asked: u32,
    /// Events that were told, but for pieces of text.
    told: Vec<Event>,
    /// Clock of the process that is at work.
    clock: Option<Wall>,
}

impl World {
    pub(super) fn new() -> World {
        World::of(Vec::new())
    }

    /// Creates a world with these effects.
    pub(super) fn of(effects: Vec<Effect>) -> World {
        World(Arc::new(Mutex::new(Ledger {
            effects,
            ..Ledger::default()
        })))
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.0.lock().unwrap()
    }

    pub(super) fn ask(&self) {
        self.ledger().asked += 1;
    }

    /// Starts the clock of a process that runs, or goes on with, these entries.
    pub(super) fn starts(&self, entries: &[Entry], seed: u64) -> Wall {
        let clock = Wall::at_the_end_of(entries, seed);
        self.ledger().clock = Some(clock.clone());
        clock
    }

    /// Returns the number of requests to models, tools, arms, approvers and handlers.
    pub(super) fn asked(&self) -> u32 {
        self.ledger().asked
    }

    pub(super) fn hears(&self, event: &Event) {
        if !matches!(event.kind, EventKind::Text(_) | EventKind::Thinking(_)) {
            self.ledger().told.push(event.clone());
        }
    }

    /// Returns the events that were told so far.
    pub(super) fn told(&self) -> Vec<Event> {
        self.ledger().told.clone()
    }

    pub(super) fn takes_effect(&self, tool: &'static str, cx: &ToolContext) {
        let mut ledger = self.ledger();
        let at = ledger.clock.as_ref().expect("a run is at work").now();
        ledger.effects.push(Effect {
            tool,
            key: cx.idempotency_key(),
            attempt: cx.attempt(),
            at,
        });
    }

    pub(super) fn effects(&self) -> Vec<Effect> {
        self.ledger().effects.clone()
    }

    pub(super) fn knows(&self, key: &str) -> bool {
        self.ledger().effects.iter().any(|one| one.key == key)
    }

    /// Returns the effects without repetitions, since services recognise a key. The id of the run is left out.
    pub(super) fn done(&self) -> BTreeSet<(&'static str, String)> {
        let all = self.effects().into_iter();
        all.map(|one| (one.tool, of_call(&one.key))).collect()
    }

    /// Returns the calls that took effect more than once: of plain tools, and of `mail` after its key was forgotten.
    pub(super) fn done_twice(&self) -> Vec<(&'static str, String)> {
        let mut first: BTreeMap<_, Timestamp> = BTreeMap::new();
        let mut twice = Vec::new();
        for Effect { tool, key, at, .. } in self.effects() {
            let call = (tool, key);
            let Some(before) = first.get(&call) else {
                first.insert(call, at);
                continue;
            };
            let is_forgotten = at.since(*before) > REMEMBERED;
            if matches!(tool, "pay" | "wire") || tool == "mail" && is_forgotten {
                twice.push(call);
            }
        }
        twice
    }
}

fn of_call(key: &str) -> String {
    key.rsplit(':').next().unwrap_or(key).to_owned()
}

/// Returns the effects that happened before the end of this journal: all that were begun, or only those known to have
/// ended. `None` if both are the same.
pub(super) fn effects_of(entries: &[Entry], all: &[Effect], is_done: bool) -> Option<Vec<Effect>> {
    // Calls by place, with the number of executions begun so far.
    let mut running: BTreeMap<(u64, u64, u64), Effect> = BTreeMap::new();
    let mut happened = Vec::new();
    for entry in entries {
        let written = serde_json::to_string(entry).unwrap();
        let written: Value = serde_json::from_str(&written).unwrap();
        let number = |value: &Value| value.as_u64().unwrap_or_default();
        let call = &written[4]["call"];
        let at = (
            number(&written[2]),
            number(&written[3]),
            number(&call["seq"]),
        );
        let fact = &call["fact"];
        if let Some(intent) = fact["begun"]["intent"].as_object() {
            let is_it = |one: &&Effect| {
                one.key == intent["key"] && u64::from(one.attempt) == number(&intent["attempt"])
            };
            if let Some(effect) = all.iter().find(is_it) {
                running.insert(at, effect.clone());
            }
        } else if ["ended", "interrupted", "abandoned"]
            .iter()
            .any(|end| !fact[end].is_null())
        {
            happened.extend(running.remove(&at));
        }
    }
    if !is_done && running.is_empty() {
        return None;
    }
    if is_done {
        happened.extend(running.into_values());
    }
    Some(happened)
}

/// Clock of a run: it goes with the paused clock of its process, from where the journal of an earlier one ends.
#[derive(Clone)]
pub(super) struct Wall {
    start: Timestamp,
    instant: Instant,
}

impl Wall {
    /// Starts a clock for a run with these entries. An odd seed means that a run goes on late, after [`REMEMBERED`].
    fn at_the_end_of(entries: &[Entry], seed: u64) -> Wall {
        let late = match seed.is_multiple_of(2) {
            true => 0,
            false => 2 * REMEMBERED.as_millis() as u64,
        };
        let first = Timestamp::from_millis(1_700_000_000_000);
        let start = entries.last().map_or(first, |last| {
            Timestamp::from_millis(last.at().as_millis().saturating_add(late))
        });
        Wall {
            start,
            instant: Instant::now(),
        }
    }
}

impl Clock for Wall {
    fn now(&self) -> Timestamp {
        let passed = self.instant.elapsed().as_millis() as u64;
        Timestamp::from_millis(self.start.as_millis().saturating_add(passed))
    }
}

/// Journal that takes its time to store the start of an execution.
pub(super) struct Slow(pub(super) MemoryJournal);

#[async_trait]
impl Journal for Slow {
    async fn read(&self) -> Result<Vec<Entry>, JournalError> {
        self.0.read().await
    }

    async fn append(&self, entries: &[Entry]) -> Result<(), JournalError> {
        self.0.append(entries).await?;
        if entries.iter().any(|entry| entry.kind() == "begun") {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        Ok(())
    }
}
