use agents_restate::Restate;
use agents_store::conformance::postgres::{Database, Server as Postgres};
use std::{
    fs,
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Once,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

/// Variable with the path of the server.
const SERVER: &str = "AGENTS_RESTATE_SERVER";

/// Longest time that a server takes to start.
const PATIENCE: Duration = Duration::from_secs(90);

/// Folder of a test, which is removed at its end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let next = NEXT.fetch_add(1, Relaxed);
        let name = format!("agents-restate-{}-{next}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Folder(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What a test works with: a Restate server, a database and a folder. The server ends first.
pub(crate) struct World {
    pub(crate) node: Node,
    pub(crate) database: Database,
    pub(crate) folder: Folder,
}

impl World {
    /// Starts everything; `None`, and a line that says why, where something is missing.
    pub(crate) async fn start() -> Option<World> {
        let Ok(program) = std::env::var(SERVER) else {
            static SAID: Once = Once::new();
            SAID.call_once(|| {
                eprintln!(
                    "skipped: {SERVER} names no Restate server; scripts/restate-tests fetches one"
                );
            });
            return None;
        };
        let database = Postgres::shared()?.database().await;
        let folder = Folder::new();
        let mut node = Node::new(PathBuf::from(program), folder.path().join("restate"));
        node.start().await;
        Some(World {
            node,
            database,
            folder,
        })
    }
}

/// Restate server of one node. It can be killed and started again with its data.
pub(crate) struct Node {
    program: PathBuf,
    data: PathBuf,
    ports: [u16; 3],
    child: Option<Child>,
}

impl Node {
    fn new(program: PathBuf, data: PathBuf) -> Self {
        Node {
            program,
            data,
            ports: [(); 3].map(|()| free_port()),
            child: None,
        }
    }

    pub(crate) fn ingress(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports[0])
    }

    pub(crate) fn admin(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports[1])
    }

    pub(crate) fn restate(&self) -> Restate {
        Restate::at(self.ingress()).unwrap()
    }

    /// Starts the server, and waits until it answers.
    pub(crate) async fn start(&mut self) {
        let [ingress, admin, fabric] = self.ports.map(|port| format!("127.0.0.1:{port}"));
        fs::create_dir_all(&self.data).unwrap();
        let log = fs::File::create(self.data.with_extension("log")).unwrap();
        let mut command = Command::new(&self.program);
        command.args(["--no-logo", "--node-name", "n1", "--base-dir"]);
        command.arg(&self.data);
        command.env("RESTATE_DISABLE_TELEMETRY", "true");
        command.env("RESTATE_LISTEN_MODE", "tcp");
        command.env("RESTATE_INGRESS__BIND_ADDRESS", ingress);
        command.env("RESTATE_ADMIN__BIND_ADDRESS", admin);
        command.env("RESTATE_BIND_ADDRESS", fabric);
        command.env("RESTATE_DEFAULT_NUM_PARTITIONS", "4");
        command
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log);
        self.child = Some(command.spawn().unwrap());
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        for url in [
            format!("{}/health", self.admin()),
            format!("{}/restate/health", self.ingress()),
        ] {
            until(&format!("{url} answers"), async || {
                let answer = http.get(&url).send().await;
                answer.is_ok_and(|answer| answer.status().is_success())
            })
            .await;
        }
    }

    /// Tells the server where the workers are, once they are there.
    pub(crate) async fn register(&self, workers: SocketAddr) {
        let restate = self.restate();
        let (admin, workers) = (self.admin(), format!("http://{workers}"));
        until("the workers are registered", async || {
            restate.register(&admin, &workers).await.is_ok()
        })
        .await;
    }

    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.kill();
    }
}

pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Waits until something holds; panics if it takes too long.
pub(crate) async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let began = Instant::now();
    while !holds().await {
        assert!(began.elapsed() < PATIENCE, "{what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
