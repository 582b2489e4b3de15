//! Decisions, pauses and findings of people while workers are killed, and the messages of webhooks meanwhile.
//!
//! A worker is a process of its own: this program, run again. Whoever starts runs, decides and steers is this process, which
//! works on no run.

#[path = "../../examples/payments/shop.rs"]
mod shop;

use crate::below;
use agents::policy::{confirm_writes, named};
use agents_needs::postgres::{Database, Server};
use agents_runtime::{
    AgentRef, Approval, AuditKind, Deliver, DeliveryError, FileKeyring, Finding, HeldKind,
    PostgresStore, Principal, Progress, RunRef, Runtime, SqliteStore, Webhook, WebhookMessage,
};
use agents_store::{AuditFilter, DeliveryClaim, DeliveryFilter, Store};
use std::{
    collections::BTreeSet,
    fs::{self, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

/// Time after which another worker goes on with the runs of one that was killed.
const LEASE: Duration = Duration::from_secs(2);
/// Half of the time that a payment takes.
const PAUSE: Duration = Duration::from_millis(60);
/// Number of payments of a run.
const PAYMENTS: usize = 3;
/// Longest time that one thing may take.
const LONG: Duration = Duration::from_secs(60);

/// Variables of the worker processes.
const ADDRESS: &str = "AGENTS_PEOPLE_ADDRESS";
const FOLDER: &str = "AGENTS_PEOPLE_FOLDER";
const ASKS: &str = "AGENTS_PEOPLE_ASKS";

/// An empty store with its folder, which are removed with the test.
struct Scene {
    folder: PathBuf,
    address: String,
    /// Is `true` if each payment asks.
    asks: bool,
    _database: Option<Database>,
}

/// A worker process, which ends with the test.
struct Worker(Child);

impl Worker {
    fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Scene {
    fn new(name: &str, asks: bool, database: Option<Database>) -> Self {
        let name = format!("agents-people-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).unwrap();
        let file = format!("sqlite:{}", folder.join("store.db").display());
        let address = database.as_ref().map(|one| one.address().to_owned());
        Scene {
            folder,
            address: address.unwrap_or(file),
            asks,
            _database: database,
        }
    }

    /// Starts a worker process.
    fn start(&self) -> Worker {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "people::a_worker", "--ignored"]);
        command
            .env(ADDRESS, &self.address)
            .env(FOLDER, &self.folder);
        if self.asks {
            command.env(ASKS, "yes");
        }
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        Worker(command.stderr(Stdio::null()).spawn().unwrap())
    }

    async fn open(&self) -> (Runtime, Arc<dyn Store>, AgentRef<String, String>) {
        open(&self.address, &self.folder, self.asks).await
    }

    /// Returns the lines of a file of the workers.
    fn lines(&self, name: &str) -> Vec<String> {
        let text = fs::read_to_string(self.folder.join(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Checks that no key stands twice in the ledger, and returns the number of payments.
    fn paid(&self) -> usize {
        let lines = self.lines("ledger");
        let keys: BTreeSet<_> = lines.iter().map(|line| line.split(' ').next()).collect();
        assert_eq!(keys.len(), lines.len(), "a key twice: {lines:?}");
        lines.len()
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Does a test in each kind of store.
async fn everywhere(name: &str, asks: bool, test: impl AsyncFn(&Scene)) {
    test(&Scene::new(name, asks, None)).await;
    if let Some(server) = Server::shared() {
        let database = Some(server.database().await);
        test(&Scene::new(&format!("{name}-postgres"), asks, database)).await;
    }
}

/// Opens the runtime of one process, with its agent.
async fn open(
    address: &str,
    folder: &Path,
    asks: bool,
) -> (Runtime, Arc<dyn Store>, AgentRef<String, String>) {
    let store: Arc<dyn Store> = match address.strip_prefix("sqlite:") {
        Some(file) => Arc::new(SqliteStore::open(file).await.unwrap()),
        None => Arc::new(PostgresStore::connect(address).await.unwrap()),
    };
    let keyring = FileKeyring::open(folder.join("keys")).unwrap();
    let runtime = Runtime::open(store.clone()).keyring(keyring).lease(LEASE);
    let runtime = match asks {
        true => runtime.policy(named("careful", confirm_writes())),
        false => runtime,
    };
    let pay = shop::pay(&folder.join("ledger"), false, PAUSE);
    let cashier = runtime.agent(shop::cashier(pay, PAYMENTS));
    (runtime, store, cashier)
}

/// Writes the id of each message into a file.
struct Told(PathBuf);

#[async_trait::async_trait]
impl Deliver for Told {
    async fn deliver(&self, message: &WebhookMessage) -> Result<(), DeliveryError> {
        let mut file = OpenOptions::new().create(true).append(true).open(&self.0);
        let told = file
            .as_mut()
            .map(|file| file.write_all(format!("{}\n", message.id).as_bytes()));
        told.unwrap().unwrap();
        // A worker may be killed before the store knows of it.
        tokio::time::sleep(Duration::from_millis(20)).await;
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a process of the tests here"]
async fn a_worker() {
    let (Ok(address), Ok(folder)) = (std::env::var(ADDRESS), std::env::var(FOLDER)) else {
        return;
    };
    let folder = PathBuf::from(folder);
    let (runtime, ..) = open(&address, &folder, std::env::var(ASKS).is_ok()).await;
    let told = Webhook::new("desk", Told(folder.join("told")));
    let stop = CancellationToken::new();
    let worker = tokio::spawn(runtime.webhook(told).work(stop.clone()));
    // The input ends with whoever has started the worker.
    let waiting = tokio::task::spawn_blocking(|| std::io::stdin().read_line(&mut String::new()));
    waiting.await.unwrap().unwrap();
    stop.cancel();
    worker.await.unwrap();
}

/// Waits until this is so.
async fn until(what: &str, is_so: impl AsyncFn() -> bool) {
    let began = Instant::now();
    while !is_so().await {
        assert!(began.elapsed() < LONG, "not in time: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Returns the numbers of the payments of a run that is over: those with a receipt, and those in doubt.
async fn counts(run: &RunRef<String>) -> (usize, usize) {
    let Progress::Done(outcome) = run.wait(LONG).await.unwrap() else {
        panic!("the run is not over");
    };
    outcome.result.unwrap();
    let receipts: Vec<_> = outcome.outputs.receipts().collect();
    let paid = receipts.iter().filter(|receipt| receipt.is_ok()).count();
    (paid, receipts.len() - paid)
}

/// Kills the process that asks. Another one decides, and a third one goes on; some are killed after the decision.
#[tokio::test(flavor = "multi_thread")]
async fn a1_a_request_outlives_its_process_is_decided_by_another_and_a_third_goes_on() {
    everywhere("a1", true, async |scene| {
        let (here, _, cashier) = scene.open().await;
        let run = cashier.run("Pay three times.").start().await.unwrap();
        let approvals = here.approvals();
        let operator = Principal::operator();
        let (mut chance, mut kills, mut approved) = (5, 0, 0);
        let mut worker = scene.start();
        let began = Instant::now();
        let (paid, in_doubt) = loop {
            assert!(began.elapsed() < LONG, "after {kills} kills");
            if let Some(request) = approvals.pending(&operator).await.unwrap().pop() {
                worker.kill();
                kills += 1;
                assert!(scene.paid() <= approved, "nothing runs unapproved");
                let approval = Approval::Approve;
                let decided = approvals.decide(&request.id, approval, &operator);
                decided.await.unwrap();
                approved += 1;
                worker = scene.start();
                if kills < 4 {
                    // In the time of the next claim, of the payment, or of the next question.
                    let time = LEASE + Duration::from_millis(below(&mut chance, 500));
                    tokio::time::sleep(time).await;
                    worker.kill();
                    kills += 1;
                    worker = scene.start();
                }
            }
            if let Progress::Done(_) = run.progress().await.unwrap() {
                break counts(&run).await;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        };
        let made = scene.paid();
        let said =
            format!("{kills} kills, {approved} approvals, {made} payments, {in_doubt} in doubt");
        println!("{said}");
        assert_eq!(paid + in_doubt, PAYMENTS, "{said}");
        assert!(paid <= made && made <= paid + in_doubt, "{said}");
        assert!(made <= approved, "{said}");
        let verdict = here.audit().verify().await.unwrap();
        assert!(verdict.is_intact(), "{said}: {verdict}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_outlives_the_process_that_was_to_put_the_run_down() {
    everywhere("pause", false, async |scene| {
        let (here, _, cashier) = scene.open().await;
        let run = cashier.run("Pay three times.").start().await.unwrap();
        let mut worker = scene.start();
        until("it pays", async || scene.paid() > 0).await;
        let client = here.as_client();
        let operator = Principal::operator();
        client.pause(run.id(), &operator).await.unwrap();
        worker.kill();
        let mut worker = scene.start();
        let Progress::Held(held) = run.wait(LONG).await.unwrap() else {
            panic!("the run is not held");
        };
        assert_eq!(held.kind, HeldKind::Paused);
        assert_eq!(held.by.as_deref(), Some("operator"));
        let paid = scene.paid();
        worker.kill();
        let _worker = scene.start();
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert_eq!(scene.paid(), paid, "nothing is paid meanwhile");
        client.release(run.id(), &operator).await.unwrap();
        let approving = approve_all(&here);
        let (paid, in_doubt) = tokio::select! {
            counts = counts(&run) => counts,
            () = approving => unreachable!("it never ends"),
        };
        assert_eq!(paid + in_doubt, PAYMENTS);
        assert!(in_doubt <= 1, "one payment was interrupted");
        let verdict = here.audit().verify().await.unwrap();
        assert!(verdict.is_intact(), "{verdict}");
    })
    .await;
}

/// Approves all requests: a tool whose effect is in doubt asks before it runs once more. Never returns.
async fn approve_all(here: &Runtime) {
    let operator = Principal::operator();
    loop {
        let approvals = here.approvals();
        for request in approvals.pending(&operator).await.unwrap() {
            let decided = approvals.decide(&request.id, Approval::Approve, &operator);
            decided.await.unwrap();
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_finding_outlives_the_processes_before_and_after_it() {
    everywhere("finding", false, async |scene| {
        let (here, store, cashier) = scene.open().await;
        let run = cashier.run("Pay three times.").start().await.unwrap();
        let mut worker = scene.start();
        // The line is written in the middle of a payment.
        until("it pays", async || scene.paid() > 0).await;
        worker.kill();
        let operator = Principal::operator();
        let doubts = here.as_client().doubts();
        let mut worker = scene.start();
        until("the doubt is known", async || {
            !doubts.open(&operator).await.unwrap().is_empty()
        })
        .await;
        let doubt = doubts.open(&operator).await.unwrap().remove(0);
        let finding = Finding::took_effect().note("It is in the ledger.");
        let settled = doubts.settle(&doubt.execution_id, finding, &operator);
        settled.await.unwrap();
        worker.kill();
        let _worker = scene.start();
        let (paid, in_doubt) = tokio::select! {
            counts = counts(&run) => counts,
            () = approve_all(&here) => unreachable!("it never ends"),
        };
        assert_eq!((paid, in_doubt), (PAYMENTS - 1, 1));
        assert_eq!(scene.paid(), PAYMENTS);
        assert!(doubts.open(&operator).await.unwrap().is_empty());
        let trail = store.audit(&AuditFilter::default()).await.unwrap();
        let settled = trail.iter().filter(|one| one.kind == AuditKind::Settled);
        assert_eq!(settled.count(), 1);
        let verdict = here.audit().verify().await.unwrap();
        assert!(verdict.is_intact(), "{verdict}");
    })
    .await;
}

/// Returns the events of a store about ends and doubts, by their names in messages.
async fn ends(store: &dyn Store) -> BTreeSet<String> {
    let mut ends = BTreeSet::new();
    let mut filter = AuditFilter::default();
    loop {
        let page = store.audit(&filter).await.unwrap();
        let Some(last) = page.last() else { return ends };
        filter.after = last.number;
        let of_ends = page
            .iter()
            .filter(|event| matches!(event.kind, AuditKind::Finished | AuditKind::InDoubt));
        ends.extend(of_ends.map(|event| format!("{}-{}", event.run, event.seq)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_end_is_told_although_the_workers_that_tell_of_it_are_killed() {
    const RUNS: usize = 6;
    everywhere("told", false, async |scene| {
        let (here, store, cashier) = scene.open().await;
        // The store belongs to the keyring, and the webhook begins with the events that come.
        here.audit().verify().await.unwrap();
        let known = DeliveryClaim {
            webhook: "desk".to_owned(),
            tenant: None,
            kinds: Vec::new(),
            time: LONG,
            limit: 1,
        };
        store.claim_deliveries(&known).await.unwrap();
        let mut runs = Vec::new();
        for n in 0..RUNS {
            let run = cashier.run("Pay three times.").key(n.to_string());
            runs.push(run.start().await.unwrap());
        }
        let killing = async {
            let mut chance = 17;
            for _ in 0..3 {
                let mut worker = scene.start();
                let begun = scene.lines("told").len();
                // What a killed worker was about to tell comes to the next one after a lease.
                let time = Duration::from_millis(1_000 + below(&mut chance, 3_000));
                tokio::time::sleep(time).await;
                let told = scene.lines("told").len() - begun;
                worker.kill();
                println!("killed after {told} messages");
            }
            let _worker = scene.start();
            for run in &runs {
                let (paid, in_doubt) = counts(run).await;
                assert_eq!(paid + in_doubt, PAYMENTS);
            }
            until("all is told", async || {
                let left = store.deliveries(&DeliveryFilter::default()).await.unwrap();
                let told: BTreeSet<_> = scene.lines("told").into_iter().collect();
                left.is_empty() && ends(&*store).await.is_subset(&told)
            })
            .await;
        };
        tokio::select! {
            () = killing => {}
            () = approve_all(&here) => unreachable!("it never ends"),
        }
        assert!(ends(&*store).await.len() >= RUNS);
        scene.paid();
    })
    .await;
}
