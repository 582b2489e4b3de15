//! Runs: started, awaited, cancelled, held, and kept under their lease.

use crate::office::*;
use agents::{
    AgentBuilder, Effects, Error, ErrorKind,
    testing::{Script, ScriptedModel},
    tool::{FnTool, Scope},
};
use agents_runtime::{Approval, Runtime, RuntimeErrorKind, SqliteStore};
use agents_store::{ErrorKind as Kind, RunFilter, RunStatus, Store};
use serde_json::{Value, json};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

#[tokio::test]
async fn awaiting_a_run_works_it_here() {
    let office = office([Script::text("Nothing to pay.")]).await;
    let answer = office.payer.run("Pay the bills.").await.unwrap();
    assert_eq!(answer, "Nothing to pay.");
}

#[tokio::test]
async fn a_key_stands_for_one_run() {
    let office = office([Script::text("Paid."), Script::text("Paid.")]).await;
    let start = |input: &str| office.payer.run(input).scope("acme").key("october").start();
    let first = start("Pay.").await.unwrap();
    let again = start("Pay.").await.unwrap();
    assert_eq!(first.id(), again.id());
    let error = start("Pay more.").await.unwrap_err();
    assert_eq!(error.kind(), RuntimeErrorKind::Invalid);
    assert!(error.to_string().contains("another input"), "{error}");
    let other = office.payer.run("Pay.").scope("other").key("october");
    let other = other.start().await.unwrap();
    assert_ne!(other.id(), first.id());
    let _worker = Worker::start(&office.runtime);
    done(&first).await.result.unwrap();
    done(&other).await.result.unwrap();
    assert_eq!(
        done(&start("Pay.").await.unwrap()).await.result.unwrap(),
        "Paid."
    );
    assert_eq!(
        office.model.requests().len(),
        2,
        "one for each of the two runs"
    );
}

#[tokio::test]
async fn a_waiting_run_is_cancelled() {
    let office = office([pays(900), Script::text("Paid.")]).await;
    let _worker = Worker::start(&office.runtime);
    let run = office.start().await;
    let request = waiting(&run).await.remove(0);
    run.cancel(&ada()).await.unwrap();
    let outcome = done(&run).await;
    assert_eq!(outcome.result.unwrap_err().kind(), ErrorKind::Cancelled);
    assert!(office.ran.lock().unwrap().is_empty());
    let late = office
        .decide(&request, Approval::Approve)
        .await
        .unwrap_err();
    assert_eq!(late.kind(), RuntimeErrorKind::Store(Kind::Settled));
    let ends = RunFilter {
        status: Some(RunStatus::Done),
        ..RunFilter::default()
    };
    let runs = office.store.runs(&ends).await.unwrap();
    assert_eq!(runs[0].cancelled_by.as_deref(), Some("ada"));
}

#[tokio::test]
async fn a12_a_call_of_another_version_holds_the_run_until_the_version_is_back() {
    let office = office([pays(900), Script::text("Paid.")]).await;
    let worker = Worker::start(&office.runtime);
    let run = office.start().await;
    let request = waiting(&run).await.remove(0);
    worker.stop().await;
    office.decide(&request, Approval::Approve).await.unwrap();

    let ran = Ran::default();
    let (model, _) = ScriptedModel::new([Script::text("Paid.")]);
    let deployed = Runtime::open(office.store.clone()).model(model);
    deployed.agent(payer(pay_of(&ran, "2.0.0")));
    let worker = Worker::start(&deployed);
    let why = held(&run).await;
    assert!(
        why.contains("version 1.0.0") && why.contains("version 2.0.0"),
        "{why}"
    );
    worker.stop().await;
    assert!(ran.lock().unwrap().is_empty());

    let _worker = Worker::start(&office.runtime);
    let client = office.runtime.as_client();
    client.release(run.id(), &grace()).await.unwrap();
    done(&run).await.result.unwrap();
    assert_eq!(*office.ran.lock().unwrap(), [json!(900)]);
}

#[tokio::test]
async fn a_body_that_blocks_its_thread_keeps_the_lease() {
    let set = |runtime: Runtime| runtime.lease(Duration::from_secs(1));
    let office = office_with([Script::call("block", "{}"), Script::text("Done.")], set).await;
    let calls = Arc::new(Mutex::new(0));
    let count = calls.clone();
    let block = FnTool::new(
        "block",
        "Blocks.",
        Effects::Writes,
        json!({"type": "object"}),
        move |_: Value, _| {
            *count.lock().unwrap() += 1;
            // Longer than the lease, and nothing else runs in this thread.
            std::thread::sleep(Duration::from_millis(2_500));
            async { Ok::<_, Error>("blocked") }
        },
    );
    let blocker = AgentBuilder::<String, String>::new("blocker")
        .tool(block)
        .build();
    let blocker = office.runtime.agent(blocker);
    let run = blocker.run("Go.").start().await.unwrap();
    let _worker = Worker::start(&office.runtime);
    assert_eq!(done(&run).await.result.unwrap(), "Done.");
    assert_eq!(*calls.lock().unwrap(), 1);
}

#[tokio::test]
async fn an_agent_is_made_for_the_scope_of_its_run() {
    let store = SqliteStore::in_memory().await.unwrap();
    let runtime = Runtime::open(store);
    let clerk = runtime.agent_for("clerk", |scope: &Scope| {
        let tenant = scope.tenant_id().to_owned();
        AgentBuilder::<String, String>::new("clerk")
            .skill(agents::agent::Skill::native(
                "greet",
                "Greets.",
                move |input: String| {
                    let tenant = tenant.clone();
                    async move { Ok(format!("{input}, {tenant}")) }
                },
            ))
            .build()
    });
    let answer = clerk.run("Hello").scope("acme").await.unwrap();
    assert_eq!(answer, "Hello, acme");
}

#[test]
#[should_panic(expected = "two agents of the name `payer`")]
fn two_agents_of_one_name_are_refused() {
    let store = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(SqliteStore::in_memory())
        .unwrap();
    let runtime = Runtime::open(store);
    for _ in 0..2 {
        runtime.agent(payer(pay_of(&Ran::default(), "1.0.0")));
    }
}
