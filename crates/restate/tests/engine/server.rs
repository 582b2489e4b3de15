use agents_needs::{
    Need,
    postgres::{Database, Server as Postgres},
};
use agents_restate::Restate;
use std::{
    fs,
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering::Relaxed},
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

/// World of a test: a Restate server of one node or more, a database and a folder. The server ends first.
pub(crate) struct World {
    /// Node whose ingress and admin API are used.
    pub(crate) node: Node,
    pub(crate) others: Vec<Node>,
    pub(crate) database: Database,
    pub(crate) folder: Folder,
}

impl World {
    /// Starts everything; `None` where something is missing, which is said.
    pub(crate) async fn start() -> Option<World> {
        World::with_nodes(1).await
    }

    pub(crate) async fn with_nodes(count: usize) -> Option<World> {
        let Ok(program) = std::env::var(SERVER) else {
            Need::Restate.missing(format!("{SERVER} names no server"));
            return None;
        };
        let database = Postgres::shared()?.database().await;
        let folder = Folder::new();
        let fabric: Vec<_> = (0..count).map(|_| free_port()).collect();
        let node = |index: usize| Node {
            program: PathBuf::from(&program),
            data: folder.path().join(format!("restate-{index}")),
            index,
            ports: [free_port(), free_port()],
            fabric: fabric.clone(),
            child: None,
        };
        let mut world = World {
            node: node(0),
            others: (1..count).map(node).collect(),
            database,
            folder,
        };
        // No node answers before there are enough of them.
        for node in world.nodes() {
            node.spawn();
        }
        for node in world.nodes() {
            node.until_healthy().await;
        }
        Some(world)
    }

    fn nodes(&mut self) -> impl Iterator<Item = &mut Node> {
        std::iter::once(&mut self.node).chain(&mut self.others)
    }
}

/// Node of a Restate server. It can be killed, and started again with its data.
pub(crate) struct Node {
    program: PathBuf,
    data: PathBuf,
    index: usize,
    /// Ports of the ingress and of the admin API.
    ports: [u16; 2],
    /// Ports by which the nodes reach each other.
    fabric: Vec<u16>,
    child: Option<Child>,
}

impl Node {
    pub(crate) fn ingress(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports[0])
    }

    fn admin(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports[1])
    }

    pub(crate) fn restate(&self) -> Restate {
        Restate::at(self.ingress()).unwrap()
    }

    /// Starts the node, and waits until it answers.
    pub(crate) async fn start(&mut self) {
        self.spawn();
        self.until_healthy().await;
    }

    fn spawn(&mut self) {
        let own = self.fabric[self.index];
        let [ingress, admin] = self.ports.map(|port| format!("127.0.0.1:{port}"));
        let nodes = self.fabric.iter();
        let nodes: Vec<_> = nodes
            .map(|port| format!("\"http://127.0.0.1:{port}\""))
            .collect();
        let replication = self.fabric.len().min(2);
        fs::create_dir_all(&self.data).unwrap();
        let log = fs::File::create(self.data.with_extension("log")).unwrap();
        let mut command = Command::new(&self.program);
        command.args(["--no-logo", "--node-name", &format!("n{}", self.index)]);
        command.arg("--base-dir").arg(&self.data);
        for (name, value) in [
            ("DISABLE_TELEMETRY", "true".to_owned()),
            ("LISTEN_MODE", "tcp".to_owned()),
            ("CLUSTER_NAME", format!("agents-{}", self.fabric[0])),
            ("AUTO_PROVISION", (self.index == 0).to_string()),
            ("DEFAULT_REPLICATION", replication.to_string()),
            ("DEFAULT_NUM_PARTITIONS", "4".to_owned()),
            ("ROCKSDB_TOTAL_MEMORY_SIZE", "128 MiB".to_owned()),
            ("INGRESS__BIND_ADDRESS", ingress),
            ("ADMIN__BIND_ADDRESS", admin),
            ("BIND_ADDRESS", format!("127.0.0.1:{own}")),
            ("ADVERTISED_ADDRESS", format!("http://127.0.0.1:{own}")),
            (
                "METADATA_CLIENT__ADDRESSES",
                format!("[{}]", nodes.join(",")),
            ),
        ] {
            command.env(format!("RESTATE_{name}"), value);
        }
        command.stdin(Stdio::null());
        command.stdout(log.try_clone().unwrap()).stderr(log);
        self.child = Some(command.spawn().unwrap());
    }

    async fn until_healthy(&self) {
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
