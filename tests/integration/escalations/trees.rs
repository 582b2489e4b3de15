//! Property tests of escalations in generated trees. An escalation reaches the nearest handler above, once, and each
//! raised escalation is settled once. That holds for every settlement, for parallel escalations, and for resumed runs.

mod generated;

use crate::world::put_down;
use agents::{
    Agent, Outcome, Severity,
    escalation::{EscalationReceipt, Settlement},
    journal::MemoryJournal,
    run::EventKind,
};
use generated::{Builder, Does, Known, Tree, built, trees};
use proptest::prelude::*;
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

/// Returns the agents that have to handle an escalation on this way, and the path that it has to take.
fn expected(known: &Known, way: &[String]) -> (Vec<String>, Vec<String>) {
    let settles = |name: &String| known.does[name].is_some_and(Does::settles);
    let end = way.iter().position(settles).map_or(way.len(), |at| at + 1);
    let path = way[..end].to_vec();
    let handlers = path.iter().filter(|name| known.does[*name].is_some());
    (handlers.cloned().collect(), path)
}

/// Returns `true` if a settlement ends work in which other escalations may be climbing.
fn cuts(settled: &Settlement) -> bool {
    !matches!(
        settled,
        Settlement::RetriedWithModel { .. } | Settlement::ReportedToModel | Settlement::Returned
    )
}

fn is_dropped(receipt: &EscalationReceipt) -> bool {
    matches!(receipt.settled, Settlement::Dropped { .. })
}

/// Returns the parts of an outcome that do not depend on the place of interruption. The progress of dropped work is
/// left out.
fn end(outcome: Outcome<String>) -> (Result<String, String>, bool, Vec<String>) {
    let written = |one: &EscalationReceipt| serde_json::to_string(one).unwrap();
    let kept = outcome.escalations.iter().filter(|one| !is_dropped(one));
    let mut receipts: Vec<_> = kept.map(written).collect();
    receipts.sort();
    let result = outcome.result.map_err(|error| error.to_string());
    (result, outcome.partial, receipts)
}

/// Escalations seen in events.
#[derive(Default)]
struct Seen {
    raised: Vec<String>,
    settled: Vec<EscalationReceipt>,
}

impl Seen {
    fn on(&mut self, event: &EventKind) {
        match event {
            EventKind::Escalated(escalation) => self.raised.push(escalation.reason.clone()),
            EventKind::EscalationSettled(receipt) => self.settled.push((**receipt).clone()),
            _ => {}
        }
    }
}

fn names(settled: &[EscalationReceipt]) -> BTreeSet<String> {
    let names = settled.iter().map(|one| one.escalation.reason.clone());
    names.collect()
}

fn check(tree: &Tree) -> Result<(), TestCaseError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let (team, Builder { asked, known }) = built(tree);
    let (seen, journal) = (Arc::<Mutex<Seen>>::default(), MemoryJournal::new());
    let see = seen.clone();
    let run = team
        .run("go")
        .on_event(move |event| see.lock().unwrap().on(&event.kind))
        .journal(journal.clone())
        .outcome();
    let outcome = runtime.block_on(run).unwrap();
    let asked = asked.lock().unwrap().clone();
    let raised = seen.lock().unwrap().raised.clone();
    prop_assert!(!raised.is_empty());
    prop_assert_eq!(&seen.lock().unwrap().settled, &outcome.escalations);
    let all: BTreeSet<_> = raised.iter().cloned().collect();
    prop_assert_eq!(names(&outcome.escalations), all);
    prop_assert_eq!(outcome.escalations.len(), raised.len(), "each once");

    let is_cut = outcome.escalations.iter().any(|one| cuts(&one.settled));
    for id in &raised {
        let (handlers, path) = expected(&known, &known.ways[id]);
        let mine = asked.iter().filter(|(_, about)| about == id);
        let mine: Vec<_> = mine.map(|(agent, _)| agent.clone()).collect();
        let mut settled = outcome.escalations.iter();
        match settled.find(|one| one.escalation.reason == *id) {
            // The escalation was dropped with its work, because of another escalation.
            Some(receipt) if is_dropped(receipt) => {
                prop_assert!(is_cut && raised.len() > 1, "{} came to nothing", id);
                prop_assert!(handlers.starts_with(&mine), "{:?} of {:?}", mine, handlers);
                prop_assert!(path.starts_with(&receipt.escalation.path));
            }
            // Each handler on the path was asked once and no other, and the path ends where expected.
            Some(receipt) => {
                prop_assert_eq!(&mine, &handlers, "{}", id);
                prop_assert_eq!(&receipt.escalation.path, &path);
                let last = path.last().cloned().unwrap_or_default();
                let by =
                    known.does[&last].and_then(|does| does.settlement(last, &receipt.escalation));
                match by {
                    Some(by) => prop_assert_eq!(&receipt.settled, &by),
                    None if receipt.escalation.severity == Severity::Critical => {
                        prop_assert_eq!(&receipt.settled, &Settlement::Ended);
                    }
                    None => prop_assert_eq!(&receipt.settled, &Settlement::ReportedToModel),
                }
            }
            None => prop_assert!(false, "{} was not settled", id),
        }
    }

    let whole = end(outcome);
    for at in put_down(&journal) {
        let seen = Arc::<Mutex<Seen>>::default();
        let see = seen.clone();
        let team = built(tree).0;
        let resumed = team.run("go").journal(at.journal());
        let resumed = resumed.on_event(move |event| see.lock().unwrap().on(&event.kind));
        let resumed = runtime.block_on(resumed.outcome()).unwrap();
        let raised = &seen.lock().unwrap().raised;
        let settled = names(&resumed.escalations);
        prop_assert_eq!(
            settled.len(),
            resumed.escalations.len(),
            "each once {} {}",
            at,
            at.text()
        );
        // Something was raised, before or now.
        prop_assert!(at.count("raised") > 0 || !raised.is_empty(), "{}", at);
        prop_assert!(raised.iter().all(|id| settled.contains(id)), "{}", at);
        prop_assert_eq!(&end(resumed), &whole, "{}", at);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(agents_needs::cases(200)))]

    #[test]
    fn x11_the_nearest_handler_is_asked_once(tree in trees()) {
        check(&tree)?;
    }
}
