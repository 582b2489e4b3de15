//! A fleet: four worker processes with one PostgreSQL database, of which one is killed every now and then. Each run is
//! done, and no payment is made twice.
//!
//! `AGENTS_FLEET=1000 cargo test -p typed-agents-runtime --test fleet -- --nocapture` works this many runs; the default is small.

#![cfg(unix)]
// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]

#[path = "../examples/payments/shop.rs"]
mod shop;

use agents_needs::postgres::Server;
use agents_runtime::{Approval, FileKeyring, PostgresStore, Principal, Progress, RunRef, Runtime};
use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

/// Number of worker processes.
const WORKERS: usize = 4;
/// Number of payments of a run.
const PAYMENTS: usize = 3;
/// Half of the time that a payment takes.
const PAUSE: Duration = Duration::from_millis(100);
/// Time after which another worker goes on with the runs of one that was killed.
const LEASE: Duration = Duration::from_millis(1500);

/// Variables of the worker processes.
const ADDRESS: &str = "AGENTS_FLEET_ADDRESS";
const FOLDER: &str = "AGENTS_FLEET_FOLDER";

/// Size of the test: runs, the time between two kills, and the least number of kills.
fn size() -> (usize, Duration, usize) {
    let said = std::env::var("AGENTS_FLEET").ok();
    match said.and_then(|said| said.parse().ok()) {
        Some(runs) => (runs, Duration::from_secs(2), runs / 40),
        None => (40, Duration::from_millis(700), 3),
    }
}

/// Opens the runtime of one process, with its agent. Each process has a ledger of its own.
async fn open(address: &str, folder: &Path) -> (Runtime, agents_runtime::AgentRef<String, String>) {
    let ledger = folder.join(format!("ledger-{}", std::process::id()));
    let store = PostgresStore::connect(address).await.unwrap();
    let runtime = Runtime::open(store)
        .keyring(FileKeyring::open(folder.join("keys")).unwrap())
        .lease(LEASE)
        .at_once(2);
    let cashier = shop::cashier(shop::pay(&ledger, false, PAUSE), PAYMENTS);
    let cashier = runtime.agent(cashier);
    (runtime, cashier)
}

fn start(address: &str, folder: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "a_worker", "--ignored"]);
    command.env(ADDRESS, address).env(FOLDER, folder);
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    command.spawn().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a process of `a_fleet_whose_workers_are_killed_does_each_run_and_pays_once`"]
async fn a_worker() {
    let (Ok(address), Ok(folder)) = (std::env::var(ADDRESS), std::env::var(FOLDER)) else {
        return;
    };
    let (runtime, _) = open(&address, &PathBuf::from(folder)).await;
    let stop = CancellationToken::new();
    let worker = tokio::spawn(runtime.work(stop.clone()));
    // The input ends with whoever has started the worker.
    let waiting = tokio::task::spawn_blocking(|| std::io::stdin().read_line(&mut String::new()));
    waiting.await.unwrap().unwrap();
    stop.cancel();
    worker.await.unwrap();
}

/// Workers that are ended with the test.
struct Fleet(Vec<Child>);

impl Drop for Fleet {
    fn drop(&mut self) {
        for worker in &mut self.0 {
            let _ = worker.kill();
            let _ = worker.wait();
        }
    }
}

/// Approves every request: a tool that was interrupted asks before it runs once more.
async fn approve(runtime: Runtime) {
    let operator = Principal::operator();
    loop {
        for request in runtime.approvals().pending(&operator).await.unwrap() {
            let approvals = runtime.approvals();
            let decided = approvals.decide(&request.id, Approval::Approve, &operator);
            decided.await.unwrap();
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn until_done(runs: &[RunRef<String>]) {
    for run in runs {
        loop {
            match run.wait(Duration::from_secs(60)).await.unwrap() {
                Progress::Done(outcome) => break assert_eq!(outcome.result.unwrap(), "done"),
                Progress::Held(why) => panic!("run {} is held: {why}", run.id()),
                Progress::Running | Progress::Waiting(_) => {}
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fleet_whose_workers_are_killed_does_each_run_and_pays_once() {
    let Some(server) = Server::shared() else {
        return;
    };
    let database = server.database().await;
    let folder = std::env::temp_dir().join(format!("agents-fleet-{}", std::process::id()));
    fs::create_dir(&folder).unwrap();
    let (wanted, between, least) = size();
    let (runtime, cashier) = open(database.address(), &folder).await;
    let mut runs = Vec::new();
    for n in 0..wanted {
        let run = cashier.run("Pay three times.").key(format!("run-{n}"));
        runs.push(run.start().await.unwrap());
    }

    let workers = (0..WORKERS).map(|_| start(database.address(), &folder));
    let (mut fleet, mut kills) = (Fleet(workers.collect()), 0);
    let began = Instant::now();
    let killing = async {
        loop {
            tokio::time::sleep(between).await;
            let worker = &mut fleet.0[kills % WORKERS];
            worker.kill().unwrap();
            worker.wait().unwrap();
            *worker = start(database.address(), &folder);
            kills += 1;
        }
    };
    let approving = approve(runtime.clone());
    tokio::select! {
        () = until_done(&runs) => {}
        () = killing => unreachable!("it never ends"),
        () = approving => unreachable!("it never ends"),
    }
    let took = began.elapsed();
    drop(fleet);

    let (mut paid, mut in_doubt) = (0, 0);
    for run in &runs {
        let recorded = runtime.as_client().recorded(run.id()).await.unwrap();
        let receipts = recorded.unwrap().receipts();
        assert_eq!(receipts.len(), PAYMENTS, "of run {}", run.id());
        let ok = receipts.iter().filter(|receipt| receipt.is_ok()).count();
        paid += ok;
        in_doubt += PAYMENTS - ok;
    }
    let ledgers = fs::read_dir(&folder).unwrap().map(|file| file.unwrap());
    let ledgers = ledgers.filter(|file| file.file_name().to_string_lossy().starts_with("ledger"));
    let ledgers: Vec<_> = ledgers
        .map(|file| fs::read_to_string(file.path()).unwrap())
        .collect();
    let lines: Vec<_> = ledgers.iter().flat_map(|ledger| ledger.lines()).collect();
    let keys: HashSet<_> = lines.iter().map(|line| line.split(' ').next()).collect();
    let said = format!(
        "{wanted} runs in {took:.1?}, {kills} kills, {} workers, {paid} payments with a receipt, {in_doubt} in doubt, {} made",
        ledgers.len(),
        lines.len()
    );
    println!("{said}");
    assert_eq!(keys.len(), lines.len(), "a key stands there twice: {said}");
    assert!(kills >= least, "too few kills: {said}");
    assert!(ledgers.len() >= WORKERS, "each worker has paid: {said}");
    assert!(
        paid <= lines.len() && lines.len() <= paid + in_doubt,
        "{said}"
    );
    // A worker has two runs at once, each with one payment.
    assert!(in_doubt <= 2 * kills, "{said}");
    let verdict = runtime.audit().verify().await.unwrap();
    assert!(verdict.is_intact(), "{said}: {verdict}");
    fs::remove_dir_all(&folder).unwrap();
}
