use crate::{server::World, shop};
use agents::{
    Effects,
    tool::{FnTool, NeedsApproval, ToolSpec},
};
use agents_runtime::{
    AgentRef, Approval, FileKeyring, PostgresStore, Principal, Progress, RunRef, Runtime,
};
use serde_json::{Value, json};
use std::{io, time::Duration};
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::CancellationToken;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Tool whose calls need approval.
fn pay() -> FnTool {
    let schema = json!({"type": "object", "properties": {"amount": {"type": "integer"}}});
    let spec =
        ToolSpec::new("pay", "Pays.", Effects::Writes, schema).approval(NeedsApproval::Always);
    FnTool::with_spec(spec, |_: Value, _| async { Ok::<_, io::Error>("paid") })
}

/// Opens the runtime of a world, whose requests expire after this time, with the agent that pays once.
async fn open(world: &World, expires: Duration) -> (Runtime, AgentRef<String, String>) {
    let address = world.database.address();
    let runtime = Runtime::open(PostgresStore::connect(address).await.unwrap())
        .keyring(FileKeyring::open(world.folder.path().join("keys")).unwrap())
        .requests_expire_after(expires);
    let cashier = runtime.agent(shop::cashier(pay(), 1));
    (runtime, cashier)
}

/// Worker in this process.
struct Office {
    cashier: AgentRef<String, String>,
    runtime: Runtime,
    stop: CancellationToken,
    worker: JoinHandle<()>,
}

impl Office {
    async fn open(world: &World, expires: Duration) -> Office {
        let (runtime, cashier) = open(world, expires).await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let workers = listener.local_addr().unwrap();
        let (restate, stop) = (world.node.restate(), CancellationToken::new());
        let work = {
            let (runtime, stop) = (runtime.clone(), stop.clone());
            async move { restate.work(runtime, listener, stop).await }
        };
        let worker = tokio::spawn(work);
        world.node.register(workers).await;
        // The relay begins with the events that come after its first look.
        world
            .node
            .restate()
            .wake_all(runtime.as_client())
            .await
            .unwrap();
        Office {
            cashier,
            runtime,
            stop,
            worker,
        }
    }

    async fn start(&self) -> RunRef<String> {
        self.cashier.run("Pay.").start().await.unwrap()
    }

    async fn close(self) {
        self.stop.cancel();
        self.worker.await.unwrap();
    }
}

/// Waits until a run asks for a decision, and returns the id of its request.
async fn request(run: &RunRef<String>) -> String {
    for _ in 0..600 {
        match run.progress().await.unwrap() {
            Progress::Waiting(requests) if !requests.is_empty() => return requests[0].id.clone(),
            Progress::Running | Progress::Waiting(_) => {}
            other => panic!("{other:?}"),
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("it does not ask");
}

async fn done(run: &RunRef<String>) -> agents::Outcome<String> {
    match run.wait(Duration::from_secs(60)).await.unwrap() {
        Progress::Done(outcome) => outcome,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_wakes_its_run() {
    let Some(world) = World::start().await else {
        return;
    };
    let office = Office::open(&world, DAY).await;
    let run = office.start().await;
    let id = request(&run).await;
    let approvals = office.runtime.approvals();
    let operator = Principal::operator();
    let decided = approvals.decide(&id, Approval::Approve, &operator);
    decided.await.unwrap();
    assert_eq!(done(&run).await.result.unwrap(), "done");
    office.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_timer_of_the_engine_ends_a_request_that_nobody_decides() {
    let Some(world) = World::start().await else {
        return;
    };
    let office = Office::open(&world, Duration::from_secs(2)).await;
    let run = office.start().await;
    let outcome = done(&run).await;
    let receipt = outcome.outputs.receipts().next().unwrap();
    assert_eq!(
        receipt.error.as_ref().unwrap().code,
        agents::Code::PolicyDenied
    );
    office.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_cancelled_and_one_that_was_paused_goes_on() {
    let Some(world) = World::start().await else {
        return;
    };
    let office = Office::open(&world, DAY).await;
    let operator = Principal::operator();
    let run = office.start().await;
    request(&run).await;
    run.cancel(&operator).await.unwrap();
    let error = done(&run).await.result.unwrap_err();
    assert_eq!(error.kind(), agents::ErrorKind::Cancelled);

    let run = office.start().await;
    let id = request(&run).await;
    run.pause(&operator).await.unwrap();
    let approvals = office.runtime.approvals();
    let decided = approvals.decide(&id, Approval::Approve, &operator);
    decided.await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(matches!(run.progress().await.unwrap(), Progress::Held(_)));
    let client = office.runtime.as_client();
    client.release(run.id(), &operator).await.unwrap();
    done(&run).await;
    office.close().await;
}

/// Runs that were stored before Restate came are woken by hand, once.
#[tokio::test(flavor = "multi_thread")]
async fn runs_from_before_are_woken() {
    let Some(world) = World::start().await else {
        return;
    };
    let (_, cashier) = open(&world, DAY).await;
    let mut runs = Vec::new();
    for _ in 0..3 {
        runs.push(cashier.run("Pay.").start().await.unwrap());
    }
    let office = Office::open(&world, DAY).await;
    for run in &runs {
        request(run).await;
    }
    let restate = world.node.restate();
    let woken = restate.wake_all(office.runtime.as_client());
    assert_eq!(woken.await.unwrap(), 3);
    office.close().await;
}

/// A message whose turn has not come is called again until the one before it is over.
#[tokio::test(flavor = "multi_thread")]
async fn messages_of_a_conversation_go_one_after_the_other() {
    let Some(world) = World::start().await else {
        return;
    };
    let office = Office::open(&world, DAY).await;
    let chat = office.cashier.chat("case-7");
    let first = chat.send("Pay.").start().await.unwrap();
    let id = request(&first).await;
    let second = chat.send("Is it paid?").start().await.unwrap();
    let early = second.wait(Duration::from_secs(2)).await.unwrap();
    assert!(matches!(early, Progress::Running), "{early:?}");
    let (approvals, operator) = (office.runtime.approvals(), Principal::operator());
    let decided = approvals.decide(&id, Approval::Approve, &operator);
    decided.await.unwrap();
    assert_eq!(done(&first).await.result.unwrap(), "done");
    assert_eq!(done(&second).await.result.unwrap(), "done");
    office.close().await;
}
