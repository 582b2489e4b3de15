//! Runs that are killed at random moments and restarted: no payment is lost or repeated.
//!
//! `AGENTS_KILLS=200 cargo test --test kills -- --nocapture` kills until this number of kills have hit a running
//! payment; the default is small. Controls with deliberate errors show that the test finds double payments.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]

#[path = "examples/built.rs"]
mod built;

use std::{
    collections::{BTreeMap, HashSet},
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Longest time that one process may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Returns the number of kills that have to hit a running payment.
fn wanted() -> usize {
    let said = std::env::var("AGENTS_KILLS").ok();
    said.and_then(|said| said.parse().ok()).unwrap_or(24)
}

/// Returns the path of a built example.
fn example(name: &str) -> PathBuf {
    built::EXAMPLES.join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

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

    /// Returns the name of the last stored fact, and the payment's key if it is an intent.
    fn last_fact(&self) -> (String, Option<String>) {
        let text = fs::read_to_string(&self.journal).unwrap_or_default();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let Some(line) = whole.lines().skip(1).last() else {
            return ("nothing".to_owned(), None);
        };
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let fact = &line["entries"].as_array().unwrap().last().unwrap()[4];
        let of_call = &fact["call"]["fact"];
        let fact = if of_call.is_null() { fact } else { of_call };
        let name = fact
            .as_str()
            .or_else(|| Some(fact.as_object()?.keys().next()?));
        let key = fact["begun"]["intent"]["key"].as_str();
        (name.unwrap_or("?").to_owned(), key.map(str::to_owned))
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
    /// Payments that were made more than once.
    doubled: usize,
    lost: usize,
    in_doubt: usize,
}

impl Found {
    fn hits(&self) -> usize {
        self.before_effect + self.after_effect
    }
}

/// Returns a random number below this one.
fn below(state: &mut u64, bound: u64) -> u64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % bound
}

/// Waits this long for a process, then kills it; returns its output if it had ended.
fn wait(mut child: Child, time: Duration) -> Option<String> {
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            let output = child.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(status.success(), "{said}");
            return Some(String::from_utf8(output.stdout).unwrap());
        }
        if began.elapsed() >= time {
            child.kill().unwrap();
            child.wait().unwrap();
            return None;
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// Kills and restarts runs until [`enough`].
fn kill(test: &str, exe: &str, how: &[&str], enough: impl Fn(&Found) -> bool) -> Found {
    let (files, exe) = (Files::new(test), example(exe));
    assert!(exe.exists(), "{} is built by `cargo test`", exe.display());
    let (mut found, mut chance) = (Found::default(), 7);
    while !enough(&found) {
        files.clear();
        found.runs += 1;
        let mut kills = 0;
        let last = loop {
            let time = match kills < 12 {
                true => Duration::from_millis(5 + below(&mut chance, 120)),
                false => PATIENCE,
            };
            if let Some(said) = wait(files.start(&exe, how), time) {
                break said;
            }
            kills += 1;
            let (fact, key) = files.last_fact();
            if let Some(key) = key {
                match files.paid().iter().any(|(paid, _)| *paid == key) {
                    true => found.after_effect += 1,
                    false => found.before_effect += 1,
                }
            }
            *found.kills.entry(fact).or_default() += 1;
        };
        let paid = files.paid();
        let amounts: HashSet<_> = paid.iter().map(|(_, amount)| amount).collect();
        found.doubled += paid.len() - amounts.len();
        if let Some((receipts, in_doubt)) = last.trim().rsplit('\n').next().and_then(counts) {
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

/// Returns the numbers in `paid P, in doubt D`.
fn counts(line: &str) -> Option<(usize, usize)> {
    let (paid, in_doubt) = line.strip_prefix("paid ")?.split_once(", in doubt ")?;
    Some((paid.parse().ok()?, in_doubt.parse().ok()?))
}

/// Returns `true` if enough kills have hit a payment, before and after its effect.
fn enough(found: &Found) -> bool {
    let (wanted, side) = (wanted(), wanted() / 10);
    found.hits() >= wanted && found.before_effect >= side && found.after_effect >= side
}

#[test]
fn no_payment_is_lost_or_made_twice() {
    let how = ["--tool", "plain", "--pause", "10"];
    let found = kill("plain", "payments", &how, enough);
    assert_eq!((found.lost, found.doubled), (0, 0), "{found:?}");
    assert_eq!(found.in_doubt, found.hits(), "each is reported");
}

#[test]
fn an_idempotent_payment_is_never_in_doubt() {
    let how = ["--tool", "idempotent", "--pause", "10"];
    let found = kill("idempotent", "payments", &how, enough);
    assert_eq!((found.lost, found.doubled), (0, 0), "{found:?}");
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
