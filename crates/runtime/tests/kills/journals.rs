//! Runs with a journal in a file.

use crate::{PATIENCE, RIGHT, below, counts, program, wait, wanted};
use std::{
    collections::{BTreeMap, HashSet},
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

struct Files {
    journal: PathBuf,
    ledger: PathBuf,
}

impl Files {
    fn new(test: &str) -> Files {
        let folder = std::env::temp_dir();
        let name =
            |what: &str| folder.join(format!("agents-kills-{test}-{}-{what}", std::process::id()));
        Files {
            journal: name("journal"),
            ledger: name("ledger"),
        }
    }

    fn clear(&self) {
        let _ = fs::remove_file(&self.journal);
        let _ = fs::remove_file(&self.ledger);
    }

    fn start(&self, example: &Path, how: &[&str]) -> Child {
        let mut command = Command::new(example);
        command
            .arg("--journal")
            .arg(&self.journal)
            .arg("--ledger")
            .arg(&self.ledger);
        command
            .args(how)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Returns the keys and amounts in the ledger.
    fn paid(&self) -> Vec<(String, String)> {
        let text = fs::read_to_string(&self.ledger).unwrap_or_default();
        let pairs = text.lines().filter_map(|line| line.split_once(' '));
        pairs
            .map(|(key, amount)| (key.to_owned(), amount.to_owned()))
            .collect()
    }

    /// The last fact that is stored: its number, its name, and the key of the payment if it is an intent.
    fn last_fact(&self) -> (u64, String, Option<String>) {
        let text = fs::read_to_string(&self.journal).unwrap_or_default();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let Some(line) = whole.lines().skip(1).last() else {
            return (0, "nothing".to_owned(), None);
        };
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let entry = line["entries"].as_array().unwrap().last().unwrap();
        let (number, fact) = (entry[0].as_u64().unwrap(), &entry[4]);
        let of_call = &fact["call"]["fact"];
        let fact = if of_call.is_null() { fact } else { of_call };
        let name = fact
            .as_str()
            .or_else(|| Some(fact.as_object()?.keys().next()?));
        let key = fact["begun"]["intent"]["key"].as_str();
        let name = name.unwrap_or("?").to_owned();
        (number, name, key.map(str::to_owned))
    }
}

/// Counts of kills and of their results.
#[derive(Debug, Default)]
struct Found {
    runs: usize,
    /// Kills by the last stored fact.
    kills: BTreeMap<String, usize>,
    before_effect: usize,
    after_effect: usize,
    /// Amounts that were paid more than once.
    doubled: usize,
    /// Idempotency keys that stand in the ledger more than once.
    repeated_keys: usize,
    lost: usize,
    in_doubt: usize,
    /// Payments that were interrupted three times.
    interrupted_thrice: usize,
}

impl Found {
    fn hits(&self) -> usize {
        self.before_effect + self.after_effect
    }

    /// Each was made once, under a key of its own, and what is said of them is true.
    fn is_right(&self) -> bool {
        (self.lost, self.doubled, self.repeated_keys) == (0, 0, 0)
    }
}

/// Kills and starts again until `enough`.
fn kill(test: &str, example: &str, how: &[&str], enough: impl Fn(&Found) -> bool) -> Found {
    let (files, exe) = (Files::new(test), program(example));
    assert!(exe.exists(), "{} is built by `cargo test`", exe.display());
    let (mut found, mut chance) = (Found::default(), 7);
    while !enough(&found) {
        files.clear();
        found.runs += 1;
        let (mut kills, mut before) = (0, 0);
        let mut interruptions: BTreeMap<String, usize> = BTreeMap::new();
        let last = loop {
            let time = match kills < 12 {
                true => Duration::from_millis(5 + below(&mut chance, 120)),
                false => PATIENCE,
            };
            if let Some(said) = wait(files.start(&exe, how), time) {
                break said;
            }
            kills += 1;
            let (number, fact, key) = files.last_fact();
            let run = found.runs;
            println!("{test}: kill {kills} of run {run} behind fact {number}, `{fact}`");
            // A process that had stored nothing yet has interrupted nothing.
            let is_new = number > before;
            before = number;
            if let Some(key) = key.filter(|_| is_new) {
                match files.paid().iter().any(|(paid, _)| *paid == key) {
                    true => found.after_effect += 1,
                    false => found.before_effect += 1,
                }
                *interruptions.entry(key).or_default() += 1;
            }
            *found.kills.entry(fact).or_default() += 1;
        };
        let paid = files.paid();
        let keys: HashSet<_> = paid.iter().map(|(key, _)| key).collect();
        let amounts: HashSet<_> = paid.iter().map(|(_, amount)| amount).collect();
        found.repeated_keys += paid.len() - keys.len();
        found.doubled += paid.len() - amounts.len();
        let times = interruptions.values();
        found.interrupted_thrice += times.filter(|times| **times >= 3).count();
        // The controls promise nothing.
        if example == RIGHT {
            let (receipts, in_doubt) = counts(&last);
            found.in_doubt += in_doubt;
            let fits = receipts <= paid.len() && paid.len() <= receipts + in_doubt;
            let known = receipts + in_doubt == 10 && in_doubt <= kills;
            found.lost += usize::from(!fits || !known);
            let again = wait(files.start(&exe, how), PATIENCE).unwrap();
            assert_eq!(again, last, "a finished run is printed again");
            assert_eq!(files.paid().len(), paid.len(), "and nothing is called");
        }
    }
    files.clear();
    println!("{test}: {found:?}");
    found
}

/// Returns `true` if enough kills have hit a payment, before and after its effect.
fn enough(found: &Found) -> bool {
    let (wanted, side) = (wanted(4), wanted(4).div_ceil(10));
    found.hits() >= wanted && found.before_effect >= side && found.after_effect >= side
}

#[test]
fn s5_3_no_payment_is_lost_or_made_twice() {
    let how = ["--tool", "plain", "--pause", "10"];
    let found = kill("plain", RIGHT, &how, enough);
    assert!(found.is_right(), "{found:?}");
    assert_eq!(found.in_doubt, found.hits(), "each is reported");
}

#[test]
fn an_idempotent_payment_is_in_doubt_only_if_it_was_interrupted_three_times() {
    let how = ["--tool", "idempotent", "--pause", "10"];
    let found = kill("idempotent", RIGHT, &how, enough);
    assert!(found.is_right(), "{found:?}");
    assert_eq!(found.in_doubt, found.interrupted_thrice, "{found:?}");
}

#[test]
fn a_tool_that_is_repeated_in_doubt_pays_twice() {
    let how = ["--wrong", "repeats", "--pause", "10"];
    let found = kill("repeats", "payments_wrong", &how, |found| {
        found.doubled > 0 || found.runs > 200
    });
    assert!(found.doubled > 0, "the control finds nothing: {found:?}");
}

#[test]
fn a_journal_that_stores_too_late_pays_twice() {
    let how = ["--wrong", "early", "--pause", "10"];
    let found = kill("early", "payments_wrong", &how, |found| {
        found.doubled > 0 || found.runs > 200
    });
    assert!(found.doubled > 0, "the control finds nothing: {found:?}");
}
