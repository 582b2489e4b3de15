//! A store of each kind, which several processes may open.

use agents_needs::postgres::{Database, Server};
use agents_runtime::{Client, FileKeyring, PostgresStore, Runtime, SqliteStore};
use agents_store::Store;
use std::{
    fs,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

/// Place of a store, with its keyring; removed with the test.
pub(crate) struct Place {
    folder: PathBuf,
    database: Option<Database>,
}

impl Place {
    fn new(database: Option<Database>) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, SeqCst);
        let name = format!("agents-place-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).unwrap();
        Place { folder, database }
    }

    /// Creates the place of a store in a file.
    pub(crate) fn of_file() -> Self {
        Place::new(None)
    }

    /// Returns the address of the store, for another process.
    pub(crate) fn address(&self) -> String {
        match &self.database {
            Some(database) => database.address().to_owned(),
            None => self.folder.join("agents.db").display().to_string(),
        }
    }

    /// Returns the path of the keyring.
    pub(crate) fn keys(&self) -> PathBuf {
        self.folder.join("agents.keys")
    }

    /// Returns the path of a file of the test.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Returns all bytes of a store in a file; none for another store.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let files = ["agents.db", "agents.db-wal"].map(|name| self.folder.join(name));
        let bytes = files.map(|file| fs::read(file).unwrap_or_default());
        bytes.concat()
    }

    /// Opens the store, as one more process would.
    pub(crate) async fn store(&self) -> Arc<dyn Store> {
        open(&self.address()).await
    }

    pub(crate) async fn runtime(&self) -> Runtime {
        Runtime::open(self.store().await).keyring(FileKeyring::open(self.keys()).unwrap())
    }

    pub(crate) async fn client(&self) -> Client {
        Runtime::client(self.store().await).keyring(FileKeyring::open(self.keys()).unwrap())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Opens the store at an address: a file, or a database of PostgreSQL.
pub(crate) async fn open(address: &str) -> Arc<dyn Store> {
    match address.starts_with("postgres") || address.contains("host=") {
        true => Arc::new(PostgresStore::connect(address).await.unwrap()),
        false => Arc::new(SqliteStore::open(address).await.unwrap()),
    }
}

/// Runs a test with a store of each kind.
pub(crate) async fn each(test: impl AsyncFn(&Place)) {
    println!("SQLite");
    test(&Place::of_file()).await;
    if let Some(server) = Server::shared() {
        println!("PostgreSQL");
        test(&Place::new(Some(server.database().await))).await;
    }
}
