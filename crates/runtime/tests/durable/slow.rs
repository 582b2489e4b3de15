//! A store that is slow: another process holds its file for longer than the store waits.

use crate::office::*;
use agents::{
    Effects, Error,
    testing::{Script, ScriptedModel},
    tool::{FnTool, ToolSpec},
};
use agents_runtime::{Runtime, SqliteStore};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::sync::Semaphore;

/// The store waits for 10 seconds.
const LOCKED: Duration = Duration::from_secs(11);

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_that_cannot_be_stored_for_a_while_is_stored_later_and_made_once() {
    let files = Files::new("slow");
    let store = SqliteStore::open(files.db()).await.unwrap();
    let (model, _) = ScriptedModel::new([pays(900), Script::text("Paid.")]);
    let runtime = Runtime::open(store).model(model);
    let (begun, may_end) = (
        Arc::new(AtomicU32::new(0)),
        Arc::new(Semaphore::const_new(0)),
    );
    let spec = ToolSpec::new("pay", "Pays.", Effects::Writes, json!({"type": "object"}));
    let tool = FnTool::with_spec(spec, {
        let (begun, may_end) = (begun.clone(), may_end.clone());
        move |_: Value, _| {
            let (begun, may_end) = (begun.clone(), may_end.clone());
            async move {
                begun.fetch_add(1, SeqCst);
                may_end.acquire().await.unwrap().forget();
                Ok::<_, Error>("paid")
            }
        }
    });
    let payer = runtime.agent(payer(tool));
    let _worker = Worker::start(&runtime);
    let run = payer.run("Pay the bills.").start().await.unwrap();
    while begun.load(SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let other = Connection::open(files.db()).unwrap();
    other.busy_timeout(Duration::from_secs(5)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    may_end.add_permits(1);
    tokio::time::sleep(LOCKED).await;
    other.execute_batch("COMMIT").unwrap();
    let outcome = done(&run).await;
    assert_eq!(outcome.result.unwrap(), "Paid.");
    let receipt = outcome.outputs.last_tool.unwrap();
    assert!(receipt.is_ok(), "{receipt:?}");
    assert_eq!(begun.load(SeqCst), 1);
    let verdict = runtime.audit().verify().await.unwrap();
    assert!(verdict.is_intact(), "{verdict}");
}
