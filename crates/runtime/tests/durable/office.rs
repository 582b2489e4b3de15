//! An office with a payer, for tests.

use agents::{
    AgentBuilder, Effects, Error, Outcome,
    agent::{Data, ModelAgent},
    testing::{Script, ScriptedModel},
    tool::{FnTool, NeedsApproval, Risk, ToolSpec},
};
use agents_runtime::{
    Approval, Audit, Principal, Progress, Request, RunRef, Runtime, RuntimeError, SqliteStore,
};
use agents_store::Store;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::{
    fmt::Debug,
    fs,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// A store in a file, with its keyring; removed with the test.
pub(crate) struct Files(pub(crate) PathBuf);

impl Files {
    pub(crate) fn new(name: &str) -> Self {
        let name = format!("agents-durable-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).unwrap();
        Files(folder)
    }

    pub(crate) fn db(&self) -> PathBuf {
        self.0.join("agents.db")
    }

    pub(crate) fn keys(&self) -> PathBuf {
        self.0.join("agents.db.keys")
    }

    pub(crate) async fn audit(&self) -> Audit {
        Runtime::client(SqliteStore::open(self.db()).await.unwrap()).audit()
    }

    pub(crate) fn sql(&self, sql: &str) {
        let db = Connection::open(self.db()).unwrap();
        db.pragma_update(None, "foreign_keys", false).unwrap();
        let rows = db.execute(sql, []).unwrap();
        let changes = sql.starts_with("UPDATE") || sql.starts_with("DELETE");
        assert!(rows > 0 || !changes, "no row has changed: {sql}");
    }

    /// Changes the database, as somebody without the keys could.
    pub(crate) fn by_hand(&self, statements: &str) {
        let db = Connection::open(self.db()).unwrap();
        db.busy_timeout(Duration::from_secs(5)).unwrap();
        db.execute_batch(statements).unwrap();
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) const LONG: Duration = Duration::from_secs(20);

pub(crate) type Ran = Arc<Mutex<Vec<Value>>>;

pub(crate) fn pay_of(ran: &Ran, version: &'static str) -> FnTool {
    let schema = json!({
        "type": "object",
        "properties": {"cents": {"type": "integer"}, "to": {"type": "string"}},
        "required": ["cents"],
    });
    let spec = ToolSpec::new("pay", "Pays.", Effects::Writes, schema)
        .version(version)
        .approval(NeedsApproval::Always)
        .risk(Risk::High)
        .effect_description("Pays {cents} cents to {to}.");
    let ran = ran.clone();
    FnTool::with_spec(spec, move |args: Value, _| {
        ran.lock().unwrap().push(args["cents"].clone());
        async move { Ok::<_, Error>(format!("paid {}", args["cents"])) }
    })
}

pub(crate) fn payer(tool: FnTool) -> ModelAgent<'static, String, String> {
    AgentBuilder::<String, String>::new("payer")
        .prompt("Pay the bills.")
        .tool(tool)
        .build()
}

pub(crate) fn pays(cents: i64) -> Script {
    Script::call(
        "pay",
        json!({"cents": cents, "to": "ada@example.com"}).to_string(),
    )
}

/// A worker of this process, which ends with the test.
pub(crate) struct Worker(CancellationToken, Option<JoinHandle<()>>);

impl Worker {
    pub(crate) fn start(runtime: &Runtime) -> Self {
        let stop = CancellationToken::new();
        let work = tokio::spawn(runtime.clone().work(stop.clone()));
        Worker(stop, Some(work))
    }

    pub(crate) async fn stop(mut self) {
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

pub(crate) struct Office {
    pub(crate) runtime: Runtime,
    pub(crate) store: SqliteStore,
    pub(crate) payer: agents_runtime::AgentRef<String, String>,
    pub(crate) ran: Ran,
    pub(crate) model: ScriptedModel,
}

pub(crate) async fn office(scripts: impl IntoIterator<Item = Script>) -> Office {
    office_with(scripts, |runtime| runtime).await
}

pub(crate) async fn office_with(
    scripts: impl IntoIterator<Item = Script>,
    set: impl FnOnce(Runtime) -> Runtime,
) -> Office {
    of_store(SqliteStore::in_memory().await.unwrap(), scripts, set)
}

pub(crate) fn office_on(store: SqliteStore, scripts: impl IntoIterator<Item = Script>) -> Office {
    of_store(store, scripts, |runtime| runtime)
}

fn of_store(
    store: SqliteStore,
    scripts: impl IntoIterator<Item = Script>,
    set: impl FnOnce(Runtime) -> Runtime,
) -> Office {
    let (model, handle) = ScriptedModel::new(scripts);
    let runtime = set(Runtime::open(store.clone()).model(model));
    let ran = Ran::default();
    let payer = runtime.agent(payer(pay_of(&ran, "1.0.0")));
    Office {
        runtime,
        store,
        payer,
        ran,
        model: handle,
    }
}

/// Starts a run in a file, and returns when it waits for its approval.
pub(crate) async fn stored(files: &Files) -> (Office, RunRef<String>, Request) {
    let store = SqliteStore::open(files.db()).await.unwrap();
    let office = office_on(store, [pays(900), Script::text("Paid.")]);
    let worker = Worker::start(&office.runtime);
    let run = office.start().await;
    let request = waiting(&run).await.remove(0);
    worker.stop().await;
    (office, run, request)
}

pub(crate) fn ada() -> Principal {
    Principal::new("ada", "acme")
}

pub(crate) fn grace() -> Principal {
    Principal::new("grace", "acme")
}

impl Office {
    pub(crate) async fn start(&self) -> RunRef<String> {
        let start = self.payer.run("Pay the bills.").scope("acme").by(&ada());
        start.start().await.unwrap()
    }

    pub(crate) async fn decide(
        &self,
        request: &Request,
        approval: Approval,
    ) -> Result<Request, RuntimeError> {
        self.runtime
            .approvals()
            .decide(&request.id, approval, &grace())
            .await
    }
}

pub(crate) async fn waiting(run: &RunRef<String>) -> Vec<Request> {
    for _ in 0..400 {
        match run.progress().await.unwrap() {
            Progress::Waiting(requests) if !requests.is_empty() => return requests,
            Progress::Running | Progress::Waiting(_) => {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            other => panic!("the run does not wait: {other:?}"),
        }
    }
    panic!("the run does not wait")
}

pub(crate) async fn done<Out: Data + Debug>(run: &RunRef<Out>) -> Outcome<Out> {
    match run.wait(LONG).await.unwrap() {
        Progress::Done(outcome) => outcome,
        other => panic!("the run is not over: {other:?}"),
    }
}

pub(crate) async fn held(run: &RunRef<String>) -> String {
    match run.wait(LONG).await.unwrap() {
        Progress::Held(held) => held.why,
        other => panic!("the run is not held: {other:?}"),
    }
}

/// Calls the check with a runtime on each kind of store.
pub(crate) async fn on_each_store(name: &str, check: impl AsyncFn(Runtime, Arc<dyn Store>)) {
    let store: Arc<dyn Store> = Arc::new(SqliteStore::in_memory().await.unwrap());
    check(Runtime::open(store.clone()), store).await;
    #[cfg(unix)]
    if let Some(server) = agents_needs::postgres::Server::shared() {
        let database = server.database().await;
        let keys = Files::new(&format!("postgres-{name}"));
        let store = agents_runtime::PostgresStore::connect(database.address()).await;
        let store: Arc<dyn Store> = Arc::new(store.unwrap());
        let keyring = agents_runtime::FileKeyring::open(keys.keys()).unwrap();
        check(Runtime::open(store.clone()).keyring(keyring), store).await;
    }
}

/// Returns the open requests of a run, when there are this many.
pub(crate) async fn asked(run: &RunRef<String>, many: usize) -> Vec<Request> {
    for _ in 0..400 {
        match run.progress().await.unwrap() {
            Progress::Waiting(requests) if requests.len() == many => return requests,
            Progress::Running | Progress::Waiting(_) => {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            other => panic!("the run does not wait: {other:?}"),
        }
    }
    panic!("the run does not ask {many} times")
}

/// Starts a test of this program as a process of its own, on the store and the keys of these files.
/// [`files_of_process`] gives them to it.
pub(crate) fn start_process(test: &str, variable: &str, files: &Files) -> Child {
    let paths = format!("{}|{}", files.db().display(), files.keys().display());
    Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", test])
        .env(variable, paths)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Returns the paths of the store and of the keys in a process that [`start_process`] has started; `None` in another one.
pub(crate) fn files_of_process(variable: &str) -> Option<(String, String)> {
    let paths = std::env::var(variable).ok()?;
    let (db, keys) = paths.split_once('|').unwrap();
    Some((db.to_owned(), keys.to_owned()))
}

/// Kills a process as `kill -9` does.
pub(crate) fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}
