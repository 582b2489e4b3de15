//! Stores of the tests of November 2026, in `sqlite.sql` and `postgres.sql`: the rows that each durable test has left
//! behind, for the tables of `sqlite.schema.sql` and `postgres.schema.sql`. They are never rewritten, and are brought up
//! to date by migrations as any older store. What today's code reads from each is in `sqlite.read` and `postgres.read`;
//! where it is meant to change, `UPDATE_EXPECT=1` writes them anew. With `AGENTS_FROZEN=DIR` all that was read goes into
//! a file for each store, to be compared with that of another version.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]

use agents_core::run::Timestamp;
use agents_needs::postgres::Server;
use agents_runtime::{
    AuditKey, Client, Keyring, PostgresStore, Principal, Runtime, SqliteStore, TenantKey,
};
use agents_store::{ApprovalFilter, AuditFilter, Run, RunFilter};
use deadpool_postgres::tokio_postgres::{Config, NoTls};
use expect_test::expect_file;
use hmac_sha256::Hash;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::{collections::BTreeMap, env, fmt::Write, fs, io, path::Path};

/// Time at which the stores are read, in milliseconds since 1970: an open request expires a day after it was made.
const NOW: u64 = 1_795_921_200_000;

/// Keyring of all frozen stores: the bytes of each key are zero.
struct Zeros;

impl Keyring for Zeros {
    fn latest(&self, _: &str) -> io::Result<(u32, TenantKey)> {
        Ok((1, TenantKey::new([0; 32])))
    }

    fn version(&self, _: &str, _: u32) -> io::Result<Option<TenantKey>> {
        Ok(Some(TenantKey::new([0; 32])))
    }

    fn rotate(&self, _: &str) -> io::Result<()> {
        unreachable!("a frozen store keeps its keys")
    }

    fn erase(&self, _: &str) -> io::Result<()> {
        unreachable!("a frozen store keeps its keys")
    }

    fn audit_key(&self) -> io::Result<AuditKey> {
        Ok(AuditKey::new([0; 32]))
    }
}

/// Returns what was read, or the text of the error.
fn or_error<T, E: std::fmt::Display>(read: Result<T, E>, show: impl FnOnce(T) -> Value) -> Value {
    match read {
        Ok(read) => show(read),
        Err(error) => json!({ "error": error.to_string() }),
    }
}

/// Returns what a client reads of a run: its journal, its rows and its trail.
async fn read_run(client: &Client, run: &Run) -> Value {
    let operator = Principal::operator();
    let of_run = AuditFilter {
        run: Some(run.id.clone()),
        ..AuditFilter::default()
    };
    let requests = ApprovalFilter {
        run: Some(run.id.clone()),
        ..ApprovalFilter::default()
    };
    let requests = match client.approvals().list(&requests, &operator).await {
        Ok(requests) => {
            let mut read = Vec::new();
            for request in requests {
                let detail = client.approvals().detail(&request.id, &operator).await;
                read.push(json!({
                    "detail": or_error(detail, |detail| json!(detail)),
                    "request": request,
                }));
            }
            json!(read)
        }
        Err(error) => json!({ "error": error.to_string() }),
    };
    json!({
        "run": {
            "tenant": run.tenant, "key": run.key, "labels": run.labels, "started_by": run.started_by,
            "status": format!("{:?}", run.status), "end": run.end.map(|end| format!("{end:?}")),
            "held": run.held.as_ref().map(|held| (format!("{:?}", held.kind), &held.why, &held.by)),
            "cancelled_by": run.cancelled_by, "paused_by": run.paused_by,
            "last": [run.last_seq, run.audit_seq], "conversation": run.conversation,
        },
        "input": or_error(client.input(&run.id, &operator).await, |input| json!(input)),
        "journal": or_error(client.recorded(&run.id).await, |recorded| json!(recorded.map(|recorded| json!({
            "events": recorded.events(),
            "receipts": recorded.receipts(),
            "messages": recorded.messages(),
        })))),
        "requests": requests,
        "executions": or_error(client.executions(&run.id, &operator).await, |all| json!(all)),
        "trail": or_error(client.audit().events(&of_run).await, |events| json!(events)),
    })
}

fn count(read: &Value) -> String {
    match read {
        Value::Array(all) => all.len().to_string(),
        _ => "unreadable".to_owned(),
    }
}

/// Reads a store into lines: what it holds in short, and a digest of all that was read.
async fn tell(lines: &mut String, kind: &str, test: &str, client: Client) {
    let verdict = or_error(client.audit().verify().await, |verdict| json!(verdict));
    let flaws = count(&verdict["flaws"]);
    let mut read = BTreeMap::from([("verdict".to_owned(), verdict)]);
    writeln!(lines, "{test}").unwrap();
    for run in client.runs(&RunFilter::default()).await.unwrap() {
        let one = read_run(&client, &run).await;
        let events = match &one["journal"] {
            Value::Null => "no".to_owned(),
            journal => count(&journal["events"]),
        };
        let [requests, executions, trail] =
            ["requests", "executions", "trail"].map(|what| count(&one[what]));
        writeln!(
            lines,
            "  {} {:?}: {events} events, {requests} requests, {executions} executions, {trail} in the trail",
            run.agent, run.status,
        )
        .unwrap();
        read.insert(run.id, one);
    }
    let whole = serde_json::to_string_pretty(&read).unwrap();
    let digest = Hash::hash(whole.as_bytes());
    let digest: String = digest[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    writeln!(lines, "  {flaws} flaws, {digest}").unwrap();
    if let Some(to) = env::var_os("AGENTS_FROZEN") {
        fs::create_dir_all(&to).unwrap();
        let name = format!("{kind}_{}.json", test.replace([':', ' '], "_"));
        fs::write(Path::new(&to).join(name), whole).unwrap();
    }
}

/// Returns the frozen stores: the test that has left each behind, and its rows.
fn stores(frozen: &str) -> impl Iterator<Item = (&str, &str)> {
    let stores = frozen.split("-- store ").skip(1);
    stores.map(|store| store.split_once('\n').unwrap())
}

#[tokio::test]
async fn s5_14_the_stores_of_every_test_in_sqlite_are_read_as_before() {
    let folder = env::temp_dir().join(format!("agents-frozen-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let empty = folder.join("empty.db");
    let db = Connection::open(&empty).unwrap();
    db.execute_batch(include_str!("sqlite.schema.sql")).unwrap();
    drop(db);
    let mut lines = String::new();
    for (nth, (test, rows)) in stores(include_str!("sqlite.sql")).enumerate() {
        let file = folder.join(format!("{nth}.db"));
        fs::copy(&empty, &file).unwrap();
        let db = Connection::open(&file).unwrap();
        db.execute_batch(&format!("BEGIN;\n{rows}COMMIT;")).unwrap();
        drop(db);
        let store = SqliteStore::open(&file).await.unwrap();
        let store = store.clock(|| Timestamp::from_millis(NOW));
        tell(
            &mut lines,
            "sqlite",
            test,
            Runtime::client(store).keyring(Zeros),
        )
        .await;
    }
    fs::remove_dir_all(&folder).unwrap();
    expect_file!["sqlite.read"].assert_eq(&lines);
}

/// Does these statements in a database.
async fn execute(settings: &Config, sql: &str) {
    let (client, connection) = settings.connect(NoTls).await.unwrap();
    let driver = tokio::spawn(connection);
    client.batch_execute(sql).await.unwrap();
    drop(client);
    driver.await.unwrap().unwrap();
}

#[tokio::test]
async fn s5_14_the_stores_of_every_test_in_postgresql_are_read_as_before() {
    let Some(server) = Server::shared() else {
        return;
    };
    let (empty, other) = (server.database().await, server.database().await);
    let settings = |name: &str| {
        let mut settings: Config = empty.address().parse().unwrap();
        settings.dbname(name);
        settings
    };
    execute(&settings(empty.name()), include_str!("postgres.schema.sql")).await;
    // The server's clock stands still for whoever looks for it in the path of the database.
    let clock = format!(
        "CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql AS 'SELECT to_timestamp({NOW} / 1000.0)'"
    );
    execute(&settings(empty.name()), &clock).await;
    let mut lines = String::new();
    for (nth, (test, rows)) in stores(include_str!("postgres.sql")).enumerate() {
        let name = format!("{}_{nth}", empty.name());
        let copy = format!("CREATE DATABASE {name} TEMPLATE {}", empty.name());
        execute(&settings(other.name()), &copy).await;
        execute(&settings(&name), rows).await;
        let path = format!("ALTER DATABASE {name} SET search_path = public, pg_catalog");
        execute(&settings(other.name()), &path).await;
        let address = empty.address().replace(empty.name(), &name);
        let store = PostgresStore::connect(&address).await.unwrap();
        tell(
            &mut lines,
            "postgres",
            test,
            Runtime::client(store).keyring(Zeros),
        )
        .await;
        let gone = format!("DROP DATABASE {name} WITH (FORCE)");
        execute(&settings(other.name()), &gone).await;
    }
    expect_file!["postgres.read"].assert_eq(&lines);
}
