//! A fleet: four worker processes, of which one is killed every now and then, and a server that is killed as well. Each run is
//! done, and no payment is made twice.
//!
//! `AGENTS_FLEET=1000 scripts/restate-tests` works this many runs; the default is small.

use crate::{
    server::{World, free_port},
    shop,
};
use agents_restate::Restate;
use agents_runtime::{
    AgentRef, Approval, FileKeyring, PostgresStore, Principal, Progress, RunRef, Runtime,
};
use std::{
    collections::HashSet,
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};
use tokio::net::TcpSocket;
use tokio_util::sync::CancellationToken;

/// Number of worker processes.
const WORKERS: usize = 4;
/// Number of payments of a run.
const PAYMENTS: usize = 3;
/// Half of the time that a payment takes.
const PAUSE: Duration = Duration::from_millis(100);
/// Time after which another worker goes on with the runs of one that was killed.
const LEASE: Duration = Duration::from_millis(1500);
/// Kills of workers until the server is killed, too.
const THEN_THE_SERVER: usize = 4;

/// Variables of the worker processes: the database, the folder, the server, and where they are reached.
const DATABASE: &str = "AGENTS_FLEET_DATABASE";
const FOLDER: &str = "AGENTS_FLEET_FOLDER";
const INGRESS: &str = "AGENTS_FLEET_INGRESS";
const ADDRESS: &str = "AGENTS_FLEET_ADDRESS";

/// Size of the test: runs, the time between two kills, and the least number of kills.
fn size() -> (usize, Duration, usize) {
    let said = std::env::var("AGENTS_FLEET").ok();
    match said.and_then(|said| said.parse().ok()) {
        Some(runs) => (runs, Duration::from_secs(2), runs / 40),
        None => (40, Duration::from_millis(700), 3),
    }
}

/// Opens the runtime of one process, with its agent. Each process has a ledger of its own.
async fn open(database: &str, folder: &Path) -> (Runtime, AgentRef<String, String>) {
    let ledger = folder.join(format!("ledger-{}", std::process::id()));
    let store = PostgresStore::connect(database).await.unwrap();
    let runtime = Runtime::open(store)
        .keyring(FileKeyring::open(folder.join("keys")).unwrap())
        .lease(LEASE)
        .at_once(2);
    let cashier = shop::cashier(shop::pay(&ledger, false, PAUSE), PAYMENTS);
    let cashier = runtime.agent(cashier);
    (runtime, cashier)
}

fn start(world: &World, workers: SocketAddr) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "kills::a_worker", "--ignored"]);
    command.env(DATABASE, world.database.address());
    command.env(FOLDER, world.folder.path());
    command.env(INGRESS, world.node.ingress());
    command.env(ADDRESS, workers.to_string());
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    command.spawn().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a process of the tests below"]
async fn a_worker() {
    let variable = |name| std::env::var(name).ok();
    let (Some(database), Some(folder), Some(ingress), Some(address)) = (
        variable(DATABASE),
        variable(FOLDER),
        variable(INGRESS),
        variable(ADDRESS),
    ) else {
        return;
    };
    let (runtime, _) = open(&database, &PathBuf::from(folder)).await;
    // All workers listen at one address, among which the kernel chooses, in place of a balancer.
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_reuseaddr(true).unwrap();
    socket.set_reuseport(true).unwrap();
    socket.bind(address.parse().unwrap()).unwrap();
    let listener = socket.listen(128).unwrap();
    let stop = CancellationToken::new();
    let worker = {
        let stop = stop.clone();
        tokio::spawn(async move {
            let restate = Restate::at(ingress).unwrap();
            restate.work(runtime, listener, stop).await;
        })
    };
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
        let began = Instant::now();
        loop {
            match run.wait(Duration::from_secs(60)).await.unwrap() {
                Progress::Done(outcome) => break assert_eq!(outcome.result.unwrap(), "done"),
                Progress::Held(why) => panic!("run {} is held: {why}", run.id()),
                other => {
                    let waited = began.elapsed();
                    assert!(waited < Duration::from_secs(600), "{}: {other:?}", run.id());
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fleet_whose_workers_and_server_are_killed_does_each_run_and_pays_once() {
    if let Some(world) = World::start().await {
        each_run_is_done_and_pays_once(world).await;
    }
}

/// The nodes are killed in turn, except for the one whose ingress the workers know. Two nodes hold each entry.
#[tokio::test(flavor = "multi_thread")]
async fn a_fleet_on_three_nodes_goes_on_without_one_of_them() {
    if let Some(world) = World::with_nodes(3).await {
        each_run_is_done_and_pays_once(world).await;
    }
}

async fn each_run_is_done_and_pays_once(mut world: World) {
    let (wanted, between, least) = size();
    let workers = SocketAddr::from(([127, 0, 0, 1], free_port()));
    let children = (0..WORKERS).map(|_| start(&world, workers)).collect();
    let (mut fleet, mut kills, mut servers) = (Fleet(children), 0, 0);
    world.node.register(workers).await;
    let folder = world.folder.path().to_owned();
    let (runtime, cashier) = open(world.database.address(), &folder).await;
    // The relays begin with the events that come after the first of them has looked.
    world
        .node
        .restate()
        .wake_all(runtime.as_client())
        .await
        .unwrap();
    let mut runs = Vec::new();
    for n in 0..wanted {
        let run = cashier.run("Pay three times.").key(format!("run-{n}"));
        runs.push(run.start().await.unwrap());
    }

    let began = Instant::now();
    let killing = async {
        loop {
            tokio::time::sleep(between).await;
            let worker = &mut fleet.0[kills % WORKERS];
            worker.kill().unwrap();
            worker.wait().unwrap();
            *worker = start(&world, workers);
            kills += 1;
            if kills % THEN_THE_SERVER == 0 {
                let others = world.others.len();
                let node = match others {
                    0 => &mut world.node,
                    _ => &mut world.others[servers % others],
                };
                node.kill();
                if others > 0 {
                    // The others do without it for a while.
                    tokio::time::sleep(between * 2).await;
                }
                node.start().await;
                servers += 1;
            }
        }
    };
    tokio::select! {
        () = until_done(&runs) => {}
        () = killing => unreachable!("it never ends"),
        () = approve(runtime.clone()) => unreachable!("it never ends"),
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
        "{wanted} runs in {took:.1?}, {kills} workers and {servers} nodes of {} killed, {} workers paid, {paid} payments with a \
         receipt, {in_doubt} in doubt, {} made",
        1 + world.others.len(),
        ledgers.len(),
        lines.len()
    );
    println!("{said}");
    assert_eq!(keys.len(), lines.len(), "a key stands there twice: {said}");
    assert!(kills >= least, "too few kills: {said}");
    assert!(servers >= 1 || kills < THEN_THE_SERVER, "{said}");
    assert!(
        paid <= lines.len() && lines.len() <= paid + in_doubt,
        "{said}"
    );
    // A worker has two runs at once, each with one payment.
    assert!(in_doubt <= 2 * kills, "{said}");
    let verdict = runtime.audit().verify().await.unwrap();
    assert!(verdict.is_intact(), "{said}: {verdict}");
}
