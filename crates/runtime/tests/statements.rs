//! Statements and round trips that each step of a durable run takes in PostgreSQL, counted between client and server.
//! The table is `statements.txt`; `UPDATE_EXPECT=1` writes it anew. A change of the store may make the figures smaller.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]
#![cfg(unix)]

use agents::{
    AgentBuilder, Effects,
    testing::{Script, ScriptedModel},
    tool::{FnTool, NeedsApproval, ToolSpec},
};
use agents_needs::postgres::Server;
use agents_runtime::{
    Advanced, AgentRef, Approval, FileKeyring, PostgresStore, Principal, Progress, RunRef, Runtime,
};
use deadpool_postgres::tokio_postgres::{Config, config::Host};
use expect_test::expect_file;
use serde_json::json;
use std::{
    collections::{BTreeMap, HashMap},
    env,
    fmt::Write,
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{UnixListener, UnixStream},
    time::sleep,
};
use tokio_util::sync::CancellationToken;

/// Statements and round trips since the last look.
#[derive(Default)]
struct Counted {
    /// Number of executions of each statement.
    statements: BTreeMap<String, i64>,
    /// Number of times that the client sent something after the server had answered.
    trips: i64,
}

impl Counted {
    fn less(mut self, other: &Counted) -> Counted {
        self.trips -= other.trips;
        for (statement, times) in &other.statements {
            *self.statements.entry(statement.clone()).or_default() -= times;
        }
        self
    }
}

/// Proxy in front of a server, which counts.
struct Proxy {
    folder: PathBuf,
    counted: Arc<Mutex<Counted>>,
}

impl Proxy {
    fn start(socket: PathBuf) -> Proxy {
        let folder = env::temp_dir().join(format!("agents-statements-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let listener = UnixListener::bind(folder.join(".s.PGSQL.5432")).unwrap();
        let counted = Arc::<Mutex<Counted>>::default();
        let to = counted.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = UnixStream::connect(&socket).await.unwrap();
                tokio::spawn(forward(client, server, to.clone()));
            }
        });
        Proxy { folder, counted }
    }

    fn take(&self) -> Counted {
        std::mem::take(&mut *self.counted.lock().unwrap())
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Forwards a connection in both directions, and counts what the client sends.
async fn forward(client: UnixStream, server: UnixStream, counted: Arc<Mutex<Counted>>) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let answered = Arc::new(Mutex::new(true));
    let answers = answered.clone();
    tokio::spawn(async move {
        let mut bytes = vec![0; 64 * 1024];
        while let Ok(count @ 1..) = from_server.read(&mut bytes).await {
            // What the client sends without waiting for this answer is there by now.
            sleep(Duration::from_millis(3)).await;
            *answers.lock().unwrap() = true;
            if to_client.write_all(&bytes[..count]).await.is_err() {
                return;
            }
        }
    });
    let (mut bytes, mut seen) = (vec![0; 64 * 1024], Vec::new());
    let mut messages = Messages::default();
    while let Ok(count @ 1..) = from_client.read(&mut bytes).await {
        seen.extend_from_slice(&bytes[..count]);
        {
            let mut counted = counted.lock().unwrap();
            counted.trips += i64::from(std::mem::take(&mut *answered.lock().unwrap()));
            messages.read(&mut seen, &mut counted.statements);
        }
        if to_server.write_all(&bytes[..count]).await.is_err() {
            return;
        }
    }
}

/// Reader of a client's messages: <https://www.postgresql.org/docs/15/protocol-message-formats.html>.
#[derive(Default)]
struct Messages {
    has_begun: bool,
    prepared: HashMap<String, String>,
    bound: HashMap<String, String>,
}

impl Messages {
    /// Reads the complete messages at the beginning of `seen`, and takes them away.
    fn read(&mut self, seen: &mut Vec<u8>, statements: &mut BTreeMap<String, i64>) {
        loop {
            // The first message has no kind.
            let head = usize::from(self.has_begun);
            let Some(length) = seen.get(head..head + 4) else {
                return;
            };
            let length = u32::from_be_bytes(length.try_into().unwrap()) as usize;
            if seen.len() < head + length {
                return;
            }
            let message: Vec<u8> = seen.drain(..head + length).collect();
            let texts = message[head + 4..].split(|byte| *byte == 0);
            let mut texts = texts.map(|text| String::from_utf8_lossy(text).into_owned());
            let mut text = || texts.next().unwrap_or_default();
            match message[0] {
                _ if !self.has_begun => self.has_begun = true,
                b'Q' => *statements.entry(label(&text())).or_default() += 1,
                b'P' => {
                    let name = text();
                    self.prepared.insert(name, label(&text()));
                }
                b'B' => {
                    let portal = text();
                    let statement = self.prepared.get(&text()).cloned();
                    self.bound.insert(portal, statement.unwrap_or_default());
                }
                b'E' => {
                    let statement = self.bound.get(&text()).cloned();
                    *statements.entry(statement.unwrap_or_default()).or_default() += 1;
                }
                _ => {}
            }
        }
    }
}

/// Returns the beginning of a statement, by which a reader knows it.
fn label(sql: &str) -> String {
    let words: Vec<_> = sql.split_whitespace().collect();
    let sql = words.join(" ");
    sql.chars().take(72).collect()
}

/// A clerk who looks and pays; payments are asked about if `asks`.
fn agent(
    name: &'static str,
    asks: NeedsApproval,
) -> agents::agent::ModelAgent<'static, String, String> {
    let schema =
        || json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let look = ToolSpec::new("look", "Looks.", Effects::Reads, schema());
    let pay = ToolSpec::new("pay", "Pays.", Effects::Writes, schema()).approval(asks);
    let done = |_, _| async { Ok::<_, io::Error>("done") };
    AgentBuilder::new(name)
        .tool(FnTool::with_spec(look, done))
        .tool(FnTool::with_spec(pay, done))
        .build()
}

struct World {
    runtime: Runtime,
    proxy: Proxy,
}

impl World {
    /// Works a new run through, and returns it.
    async fn work(&self, agent: &AgentRef<String, String>, task: &str) -> RunRef<String> {
        let run = agent.run(task).start().await.unwrap();
        self.advance(&run).await;
        run
    }

    async fn advance(&self, run: &RunRef<String>) -> Advanced {
        let stop = CancellationToken::new();
        self.runtime.advance(run.id(), &stop).await.unwrap()
    }
}

#[tokio::test]
async fn statements_and_round_trips_of_each_step() {
    let Some(server) = Server::shared() else {
        return;
    };
    let database = server.database().await;
    let settings: Config = database.address().parse().unwrap();
    let Host::Unix(folder) = &settings.get_hosts()[0] else {
        return;
    };
    let proxy = Proxy::start(Path::new(folder).join(".s.PGSQL.5432"));
    let address = format!(
        "host={} user={} dbname={}",
        proxy.folder.display(),
        settings.get_user().unwrap(),
        database.name()
    );
    let store = PostgresStore::connect(&address).await.unwrap();
    let keys = FileKeyring::open(proxy.folder.join("keys")).unwrap();
    let (model, _) = ScriptedModel::from_fn(|asked| match asked.last() {
        "done" => Script::text("done"),
        tool => Script::call(tool, r#"{"n": 1}"#),
    });
    let runtime = Runtime::open(store).keyring(keys).model(model);
    let world = World { runtime, proxy };
    let clerk = world.runtime.agent(agent("clerk", NeedsApproval::Never));
    let teller = world.runtime.agent(agent("teller", NeedsApproval::Always));

    // Connections and prepared statements are there afterwards.
    for _ in 0..2 {
        world.work(&clerk, "look").await;
        world.work(&clerk, "pay").await;
        decided(&world, world.work(&teller, "pay").await).await;
    }
    world.proxy.take();

    let mut table = String::new();
    let mut tell = |what: &str, counted: Counted| {
        let statements: i64 = counted.statements.values().sum();
        writeln!(
            table,
            "{what}: {statements} statements, {} round trips",
            counted.trips
        )
        .unwrap();
        for (statement, times) in counted.statements.iter().filter(|(_, times)| **times != 0) {
            writeln!(table, "  {times} {statement}").unwrap();
        }
    };
    world.work(&clerk, "done").await;
    let bare = world.proxy.take();
    world.work(&clerk, "look").await;
    let read = world.proxy.take();
    world.work(&clerk, "pay").await;
    let written = world.proxy.take();
    tell("a turn that reads", read.less(&bare));
    tell("a turn that writes", written.less(&bare));
    tell(
        "a run that answers at once, from its start to its end",
        bare,
    );
    let run = world.work(&teller, "pay").await;
    tell(
        "a run that asks, from its start until it rests",
        world.proxy.take(),
    );
    let going_on = decided(&world, run).await;
    tell("a decision", going_on);
    tell(
        "a run that goes on after a decision, to its end",
        world.proxy.take(),
    );
    expect_file!["statements.txt"].assert_eq(&table);
}

/// Approves the open request of a run, and has the run go on. Returns what the decision took; the rest is counted.
async fn decided(world: &World, run: RunRef<String>) -> Counted {
    let Progress::Waiting(requests) = run.progress().await.unwrap() else {
        panic!("the run waits for a decision");
    };
    world.proxy.take();
    let client = world.runtime.as_client();
    let grace = Principal::operator();
    let approvals = client.approvals();
    approvals
        .decide(&requests[0].id, Approval::Approve, &grace)
        .await
        .unwrap();
    let counted = world.proxy.take();
    assert_eq!(world.advance(&run).await, Advanced::Done);
    counted
}
