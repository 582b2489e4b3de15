//! Runs that are killed at random moments and restarted: no payment is lost or repeated.
//!
//! `AGENTS_KILLS=200 cargo test -p agents-runtime --test kills -- --nocapture` kills until this number of kills have hit a running
//! payment; the default is small. Controls with deliberate errors show that the test finds double payments.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]

#[path = "../../tests/examples/built.rs"]
mod built;

use agents_runtime::{FileKeyring, Runtime, SqliteStore, Verdict};
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

/// The example that does it right.
const RIGHT: &str = "payments";

/// Returns the path of a built example.
fn program(name: &str) -> PathBuf {
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

/// The figures of the last line, which is `paid P, in doubt D`.
fn counts(said: &str) -> (usize, usize) {
    let figures = said.lines().last().and_then(|line| {
        let (paid, in_doubt) = line.strip_prefix("paid ")?.split_once(", in doubt ")?;
        Some((paid.parse().ok()?, in_doubt.parse().ok()?))
    });
    figures.unwrap_or_else(|| panic!("it ends with `paid P, in doubt D`, and not so: {said:?}"))
}

/// Returns `true` if enough kills have hit a payment, before and after its effect.
fn enough(found: &Found) -> bool {
    let (wanted, side) = (wanted(), wanted() / 10);
    found.hits() >= wanted && found.before_effect >= side && found.after_effect >= side
}

#[test]
fn no_payment_is_lost_or_made_twice() {
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

/// Kills processes that work with a store, until enough kills have hit a payment. Each process that follows waits until
/// the lease of the killed one has ended.
fn kill_stored(tool: &str) {
    let exe = program(RIGHT);
    let folder =
        std::env::temp_dir().join(format!("agents-kills-store-{tool}-{}", std::process::id()));
    let (mut hits, mut in_doubt, mut runs, mut chance) = (0, 0, 0, 11);
    while hits < wanted().div_ceil(4) {
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).unwrap();
        runs += 1;
        let (database, ledger) = (folder.join("store.db"), folder.join("ledger"));
        let start = || {
            let mut command = Command::new(&exe);
            command
                .arg("--store")
                .arg(format!("sqlite:{}", database.display()));
            command.arg("--keyring").arg(folder.join("keys"));
            command.arg("--ledger").arg(&ledger);
            command.args(["--run", "october", "--tool", tool, "--pause", "10"]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().unwrap()
        };
        let (mut kills, mut interrupted) = (0, BTreeMap::<String, usize>::new());
        let last = loop {
            let time = match kills {
                0 => Duration::from_millis(5 + below(&mut chance, 200)),
                1..6 => Duration::from_millis(1_500 + below(&mut chance, 250)),
                _ => PATIENCE,
            };
            if let Some(said) = wait(start(), time) {
                break said;
            }
            kills += 1;
            for execution in under_way(&database) {
                let times = interrupted.entry(execution).or_default();
                hits += usize::from(*times == 0);
                *times += 1;
            }
        };
        let text = fs::read_to_string(&ledger).unwrap();
        let lines: Vec<_> = text.lines().collect();
        let keys: HashSet<_> = lines.iter().map(|line| line.split(' ').next()).collect();
        let (paid, doubts) = counts(&last);
        in_doubt += doubts;
        let said = format!(
            "{last:?} after {kills} kills, with {} payments",
            lines.len()
        );
        assert_eq!(keys.len(), lines.len(), "no key twice: {said}");
        assert!(
            paid <= lines.len() && lines.len() <= paid + doubts,
            "{said}"
        );
        assert!(paid + doubts == 10 && doubts <= kills, "{said}");
        let again = wait(start(), PATIENCE).unwrap();
        assert_eq!(again, last, "a finished run is printed again");
        let verdict = verdict(&database, &folder.join("keys"));
        assert!(verdict.is_intact(), "{said}: {verdict}");
    }
    let _ = fs::remove_dir_all(&folder);
    println!("{tool} in a store: {hits} payments hit in {runs} runs, {in_doubt} in doubt");
    if tool == "idempotent" {
        assert_eq!(in_doubt, 0, "none was interrupted three times");
    } else {
        assert_eq!(in_doubt, hits, "each is reported");
    }
}

/// Returns what the audit trail of a store is worth.
fn verdict(database: &Path, keys: &Path) -> Verdict {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let store = SqliteStore::open(database).await.unwrap();
        let keys = FileKeyring::open(keys).unwrap();
        let client = Runtime::client(store).keyring(keys);
        client.audit().verify().await.unwrap()
    })
}

#[test]
fn a_run_of_a_store_of_the_first_version_goes_on() {
    let folder = std::env::temp_dir().join(format!("agents-frozen-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).unwrap();
    let frozen = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents-store/tests/frozen");
    let (database, keys) = (folder.join("store.db"), folder.join("keys"));
    let sql = fs::read_to_string(frozen.join("v1.sql")).unwrap();
    let db = rusqlite::Connection::open(&database).unwrap();
    db.execute_batch(&sql).unwrap();
    drop(db);
    fs::copy(frozen.join("v1.keys"), &keys).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&keys, fs::Permissions::from_mode(0o600)).unwrap();
    }
    let mut command = Command::new(program(RIGHT));
    command
        .arg("--store")
        .arg(format!("sqlite:{}", database.display()));
    command.arg("--keyring").arg(&keys);
    command.arg("--ledger").arg(folder.join("ledger"));
    command.args(["--run", "november", "--tool", "plain", "--pause", "1"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let said = wait(command.spawn().unwrap(), PATIENCE).expect("the run ends");
    // One payment is in doubt, and one has no receipt: nobody decided about it in time.
    assert_eq!(counts(&said), (8, 2), "{said}");
    let verdict = verdict(&database, &keys);
    assert!(verdict.is_intact(), "{verdict}");
    assert_eq!(verdict.without_trail, 2, "{verdict}");
    fs::remove_dir_all(&folder).unwrap();
}

/// The executions in a store that have begun and not ended.
fn under_way(database: &Path) -> Vec<String> {
    let Ok(db) = rusqlite::Connection::open(database) else {
        return Vec::new();
    };
    db.busy_timeout(Duration::from_secs(5)).unwrap();
    let sql = "SELECT id FROM agent_tool_executions WHERE duration_ms IS NULL";
    let Ok(mut found) = db.prepare(sql) else {
        return Vec::new();
    };
    let ids = found.query_map([], |row| row.get(0)).unwrap();
    ids.map(Result::unwrap).collect()
}

#[test]
fn no_stored_payment_is_lost_or_made_twice() {
    kill_stored("plain");
}

#[test]
fn a_stored_idempotent_payment_is_not_in_doubt() {
    kill_stored("idempotent");
}

/// A test that found no figures would find no fault either.
#[test]
#[should_panic(expected = "it ends with `paid P, in doubt D`")]
fn an_output_without_figures_is_a_failure() {
    counts("paid ten times\n");
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
