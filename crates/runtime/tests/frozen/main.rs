//! Stores of the tests of November 2026, in `stores.sql`: the rows that each durable test left behind in SQLite, with the
//! tables of `schema.sql`. They are never rewritten, and are brought up to date by migrations as any older store. What
//! today's code reads from each is in `stores.read`; where it is meant to change, `UPDATE_EXPECT=1` writes it anew, and
//! with `AGENTS_FROZEN=DIR` what was read goes into a file for each store, to be compared with that of another version.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]

use agents_core::run::Timestamp;
use agents_runtime::{AuditKey, Client, Keyring, Principal, Runtime, SqliteStore, TenantKey};
use agents_store::{ApprovalFilter, AuditFilter, Run, RunFilter};
use expect_test::expect_file;
use hmac_sha256::Hash;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::{collections::BTreeMap, env, fmt::Write, fs, io, path::Path};

const SCHEMA: &str = include_str!("schema.sql");
const STORES: &str = include_str!("stores.sql");

/// Time at which the stores are read, in milliseconds since 1970: a day after they were written, an open request expires.
const NOW: u64 = 1_795_917_600_000;

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

#[tokio::test]
async fn s5_14_the_stores_of_every_test_are_read_as_before() {
    let folder = env::temp_dir().join(format!("agents-frozen-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let empty = folder.join("empty.db");
    Connection::open(&empty)
        .unwrap()
        .execute_batch(SCHEMA)
        .unwrap();
    let mut lines = String::new();
    for store in STORES.split("-- store ").skip(1) {
        let (test, rows) = store.split_once('\n').unwrap();
        let file = folder.join("one.db");
        fs::copy(&empty, &file).unwrap();
        let db = Connection::open(&file).unwrap();
        db.execute_batch(&format!("BEGIN;\n{rows}COMMIT;")).unwrap();
        drop(db);
        let store = SqliteStore::open(&file)
            .await
            .unwrap()
            .clock(|| Timestamp::from_millis(NOW));
        let client = Runtime::client(store).keyring(Zeros);
        let verdict = or_error(client.audit().verify().await, |verdict| json!(verdict));
        let mut read = BTreeMap::from([("verdict".to_owned(), verdict)]);
        writeln!(lines, "{test}").unwrap();
        for run in client.runs(&RunFilter::default()).await.unwrap() {
            let one = read_run(&client, &run).await;
            let events = &one["journal"]["events"];
            writeln!(
                lines,
                "  {} {:?}: {} events, {} requests, {} executions, {} in the trail",
                run.agent,
                run.status,
                if one["journal"].is_null() {
                    "no".to_owned()
                } else {
                    count(events)
                },
                count(&one["requests"]),
                count(&one["executions"]),
                count(&one["trail"]),
            )
            .unwrap();
            read.insert(run.id.clone(), one);
        }
        let whole = serde_json::to_string_pretty(&read).unwrap();
        let digest: String = Hash::hash(whole.as_bytes())[..8]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let flaws = count(&read["verdict"]["flaws"]);
        writeln!(lines, "  {flaws} flaws, {digest}").unwrap();
        if let Some(to) = env::var_os("AGENTS_FROZEN") {
            fs::create_dir_all(&to).unwrap();
            let name = format!("{}.json", test.replace([':', ' '], "_"));
            fs::write(Path::new(&to).join(name), whole).unwrap();
        }
        for end in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(folder.join(format!("one.db{end}")));
        }
    }
    fs::remove_dir_all(&folder).unwrap();
    expect_file!["stores.read"].assert_eq(&lines);
}
