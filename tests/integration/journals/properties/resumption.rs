//! Resuming: a run continues from any entry of its journal, and repeats no effect.

use super::{
    generated_runs::{Case, run},
    panics, within_a_week,
    world::{World, effects_of},
    written,
};
use agents::{
    Error, ErrorKind, Outcome,
    journal::{Entry, MemoryJournal, Recorded},
    run::Event,
};
use proptest::{prelude::*, test_runner::TestCaseError};
use std::collections::BTreeSet;

type Ended = Result<Outcome<u32>, Error>;

/// Result of resuming a run.
pub(super) struct Resumed {
    pub(super) runs: u64,
    /// Number of runs that were compared with the whole run.
    pub(super) compared: u64,
    /// The entries that were added.
    pub(super) new: Vec<Vec<Entry>>,
}

/// Runs a case, and checks that a second run with the complete journal gives the same result.
fn go(
    case: &Case,
    world: &World,
    entries: Vec<Entry>,
) -> Result<(Vec<Entry>, Ended), TestCaseError> {
    let is_new = entries.is_empty();
    let journal = MemoryJournal::of(entries);
    let Some(ended) = within_a_week(run(case, world, journal.clone())) else {
        return Err(TestCaseError::fail(format!(
            "it never ends:\n{}",
            told(&journal.entries())
        )));
    };
    let said = panics();
    prop_assert!(said.is_empty(), "{:?}", said);
    let entries = journal.entries();
    let (asked, heard) = (world.asked(), world.told());
    let again = within_a_week(run(case, world, MemoryJournal::of(entries.clone())));
    let again = again.ok_or_else(|| TestCaseError::fail("the stored outcome never comes"))?;
    prop_assert_eq!(world.asked(), asked, "somebody was asked again");
    let differs = difference(&written(&ended), &written(&again));
    prop_assert!(differs.is_none(), "{differs:?}:\n{}", told(&entries));
    let said = panics();
    prop_assert!(said.is_empty(), "{:?}", said);
    tells_the_same(&entries, &ended)?;
    prop_assert!(!is_new || !heard.is_empty(), "nobody was told of it");
    has_the_events(&entries, &heard)?;
    Ok((entries, ended))
}

/// Checks that the journal alone gives the same outcome, byte for byte. The link to a trace belongs to the process,
/// and is left out.
fn tells_the_same(entries: &[Entry], ended: &Ended) -> Result<(), TestCaseError> {
    let recorded = Recorded::of(entries.to_vec());
    let recorded = recorded.map_err(|error| TestCaseError::fail(format!("it is refused: {error}")));
    let recorded = recorded?.outcome::<u32>();
    let told = recorded.map_or_else(|| "no outcome".to_owned(), |outcome| written(&Ok(outcome)));
    let url = ended
        .as_ref()
        .ok()
        .and_then(|outcome| outcome.outputs.traces_url.as_ref());
    let url = url.map_or_else(String::new, |url| format!(",\"traces_url\":\"{url}\""));
    let live = written(ended).replacen(&url, "", 1);
    let differs = difference(&live, &told);
    prop_assert!(differs.is_none(), "{differs:?}:\n{}", self::told(entries));
    Ok(())
}

/// The events that subscribers were told follow from the journal.
fn has_the_events(entries: &[Entry], heard: &[Event]) -> Result<(), TestCaseError> {
    let recorded = Recorded::of(entries.to_vec());
    let recorded = recorded.map_err(|error| TestCaseError::fail(format!("it is refused: {error}")));
    let recorded = recorded?.events();
    // What was told in an earlier process comes first.
    let before = recorded.len().checked_sub(heard.len());
    prop_assert!(before.is_some(), "{} were told", heard.len());
    let text = |event: &Event| {
        let unnumbered = Event {
            seq: 0,
            ..event.clone()
        };
        serde_json::to_string(&unnumbered).unwrap()
    };
    for (recorded, heard) in recorded[before.unwrap_or_default()..].iter().zip(heard) {
        prop_assert_eq!(text(recorded), text(heard));
    }
    Ok(())
}

/// Returns the surroundings of the first difference of two texts.
fn difference(first: &str, again: &str) -> Option<(String, String)> {
    let at = first.bytes().zip(again.bytes()).position(|(a, b)| a != b);
    let at = at.unwrap_or(first.len().min(again.len()));
    let around = |text: &str| {
        let from = text.floor_char_boundary(at.saturating_sub(60));
        text[from..text.ceil_char_boundary(at + 60)].to_owned()
    };
    (first != again).then(|| (around(first), around(again)))
}

/// A complete run: its journal and its outcome.
pub(super) fn whole(case: &Case, world: &World) -> Result<(Vec<Entry>, Ended), TestCaseError> {
    go(case, world, Vec::new())
}

/// Returns the parts of a run's end that do not depend on the place of interruption.
fn end(ended: &Ended) -> (Result<u32, ErrorKind>, bool, String) {
    match ended {
        Ok(outcome) => {
            let result = outcome.result.as_ref();
            let stopped = format!("{:?}", outcome.stopped);
            let stopped = stopped.split(['{', '(']).next().unwrap_or_default();
            (
                result.copied().map_err(Error::kind),
                outcome.partial,
                stopped.to_owned(),
            )
        }
        Err(error) => (Err(error.kind()), false, String::new()),
    }
}

/// Returns `true` if the effect of an execution of a tool that writes is unknown: the execution was interrupted, or came
/// too late to be repeated. An execution does not count if a later one succeeded.
fn is_in_doubt(entries: &[Entry]) -> bool {
    let mut running: BTreeSet<(String, String, String)> = BTreeSet::new();
    let mut open = BTreeSet::new();
    for entry in entries {
        let entry = serde_json::to_value(entry).unwrap();
        let (run, call) = (entry[2].to_string(), &entry[4]["call"]);
        let at = (run, entry[3].to_string(), call["seq"].to_string());
        let fact = &call["fact"];
        if entry[4] == "resumed" {
            open.extend(running.iter().filter(|(run, ..)| *run == at.0).cloned());
        } else if !fact["begun"]["intent"].is_null() {
            running.insert(at);
        } else if !fact["ended"].is_null() {
            running.remove(&at);
            if !fact["ended"]["result"]["Ok"].is_null() {
                open.remove(&at);
            }
        } else if *fact == "too_late" {
            // An execution that failed may have taken effect, and is not repeated after all.
            open.insert(at);
        } else if !fact["interrupted"].is_null() {
            running.remove(&at);
            if fact["interrupted"]["unknown"].is_null() {
                open.remove(&at);
            }
        }
    }
    !open.is_empty()
}

/// Resumes the run after every entry, and once more after one of the entries added then.
pub(super) fn everywhere(
    case: &Case,
    world: &World,
    entries: &[Entry],
    whole: &Ended,
) -> Result<Resumed, TestCaseError> {
    let mut resumed = Resumed {
        runs: 0,
        compared: 0,
        new: Vec::new(),
    };
    let (first, all) = (world.done(), world.effects());
    prop_assert_eq!(world.done_twice(), []);
    prop_assert!(!entries.is_empty(), "nothing was stored");
    let mut chance = case.seed;
    for at in 0..entries.len() {
        for is_done in [true, false] {
            let before = &entries[..at];
            let Some(effects) = effects_of(before, &all, is_done) else {
                continue;
            };
            let mut world = World::of(effects);
            let (mut journal, mut ended) = go(case, &world, before.to_vec())?;
            resumed.runs += 1;
            resumed.compared +=
                u64::from(check(case, &world, &journal, &ended, whole, &first, at)?);
            resumed.new.push(journal[at..].to_vec());
            // Resumes once more within the added entries.
            chance = chance
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let added = (journal.len() - at).max(1);
            let cut = at + (chance >> 33) as usize % added;
            let effects = effects_of(&journal[..cut], &world.effects(), is_done);
            if let Some(effects) = effects.filter(|_| chance.is_multiple_of(3)) {
                world = World::of(effects);
                (journal, ended) = go(case, &world, journal[..cut].to_vec())?;
                resumed.runs += 1;
                let at = if at == 0 { 0 } else { cut };
                resumed.compared +=
                    u64::from(check(case, &world, &journal, &ended, whole, &first, at)?);
                resumed.new.push(journal[cut..].to_vec());
            }
        }
    }
    Ok(resumed)
}

/// Checks that no effect happened twice, and that the end and the effects are those of the whole run. Returns `false` if
/// these are not compared: an effect is in doubt, or the case does not end alike wherever it is interrupted.
fn check(
    case: &Case,
    world: &World,
    journal: &[Entry],
    ended: &Ended,
    whole: &Ended,
    first: &BTreeSet<(&'static str, String)>,
    at: usize,
) -> Result<bool, TestCaseError> {
    prop_assert_eq!(world.done_twice(), [], "behind {}:\n{}", at, told(journal));
    if is_in_doubt(journal) || !case.comes_to_the_same_end() {
        return Ok(false);
    }
    prop_assert_eq!(
        end(ended),
        end(whole),
        "behind {}: {}\n{}",
        at,
        written(ended),
        told(journal)
    );
    // Another run has other keys.
    let known = |done: &std::collections::BTreeSet<(&'static str, String)>| -> Vec<_> {
        let all = done.iter();
        all.map(|(tool, key)| (*tool, if at == 0 { String::new() } else { key.clone() }))
            .collect()
    };
    prop_assert_eq!(
        known(&world.done()),
        known(first),
        "behind {}:\n{}",
        at,
        told(journal)
    );
    Ok(true)
}

/// Formats the journal for a message.
pub(super) fn told(entries: &[Entry]) -> String {
    let line = |entry: &Entry| {
        let mut fact = entry.fact().to_owned();
        fact.truncate(fact.floor_char_boundary(400));
        format!("{} {}\n", entry.seq(), fact)
    };
    entries.iter().map(line).collect()
}
