//! The SQLite store: the conformance suite, in memory and in a file, and what only a file can do.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]

use agents_store::{
    AuditFilter, AuditKind, Claim, Commit, ControlStore, ErrorKind, ExecutionFilter, NewProfile,
    NewRun, RunFilter, RunStatus, SqliteStore, Store, Timestamp,
    conformance::{self, CASES, CONTROL_CASES},
};
use std::{
    fs,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

#[cfg(unix)]
#[path = "sqlite/deciders.rs"]
mod deciders;
#[cfg(unix)]
#[path = "shared/disk.rs"]
mod disk;
#[cfg(unix)]
#[path = "sqlite/faults.rs"]
mod faults;

/// A file of a test, which is removed with it.
struct TempFile(PathBuf);

impl TempFile {
    fn new(name: &str) -> Self {
        let name = format!("agents-store-{name}-{}.db", std::process::id());
        let file = TempFile(std::env::temp_dir().join(name));
        file.remove();
        file
    }

    fn remove(&self) {
        for end in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{end}", self.0.display()));
        }
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        self.remove();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_in_memory_keeps_all_promises() {
    conformance::check(async || Arc::new(SqliteStore::in_memory().await.unwrap())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_keeps_the_promises_to_a_control_plane() {
    for case in CONTROL_CASES {
        println!("{}", case.name);
        let store = SqliteStore::in_memory().await.unwrap();
        case.check(Arc::new(store)).await;
        let file = TempFile::new(case.name);
        let store = SqliteStore::open(&file.0).await.unwrap();
        case.check(Arc::new(store)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_in_a_file_keeps_all_promises() {
    for case in CASES {
        println!("{}", case.name);
        let file = TempFile::new(case.name);
        case.check(Arc::new(SqliteStore::open(&file.0).await.unwrap()))
            .await;
    }
}

fn run(id: &str) -> NewRun {
    NewRun {
        id: id.to_owned(),
        agent: "payer".to_owned(),
        ..NewRun::default()
    }
}

fn claim(worker: &str) -> Claim {
    Claim {
        worker: worker.to_owned(),
        agents: vec!["payer".to_owned()],
        run: None,
        time: Duration::from_secs(60),
        per_tenant: 0,
        most_claims: 3,
        alone: true,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_processes_may_create_a_store_at_once() {
    for round in 0..5 {
        let file = TempFile::new(&format!("many-{round}"));
        let opening = (0..8).map(|_| tokio::spawn(SqliteStore::open(file.0.clone())));
        let opening: Vec<_> = opening.collect();
        for opened in opening {
            opened.await.unwrap().unwrap();
        }
    }
}

#[tokio::test]
async fn two_handles_of_one_file_see_each_other() {
    let file = TempFile::new("two");
    // Both create the tables.
    let (one, two) = tokio::join!(SqliteStore::open(&file.0), SqliteStore::open(&file.0));
    let (one, two) = (one.unwrap(), two.unwrap());
    one.create(&run("run-1")).await.unwrap();
    let lease = two.claim(&claim("w2")).await.unwrap().unwrap();
    assert_eq!(one.claim(&claim("w1")).await.unwrap(), None);
    let commit = Commit {
        id: "a".to_owned(),
        last: 1,
        entries: b"entry".to_vec(),
        ..Commit::default()
    };
    two.commit(&lease, &commit).await.unwrap();
    assert_eq!(one.commits("run-1", 0).await.unwrap()[0].entries, b"entry");
}

#[cfg(unix)]
#[tokio::test]
async fn only_its_owner_reads_the_file() {
    use std::os::unix::fs::PermissionsExt;
    let file = TempFile::new("mode");
    SqliteStore::open(&file.0).await.unwrap();
    let mode = fs::metadata(&file.0).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test]
async fn a_file_that_is_no_store_is_refused_with_its_reason() {
    let file = TempFile::new("foreign");
    fs::write(&file.0, "These are my notes, and no database at all.").unwrap();
    let error = SqliteStore::open(&file.0).await.unwrap_err();
    assert!(
        error.to_string().contains("the file is no SQLite database"),
        "{error}"
    );
    let missing = file.0.join("nowhere.db");
    let error = SqliteStore::open(missing).await.unwrap_err();
    assert!(error.to_string().contains("cannot be opened"), "{error}");
}

#[tokio::test]
async fn a_store_of_the_first_version_is_brought_up_to_date() {
    let file = TempFile::new("first");
    let frozen = include_str!("frozen/v1.sql");
    rusqlite::Connection::open(&file.0)
        .unwrap()
        .execute_batch(frozen)
        .unwrap();
    let store = SqliteStore::open(&file.0).await.unwrap();
    let runs = store.runs(&RunFilter::default()).await.unwrap();
    let states: Vec<_> = runs.iter().map(|run| (run.last_seq, run.status)).collect();
    assert_eq!(states, [(24, RunStatus::Waiting), (79, RunStatus::Done)]);
    assert_eq!(store.commits(&runs[1].id, 0).await.unwrap().len(), 22);
    let ran = store.executions(&ExecutionFilter::default()).await.unwrap();
    assert_eq!(ran.len(), 12);
    // Its trail begins now.
    store.cancel(&runs[0].id, "grace").await.unwrap();
    let trail = store.audit(&AuditFilter::default()).await.unwrap();
    assert_eq!(trail.len(), 1);
    assert_eq!((trail[0].seq, trail[0].kind), (1, AuditKind::Cancelled));
}

#[tokio::test]
async fn a_store_of_the_second_version_is_brought_up_to_date() {
    let file = TempFile::new("second");
    let frozen = include_str!("frozen/v2.sql");
    rusqlite::Connection::open(&file.0)
        .unwrap()
        .execute_batch(frozen)
        .unwrap();
    let store = SqliteStore::open(&file.0).await.unwrap();
    check_runs(&store, [(22, RunStatus::Running), (79, RunStatus::Done)]).await;
}

/// Checks that each run has its commits and its trail.
async fn check_runs(store: &impl Store, states: [(u64, RunStatus); 2]) {
    let runs = store.runs(&RunFilter::default()).await.unwrap();
    let found: Vec<_> = runs.iter().map(|run| (run.last_seq, run.status)).collect();
    assert_eq!(found, states);
    for run in &runs {
        let commits = store.commits(&run.id, 0).await.unwrap();
        assert_eq!(commits.last().unwrap().last, run.last_seq);
        let own = AuditFilter {
            run: Some(run.id.clone()),
            ..AuditFilter::default()
        };
        let trail = store.audit(&own).await.unwrap();
        assert!(trail.iter().map(|event| event.seq).eq(1..=run.audit_seq));
        assert_eq!(trail.last().unwrap().digest, run.audit_digest);
    }
}

#[tokio::test]
async fn a_store_of_the_seventh_version_is_brought_up_to_date() {
    let file = TempFile::new("seventh");
    let frozen = include_str!("frozen/v7.sql");
    rusqlite::Connection::open(&file.0)
        .unwrap()
        .execute_batch(frozen)
        .unwrap();
    let store = SqliteStore::open(&file.0).await.unwrap();
    check_runs(&store, [(22, RunStatus::Running), (79, RunStatus::Done)]).await;
    let platform = store.platform().await.unwrap();
    assert_eq!(platform.modes[0].tenant.as_deref(), Some("acme"));
    assert_eq!(platform.trail.unwrap().seq, 1);
}

/// Returns the tables, indexes and triggers of a database, and the versions in its history.
fn schema(db: &rusqlite::Connection) -> Vec<String> {
    let mut found = db
        .prepare(
            "SELECT name || ' ' || coalesce(sql, '') FROM sqlite_master
             UNION ALL SELECT version || ' ' || checksum FROM refinery_schema_history ORDER BY 1",
        )
        .unwrap();
    let rows = found.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

/// The tables of each version between the second one and this one, with the rows of the second one.
#[tokio::test]
async fn s5_14_a_store_of_each_version_since_the_second_comes_to_the_same_tables() {
    let second = |name: &str| {
        let file = TempFile::new(name);
        let db = rusqlite::Connection::open(&file.0).unwrap();
        db.execute_batch(include_str!("frozen/v2.sql")).unwrap();
        (file, db)
    };
    let (file, db) = second("whole");
    SqliteStore::open(&file.0).await.unwrap();
    let whole = schema(&db);
    let mut history = db
        .prepare("SELECT version, name, applied_on, checksum FROM refinery_schema_history WHERE version > 2 ORDER BY 1")
        .unwrap();
    let history = history.query_map([], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
    });
    let history: Vec<(i32, String, String, String)> =
        history.unwrap().map(Result::unwrap).collect();
    assert!(history.len() >= 5, "{history:?}");
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("migrations/sqlite");
    for last in 0..history.len() {
        let (file, db) = second(&format!("between-{last}"));
        for (version, name, applied_on, checksum) in &history[..last] {
            let sql = fs::read_to_string(folder.join(format!("V{version}__{name}.sql")));
            db.execute_batch(&sql.unwrap()).unwrap();
            db.execute(
                "INSERT INTO refinery_schema_history (version, name, applied_on, checksum) VALUES (?1, ?2, ?3, ?4)",
                rusqlite::params![version, name, applied_on, checksum],
            )
            .unwrap();
        }
        let store = SqliteStore::open(&file.0).await.unwrap();
        assert_eq!(schema(&db), whole, "after {last} of {}", history.len());
        check_runs(&store, [(22, RunStatus::Running), (79, RunStatus::Done)]).await;
    }
}

#[tokio::test]
async fn a_store_of_a_later_version_is_refused() {
    let file = TempFile::new("later");
    SqliteStore::open(&file.0).await.unwrap();
    let db = rusqlite::Connection::open(&file.0).unwrap();
    db.execute(
        "INSERT INTO refinery_schema_history (version, name, applied_on, checksum) VALUES (99, 'later', '', '0')",
        [],
    )
    .unwrap();
    let error = SqliteStore::open(&file.0).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Newer);
    assert!(error.to_string().contains("version 99"), "{error}");
}

#[tokio::test]
async fn a_change_of_a_profile_with_an_unknown_action_is_not_taken_for_a_refusal() {
    let file = TempFile::new("actions");
    let store = SqliteStore::open(&file.0).await.unwrap();
    store
        .refuse_profile(&NewProfile::default(), "no")
        .await
        .unwrap();
    assert_eq!(store.profile_changes(0).await.unwrap().len(), 1);
    rusqlite::Connection::open(&file.0)
        .unwrap()
        .execute("UPDATE llm_profile_changes SET action = 'approved'", [])
        .unwrap();
    let error = store.profile_changes(0).await.unwrap_err();
    assert!(error.to_string().contains("`approved`"), "{error}");
}

#[tokio::test]
async fn a_file_that_another_process_locks_is_waited_for() {
    let file = TempFile::new("locked");
    let store = SqliteStore::open(&file.0).await.unwrap();
    let other = rusqlite::Connection::open(&file.0).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let creating = tokio::spawn(async move { store.create(&run("run-1")).await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!creating.is_finished());
    other.execute_batch("COMMIT").unwrap();
    creating.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_file_that_is_locked_for_too_long_is_reported_and_written_later() {
    let file = TempFile::new("slow");
    let store = SqliteStore::open(&file.0).await.unwrap();
    store.create(&run("run-1")).await.unwrap();
    let other = rusqlite::Connection::open(&file.0).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let creating = tokio::spawn({
        let store = store.clone();
        async move { store.create(&run("run-2")).await }
    });
    // Whoever reads does not wait.
    assert!(store.run("run-1").await.unwrap().is_some());
    let error = creating.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(
        error.to_string().contains("another process holds the file"),
        "{error}"
    );
    other.execute_batch("COMMIT").unwrap();
    store.create(&run("run-2")).await.unwrap();
    let runs = store.runs(&RunFilter::default()).await.unwrap();
    assert_eq!(runs.len(), 2);
}

#[tokio::test]
async fn a_clock_that_goes_back_does_not_bring_a_lease_back() {
    let now = Arc::new(AtomicU64::new(10_000_000));
    let clock = now.clone();
    let store = SqliteStore::in_memory().await.unwrap();
    let store = store.clock(move || Timestamp::from_millis(clock.load(SeqCst)));
    store.create(&run("run-1")).await.unwrap();
    store.claim(&claim("w1")).await.unwrap().unwrap();
    now.fetch_add(61_000, SeqCst);
    assert!(store.now().await.unwrap().as_millis() > 10_060_000);
    now.fetch_sub(3_600_000, SeqCst);
    assert!(store.claim(&claim("w2")).await.unwrap().is_some());
}

#[tokio::test]
async fn a_store_that_has_to_be_there_is_not_created() {
    let file = TempFile::new("existing");
    let open = || SqliteStore::open_existing(&file.0);
    let error = open().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(!file.0.exists());

    // An empty file is an empty database for SQLite.
    fs::write(&file.0, "").unwrap();
    let error = open().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(fs::metadata(&file.0).unwrap().len(), 0);

    fs::write(&file.0, "These are my notes, and no database at all.").unwrap();
    let error = open().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Failed);

    fs::remove_file(&file.0).unwrap();
    let store = SqliteStore::open(&file.0).await.unwrap();
    store.create(&run("run-1")).await.unwrap();
    let again = open().await.unwrap();
    assert!(again.run("run-1").await.unwrap().is_some());
}
