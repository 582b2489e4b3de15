//! A store with runs that wait, and the binary.

use agents::{
    AgentBuilder, Effects, Error,
    agent::ModelAgent,
    model::Message,
    run::{Clock, SystemClock, Timestamp},
    testing::{Script, ScriptedModel},
    tool::{Ask, FnTool, NeedsApproval, Risk, Scope, ToolSpec},
};
use agents_runtime::{AgentRef, Principal, Progress, RunRef, Runtime, SqliteStore};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio_util::sync::CancellationToken;

/// Output of the binary.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) said: String,
}

impl Ran {
    pub(crate) fn of(command: &mut Command) -> Ran {
        let done = command.stdin(Stdio::null()).output().unwrap();
        Ran {
            code: done.status.code().unwrap(),
            out: String::from_utf8(done.stdout).unwrap(),
            said: String::from_utf8(done.stderr).unwrap(),
        }
    }

    /// Returns the objects of the output, one a line.
    #[track_caller]
    pub(crate) fn objects(&self) -> Vec<Value> {
        let lines = self.out.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// Checks that the command has failed with this exit code, and says this in one line.
    #[track_caller]
    pub(crate) fn fails(&self, code: i32, why: &str) {
        assert_eq!(self.code, code, "{self:?}");
        assert!(
            self.said.starts_with("error: ") && self.said.contains(why),
            "{self:?}"
        );
        assert!(code != 1 || self.said.lines().count() == 1, "{self:?}");
    }

    #[track_caller]
    pub(crate) fn succeeds(self) -> Ran {
        assert!(self.code == 0 && self.said.is_empty(), "{self:?}");
        self
    }
}

pub(crate) fn binary() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agents"));
    command.env_remove("AGENTS_STORE");
    command
}

/// A folder of a test, which is removed with it.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Folder {
        let name = format!("agents-cli-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[derive(Serialize, Deserialize, schemars::JsonSchema)]
enum Town {
    Rome,
    Paris,
}

/// A store in a file, and the runtime of an application.
pub(crate) struct Desk {
    pub(crate) folder: Folder,
    pub(crate) runtime: Runtime,
    pub(crate) payer: AgentRef<String, String>,
    /// Arguments with which the tool has run.
    pub(crate) paid: Arc<Mutex<Vec<Value>>>,
}

/// Arguments that the model gives.
pub(crate) const ARGS: &str = r#"{"cents": 1200, "to": "ada@example.com"}"#;

pub(crate) fn pay(paid: &Arc<Mutex<Vec<Value>>>, version: &'static str, risk: Risk) -> FnTool {
    let schema = json!({
        "type": "object",
        "properties": {"cents": {"type": "integer"}, "to": {"type": "string"}, "big": {"type": "number"}},
        "required": ["cents"],
    });
    let spec = ToolSpec::new("pay", "Pays.", Effects::Writes, schema)
        .version(version)
        .approval(NeedsApproval::Always)
        .risk(risk);
    let paid = paid.clone();
    FnTool::with_spec(spec, move |args: Value, _| {
        paid.lock().unwrap().push(args);
        async { Ok::<_, Error>("paid") }
    })
}

pub(crate) fn payer(tool: FnTool) -> ModelAgent<'static, String, String> {
    AgentBuilder::<String, String>::new("payer")
        .prompt("Pay the bills.")
        .tool(tool)
        .build()
}

impl Desk {
    pub(crate) async fn new(name: &str) -> Desk {
        Desk::with(name, ARGS, Risk::Medium).await
    }

    /// A desk whose clock is two days slow: what it asks has expired by now.
    pub(crate) async fn slow(name: &str) -> Desk {
        let two_days = Duration::from_secs(2 * 24 * 60 * 60);
        Desk::at(name, ARGS, Risk::Medium, two_days).await
    }

    pub(crate) async fn with(name: &str, args: &'static str, risk: Risk) -> Desk {
        Desk::at(name, args, risk, Duration::ZERO).await
    }

    async fn at(name: &str, args: &'static str, risk: Risk, slow: Duration) -> Desk {
        let folder = Folder::new(name);
        let store = SqliteStore::open(folder.0.join("runs.db")).await.unwrap();
        let slow = u64::try_from(slow.as_millis()).unwrap();
        let store =
            store.clock(move || Timestamp::from_millis(SystemClock.now().as_millis() - slow));
        let (model, _) = ScriptedModel::from_fn(move |asked| match asked.results()[..] {
            [] => Script::call("pay", args),
            [(_, result), ..] => Script::text(format!("Done: {result}")),
        });
        let runtime = Runtime::open(store).model(model);
        let paid = Arc::default();
        let payer = runtime.agent(payer(pay(&paid, "1.0.0", risk)));
        Desk {
            folder,
            runtime,
            payer,
            paid,
        }
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.folder.0.join("runs.db")
    }

    pub(crate) fn url(&self) -> String {
        format!("sqlite:{}", self.file().display())
    }

    /// Runs the binary on the store. The options of the session come first. Fields of JSON are checked.
    #[track_caller]
    pub(crate) fn agents(&self, args: &[&str]) -> Ran {
        let ran = Ran::of(binary().args(["--store", &self.url()]).args(args));
        crate::fields::check(args, &ran);
        ran
    }

    /// Runs the binary, which has to succeed, and returns its output.
    #[track_caller]
    pub(crate) fn printed(&self, args: &[&str]) -> String {
        self.agents(args).succeeds().out
    }

    /// Starts a worker.
    pub(crate) fn work(&self) -> Working {
        let stop = CancellationToken::new();
        Working(stop.clone(), tokio::spawn(self.runtime.clone().work(stop)))
    }

    /// Starts a run of a tenant.
    pub(crate) async fn start(&self, tenant: &str, key: &str) -> RunRef<String> {
        let ada = Principal::new("ada", tenant);
        let run = self.payer.run("Pay the bills.").key(key).by(&ada);
        run.scope(Scope::from(tenant)).start().await.unwrap()
    }

    /// Starts a run, and works on it until it waits. Returns the run and the id of its request.
    pub(crate) async fn waiting(&self, tenant: &str, key: &str) -> (RunRef<String>, String) {
        let run = self.start(tenant, key).await;
        let request = self.asked(&run).await;
        (run, request)
    }

    /// Works on a run until it waits, and returns the id of its request.
    async fn asked(&self, run: &RunRef<String>) -> String {
        let working = self.work();
        let request = loop {
            match run.progress().await.unwrap() {
                Progress::Waiting(requests) if !requests.is_empty() => {
                    break requests[0].id.clone();
                }
                Progress::Held(why) => panic!("{why}"),
                Progress::Done(outcome) => panic!("{outcome:?}"),
                _ => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        };
        working.stop().await;
        request
    }

    /// Starts a run that asks where to go, and works on it until it waits. Returns the run and the id of its request. The
    /// answer of the run is what it was told.
    pub(crate) async fn asking(&self) -> (RunRef<String>, String) {
        let (model, _) = ScriptedModel::from_fn(|asked| {
            let told = asked.messages.iter().find_map(|message| match message {
                Message::Tool { content, .. } => Some(content.text.clone()),
                _ => None,
            });
            match told {
                None => Script::call("ask_user", r#"{"question": "Where to?"}"#),
                Some(told) => Script::text(format!("{told}, and: {}", asked.last())),
            }
        });
        let guide = AgentBuilder::<String, String>::new("guide").model(model);
        let guide = self
            .runtime
            .agent(guide.tool(Ask::<Town>::to_user()).build());
        let run = guide.run("A holiday.").scope("acme").start().await.unwrap();
        let request = self.asked(&run).await;
        (run, request)
    }

    /// Works on a run until it is over, and returns its answer.
    pub(crate) async fn answer(&self, run: &RunRef<String>) -> Result<String, Error> {
        let working = self.work();
        let Progress::Done(outcome) = run.wait(Duration::from_secs(30)).await.unwrap() else {
            panic!("the run is not over");
        };
        working.stop().await;
        outcome.result
    }

    /// Changes the database by hand.
    pub(crate) fn by_hand(&self, sql: &str) {
        by_hand(&self.file(), sql);
    }
}

pub(crate) fn by_hand(file: &Path, sql: &str) {
    let db = rusqlite::Connection::open(file).unwrap();
    db.busy_timeout(Duration::from_secs(5)).unwrap();
    db.execute_batch(sql).unwrap();
}

/// A worker of this process.
pub(crate) struct Working(CancellationToken, tokio::task::JoinHandle<()>);

impl Working {
    pub(crate) async fn stop(self) {
        self.0.cancel();
        self.1.await.unwrap();
    }
}
