//! Operations of durable runs: advances, pauses, doubts, lists, roles, metrics, webhooks, retention. Each test is done in every store.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]

mod advance;
mod direct_calls;
mod doubts;
mod lists;
mod metrics;
mod pauses;
mod replays;
mod retention;
mod roles;
mod webhooks;
mod what_if;

use agents::{
    AgentBuilder, Effects, Error, Model,
    testing::{Script, ScriptedModel},
    tool::{FnTool, NeedsApproval, Risk, ToolSpec},
};
use agents_runtime::{
    AgentRef, Client, FileKeyring, Principal, Progress, Request, RunRef, Runtime, SqliteStore,
};
use agents_store::{RunStatus, Store};
use serde_json::{Value, json};
use std::{
    fs,
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{sync::Semaphore, task::JoinHandle};
use tokio_util::sync::CancellationToken;

#[cfg(unix)]
use agents_needs::postgres::{Database, Server};
#[cfg(unix)]
use agents_store::PostgresStore;

const LONG: Duration = Duration::from_secs(30);

/// An empty store with its keyring, which are removed with the test.
struct Place {
    store: Arc<dyn Store>,
    keys: PathBuf,
    #[cfg(unix)]
    _database: Option<Database>,
}

impl Place {
    fn keys(name: &str) -> PathBuf {
        let name = format!("agents-operations-{name}-{}.keys", std::process::id());
        let keys = std::env::temp_dir().join(name);
        let _ = fs::remove_file(&keys);
        keys
    }

    /// Returns a place in each kind of store that there is here.
    async fn all(name: &str) -> Vec<Place> {
        let mut all = vec![Place {
            store: Arc::new(SqliteStore::in_memory().await.unwrap()),
            keys: Self::keys(name),
            #[cfg(unix)]
            _database: None,
        }];
        #[cfg(unix)]
        if let Some(server) = Server::shared() {
            let database = server.database().await;
            all.push(Place {
                store: Arc::new(PostgresStore::connect(database.address()).await.unwrap()),
                keys: Self::keys(&format!("{name}-postgres")),
                _database: Some(database),
            });
        }
        all
    }

    fn client(&self) -> Client {
        Runtime::client(self.store.clone()).keyring(FileKeyring::open(&self.keys).unwrap())
    }

    fn runtime(&self, scripts: impl IntoIterator<Item = Script>) -> (Runtime, ScriptedModel) {
        let (model, handle) = ScriptedModel::new(scripts);
        (self.runtime_on(model), handle)
    }

    fn runtime_on(&self, model: impl Model) -> Runtime {
        let keys = FileKeyring::open(&self.keys).unwrap();
        let runtime = Runtime::open(self.store.clone());
        runtime.keyring(keys).model(model)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        for end in ["", ".lock"] {
            let _ = fs::remove_file(format!("{}{end}", self.keys.display()));
        }
    }
}

/// Does a test in each kind of store.
async fn everywhere(name: &str, test: impl AsyncFn(&Place)) {
    for place in Place::all(name).await {
        test(&place).await;
    }
}

/// Till of a payer: what was paid, and the turnstile in front of it.
#[derive(Clone)]
struct Till {
    paid: Arc<Mutex<Vec<i64>>>,
    begun: Arc<Mutex<u32>>,
    /// A payment needs a permit to end.
    may_end: Arc<Semaphore>,
}

impl Till {
    fn open() -> Self {
        Self::with(usize::MAX >> 4)
    }

    fn closed() -> Self {
        Self::with(0)
    }

    fn with(permits: usize) -> Self {
        Till {
            paid: Arc::default(),
            begun: Arc::default(),
            may_end: Arc::new(Semaphore::new(permits)),
        }
    }

    fn paid(&self) -> Vec<i64> {
        self.paid.lock().unwrap().clone()
    }

    /// Waits until so many payments have begun.
    async fn begun(&self, count: u32) {
        until("a payment begins", async || {
            *self.begun.lock().unwrap() >= count
        })
        .await;
    }

    fn tool(&self, approval: NeedsApproval) -> FnTool {
        let schema = json!({
            "type": "object",
            "properties": {"cents": {"type": "integer"}, "to": {"type": "string"}},
            "required": ["cents"],
        });
        let spec = ToolSpec::new("pay", "Pays.", Effects::Writes, schema)
            .version("1.0.0")
            .approval(approval)
            .risk(Risk::High);
        let till = self.clone();
        FnTool::with_spec(spec, move |args: Value, _| {
            let till = till.clone();
            async move {
                *till.begun.lock().unwrap() += 1;
                till.may_end.acquire().await.unwrap().forget();
                let cents = args["cents"].as_i64().unwrap();
                till.paid.lock().unwrap().push(cents);
                Ok::<_, Error>(format!("paid {cents}"))
            }
        })
    }
}

fn payer(runtime: &Runtime, till: &Till) -> AgentRef<String, String> {
    payer_that_asks(runtime, till, NeedsApproval::Never)
}

fn payer_that_asks(
    runtime: &Runtime,
    till: &Till,
    approval: NeedsApproval,
) -> AgentRef<String, String> {
    let payer = AgentBuilder::<String, String>::new("payer")
        .prompt("Pay the bills.")
        .tool(till.tool(approval));
    runtime.agent(payer.build())
}

fn pays(cents: i64) -> Script {
    let args = json!({"cents": cents, "to": "ada@example.com"});
    Script::call("pay", args.to_string())
}

fn ada() -> Principal {
    Principal::new("ada", "acme")
}

fn grace() -> Principal {
    Principal::new("grace", "acme")
}

async fn start(payer: &AgentRef<String, String>) -> RunRef<String> {
    let run = payer.run("Pay the bills.").scope("acme").by(&ada());
    run.start().await.unwrap()
}

/// A worker of this process, which ends with the test.
struct Worker(CancellationToken, Option<JoinHandle<()>>);

impl Worker {
    fn start(runtime: &Runtime) -> Self {
        let stop = CancellationToken::new();
        let work = tokio::spawn(runtime.clone().work(stop.clone()));
        Worker(stop, Some(work))
    }

    async fn stop(mut self) {
        self.0.cancel();
        if let Some(work) = self.1.take() {
            work.await.unwrap();
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Waits until this is so.
async fn until(what: &str, is_so: impl AsyncFn() -> bool) {
    let end = tokio::time::Instant::now() + LONG;
    while !is_so().await {
        assert!(tokio::time::Instant::now() < end, "not in time: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn waiting(run: &RunRef<String>) -> Request {
    loop {
        match run.progress().await.unwrap() {
            Progress::Waiting(mut requests) if !requests.is_empty() => return requests.remove(0),
            Progress::Running | Progress::Waiting(_) => {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            other => panic!("the run does not wait: {other:?}"),
        }
    }
}

async fn held(run: &RunRef<String>) -> String {
    match run.wait(LONG).await.unwrap() {
        Progress::Held(held) => held.why,
        other => panic!("the run is not held: {other:?}"),
    }
}

async fn done(run: &RunRef<String>) -> agents::Outcome<String> {
    match run.wait(LONG).await.unwrap() {
        Progress::Done(outcome) => outcome,
        other => panic!("the run is not over: {other:?}"),
    }
}

async fn status(place: &Place, run: &RunRef<String>) -> RunStatus {
    place.store.run(run.id()).await.unwrap().unwrap().status
}
