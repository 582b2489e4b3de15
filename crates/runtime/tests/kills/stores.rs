//! Runs of a store, SQLite and PostgreSQL.

use crate::{PATIENCE, RIGHT, below, counts, program, wait, wanted};
use agents_needs::postgres::{Database, Server};
use agents_runtime::{FileKeyring, PostgresStore, Runtime, SqliteStore, Verdict};
use deadpool_postgres::tokio_postgres::{self, NoTls};
use std::{
    collections::{BTreeMap, HashSet},
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Place of a store.
enum Place {
    Sqlite(PathBuf),
    Postgres(Database),
}

/// Executions that have begun and not ended.
const UNDER_WAY: &str = "SELECT id FROM agent_tool_executions WHERE duration_ms IS NULL";

impl Place {
    /// Returns the address as `payments` takes it.
    fn address(&self) -> String {
        match self {
            Place::Sqlite(file) => format!("sqlite:{}", file.display()),
            Place::Postgres(database) => database.address().to_owned(),
        }
    }

    /// Returns the executions that have begun and not ended, once the process that was killed has no part in the store.
    fn under_way(&self) -> Vec<String> {
        match self {
            Place::Sqlite(file) => {
                let db = rusqlite::Connection::open(file).unwrap();
                db.busy_timeout(Duration::from_secs(5)).unwrap();
                // The process may have been killed before there were tables.
                let Ok(mut found) = db.prepare(UNDER_WAY) else {
                    return Vec::new();
                };
                let ids = found.query_map([], |row| row.get(0)).unwrap();
                ids.map(Result::unwrap).collect()
            }
            Place::Postgres(database) => now(async {
                let connected = tokio_postgres::connect(database.address(), NoTls).await;
                let (client, connection) = connected.unwrap();
                let driver = tokio::spawn(connection);
                // The server ends what it was asked for, also when nobody is there to hear the answer.
                let others = "SELECT 1 FROM pg_stat_activity WHERE backend_type = 'client backend'
                     AND datname = current_database() AND pid <> pg_backend_pid()";
                while !client.query(others, &[]).await.unwrap().is_empty() {
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
                let found = client.query(UNDER_WAY, &[]).await.unwrap_or_default();
                drop(client);
                driver.await.unwrap().unwrap();
                found.iter().map(|row| row.get(0)).collect()
            }),
        }
    }

    /// Returns the number of entries that are stored.
    fn stored(&self) -> i64 {
        const STORED: &str = "SELECT coalesce(max(last_seq), 0) FROM agent_runs";
        match self {
            Place::Sqlite(file) => {
                let db = rusqlite::Connection::open(file).unwrap();
                db.query_row(STORED, [], |row| row.get(0)).unwrap_or(0)
            }
            Place::Postgres(database) => now(async {
                let connected = tokio_postgres::connect(database.address(), NoTls).await;
                let (client, connection) = connected.unwrap();
                let driver = tokio::spawn(connection);
                let found = client.query_one(STORED, &[]).await;
                drop(client);
                driver.await.unwrap().unwrap();
                found.map_or(0, |row| row.get(0))
            }),
        }
    }

    /// Removes the database; a file goes with its folder.
    fn remove(self) {
        if let Place::Postgres(database) = self {
            database.remove();
        }
    }

    /// Returns what the audit trail is worth.
    fn verdict(&self, keys: &Path) -> Verdict {
        now(async {
            let client = match self {
                Place::Sqlite(file) => Runtime::client(SqliteStore::open(file).await.unwrap()),
                Place::Postgres(database) => {
                    Runtime::client(PostgresStore::connect(database.address()).await.unwrap())
                }
            };
            let client = client.keyring(FileKeyring::open(keys).unwrap());
            client.audit().verify().await.unwrap()
        })
    }
}

/// Waits for a future.
fn now<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(future)
}

/// Kills processes that work with a store, until enough kills have hit a payment. Each process that follows waits until
/// the lease of the killed one has ended. `place` creates an empty store for each run, in this folder.
fn kill(name: &str, tool: &str, place: impl Fn(&Path) -> Place) {
    let exe = program(RIGHT);
    let folder = std::env::temp_dir().join(format!("agents-kills-{name}-{}", std::process::id()));
    let (mut hits, mut thrice, mut in_doubt, mut chance) = (0, 0, 0, 11);
    let (mut runs, mut all) = (0, 0);
    while hits < wanted(1) {
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).unwrap();
        runs += 1;
        let (place, ledger) = (place(&folder), folder.join("ledger"));
        let start = || {
            let mut command = Command::new(&exe);
            command.arg("--store").arg(place.address());
            command.arg("--keyring").arg(folder.join("keys"));
            command.arg("--ledger").arg(&ledger);
            command.args(["--run", "october", "--tool", tool, "--pause", "10"]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().unwrap()
        };
        let (mut kills, mut interrupted) = (0, BTreeMap::<String, usize>::new());
        let (mut vain, mut before) = (0, (0, 0));
        let last = loop {
            // Three kills in a row before anything is stored hold a run, as they should.
            let said = match kills {
                0..8 if vain < 2 && below(&mut chance, 4) > 0 => {
                    // After one to three more payments, and then in the middle of one.
                    let more = 1 + usize::try_from(below(&mut chance, 3)).unwrap();
                    let then = Duration::from_millis(below(&mut chance, 35));
                    kill_after(start(), &ledger, more, then)
                }
                0 => wait(start(), Duration::from_millis(5 + below(&mut chance, 200))),
                1..8 if vain < 2 => wait(
                    start(),
                    Duration::from_millis(1_500 + below(&mut chance, 250)),
                ),
                _ => wait(start(), PATIENCE),
            };
            if let Some(said) = said {
                break said;
            }
            kills += 1;
            let under_way = place.under_way();
            let now = (place.stored(), under_way.len());
            vain = if now == before { vain + 1 } else { 0 };
            before = now;
            for execution in under_way {
                let times = interrupted.entry(execution).or_default();
                hits += usize::from(*times == 0);
                *times += 1;
            }
            println!("{name}: kill {kills} of run {runs}, {hits} payments hit");
        };
        all += kills;
        thrice += interrupted.values().filter(|times| **times >= 3).count();
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
        let verdict = place.verdict(&folder.join("keys"));
        assert!(verdict.is_intact(), "{said}: {verdict}");
        place.remove();
    }
    let _ = fs::remove_dir_all(&folder);
    println!("{name}: {all} kills, {hits} payments hit in {runs} runs, {in_doubt} in doubt");
    if tool == "idempotent" {
        assert!(in_doubt <= thrice, "{thrice} were interrupted three times");
    } else {
        assert_eq!(in_doubt, hits, "each is reported");
    }
}

/// Kills a process this long after it has entered so many more payments in the ledger. Returns its output if it has ended
/// before.
fn kill_after(mut child: Child, ledger: &Path, more: usize, then: Duration) -> Option<String> {
    let entered = || fs::read_to_string(ledger).map_or(0, |text| text.lines().count());
    let (before, began) = (entered(), Instant::now());
    while entered() < before + more && began.elapsed() < PATIENCE {
        if child.try_wait().unwrap().is_some() {
            break;
        }
        thread::sleep(Duration::from_millis(1));
    }
    wait(child, then)
}

fn in_sqlite(folder: &Path) -> Place {
    Place::Sqlite(folder.join("store.db"))
}

#[test]
fn s5_3_no_payment_stored_in_sqlite_is_lost_or_made_twice() {
    kill("sqlite-plain", "plain", in_sqlite);
}

#[test]
fn an_idempotent_payment_stored_in_sqlite_is_not_in_doubt() {
    kill("sqlite-idempotent", "idempotent", in_sqlite);
}

fn kill_in_postgres(tool: &str) {
    let Some(server) = Server::shared() else {
        return;
    };
    kill(&format!("postgres-{tool}"), tool, |_| {
        Place::Postgres(now(server.database()))
    });
}

#[test]
fn no_payment_stored_in_postgres_is_lost_or_made_twice() {
    kill_in_postgres("plain");
}

#[test]
fn an_idempotent_payment_stored_in_postgres_is_not_in_doubt() {
    kill_in_postgres("idempotent");
}

/// Sends a signal to a process.
fn signal(child: &Child, name: &str) {
    let mut kill = Command::new("kill");
    let sent = kill.args([name, &child.id().to_string()]).status();
    assert!(sent.unwrap().success(), "{name}");
}

/// Pauses a process at a random moment until its lease has ended, while another one goes on with its run. Then it wakes.
fn pause(name: &str, place: impl Fn(&Path) -> Place) {
    let exe = program(RIGHT);
    let folder = std::env::temp_dir().join(format!("agents-pauses-{name}-{}", std::process::id()));
    let mut chance = 3;
    for _ in 0..3 {
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).unwrap();
        let (place, ledger) = (place(&folder), folder.join("ledger"));
        let start = || {
            let mut command = Command::new(&exe);
            command.arg("--store").arg(place.address());
            command.arg("--keyring").arg(folder.join("keys"));
            command.arg("--ledger").arg(&ledger);
            command.args(["--run", "october", "--tool", "plain", "--pause", "20"]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().unwrap()
        };
        let paused = start();
        // It has begun to pay.
        while fs::read_to_string(&ledger).unwrap_or_default().is_empty() {
            thread::sleep(Duration::from_millis(2));
        }
        thread::sleep(Duration::from_millis(below(&mut chance, 100)));
        signal(&paused, "-STOP");
        let other = start();
        // Longer than a lease.
        thread::sleep(Duration::from_secs(4));
        signal(&paused, "-CONT");
        let said = wait(other, PATIENCE).expect("the run is over");
        let woken = wait(paused, PATIENCE).expect("the process that was paused ends");
        assert_eq!(woken, said, "it sees what the other one has done");
        let text = fs::read_to_string(&ledger).unwrap();
        let lines: Vec<_> = text.lines().collect();
        let keys: HashSet<_> = lines.iter().map(|line| line.split(' ').next()).collect();
        let (paid, doubts) = counts(&said);
        assert_eq!(keys.len(), lines.len(), "no key twice: {said:?}");
        assert!(
            paid <= lines.len() && lines.len() <= paid + doubts,
            "{said:?}"
        );
        assert!(paid + doubts == 10 && doubts <= 1, "{said:?}");
        let verdict = place.verdict(&folder.join("keys"));
        assert!(verdict.is_intact(), "{said:?}: {verdict}");
    }
    let _ = fs::remove_dir_all(&folder);
}

#[test]
fn a_worker_that_is_paused_and_wakes_changes_nothing_in_sqlite() {
    pause("sqlite", in_sqlite);
}

#[test]
fn a_worker_that_is_paused_and_wakes_changes_nothing_in_postgres() {
    let Some(server) = Server::shared() else {
        return;
    };
    pause("postgres", |_| Place::Postgres(now(server.database())));
}

/// Goes on with a run of a store that an earlier version has written, in an empty database, or in a file. Returns what
/// became of its payments, and what the audit trail is worth.
fn go_on_with(version: &str, database: Option<Database>) -> ((usize, usize), Verdict) {
    let folder = std::env::temp_dir().join(format!("agents-{version}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).unwrap();
    let frozen = Path::new(env!("CARGO_MANIFEST_DIR")).join("../store/tests/frozen");
    let keys = folder.join("keys");
    let sql = fs::read_to_string(frozen.join(format!("{version}.sql"))).unwrap();
    let place = match database {
        Some(database) => {
            now(fill(&database, &sql));
            Place::Postgres(database)
        }
        None => {
            let file = folder.join("store.db");
            let db = rusqlite::Connection::open(&file).unwrap();
            db.execute_batch(&sql).unwrap();
            Place::Sqlite(file)
        }
    };
    fs::copy(frozen.join(format!("{version}.keys")), &keys).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&keys, fs::Permissions::from_mode(0o600)).unwrap();
    }
    let mut command = Command::new(program(RIGHT));
    command.arg("--store").arg(place.address());
    command.arg("--keyring").arg(&keys);
    command.arg("--ledger").arg(folder.join("ledger"));
    command.args(["--run", "november", "--tool", "plain", "--pause", "1"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let said = wait(command.spawn().unwrap(), PATIENCE).expect("the run ends");
    let verdict = place.verdict(&keys);
    fs::remove_dir_all(&folder).unwrap();
    assert!(verdict.is_intact(), "{verdict}");
    (counts(&said), verdict)
}

#[test]
fn a_run_of_a_store_of_the_first_version_goes_on() {
    let (paid, verdict) = go_on_with("v1", None);
    // One payment is in doubt, and one has no receipt: nobody decided about it in time.
    assert_eq!(paid, (8, 2));
    assert_eq!(verdict.without_trail, 2, "{verdict}");
}

#[test]
fn a_run_of_a_store_of_the_second_version_goes_on() {
    let (paid, verdict) = go_on_with("v2", None);
    // Its process was killed within a payment.
    assert_eq!(paid, (9, 1));
    assert_eq!((verdict.runs, verdict.without_trail), (2, 0), "{verdict}");
}

/// Does the statements of a dump.
async fn fill(database: &Database, sql: &str) {
    let connected = tokio_postgres::connect(database.address(), NoTls).await;
    let (client, connection) = connected.unwrap();
    let driver = tokio::spawn(connection);
    client.batch_execute(sql).await.unwrap();
    drop(client);
    driver.await.unwrap().unwrap();
}

#[test]
fn a_run_of_a_store_of_the_seventh_version_goes_on() {
    let mut found = vec![go_on_with("v7", None)];
    if let Some(server) = Server::shared() {
        let database = now(server.database());
        found.push(go_on_with("v7.postgres", Some(database)));
    }
    for (paid, verdict) in found {
        // Its process was killed within a payment.
        assert_eq!(paid, (9, 1));
        assert_eq!((verdict.runs, verdict.without_trail), (2, 0), "{verdict}");
    }
}
