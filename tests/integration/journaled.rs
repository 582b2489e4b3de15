//! What holds for any run with a journal, wherever it breaks off and whatever has become of the journal.
//!
//! `AGENTS_CASES=10000 cargo test --test integration journaled -- --nocapture` makes so many cases, and prints how often
//! each kind of fact occurred.

mod damaged;
mod denied;
mod generated;
mod resumed;
mod sized;
mod within;

use agents::{Error, Outcome, run::Entry};
use generated::World;
use proptest::{prelude::*, test_runner::TestRunner};
use serde_json::Value;
use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    future::Future,
    panic,
    sync::Once,
    time::Duration,
};

/// Number of generated runs, unless the environment says another.
const CASES: u32 = 80;

/// Number from which on every kind of fact has to have occurred, so often each.
const ALL: u32 = 10_000;
const EACH: u64 = 100;

/// Every kind of fact of a run without a tape, but for a decision about whether code may run a delegate.
const KINDS: [&str; 44] = [
    "abandoned",
    "answer.planned",
    "answer.read",
    "answer.repaired",
    "asked",
    "call.abandoned",
    "call.asked",
    "call.begun",
    "call.cached",
    "call.climbed",
    "call.decided",
    "call.ended",
    "call.interrupted",
    "call.kept",
    "call.panicked",
    "call.planned",
    "call.read",
    "call.refused",
    "call.repaired",
    "call.taken_up",
    "call.waits",
    "call.woke",
    "charged",
    "chosen",
    "decided",
    "done",
    "dropped",
    "finished",
    "given",
    "handled",
    "opened",
    "over",
    "partial",
    "raised",
    "reached",
    "refused",
    "replied",
    "resumed",
    "said",
    "settled",
    "started",
    "stopped",
    "taken",
    "unanswered",
];

thread_local! {
    static PANICS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    static LISTENS: Cell<bool> = const { Cell::new(false) };
}

/// Writes down every panic of this thread that is not meant.
fn listen_for_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let said = info.to_string();
            match LISTENS.get() {
                true if said.contains(generated::MEANT) => {}
                true => PANICS.with_borrow_mut(|all| all.push(said)),
                false => before(info),
            }
        }));
    });
    LISTENS.set(true);
}

/// The panics so far, which were not meant.
fn panics() -> Vec<String> {
    PANICS.with_borrow_mut(std::mem::take)
}

/// How many runs are generated.
fn cases() -> u32 {
    let said = std::env::var("AGENTS_CASES").ok();
    said.and_then(|said| said.parse().ok()).unwrap_or(CASES)
}

/// In time that passes when nothing else happens; `None` if nothing ever would.
fn within_a_week<T>(work: impl Future<Output = T>) -> Option<T> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().unwrap();
    let week = Duration::from_secs(7 * 24 * 60 * 60);
    runtime.block_on(async { tokio::time::timeout(week, work).await.ok() })
}

/// A run, as it is written down.
fn written(outcome: &Result<Outcome<u32>, Error>) -> String {
    match outcome {
        Ok(outcome) => serde_json::to_string(outcome).unwrap(),
        Err(error) => format!("{error:#}"),
    }
}

/// The name of a fact, with what it is about.
fn kind(entry: &Entry) -> String {
    let fact: Value = serde_json::from_str(entry.fact()).unwrap();
    let name = |value: &Value| match value {
        Value::Object(members) => members.keys().next().cloned().unwrap_or_default(),
        Value::String(name) => name.clone(),
        _ => String::new(),
    };
    match name(&fact).as_str() {
        "call" => format!("call.{}", name(&fact["call"]["fact"])),
        "answer" => format!("answer.{}", name(&fact["answer"])),
        other => other.to_owned(),
    }
}

/// How often each kind of fact occurred.
#[derive(Default)]
struct Counts(BTreeMap<String, u64>);

impl Counts {
    fn add(&mut self, entries: &[Entry]) {
        for entry in entries {
            *self.0.entry(kind(entry)).or_default() += 1;
        }
    }

    fn seldom(&self, each: u64) -> Vec<&str> {
        let of = |kind: &str| self.0.get(kind).copied().unwrap_or_default();
        let kinds = KINDS.into_iter();
        kinds.filter(|kind| of(kind) < each).collect()
    }
}

#[test]
fn a_journal_gives_the_same_outcome_goes_on_anywhere_and_is_refused_where_it_is_damaged() {
    listen_for_panics();
    let config = ProptestConfig {
        failure_persistence: None,
        max_shrink_iters: 400,
        ..ProptestConfig::with_cases(cases())
    };
    let counts = RefCell::new(Counts::default());
    let runs = Cell::new(0_u64);
    let result = TestRunner::new(config).run(&generated::case(), |case| {
        drop(panics());
        let world = World::new(&case);
        let (journal, whole) = resumed::whole(&case, &world)?;
        counts.borrow_mut().add(&journal);
        let resumed = resumed::everywhere(&case, &world, &journal, &whole)?;
        runs.set(runs.get() + resumed.runs);
        for new in resumed.new {
            counts.borrow_mut().add(&new);
        }
        damaged::anyhow(&case, &journal)
    });
    LISTENS.set(false);
    let counts = counts.into_inner();
    println!("{} cases, {} resumed runs", cases(), runs.get());
    for (kind, count) in &counts.0 {
        println!("{count:>9} {kind}");
    }
    result.unwrap();
    if cases() >= ALL {
        assert_eq!(counts.seldom(EACH), [""; 0], "these are seldom");
    }
}
