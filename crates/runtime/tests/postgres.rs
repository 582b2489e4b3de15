//! Durable runs in a PostgreSQL database whose connections break.

#![cfg(unix)]
// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]

use agents::{
    AgentBuilder,
    testing::{Script, ScriptedModel},
};
use agents_needs::postgres::Server;
use agents_runtime::{FileKeyring, PostgresStore, Progress, Runtime};
use deadpool_postgres::tokio_postgres::{self, NoTls};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A run that cannot be read for a moment has nothing wrong with it.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_journal_cannot_be_read_once_is_not_held() {
    let Some(server) = Server::shared() else {
        return;
    };
    let database = server.database().await;
    let keys = std::env::temp_dir().join(format!("agents-postgres-keys-{}", std::process::id()));
    let (model, _) = ScriptedModel::new([Script::text("Done.")]);
    let runtime = Runtime::open(PostgresStore::connect(database.address()).await.unwrap())
        .keyring(FileKeyring::open(&keys).unwrap())
        .model(model);
    let agent = AgentBuilder::<String, String>::new("payer").prompt("Pay.");
    let payer = runtime.agent(agent.build());
    let run = payer.run("Pay.").start().await.unwrap();

    let connected = tokio_postgres::connect(database.address(), NoTls).await;
    let (owner, connection) = connected.unwrap();
    tokio::spawn(connection);
    let lock = "BEGIN; LOCK TABLE agent_run_commits IN ACCESS EXCLUSIVE MODE";
    owner.batch_execute(lock).await.unwrap();
    let stop = CancellationToken::new();
    let worker = tokio::spawn(runtime.clone().work(stop.clone()));
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE wait_event_type = 'Lock' AND datname = current_database()";
    // A transaction sees what it saw first, until it is told to look again.
    let look = "SELECT pg_stat_clear_snapshot()";
    while owner.query(end, &[]).await.unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
        owner.batch_execute(look).await.unwrap();
    }
    owner.batch_execute("COMMIT").await.unwrap();

    loop {
        match run.wait(Duration::from_secs(20)).await.unwrap() {
            Progress::Done(outcome) => break assert_eq!(outcome.result.unwrap(), "Done."),
            Progress::Running => {}
            other => panic!("{other:?}"),
        }
    }
    stop.cancel();
    worker.await.unwrap();
    for end in ["", ".lock"] {
        let _ = std::fs::remove_file(format!("{}{end}", keys.display()));
    }
}
