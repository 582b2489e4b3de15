//! In any tree, an escalation comes to the nearest agent above that handles it, once: whatever that one
//! does about it, however many climb at once, and from wherever a stored run goes on.

mod built;

use agents::{
    Agent, Outcome, Severity,
    escalation::{EscalationReceipt, Settlement},
    run::{EventKind, Snapshot},
};
use built::{Builder, Does, Known, Tree, built, trees};
use proptest::prelude::*;
use std::sync::{Arc, Mutex};

/// Those who are to be asked about an escalation that takes this way, and the whole way that it takes.
fn expected(known: &Known, way: &[String]) -> (Vec<String>, Vec<String>) {
    let settles = |name: &String| known.does[name].is_some_and(Does::settles);
    let end = way.iter().position(settles).map_or(way.len(), |at| at + 1);
    let path = way[..end].to_vec();
    let handlers = path.iter().filter(|name| known.does[*name].is_some());
    (handlers.cloned().collect(), path)
}

/// What ends work in which others may be on their way up.
fn cuts(settled: &Settlement) -> bool {
    !matches!(
        settled,
        Settlement::RetriedWithModel { .. } | Settlement::Told | Settlement::Returned
    )
}

/// Everything by which two ends of one run are to be the same.
fn end(outcome: Outcome<String>) -> (Result<String, String>, bool, Vec<String>) {
    let written = |one: &EscalationReceipt| serde_json::to_string(one).unwrap();
    let mut receipts: Vec<_> = outcome.escalations.iter().map(written).collect();
    receipts.sort();
    let result = outcome.result.map_err(|error| error.to_string());
    (result, outcome.partial, receipts)
}

fn check(tree: &Tree) -> Result<(), TestCaseError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let (team, Builder { asked, known }) = built(tree);
    let (raised, kept) = (Arc::<Mutex<Vec<String>>>::default(), Arc::default());
    let (see, keep): (_, Arc<Mutex<Vec<Snapshot>>>) = (raised.clone(), Arc::clone(&kept));
    let run = team
        .run("go")
        .on_event(move |event| {
            if let EventKind::Escalated(escalation) = &event.kind {
                see.lock().unwrap().push(escalation.reason.clone());
            }
        })
        .on_checkpoint(move |snapshot| keep.lock().unwrap().push(snapshot))
        .outcome();
    let outcome = runtime.block_on(run).unwrap();
    let asked = asked.lock().unwrap().clone();
    let raised = raised.lock().unwrap().clone();
    prop_assert!(!raised.is_empty());

    let is_cut = outcome.escalations.iter().any(|one| cuts(&one.settled));
    for id in &raised {
        let (handlers, path) = expected(&known, &known.ways[id]);
        let mine = asked.iter().filter(|(_, about)| about == id);
        let mine: Vec<_> = mine.map(|(agent, _)| agent.clone()).collect();
        let settled = outcome.escalations.iter();
        let mut settled = settled.filter(|one| one.escalation.reason == *id);
        match (settled.next(), settled.next()) {
            // Everybody on the way was asked once, nobody else, and it ended where it had to.
            (Some(receipt), None) => {
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
                    None => prop_assert_eq!(&receipt.settled, &Settlement::Told),
                }
            }
            // It was dropped with work that was given up because of another one.
            (None, _) => {
                prop_assert!(is_cut && raised.len() > 1, "{} came to nothing", id);
                prop_assert!(handlers.starts_with(&mine), "{:?} of {:?}", mine, handlers);
            }
            (Some(_), Some(_)) => prop_assert!(false, "{} was settled twice", id),
        }
    }

    let whole = end(outcome);
    let kept = std::mem::take(&mut *kept.lock().unwrap());
    for (nth, snapshot) in kept.into_iter().enumerate() {
        let text = serde_json::to_string(&snapshot).unwrap();
        let loaded: Snapshot = serde_json::from_str(&text).unwrap();
        let resumed = runtime.block_on(built(tree).0.resume(loaded).outcome());
        prop_assert_eq!(&end(resumed.unwrap()), &whole, "from snapshot {}", nth);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn the_nearest_handler_is_asked_once(tree in trees()) {
        check(&tree)?;
    }
}
