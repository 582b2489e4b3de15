//! Workers without what a run needs, and tools that end their processes.

use crate::office::*;
use agents::{
    AgentBuilder, Effects, Error,
    policy::{named, no_external},
    testing::{Script, ScriptedModel},
    tool::{FnTool, ToolSpec},
};
use agents_runtime::{Approval, Progress, Runtime, SqliteStore};
use agents_store::{RunStatus, Store};
use serde_json::{Value, json};
use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

/// Starts a run whose call is approved, and which no worker has any more.
async fn approved(office: &Office) -> agents_runtime::RunRef<String> {
    let worker = Worker::start(&office.runtime);
    let run = office.start().await;
    let request = waiting(&run).await.remove(0);
    worker.stop().await;
    office.decide(&request, Approval::Approve).await.unwrap();
    run
}

/// The first runtime goes on with a run that was held, once it is released.
async fn goes_on(office: &Office, run: &agents_runtime::RunRef<String>) {
    let _worker = Worker::start(&office.runtime);
    let client = office.runtime.as_client();
    client.release(run.id(), &grace()).await.unwrap();
    done(run).await.result.unwrap();
    assert_eq!(*office.ran.lock().unwrap(), [json!(900)]);
}

#[tokio::test]
async fn a_worker_without_the_agent_leaves_its_runs_to_others() {
    let office = office([pays(900), Script::text("Paid.")]).await;
    let run = approved(&office).await;
    let deployed = Runtime::open(office.store.clone());
    deployed.agent(AgentBuilder::<String, String>::new("clerk").build());
    let worker = Worker::start(&deployed);
    tokio::time::sleep(Duration::from_millis(200)).await;
    worker.stop().await;
    let stored = office.store.run(run.id()).await.unwrap().unwrap();
    assert_eq!(stored.status, RunStatus::Ready);
    let _worker = Worker::start(&office.runtime);
    done(&run).await.result.unwrap();
    assert_eq!(*office.ran.lock().unwrap(), [json!(900)]);
}

#[tokio::test]
async fn a_run_whose_tool_is_gone_is_held_until_it_is_back() {
    let office = office([pays(900), Script::text("Paid.")]).await;
    let run = approved(&office).await;
    let (model, _) = ScriptedModel::new([Script::text("Paid.")]);
    let deployed = Runtime::open(office.store.clone()).model(model);
    let bare = AgentBuilder::<String, String>::new("payer").prompt("Pay the bills.");
    deployed.agent(bare.build());
    let worker = Worker::start(&deployed);
    let why = held(&run).await;
    assert!(why.contains("`pay`"), "{why}");
    worker.stop().await;
    goes_on(&office, &run).await;
}

#[tokio::test]
async fn a_run_whose_model_is_gone_is_held_until_it_is_back() {
    let office = office([pays(900), Script::text("Paid.")]).await;
    let run = approved(&office).await;
    let deployed = Runtime::open(office.store.clone());
    let ran = Ran::default();
    deployed.agent(payer(pay_of(&ran, "1.0.0")));
    let worker = Worker::start(&deployed);
    let why = held(&run).await;
    assert!(why.contains("model"), "{why}");
    worker.stop().await;
    assert!(ran.lock().unwrap().is_empty(), "nothing ran");
    goes_on(&office, &run).await;
}

#[tokio::test]
async fn a_run_whose_policy_is_gone_is_held_until_it_is_back() {
    let office = office_with([pays(900), Script::text("Paid.")], |runtime| {
        runtime.policy(named("careful", no_external()))
    })
    .await;
    let run = approved(&office).await;
    let (model, _) = ScriptedModel::new([Script::text("Paid.")]);
    let deployed = Runtime::open(office.store.clone()).model(model);
    let ran = Ran::default();
    deployed.agent(payer(pay_of(&ran, "1.0.0")));
    let worker = Worker::start(&deployed);
    let why = held(&run).await;
    assert!(why.contains("careful"), "{why}");
    worker.stop().await;
    assert!(ran.lock().unwrap().is_empty(), "nothing ran");
    goes_on(&office, &run).await;
}

/// Variable with the folder of the test whose tool ends its process.
const FOLDER: &str = "AGENTS_TEST_ABORTS";

/// Opens a runtime whose tool writes a line and ends its process.
async fn aborting(folder: &Path) -> (Runtime, agents_runtime::AgentRef<String, String>) {
    let effects = folder.join("effects");
    let schema = json!({"type": "object"});
    let spec = ToolSpec::new("explode", "Explodes.", Effects::Writes, schema).idempotent();
    let tool = FnTool::with_spec(spec, move |_: Value, _| {
        let before = fs::read_to_string(&effects).unwrap_or_default();
        fs::write(&effects, before + "effect\n").unwrap();
        std::process::abort();
        #[expect(unreachable_code, reason = "the type of the function")]
        async {
            Ok::<_, Error>("never")
        }
    });
    let (model, _) = ScriptedModel::from_fn(|asked| match asked.results().len() {
        0 => Script::call("explode", "{}"),
        _ => Script::text("Over."),
    });
    let store = SqliteStore::open(folder.join("agents.db")).await.unwrap();
    let runtime = Runtime::open(store)
        .model(model)
        .lease(Duration::from_secs(1));
    let agent = AgentBuilder::<String, String>::new("miner").tool(tool);
    let miner = runtime.agent(agent.build());
    (runtime, miner)
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a process of `a_tool_that_ends_its_process_each_time_ends_in_doubt`"]
async fn a_worker_whose_tool_ends_its_process() {
    let Ok(folder) = std::env::var(FOLDER) else {
        return;
    };
    let (runtime, miner) = aborting(Path::new(&folder)).await;
    let _worker = Worker::start(&runtime);
    let run = miner.run("Go.").key("once").start().await.unwrap();
    done(&run).await;
}

#[tokio::test]
async fn a_tool_that_ends_its_process_each_time_ends_in_doubt() {
    let files = Files::new("aborts");
    let mut processes = 0;
    loop {
        processes += 1;
        assert!(processes <= 10, "it never ends");
        let mut worker = Command::new(std::env::current_exe().unwrap());
        worker.args([
            "--exact",
            "gone::a_worker_whose_tool_ends_its_process",
            "--ignored",
        ]);
        worker.env(FOLDER, &files.0);
        worker.stdout(Stdio::null()).stderr(Stdio::null());
        if worker.status().unwrap().success() {
            break;
        }
    }
    let effects = fs::read_to_string(files.0.join("effects")).unwrap();
    assert_eq!(effects.lines().count(), 3, "after {processes} processes");
    assert_eq!(processes, 4);
    let (runtime, miner) = aborting(&files.0).await;
    let run = miner.run("Go.").key("once").start().await.unwrap();
    let Progress::Done(outcome) = run.progress().await.unwrap() else {
        panic!("the run is over");
    };
    assert_eq!(outcome.result.unwrap(), "Over.");
    let receipt = outcome.outputs.last_tool;
    assert!(receipt.is_none(), "no execution succeeded");
    let verdict = runtime.audit().verify().await.unwrap();
    assert!(verdict.is_intact(), "{verdict}");
}
