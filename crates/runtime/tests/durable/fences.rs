//! Leases that end in the middle of a tool, and tokens by which other systems notice it.

use crate::{
    office::{Worker, done},
    stores::{Place, each},
};
use agents::{
    Agent, AgentBuilder, Effects, Error,
    model::{Model, ModelError, Reply, Request, ToolCall},
    testing::{Script, ScriptedModel},
    tool::{FnTool, ToolSpec},
};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// System that keeps the greatest token of each run.
#[derive(Clone, Default)]
struct Bank {
    greatest: Arc<Mutex<HashMap<String, u64>>>,
    paid: Arc<Mutex<Vec<u64>>>,
    refused: Arc<Mutex<Vec<u64>>>,
    /// Lets the worker that stands still go on.
    wakes: Arc<Notify>,
}

impl Bank {
    fn pay(&self, run: &str, fence: u64) {
        let mut greatest = self.greatest.lock().unwrap();
        let greatest = greatest.entry(run.to_owned()).or_default();
        let is_old = fence < *greatest;
        *greatest = fence.max(*greatest);
        let list = if is_old { &self.refused } else { &self.paid };
        list.lock().unwrap().push(fence);
    }
}

/// Tool whose first execution stands still before it pays, and does not notice that it is dropped.
fn pay(bank: Bank) -> FnTool {
    let spec = ToolSpec::new("pay", "Pays.", Effects::Writes, json!({"type": "object"}));
    let spec = spec.version("1.0.0").idempotent();
    FnTool::with_spec(spec, move |_: Value, cx| {
        let bank = bank.clone();
        async move {
            let (run, fence) = (cx.run_id().to_owned(), cx.fence().unwrap());
            let is_first = cx.attempt() == 1;
            let pays = async move {
                if is_first {
                    bank.wakes.notified().await;
                }
                bank.pay(&run, fence);
            };
            // The task goes on when the execution is dropped.
            tokio::spawn(pays).await.unwrap();
            Ok::<_, Error>("paid")
        }
    })
}

#[tokio::test]
async fn a_worker_that_has_lost_its_run_is_refused_by_a_system_that_checks_the_token() {
    each(async |place| {
        let bank = Bank::default();
        let (model, _) = ScriptedModel::new([Script::call("pay", "{}"), Script::text("Paid.")]);
        let runtime = place.runtime().await.model(model);
        let runtime = runtime.lease(Duration::from_secs(1));
        let agent = AgentBuilder::<String, String>::new("payer").tool(pay(bank.clone()));
        let payer = runtime.agent(agent.build());
        let run = payer.run("Pay.").start().await.unwrap();
        // The worker stands still in the middle of the tool, and its lease ends.
        let first = tokio::spawn(runtime.clone().work(CancellationToken::new()));
        let executions = agents_store::ExecutionFilter::default();
        let store = place.store().await;
        while store.executions(&executions).await.unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        first.abort();
        let _ = first.await;
        let _second = Worker::start(&runtime);
        assert_eq!(done(&run).await.result.unwrap(), "Paid.");
        // It wakes up when the payment is made.
        bank.wakes.notify_one();
        tokio::time::timeout(Duration::from_secs(5), async {
            while bank.refused.lock().unwrap().is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await
        .unwrap();
        let (paid, refused) = (bank.paid.lock().unwrap(), bank.refused.lock().unwrap());
        assert_eq!((paid.len(), refused.len()), (1, 1));
        assert!(refused[0] < paid[0], "{refused:?} {paid:?}");
    })
    .await;
}

/// Model after whose first reply nobody can write for this time.
struct Blocks(PathBuf, Duration, AtomicBool);

#[agents::async_trait]
impl Model for Blocks {
    fn id(&self) -> &str {
        "blocks"
    }

    async fn chat(&self, _: Request<'_>) -> Result<Reply, ModelError> {
        if self.2.swap(true, SeqCst) {
            return Ok(Reply {
                content: "Paid.".to_owned(),
                ..Reply::default()
            });
        }
        let db = Connection::open(&self.0).unwrap();
        db.busy_timeout(Duration::from_secs(5)).unwrap();
        db.execute_batch("BEGIN IMMEDIATE").unwrap();
        let time = self.1;
        std::thread::spawn(move || {
            std::thread::sleep(time);
            db.execute_batch("COMMIT").unwrap();
        });
        Ok(Reply {
            calls: vec![ToolCall {
                id: String::new(),
                name: "pay".to_owned(),
                arguments: r#"{"cents": 1}"#.to_owned(),
            }],
            ..Reply::default()
        })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_lease_is_about_to_end_is_given_back_and_goes_on() {
    let place = Place::of_file();
    let lease = Duration::from_secs(2);
    let model = Blocks(
        place.address().into(),
        lease + lease / 20,
        AtomicBool::default(),
    );
    let runtime = place.runtime().await.model(model).lease(lease);
    let bank = Bank::default();
    bank.wakes.notify_one();
    let agent = AgentBuilder::<String, String>::new("payer").tool(pay(bank.clone()));
    let payer = runtime.agent(agent.build());
    let _worker = Worker::start(&runtime);
    let run = payer.run("Pay.").start().await.unwrap();
    assert_eq!(done(&run).await.result.unwrap(), "Paid.");
    assert_eq!(bank.paid.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_run_without_a_runtime_has_no_token() {
    let seen = Arc::new(Mutex::new(None));
    let sees = seen.clone();
    let look = FnTool::new(
        "look",
        "Looks.",
        Effects::Reads,
        json!({"type": "object"}),
        move |_, cx| {
            *sees.lock().unwrap() = Some(cx.fence());
            async { Ok::<_, Error>("dark") }
        },
    );
    let (model, _) = ScriptedModel::new([Script::call("look", "{}"), Script::text("dark")]);
    let agent = AgentBuilder::<String, String>::new("watcher")
        .tool(look)
        .model(model)
        .build();
    agent.run("?").await.unwrap();
    assert_eq!(*seen.lock().unwrap(), Some(None));
}
