//! Property tests of runs with a journal, for all places of interruption and all damages of the journal.
//!
//! `AGENTS_CASES=10000 cargo test --test integration properties -- --nocapture` tests that many cases, and prints the
//! count of each kind of fact.

mod damage;
mod denied_arguments;
mod generated_runs;
mod nested_runs;
mod resumption;
mod size;
mod world;

use agents::{
    Agent, AgentBuilder, Error, Outcome,
    journal::{Entry, MemoryJournal, Recorded},
    testing::{Script, ScriptedModel},
};
use proptest::{prelude::*, test_runner::TestRunner};
use serde_json::{Value, json};
use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    future::Future,
    panic,
    sync::Once,
    time::Duration,
};
use world::World;

/// Number of generated runs in full. Half of the runs have nothing to compare; a tenth of these runs have enough that has.
const CASES: u32 = 200;

/// Number of runs from which on every kind of fact has to occur [`EACH`] times.
const ALL: u32 = 10_000;
const EACH: u64 = 100;

/// Every kind of fact that a journal holds.
const KINDS: [&str; 63] = [
    "anew",
    "answer.planned",
    "answer.read",
    "answer.repaired",
    "answer.repairing",
    "asked",
    "call.abandoned",
    "call.asked",
    "call.attached",
    "call.begun",
    "call.cached",
    "call.decided",
    "call.did",
    "call.ended",
    "call.interrupted",
    "call.kept",
    "call.panicked",
    "call.planned",
    "call.read",
    "call.refused",
    "call.repaired",
    "call.repairing",
    "call.secret",
    "call.taken_up",
    "call.too_late",
    "call.waits",
    "call.withdrawn",
    "call.woke",
    "charged",
    "chosen",
    "confirmed",
    "confirming",
    "decided",
    "done",
    "dropped",
    "finished",
    "found_out",
    "handed_off",
    "instructed",
    "listed",
    "offered",
    "opened",
    "over",
    "partial",
    "put_down",
    "raised",
    "reached",
    "refused",
    "rejected",
    "replied",
    "resumed",
    "said",
    "settled",
    "shortened",
    "started",
    "stopped",
    "stopped_from_outside",
    "ticket_given",
    "tried",
    "unanswered",
    "void",
    "worked",
    "working",
];

thread_local! {
    static PANICS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    static LISTENS: Cell<bool> = const { Cell::new(false) };
}

/// Records every unintended panic of this thread.
fn listen_for_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let said = info.to_string();
            match LISTENS.get() {
                true if said.contains(generated_runs::MEANT) => {}
                true => PANICS.with_borrow_mut(|all| all.push(said)),
                false => before(info),
            }
        }));
    });
    LISTENS.set(true);
}

/// Returns the unintended panics so far.
fn panics() -> Vec<String> {
    PANICS.with_borrow_mut(std::mem::take)
}

/// Returns the number of generated runs.
fn cases() -> u32 {
    agents_needs::cases(CASES)
}

/// Runs a future with a paused clock, which advances only while all tasks wait; `None` if it never ends.
fn within_a_week<T>(work: impl Future<Output = T>) -> Option<T> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().unwrap();
    let week = Duration::from_secs(7 * 24 * 60 * 60);
    runtime.block_on(async { tokio::time::timeout(week, work).await.ok() })
}

/// Serialises the end of a run.
fn written(outcome: &Result<Outcome<u32>, Error>) -> String {
    match outcome {
        Ok(outcome) => serde_json::to_string(outcome).unwrap(),
        Err(error) => format!("{error:#}"),
    }
}

/// Returns the name of an entry's fact, with the name of the inner fact.
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

/// Number of occurrences of each kind of fact.
#[derive(Default)]
struct Counts(BTreeMap<String, u64>);

impl Counts {
    fn add(&mut self, entries: &[Entry]) {
        for entry in entries {
            *self.0.entry(kind(entry)).or_default() += 1;
        }
    }

    /// Returns the kinds that are not in the list.
    fn unlisted(&self) -> Vec<&str> {
        let kinds = self.0.keys().map(String::as_str);
        kinds.filter(|kind| !KINDS.contains(kind)).collect()
    }

    fn seldom(&self, each: u64) -> Vec<&str> {
        let of = |kind: &str| self.0.get(kind).copied().unwrap_or_default();
        // The tools of generated runs attach nothing, their conversations are short, and nobody speaks to their agents.
        // `models/attachments.rs`, `runs/shortened.rs` and `runs/steering.rs` have journals with these facts.
        let elsewhere = ["call.attached", "instructed", "shortened"];
        let kinds = KINDS.into_iter().filter(|kind| !elsewhere.contains(kind));
        kinds.filter(|kind| of(kind) < each).collect()
    }
}

/// Returns the kinds of facts that the journal's reader names in the error about an unknown fact.
fn expected(fact: &Value) -> Vec<String> {
    let (model, _) = ScriptedModel::new([Script::text("7")]);
    let agent = AgentBuilder::<String, u32>::new("oracle").model(model);
    let (agent, journal) = (agent.build(), MemoryJournal::new());
    within_a_week(agent.run("?").journal(journal.clone()).outcome())
        .unwrap()
        .unwrap();
    let text = serde_json::to_string(&journal.entries()).unwrap();
    let mut entries: Vec<Value> = serde_json::from_str(&text).unwrap();
    entries[1][4] = fact.clone();
    let entries = serde_json::from_value(Value::Array(entries)).unwrap();
    let said = Recorded::of(entries).unwrap_err().to_string();
    let (_, kinds) = said.split_once("expected one of ").expect(&said);
    let kinds = kinds.split('`').skip(1).step_by(2);
    kinds.map(str::to_owned).collect()
}

#[test]
fn the_list_of_kinds_is_that_of_the_reader() {
    let dreamt = json!({ "dreamt": null });
    let mut kinds = expected(&dreamt);
    kinds.retain(|kind| kind != "call" && kind != "answer");
    let of_calls = expected(&json!({ "call": { "seq": 0, "fact": dreamt } }));
    kinds.extend(of_calls.iter().map(|kind| format!("call.{kind}")));
    let of_answers = expected(&json!({ "answer": dreamt }));
    kinds.extend(of_answers.iter().map(|kind| format!("answer.{kind}")));
    kinds.sort_unstable();
    assert_eq!(kinds, KINDS);
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
    let (runs, compared) = (Cell::new(0_u64), Cell::new(0_u64));
    let result = TestRunner::new(config).run(&generated_runs::case(), |case| {
        drop(panics());
        let world = World::new();
        let (journal, whole) = resumption::whole(&case, &world)?;
        counts.borrow_mut().add(&journal);
        let resumed = resumption::everywhere(&case, &world, &journal, &whole)?;
        runs.set(runs.get() + resumed.runs);
        compared.set(compared.get() + resumed.compared);
        for new in resumed.new {
            counts.borrow_mut().add(&new);
        }
        damage::named(&case, &journal)?;
        damage::anyhow(&case, &journal)
    });
    LISTENS.set(false);
    let counts = counts.into_inner();
    let (runs, compared) = (runs.get(), compared.get());
    println!(
        "{} cases, {runs} resumed runs, {compared} compared with the whole run",
        cases()
    );
    for (kind, count) in &counts.0 {
        println!("{count:>9} {kind}");
    }
    result.unwrap();
    assert!(compared > 0, "no resumed run is compared");
    assert_eq!(counts.unlisted(), [""; 0], "these are not in the list");
    if cases() >= ALL {
        assert_eq!(counts.seldom(EACH), [""; 0], "these are seldom");
        assert!(compared * 3 > runs, "too few resumed runs are compared");
    }
}
