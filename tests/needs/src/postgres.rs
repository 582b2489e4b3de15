//! PostgreSQL servers for tests.

use crate::Need;
use std::{
    fs,
    io::{self, BufRead, BufReader, Write},
    os::unix::{
        fs::{MetadataExt, PermissionsExt, chown},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    thread,
};
use tokio_postgres::NoTls;

/// Variable with the address of a server that tests may use: its role has to be allowed to create databases and roles.
const VARIABLE: &str = "AGENTS_TEST_POSTGRES";

/// Folder in which Debian has a folder for each version of PostgreSQL.
const INSTALLED: &str = "/usr/lib/postgresql";

/// Shell script that starts a server, waits until the script's standard input ends, and then stops the server and
/// removes its folder. The input ends at the latest with the process of the tests, however that process ends.
const KEEP: &str = r#"
    trap '' INT TERM HUP
    bin=$1 folder=$2
    {
        "$bin/initdb" --pgdata="$folder/data" --username=postgres --auth=trust --encoding=UTF8 --locale=C --no-sync &&
        printf '%s\n' "listen_addresses = ''" "unix_socket_directories = '$folder'" "max_connections = 200" \
            >> "$folder/data/postgresql.conf" &&
        "$bin/pg_ctl" start -w --pgdata="$folder/data" --log="$folder/server.log"
    } > "$folder/log" 2>&1 && echo started || echo failed
    cat > /dev/null
    "$bin/pg_ctl" stop --mode=immediate --pgdata="$folder/data" > /dev/null 2>&1
    rm -rf "$folder"
"#;

/// Number in the name of the next database or server that this process creates, so that each name is new.
static NAMED: AtomicU32 = AtomicU32::new(1);

/// PostgreSQL server for tests: one that the process of the tests has started, or one that was there before.
#[derive(Debug)]
pub struct Server {
    address: String,
    own: Option<Own>,
}

/// Server that this process has started. It ends when this value is dropped, and with the process.
#[derive(Debug)]
struct Own {
    bin: PathBuf,
    folder: PathBuf,
    account: Option<(u32, u32)>,
    keeper: Mutex<Child>,
}

impl Server {
    /// Returns the server of this process; `None` if there is none, which is said.
    ///
    /// It is the server that the variable `AGENTS_TEST_POSTGRES` names, whose role has to be allowed to create
    /// databases and roles. Without the variable, a server is started from Debian's packages, and ends with the
    /// process.
    ///
    /// # Panics
    /// When there is none, and it is [required](Need::missing).
    pub fn shared() -> Option<&'static Server> {
        static SHARED: OnceLock<Option<Server>> = OnceLock::new();
        let shared = SHARED.get_or_init(|| match std::env::var(VARIABLE) {
            Ok(address) => Some(Server { address, own: None }),
            Err(_) => Server::start(),
        });
        shared.as_ref()
    }

    /// Starts a new server, which a test may stop. Returns `None` if none can be started, which is said.
    ///
    /// # Panics
    /// When none can be started, and one is [required](Need::missing).
    pub fn start() -> Option<Server> {
        let started = Server::try_start();
        if let Err(why) = &started {
            Need::Postgres.missing(why);
        }
        started.ok()
    }

    /// Starts a server in a temporary folder, which only its user can reach. The server ends when the returned value is
    /// dropped, and with the process.
    fn try_start() -> Result<Server, String> {
        let bin = installed().ok_or(format!("{INSTALLED} has no server"))?;
        let failed = |error: io::Error| format!("a server cannot be started: {error}");
        let name = format!(
            "agents-postgres-{}-{}",
            std::process::id(),
            NAMED.fetch_add(1, Relaxed)
        );
        let folder = std::env::temp_dir().join(name);
        fs::create_dir(&folder).map_err(failed)?;
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).map_err(failed)?;
        // PostgreSQL refuses to run as root.
        let is_root = fs::metadata(&folder).map_err(failed)?.uid() == 0;
        let account = match is_root {
            true => Some(account("postgres").ok_or("there is no user `postgres`")?),
            false => None,
        };
        if let Some((user, group)) = account {
            chown(&folder, Some(user), Some(group)).map_err(failed)?;
        }
        let mut keep = as_account(Path::new("sh"), &folder, account);
        keep.args(["-c", KEEP, "sh"]).args([&bin, &folder]);
        let mut keeper = keep
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let mut said = String::new();
        if let Some(output) = keeper.stdout.take() {
            BufReader::new(output)
                .read_line(&mut said)
                .map_err(failed)?;
        }
        if said != "started\n" {
            let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
            drop(keeper.stdin.take());
            let _ = keeper.wait();
            let last = log.lines().last().unwrap_or_default();
            return Err(format!("a server cannot be started: {last}"));
        }
        let socket = folder.display().to_string().replace('/', "%2F");
        Ok(Server {
            address: format!("postgres://postgres@{socket}/postgres"),
            own: Some(Own {
                bin,
                folder,
                account,
                keeper: Mutex::new(keeper),
            }),
        })
    }

    /// Creates an empty database.
    ///
    /// # Panics
    /// When the server refuses it.
    pub async fn database(&self) -> Database {
        self.created("").await
    }

    /// Creates a database that is a copy of another one, with which nothing is connected.
    ///
    /// # Panics
    /// When the server refuses it.
    pub async fn copy_of(&self, database: &Database) -> Database {
        self.created(&format!(" TEMPLATE {}", database.name)).await
    }

    async fn created(&self, from: &str) -> Database {
        let name = format!(
            "agents_test_{}_{}",
            std::process::id(),
            NAMED.fetch_add(1, Relaxed)
        );
        execute(&self.address, &format!("CREATE DATABASE {name}{from}"))
            .await
            .unwrap_or_else(|error| panic!("a database is created: {error:?}"));
        Database {
            address: address_of(&self.address, &name),
            name,
            server: self.address.clone(),
            is_dropped: self.own.is_none(),
        }
    }

    /// Stops a server of its own from one moment to the next, as if its machine had failed.
    ///
    /// # Panics
    /// When it cannot be stopped, or is not the process's own.
    pub fn stop(&self) {
        self.control(&["stop", "--mode=immediate"]);
    }

    /// Starts a server again that was stopped.
    ///
    /// # Panics
    /// When it cannot be started, or is not the process's own.
    pub fn start_again(&self) {
        self.control(&["start", "-w", "--log=server.log"]);
    }

    fn control(&self, how: &[&str]) {
        let own = self.own.as_ref().expect("the server is the process's own");
        let mut control = as_account(&own.bin.join("pg_ctl"), &own.folder, own.account);
        let control = control.args(how).arg("--pgdata=data");
        let control = control.stdout(Stdio::null()).status();
        assert!(control.is_ok_and(|status| status.success()), "{how:?}");
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let keeper = self.keeper.get_mut();
        let keeper = keeper.unwrap_or_else(PoisonError::into_inner);
        drop(keeper.stdin.take());
        let _ = keeper.wait();
    }
}

/// Empty database that one test has for itself.
#[derive(Debug)]
pub struct Database {
    address: String,
    name: String,
    server: String,
    /// Is `true` if the database has to be dropped after the test, since the server goes on.
    is_dropped: bool,
}

impl Database {
    /// Returns the address of the database, for a client.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Returns the name of the database.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Drops the database now, for a test that needs many of them. Otherwise a database of the process's own server
    /// goes with the server, and one of another server is dropped with its value.
    pub fn remove(mut self) {
        self.is_dropped = true;
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if !self.is_dropped {
            return;
        }
        let server = std::mem::take(&mut self.server);
        let sql = format!("DROP DATABASE {} WITH (FORCE)", self.name);
        let dropping = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            runtime.map(|runtime| runtime.block_on(execute(&server, &sql)))
        });
        if let Ok(Ok(Err(error))) = dropping.join() {
            let _ = writeln!(io::stderr(), "{} is not dropped: {error:?}", self.name);
        }
    }
}

async fn execute(address: &str, sql: &str) -> Result<(), tokio_postgres::Error> {
    let (client, connection) = tokio_postgres::connect(address, NoTls).await?;
    let driver = tokio::spawn(connection);
    let done = client.batch_execute(sql).await;
    drop(client);
    let _ = driver.await;
    done
}

/// Returns the address of another database of the same server.
fn address_of(server: &str, database: &str) -> String {
    let Some((scheme, rest)) = server.split_once("://") else {
        return format!("{server} dbname={database}");
    };
    let (place, settings) = match rest.split_once('?') {
        Some((place, settings)) => (place, format!("?{settings}")),
        None => (rest, String::new()),
    };
    let host = place.split('/').next().unwrap_or_default();
    format!("{scheme}://{host}/{database}{settings}")
}

/// Returns the folder with the programs of the latest installed version of PostgreSQL; `None` if there is none.
fn installed() -> Option<PathBuf> {
    let versions = fs::read_dir(INSTALLED).ok()?;
    let version = |path: &PathBuf| path.file_name()?.to_str()?.parse::<u32>().ok();
    let found = versions.filter_map(|entry| Some(entry.ok()?.path()));
    let found = found.filter(|path| path.join("bin/initdb").exists());
    found.max_by_key(version).map(|path| path.join("bin"))
}

/// Returns the ids of a user of this machine and of its group; `None` if there is no such user.
fn account(name: &str) -> Option<(u32, u32)> {
    let users = fs::read_to_string("/etc/passwd").ok()?;
    let fields = |line: &str| line.split(':').map(str::to_owned).collect::<Vec<_>>();
    let user = users.lines().map(fields).find(|user| user[0] == name)?;
    Some((user.get(2)?.parse().ok()?, user.get(3)?.parse().ok()?))
}

/// Prepares a command that runs in the folder under this account; PostgreSQL refuses to run as root.
fn as_account(program: &Path, folder: &Path, account: Option<(u32, u32)>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).env("LC_ALL", "C");
    command.stdin(Stdio::null());
    if let Some((user, group)) = account {
        command.uid(user).gid(group);
    }
    command
}
