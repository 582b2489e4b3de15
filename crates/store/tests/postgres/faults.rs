//! A server that fails or is full, and a way to it that breaks.

use super::{LONG, claimed, disk::Disk, may_pass, owner, request, run, step, store, with_waiting};
use agents_needs::postgres::Server;
use agents_store::{
    Answer, ApprovalFilter, AuditFilter, Commit, Decision, End, ErrorKind, Lease, NewRun,
    PostgresStore, Rest, RunFilter, Store, StoreError,
};
use deadpool_postgres::tokio_postgres::{Client, Config, config::Host};
use std::{fs, path::PathBuf, process::Command, sync::Arc};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{UnixListener, UnixStream},
    sync::Notify,
    task::JoinHandle,
};

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_fails_keeps_what_was_stored_and_is_found_again() {
    let Some(server) = Server::start() else {
        return;
    };
    let database = server.database().await;
    let store = PostgresStore::connect(database.address()).await.unwrap();
    // The server would write what is not demanded seconds later.
    let owner = owner(&database).await;
    for sql in [
        "ALTER SYSTEM SET wal_writer_delay = '10s'",
        "SELECT pg_reload_conf()",
        &format!(
            "ALTER DATABASE {} SET synchronous_commit = off",
            database.name()
        ),
    ] {
        owner.batch_execute(sql).await.unwrap();
    }
    let store_of_late_writes = PostgresStore::connect(database.address()).await.unwrap();
    let lease = claimed(&store, "run-1", "").await;
    store_of_late_writes
        .commit(&lease, &step("a", 0))
        .await
        .unwrap();
    server.stop();
    may_pass(store.commit(&lease, &step("b", 1)).await);
    may_pass(store.runs(&Default::default()).await);
    may_pass(PostgresStore::connect(database.address()).await);
    server.start_again();
    store.commit(&lease, &step("b", 1)).await.unwrap();
    let commits = store.commits("run-1", 0).await.unwrap();
    assert_eq!(commits.len(), 2);
    assert_eq!(commits[0].entries, b"a");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_whose_disk_is_full_says_so_and_loses_nothing() {
    let Some(disk) = Disk::new("postgres", 20_000) else {
        return;
    };
    let Some(server) = Server::start() else {
        return;
    };
    let (database, elsewhere) = (server.database().await, server.database().await);
    // The disk belongs to whoever owns the socket.
    let socket = socket_of(database.address());
    let mut chown = Command::new("chown");
    let chown = chown.arg("--reference").arg(socket).arg(disk.path());
    assert!(chown.status().unwrap().success());
    let owner = owner(&elsewhere).await;
    for sql in [
        format!(
            "CREATE TABLESPACE small LOCATION '{}'",
            disk.path().display()
        ),
        format!("ALTER DATABASE {} SET TABLESPACE small", database.name()),
    ] {
        owner.batch_execute(&sql).await.unwrap();
    }
    let ballast = disk.path().join("ballast");
    fs::write(&ballast, vec![0; 2_000_000]).unwrap();
    let store = PostgresStore::connect(database.address()).await.unwrap();
    // Bytes that cannot be compressed.
    let mut seed = 1_u32;
    let mut bytes = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 24) as u8
    };
    let data: Vec<u8> = (0..50_000).map(|_| bytes()).collect();
    let large = |n: usize| NewRun {
        data: data.clone(),
        ..run(&format!("run-{n}"), "")
    };
    let mut stored = 0;
    let error = loop {
        match store.create(&large(stored)).await {
            Ok(_) => stored += 1,
            Err(error) => break error,
        }
        assert!(stored < 1_000, "the disk is never full");
    };
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(error.to_string().contains("free some space"), "{error}");
    let all = RunFilter {
        limit: 2_000,
        ..RunFilter::default()
    };
    let found = store.runs(&all).await.unwrap();
    assert_eq!(found.len(), stored, "all that were confirmed");

    fs::remove_file(&ballast).unwrap();
    store.create(&large(stored)).await.unwrap();
    assert_eq!(store.runs(&all).await.unwrap().len(), stored + 1);
}

/// Ends a commit that waits for its run, in this way.
async fn interrupted(how: &str) {
    let Some((database, store)) = store().await else {
        return;
    };
    let lease = claimed(&store, "run-1", "").await;
    let owner = owner(&database).await;
    owner
        .batch_execute("BEGIN; SELECT 1 FROM agent_runs WHERE id = 'run-1' FOR UPDATE")
        .await
        .unwrap();
    let commit = Commit {
        asked: vec![request("r1")],
        ..step("a", 0)
    };
    let committing = tokio::spawn({
        let (store, lease, commit) = (store.clone(), lease.clone(), commit.clone());
        async move { store.commit(&lease, &commit).await }
    });
    with_waiting(&owner, how).await;
    may_pass(committing.await.unwrap());
    owner.batch_execute("COMMIT").await.unwrap();
    // The pool may not have seen yet that the connection is gone.
    let commits = loop {
        match store.commits("run-1", 0).await {
            Err(error) if error.may_pass() => {}
            commits => break commits.unwrap(),
        }
    };
    assert!(commits.is_empty());
    store.commit(&lease, &commit).await.unwrap();
    assert_eq!(store.commits("run-1", 0).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_statement_that_is_cancelled_may_be_repeated() {
    interrupted("pg_cancel_backend").await;
}

#[tokio::test]
async fn a_connection_that_is_ended_within_a_commit_leaves_nothing_behind() {
    interrupted("pg_terminate_backend").await;
}

#[tokio::test]
async fn a_caller_that_no_longer_waits_leaves_no_half_of_a_step() {
    let Some((database, store)) = store().await else {
        return;
    };
    let lease = claimed(&store, "run-1", "").await;
    let owner = owner(&database).await;
    owner
        .batch_execute("BEGIN; SELECT 1 FROM agent_runs WHERE id = 'run-1' FOR UPDATE")
        .await
        .unwrap();
    let committing = tokio::spawn({
        let (store, lease) = (store.clone(), lease.clone());
        async move { store.commit(&lease, &step("a", 0)).await }
    });
    with_waiting(&owner, "abs").await;
    committing.abort();
    owner.batch_execute("COMMIT").await.unwrap();
    // It is stored by now or by this.
    store.commit(&lease, &step("a", 0)).await.unwrap();
    store.commit(&lease, &step("b", 1)).await.unwrap();
    assert_eq!(store.commits("run-1", 0).await.unwrap().len(), 2);
}

/// Returns the socket of a server that the test has started.
fn socket_of(address: &str) -> PathBuf {
    let config: Config = address.parse().unwrap();
    let [Host::Unix(folder)] = config.get_hosts() else {
        panic!("{address} is no socket");
    };
    let port = config.get_ports().first().unwrap_or(&5432);
    folder.join(format!(".s.PGSQL.{port}"))
}

/// Way to a server that loses the answer to a commit when it is told to.
struct Way {
    folder: PathBuf,
    loses: Arc<Notify>,
}

impl Way {
    fn to(server: PathBuf) -> Way {
        let folder = std::env::temp_dir().join(format!("agents-way-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let loses = Arc::new(Notify::new());
        let (listener, told) = (
            UnixListener::bind(folder.join(".s.PGSQL.5432")).unwrap(),
            loses.clone(),
        );
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(forward(client, server.clone(), told.clone()));
            }
        });
        Way { folder, loses }
    }
}

impl Drop for Way {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Forwards both ways, until a `COMMIT` has been done whose answer is to be lost.
async fn forward(client: UnixStream, server: PathBuf, loses: Arc<Notify>) {
    let server = UnixStream::connect(server).await.unwrap();
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let mut asked = vec![0; 1 << 16];
    let mut answer = vec![0; 1 << 16];
    loop {
        tokio::select! {
            read = from_client.read(&mut asked) => {
                let Ok(read @ 1..) = read else { return };
                to_server.write_all(&asked[..read]).await.unwrap();
                let is_commit = asked[..read].windows(7).any(|part| part == b"COMMIT\0");
                let is_told = tokio::time::timeout(std::time::Duration::ZERO, loses.notified());
                if is_commit && is_told.await.is_ok() {
                    // The server has answered, and so it has committed.
                    assert_ne!(from_server.read(&mut answer).await.unwrap(), 0);
                    return;
                }
            }
            read = from_server.read(&mut answer) => {
                let Ok(read @ 1..) = read else { return };
                if to_client.write_all(&answer[..read]).await.is_err() { return }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_whose_answer_is_lost_is_stored_once() {
    let Some(server) = Server::start() else {
        return;
    };
    let database = server.database().await;
    let socket = socket_of(database.address());
    let config: Config = database.address().parse().unwrap();
    let way = Way::to(socket);
    let through = way.folder.display().to_string().replace('/', "%2F");
    let user = config.get_user().unwrap_or("postgres");
    let through = format!("postgres://{user}@{through}/{}", database.name());
    let store = PostgresStore::connect(&through).await.unwrap();
    let lease = claimed(&store, "run-1", "").await;
    let commit = Commit {
        asked: vec![request("r1")],
        ..step("a", 0)
    };
    way.loses.notify_one();
    may_pass(store.commit(&lease, &commit).await);
    let direct = PostgresStore::connect(database.address()).await.unwrap();
    assert_eq!(direct.commits("run-1", 0).await.unwrap().len(), 1);
    store.commit(&lease, &commit).await.unwrap();
    store.commit(&lease, &step("b", 1)).await.unwrap();
    assert_eq!(direct.commits("run-1", 0).await.unwrap().len(), 2);
    let all = direct.approvals(&ApprovalFilter::default()).await.unwrap();
    assert_eq!(all.len(), 1);
}

#[tokio::test]
async fn a_database_that_is_read_only_says_what_to_do() {
    let Some((database, _)) = store().await else {
        return;
    };
    let read_only = format!(
        "ALTER DATABASE {} SET default_transaction_read_only = on",
        database.name()
    );
    owner(&database)
        .await
        .batch_execute(&read_only)
        .await
        .unwrap();
    let store = PostgresStore::connect(database.address()).await.unwrap();
    assert_eq!(store.run("run-1").await.unwrap(), None);
    let error = store.create(&run("run-1", "")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Failed);
    assert!(
        error.to_string().contains("connect to the primary"),
        "{error}"
    );
}

#[tokio::test]
async fn a_database_that_is_not_there_is_to_be_created() {
    let Some(server) = Server::shared() else {
        return;
    };
    let database = server.database().await;
    let missing = database.address().replace(database.name(), "nowhere");
    let error = PostgresStore::connect(&missing).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Failed);
    assert!(
        error.to_string().contains("create the database first"),
        "{error}"
    );
}

#[tokio::test]
async fn no_error_tells_a_password() {
    for (address, kind) in [
        (
            "postgres://ada:hunter2@127.0.0.1:1/agents",
            ErrorKind::Unavailable,
        ),
        (
            "postgres://ada:hunter2@/no%2Fwhere/agents",
            ErrorKind::Failed,
        ),
        (
            "postgres://ada:hunter2@127.0.0.1:hunter2/agents",
            ErrorKind::Failed,
        ),
        ("host=127.0.0.1 password=hunter2 hunter2", ErrorKind::Failed),
        (
            "postgres://ada:hunter2@127.0.0.1:1/agents?sslmode=hunter2",
            ErrorKind::Failed,
        ),
    ] {
        let error = PostgresStore::connect(address).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{address}: {error}");
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
    }
    let Some((_database, store)) = store().await else {
        return;
    };
    assert_eq!(format!("{store:?}"), "PostgresStore { .. }");
}

/// The end of a run cancels its requests, which deciders decide about at that moment.
#[tokio::test(flavor = "multi_thread")]
async fn decisions_and_the_end_of_their_run_do_not_lock_each_other_out() {
    let Some((_database, store)) = store().await else {
        return;
    };
    for round in 0..20 {
        let lease = claimed(&store, &format!("run-{round}"), "").await;
        let ids: Vec<_> = (0..6).map(|n| format!("r-{round}-{n}")).collect();
        let commit = Commit {
            asked: ids.iter().map(|id| request(id)).collect(),
            ..step("a", 0)
        };
        store.commit(&lease, &commit).await.unwrap();
        let deciding: Vec<_> = ids
            .into_iter()
            .map(|id| {
                let store = store.clone();
                let decision = Decision {
                    id,
                    tenant: None,
                    by: "grace".to_owned(),
                    answer: Answer::Deny("no".to_owned()),
                    proof: Vec::new(),
                };
                tokio::spawn(async move { store.decide(&decision).await })
            })
            .collect();
        let done = Rest::done(End::Answered);
        store.release(&lease, &done).await.unwrap();
        for decided in deciding {
            if let Err(error) = decided.await.unwrap() {
                assert_eq!(error.kind(), ErrorKind::Settled, "{error}");
            }
        }
    }
}

/// Whatever changes a run and its requests takes its locks in one order.
#[tokio::test(flavor = "multi_thread")]
async fn decisions_and_steps_of_one_run_do_not_lock_each_other_out() {
    let Some((_database, store)) = store().await else {
        return;
    };
    let mut lease = claimed(&store, "run-1", "").await;
    let commit = Commit {
        asked: (0..40).map(|n| request(&format!("r{n}"))).collect(),
        ..step("a", 0)
    };
    store.commit(&lease, &commit).await.unwrap();
    let deciding = (0..40).map(|n| {
        let store = store.clone();
        tokio::spawn(async move {
            let decision = Decision {
                id: format!("r{n}"),
                tenant: None,
                by: "grace".to_owned(),
                answer: Answer::Approve {
                    edited: None,
                    edited_digest: None,
                    use_within: LONG,
                },
                proof: Vec::new(),
            };
            store.decide(&decision).await.map(drop)
        })
    });
    let deciding: Vec<_> = deciding.collect();
    for n in 1..20 {
        let step = step(&format!("s{n}"), n);
        store.commit(&lease, &step).await.unwrap();
        store.renew(&lease, LONG).await.unwrap();
        store.release(&lease, &Rest::Ready).await.unwrap();
        store.approvals(&ApprovalFilter::default()).await.unwrap();
        lease = loop {
            // A run that a decider has at this moment is passed over.
            if let Some(lease) = store.claim(&super::claim("w")).await.unwrap() {
                break lease;
            }
        };
    }
    for decided in deciding {
        decided.await.unwrap().unwrap();
    }
    let run = store.run("run-1").await.unwrap().unwrap();
    assert_eq!((run.messages, run.last_seq), (40, 20));
}

fn asks(id: &str) -> Commit {
    Commit {
        asked: vec![request(id)],
        ..step("a", 0)
    }
}

/// Lets two transactions overlap: that of the `slow` run gets its numbers first, and commits last. Returns when the other
/// one is over.
async fn overlap(
    store: &PostgresStore,
    owner: &Client,
    [slow, fast]: [Lease; 2],
) -> JoinHandle<Result<(), StoreError>> {
    let (slow_id, fast_id) = (slow.run.id.clone(), fast.run.id.clone());
    let committing = tokio::spawn({
        let (store, commit) = (store.clone(), asks(&slow_id));
        async move { store.commit(&slow, &commit).await }
    });
    let sleeps = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()";
    while owner.query(sleeps, &[]).await.unwrap().is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    store.commit(&fast, &asks(&fast_id)).await.unwrap();
    assert!(!committing.is_finished(), "the slow one commits last");
    committing
}

#[tokio::test(flavor = "multi_thread")]
async fn a_poller_misses_no_row_of_a_transaction_that_commits_late() {
    let Some((database, store)) = store().await else {
        return;
    };
    let mut pairs = Vec::new();
    for n in 1..=3 {
        let slow = claimed(&store, &format!("slow-{n}"), "").await;
        pairs.push([slow, claimed(&store, &format!("fast-{n}"), "").await]);
    }
    let first = claimed(&store, "first", "").await;
    store.commit(&first, &asks("first")).await.unwrap();
    // A slow run stops in the middle: its request and its event have their numbers.
    let owner = owner(&database).await;
    owner
        .batch_execute(
            "CREATE FUNCTION stop() RETURNS trigger AS $$ BEGIN
                 IF NEW.run IN (SELECT number FROM agent_runs WHERE id LIKE 'slow-%') THEN PERFORM pg_sleep(1); END IF;
                 RETURN NEW; END $$ LANGUAGE plpgsql;
             CREATE TRIGGER stop AFTER INSERT ON agent_audit_events FOR EACH ROW EXECUTE FUNCTION stop()",
        )
        .await
        .unwrap();
    let requests = async |after: Option<String>| {
        let filter = ApprovalFilter {
            after,
            ..ApprovalFilter::default()
        };
        let found = store.approvals(&filter).await.unwrap();
        found.into_iter().map(|one| one.request).collect::<Vec<_>>()
    };

    // A poller goes on after the first page as after every other.
    let committing = overlap(&store, &owner, pairs.remove(0)).await;
    assert_eq!(requests(None).await, ["first", "slow-1", "fast-1"]);
    committing.await.unwrap().unwrap();
    let committing = overlap(&store, &owner, pairs.remove(0)).await;
    let found = requests(Some("fast-1".to_owned())).await;
    assert_eq!(found, ["slow-2", "fast-2"]);
    committing.await.unwrap().unwrap();

    let events = store.audit(&AuditFilter::default()).await.unwrap();
    let committing = overlap(&store, &owner, pairs.remove(0)).await;
    let after = AuditFilter {
        after: events.last().unwrap().number,
        ..AuditFilter::default()
    };
    let found = store.audit(&after).await.unwrap();
    let runs: Vec<_> = found.iter().map(|event| &*event.run).collect();
    assert_eq!(runs, ["slow-3", "fast-3"]);
    committing.await.unwrap().unwrap();
}
