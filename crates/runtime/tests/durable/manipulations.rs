//! Every column of every table, changed by hand while a run waits, is ready, is running, or is over: no change makes a
//! worker pay more than a person has approved.

use crate::office::*;
use agents::{
    async_trait,
    model::{Message, Model, ModelError, Reply, Request, ToolCall},
};
use agents_needs::postgres::{Database, Server};
use agents_runtime::{
    AgentRef, Approval, FileKeyring, PostgresStore, Principal, Progress, RunRef, Runtime,
    SqliteStore,
};
use agents_store::{ApprovalFilter, Claim, Store};
use deadpool_postgres::tokio_postgres::{self, NoTls};
use expect_test::expect_file;
use futures_util::{StreamExt, stream};
use rusqlite::Connection;
use serde_json::json;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

/// A model that asks for a payment until it sees a result, whatever was asked of it before.
struct Payer;

#[async_trait]
impl Model for Payer {
    fn id(&self) -> &str {
        "test/payer"
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        let has_paid = request
            .messages()
            .iter()
            .any(|message| matches!(message, Message::Tool { .. }));
        Ok(match has_paid {
            true => Reply {
                content: "Paid.".to_owned(),
                ..Reply::default()
            },
            false => Reply {
                calls: vec![ToolCall {
                    id: String::new(),
                    name: "pay".to_owned(),
                    arguments: json!({"cents": 900, "to": "ada@example.com"}).to_string(),
                }],
                ..Reply::default()
            },
        })
    }
}

/// State of a run when somebody changes the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    Waiting,
    Ready,
    Running,
    Done,
}

/// Value that somebody writes into a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Value {
    Null,
    Another,
    /// The value that the column had in an earlier state of the run.
    Older,
    /// The value of another row.
    OfAnotherRow,
}

/// Change of one column by hand.
#[derive(Clone, Debug)]
struct Change {
    state: State,
    column: Column,
    value: Value,
}

#[derive(Clone, Debug)]
struct Column {
    table: String,
    name: String,
    /// Type in lower case, as the database has it.
    of_type: String,
    /// Columns of the primary key of the table.
    keys: Vec<String>,
}

/// End of a run whose database was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Paid,
    Held,
    /// The run goes on with no payment: it still waits, is over, or cannot be claimed.
    Quiet,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Column { table, name, .. } = &self.column;
        write!(f, "{:?}: {table}.{name} = {:?}", self.state, self.value)
    }
}

impl Change {
    /// Returns the statement of the change. The tables `old_..` are those of an earlier state.
    fn sql(&self) -> String {
        let Column {
            table,
            name,
            of_type,
            keys,
        } = &self.column;
        let same = keys
            .iter()
            .map(|key| format!("other.{key} = {table}.{key}"));
        let same = same.collect::<Vec<_>>().join(" AND ");
        let value = match (self.value, &**name, &**of_type) {
            (Value::Null, _, _) => "NULL".to_owned(),
            (Value::Older, _, _) => format!("(SELECT other.{name} FROM old_{table} AS other WHERE {same})"),
            (Value::OfAnotherRow, _, _) => {
                format!("(SELECT other.{name} FROM {table} AS other WHERE NOT ({same}) LIMIT 1)")
            }
            (_, "status", _) => "CASE status WHEN 'ready' THEN 'waiting' WHEN 'approved' THEN 'consumed' WHEN 'pending' \
                                 THEN 'approved' ELSE 'ready' END".to_owned(),
            (_, "ended", _) => "CASE WHEN ended IS NULL THEN 'answered' ELSE 'failed' END".to_owned(),
            (_, "risk_level", _) => "'low'".to_owned(),
            (_, "kind", _) => "CASE kind WHEN 'denied' THEN 'approved' ELSE 'instructed' END".to_owned(),
            (_, "mode", _) => "'off'".to_owned(),
            (_, _, "boolean") => format!("NOT {name}"),
            (_, _, "integer" | "bigint") => format!("{name} + 1000000"),
            (_, _, "blob") => format!("zeroblob(length({name}))"),
            (_, _, "bytea") => format!("decode(repeat('00', length({name})), 'hex')"),
            _ => "'x'".to_owned(),
        };
        format!("UPDATE {table} SET {name} = {value} WHERE {name} IS DISTINCT FROM {value}")
    }
}

/// Database with its keyring, in a file or on a server.
struct Place {
    files: Files,
    database: Option<Database>,
}

impl Place {
    async fn new(name: &str, server: Option<&Server>) -> Self {
        let database = match server {
            Some(server) => Some(server.database().await),
            None => None,
        };
        Place {
            files: Files::new(name),
            database,
        }
    }

    /// Copies the database. Nothing may be connected with it.
    async fn copy(&self, name: &str, server: Option<&Server>) -> Self {
        let files = Files::new(name);
        let database = match (server, &self.database) {
            (Some(server), Some(database)) => Some(server.copy_of(database).await),
            _ => {
                self.execute(&format!("VACUUM INTO '{}'", files.db().display()))
                    .await
                    .unwrap();
                None
            }
        };
        Place { files, database }
    }

    async fn store(&self) -> Arc<dyn Store> {
        match &self.database {
            Some(database) => Arc::new(PostgresStore::connect(database.address()).await.unwrap()),
            None => Arc::new(SqliteStore::open(self.files.db()).await.unwrap()),
        }
    }

    /// Carries out a statement, as somebody without the keys could. Returns the number of rows that it changes.
    async fn execute(&self, sql: &str) -> Result<u64, String> {
        let Some(database) = &self.database else {
            let db = Connection::open(self.files.db()).unwrap();
            db.pragma_update(None, "foreign_keys", false).unwrap();
            let rows = db.execute(sql, []).map_err(|error| error.to_string())?;
            return Ok(rows as u64);
        };
        let (client, connection) = tokio_postgres::connect(database.address(), NoTls)
            .await
            .unwrap();
        let connection = tokio::spawn(connection);
        let rows = client
            .execute(sql, &[])
            .await
            .map_err(|error| error.to_string());
        drop(client);
        let _ = connection.await;
        rows
    }

    /// Returns the columns of all tables of the store.
    async fn columns(&self) -> Vec<Column> {
        let rows: Vec<(String, String, String, bool)> = match &self.database {
            None => {
                let db = Connection::open(self.files.db()).unwrap();
                let mut found = db
                    .prepare(
                        "SELECT tables.name, columns.name, lower(columns.type), columns.pk > 0
                         FROM sqlite_master AS tables, pragma_table_info(tables.name) AS columns
                         WHERE tables.type = 'table' AND tables.name LIKE 'agent\\_%' ESCAPE '\\'
                         ORDER BY tables.name, columns.cid",
                    )
                    .unwrap();
                let rows = found.query_map([], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
                });
                rows.unwrap().collect::<Result<_, _>>().unwrap()
            }
            Some(database) => {
                let (client, connection) = tokio_postgres::connect(database.address(), NoTls)
                    .await
                    .unwrap();
                let connection = tokio::spawn(connection);
                let sql = "SELECT c.table_name::text, c.column_name::text, c.data_type::text, k.column_name IS NOT NULL
                     FROM information_schema.columns c
                     LEFT JOIN (information_schema.key_column_usage k JOIN information_schema.table_constraints t
                         ON t.constraint_name = k.constraint_name AND t.table_name = k.table_name AND t.constraint_type = 'PRIMARY KEY')
                         ON k.table_name = c.table_name AND k.column_name = c.column_name
                     WHERE c.table_name LIKE 'agent\\_%' ORDER BY c.table_name, c.ordinal_position";
                let rows = client.query(sql, &[]).await.unwrap();
                let rows = rows
                    .iter()
                    .map(|row| (row.get(0), row.get(1), row.get(2), row.get(3)));
                let rows = rows.collect();
                drop(client);
                let _ = connection.await;
                rows
            }
        };
        let mut keys: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (table, name, _, _) in rows.iter().filter(|(.., is_key)| *is_key) {
            keys.entry(table.clone()).or_default().push(name.clone());
        }
        let rows = rows.into_iter().map(|(table, name, of_type, _)| Column {
            keys: keys.get(&table).cloned().unwrap_or_default(),
            table,
            name,
            of_type,
        });
        rows.collect()
    }

    async fn runtime(&self, keys: PathBuf, ran: &Ran) -> (Runtime, AgentRef<String, String>) {
        let runtime = Runtime::open(self.store().await)
            .keyring(FileKeyring::open(keys).unwrap())
            .model(Payer);
        let payer = runtime.agent(payer(pay_of(ran, "1.0.0")));
        (runtime, payer)
    }
}

/// Database of a run in each of its states, and of a run of another tenant that is over.
struct States {
    run: String,
    keys: PathBuf,
    places: BTreeMap<State, Place>,
    columns: Vec<Column>,
    _live: Place,
}

/// Approves a request with other arguments, in a process of its own.
async fn approve(place: &Place, keys: PathBuf, tenant: &str, cents: u64) {
    let client = Runtime::client(place.store().await).keyring(FileKeyring::open(keys).unwrap());
    let by = Principal::new("grace", tenant);
    let filter = ApprovalFilter::default();
    for request in client
        .approvals()
        .list(&filter, &by)
        .await
        .unwrap_or_default()
    {
        let edited = Approval::approve_with(json!({"cents": cents}));
        let _ = client.approvals().decide(&request.id, edited, &by).await;
    }
}

async fn states(name: &str, server: Option<&Server>) -> States {
    let live = Place::new(name, server).await;
    let (keys, ran) = (live.files.keys(), Ran::default());
    let mut places = BTreeMap::new();
    let (runtime, payer) = live.runtime(keys.clone(), &ran).await;
    let worker = Worker::start(&runtime);
    let other = payer.run("Pay the other bills.").scope("globex");
    let other = other
        .by(&Principal::new("gil", "globex"))
        .start()
        .await
        .unwrap();
    waiting(&other).await;
    approve(&live, keys.clone(), "globex", 7).await;
    done(&other).await;
    worker.stop().await;
    let run = payer
        .run("Pay the bills.")
        .scope("acme")
        .by(&ada())
        .start()
        .await
        .unwrap();
    let id = run.id().to_owned();
    let columns = live.columns().await;
    drop((run, other, payer, runtime));
    for state in [State::Waiting, State::Ready, State::Running, State::Done] {
        for table in columns
            .iter()
            .map(|column| &column.table)
            .collect::<BTreeSet<_>>()
        {
            live.execute(&format!("DROP TABLE IF EXISTS old_{table}"))
                .await
                .unwrap();
            live.execute(&format!(
                "CREATE TABLE old_{table} AS SELECT * FROM {table}"
            ))
            .await
            .unwrap();
        }
        {
            let (runtime, _payer) = live.runtime(keys.clone(), &ran).await;
            let run: RunRef<String> = runtime.as_client().run(&id);
            match state {
                State::Waiting => {
                    let worker = Worker::start(&runtime);
                    waiting(&run).await;
                    worker.stop().await;
                }
                State::Ready => approve(&live, keys.clone(), "acme", 9).await,
                // A worker that dies at once.
                State::Running => {
                    let claim = Claim {
                        worker: "dies".to_owned(),
                        agents: vec!["payer".to_owned()],
                        run: None,
                        time: Duration::ZERO,
                        per_tenant: 0,
                        most_claims: 3,
                        alone: true,
                    };
                    let store = runtime.as_client().store().await.unwrap();
                    store.claim(&claim).await.unwrap().unwrap();
                }
                State::Done => {
                    let worker = Worker::start(&runtime);
                    done(&run).await;
                    worker.stop().await;
                }
            }
        }
        places.insert(state, live.copy(&format!("{name}-{state:?}"), server).await);
    }
    assert_eq!(*ran.lock().unwrap(), [json!(7), json!(9)]);
    States {
        run: id,
        keys,
        places,
        columns,
        _live: live,
    }
}

/// Changes a copy of the database, decides if the run waits, and lets a worker go on. Returns what came of it, and whether
/// `verify` has named a change; `None` if the database refuses the change, or it changes no row.
async fn changed(
    states: &States,
    change: &Change,
    name: String,
    server: Option<&Server>,
) -> Option<(End, bool)> {
    let place = states.places[&change.state].copy(&name, server).await;
    if place.execute(&change.sql()).await.unwrap_or(0) == 0 {
        return None;
    }
    if change.state == State::Waiting {
        approve(&place, states.keys.clone(), "acme", 9).await;
    }
    let ran = Ran::default();
    let (runtime, _payer) = place.runtime(states.keys.clone(), &ran).await;
    let worker = Worker::start(&runtime);
    let run: RunRef<String> = runtime.as_client().run(&states.run);
    let mut is_held = false;
    for _ in 0..40 {
        match run.progress().await {
            Ok(Progress::Done(_)) | Err(_) => break,
            Ok(Progress::Held(_)) => {
                is_held = true;
                break;
            }
            Ok(_) => tokio::time::sleep(Duration::from_millis(25)).await,
        }
    }
    worker.stop().await;
    let verdict = runtime.audit().verify().await;
    let is_named = verdict.is_err() || verdict.is_ok_and(|verdict| !verdict.is_intact());
    drop(runtime);
    if let Some(database) = place.database {
        database.remove();
    }
    let ran = ran.lock().unwrap().clone();
    // What was approved is paid at most once, and nothing else.
    let may_pay = change.state != State::Done;
    assert!(
        ran.is_empty() || may_pay && ran == [json!(9)],
        "{change}: paid {ran:?}"
    );
    let end = match (ran.is_empty(), is_held) {
        (false, _) => End::Paid,
        (true, true) => End::Held,
        (true, false) => End::Quiet,
    };
    Some((end, is_named))
}

/// Makes one of `every` changes of each column, and prints what came of them. Returns the columns whose change nobody has
/// named, if all changes were made.
async fn manipulated(name: &str, server: Option<&Server>, every: usize) -> Option<Vec<String>> {
    let states = states(name, server).await;
    let values = [
        Value::Null,
        Value::Another,
        Value::Older,
        Value::OfAnotherRow,
    ];
    let mut changes = Vec::new();
    for column in &states.columns {
        for &state in states.places.keys() {
            changes.extend(values.map(|value| Change {
                state,
                column: column.clone(),
                value,
            }));
        }
    }
    let changes: Vec<_> = changes.into_iter().step_by(every).collect();
    let ends: Vec<_> = stream::iter(changes.iter().enumerate())
        .map(|(number, change)| changed(&states, change, format!("{name}-{number}"), server))
        .buffered(8)
        .collect()
        .await;
    let mut table: BTreeMap<(State, End, bool), usize> = BTreeMap::new();
    let mut unnamed = BTreeSet::new();
    for (change, end) in changes.iter().zip(ends) {
        let Some((end, is_named)) = end else { continue };
        *table.entry((change.state, end, is_named)).or_default() += 1;
        if !is_named {
            unnamed.insert(format!("{}.{}", change.column.table, change.column.name));
        }
    }
    assert!(!table.is_empty(), "some changes are possible");
    for ((state, end, is_named), many) in table {
        let named = if is_named { "named" } else { "not named" };
        println!("{name}: {state:?}: {many} {end:?}, {named}");
    }
    (every == 1).then(|| unnamed.into_iter().collect())
}

/// Returns of how many changes one is made, of a hundred at most.
fn every() -> usize {
    100 / agents_needs::cases(100) as usize
}

#[tokio::test(flavor = "multi_thread")]
async fn no_change_of_a_column_in_sqlite_pays_more_than_was_approved() {
    if let Some(unnamed) = manipulated("manipulated", None, every()).await {
        expect_file!["manipulations.txt"].assert_eq(&(unnamed.join("\n") + "\n"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_change_of_a_column_in_postgres_pays_more_than_was_approved() {
    let Some(server) = Server::shared() else {
        return;
    };
    // A database takes a second.
    manipulated("manipulated-postgres", Some(server), every().pow(2)).await;
}
