//! The stock tools, called by agents.

use crate::{
    OrderShipped, Taken, Working, dead, died, shipped,
    stores::{Place, each},
    subscriber, until,
};
use agents::{
    AgentBuilder, Effects, Model,
    testing::{Script, ScriptedModel},
    tool::FnTool,
};
use agents_runtime::{
    AgentRef, Approval, ClusterStatus, DeliveryError, FailureQuery, Mode, Principal, Progress,
    RunRef, Runtime, Told, tools,
};
use serde_json::{Value, json};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};

fn ada() -> Principal {
    Principal::new("ada", "acme")
}

/// Creates the agent that looks after failures, with the model that plays this script.
fn operations(runtime: &Runtime, model: impl Model + 'static) -> AgentRef<String, String> {
    let agent = AgentBuilder::<String, String>::new("operations")
        .model(model)
        .tools(tools::operations(runtime.as_client()));
    runtime.agent(agent.build())
}

async fn waits(run: &RunRef<String>) -> Vec<agents_runtime::Request> {
    loop {
        match run.wait(Duration::from_millis(50)).await.unwrap() {
            Progress::Waiting(requests) if !requests.is_empty() => return requests,
            Progress::Running | Progress::Waiting(_) => {}
            other => panic!("{other:?}"),
        }
    }
}

async fn answered(run: &RunRef<String>) -> String {
    match run.wait(Duration::from_secs(30)).await.unwrap() {
        Progress::Done(outcome) => outcome.result.unwrap(),
        other => panic!("{other:?}"),
    }
}

/// Returns what the tools have said in a run.
async fn outputs(runtime: &Runtime, run: &RunRef<String>) -> Vec<Result<Value, String>> {
    let recorded = runtime.as_client().recorded(run.id()).await.unwrap();
    let receipts = recorded.unwrap().receipts();
    let outputs = receipts.iter().map(|receipt| match &receipt.error {
        None => Ok(receipt.output.as_ref().unwrap().to_value().unwrap()),
        Some(error) => Err(error.message.clone()),
    });
    outputs.collect()
}

/// Runtime with a poison event of the tenant `acme`, which is dead, and the flag that mends its subscriber.
async fn poisoned(place: &Place, taken: &Taken) -> (Runtime, Arc<AtomicBool>, String) {
    let works = Arc::new(AtomicBool::new(false));
    let flag = works.clone();
    let fails = move |_: &OrderShipped, _: &Told| match flag.load(SeqCst) {
        true => None,
        false => Some(DeliveryError::new("the printer is off")),
    };
    let runtime = place.runtime().await;
    let runtime = runtime.subscriber(subscriber("invoices", taken, fails));
    runtime.publish(&shipped(7)).scope("acme").await.unwrap();
    let working = Working::on(&runtime);
    let letter = died(runtime.as_client(), 1).await.remove(0);
    working.stop().await;
    (runtime, works, letter.event_id)
}

#[tokio::test(flavor = "multi_thread")]
async fn d4_a_poison_event_is_listed_by_an_agent_and_replayed_once_it_is_approved() {
    each(async |place| {
        let taken = Taken::default();
        let (runtime, works, id) = poisoned(place, &taken).await;
        // The most permissive mode changes nothing.
        let modes = runtime.modes();
        modes
            .set(None, Mode::Off, &Principal::operator())
            .await
            .unwrap();
        let replay = json!({"event_id": id, "reason": "the printer is on"}).to_string();
        let (model, _) = ScriptedModel::new([
            Script::call(
                "list_dlq_events",
                r#"{"handler_name": "invoices", "limit": 5}"#,
            ),
            Script::call("get_dlq_event_detail", json!({"event_id": id}).to_string()),
            Script::call("replay_dlq_event", replay),
            Script::text("It is replayed."),
        ]);
        let agent = operations(&runtime, model);
        let run = agent.run("What failed?").scope("acme").by(&ada());
        let run = run.start().await.unwrap();
        works.store(true, SeqCst);
        let working = Working::on(&runtime);
        let requests = waits(&run).await;
        assert_eq!(requests.len(), 1);
        assert_eq!(requests[0].tool_name, "replay_dlq_event");
        let effect = format!("replay the event {id}: the printer is on");
        assert_eq!(requests[0].effect_description, effect);
        assert_eq!(
            dead(runtime.as_client()).await.len(),
            1,
            "nothing is replayed yet"
        );
        let approvals = runtime.approvals();
        let starter = ada();
        let own = approvals.decide(&requests[0].id, Approval::Approve, &starter);
        own.await.unwrap_err();
        let grace = crate::grace();
        let decided = approvals.decide(&requests[0].id, Approval::Approve, &grace);
        decided.await.unwrap();
        assert_eq!(answered(&run).await, "It is replayed.");
        until(async || !taken.lock().unwrap().is_empty()).await;
        working.stop().await;
        assert_eq!(taken.lock().unwrap().len(), 1);
        assert!(dead(runtime.as_client()).await.is_empty());
        let said = outputs(&runtime, &run).await;
        let listed = said[0].as_ref().unwrap();
        assert_eq!(listed[0]["event_id"], json!(id));
        assert_eq!(listed[0]["handler_name"], "invoices");
        let detail = said[1].as_ref().unwrap();
        assert_eq!(detail["payload"], json!({"order": 7}));
        assert_eq!(detail["failure_history"][0]["error"], "the printer is off");
        let verdict = runtime.audit().verify().await.unwrap();
        assert!(verdict.is_intact(), "{verdict}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tools_act_for_the_tenant_of_the_run_alone() {
    each(async |place| {
        let taken = Taken::default();
        let (runtime, _, id) = poisoned(place, &taken).await;
        let replay = json!({"event_id": id, "reason": "mine now"}).to_string();
        let (model, _) = ScriptedModel::new([
            Script::call("list_dlq_events", "{}"),
            // Before a call of this run fails.
            Script::call("list_failure_clusters", "{}"),
            Script::call("get_dlq_event_detail", json!({"event_id": id}).to_string()),
            Script::call("replay_dlq_event", replay),
            Script::text("Nothing."),
        ]);
        let agent = operations(&runtime, model);
        // An operator of all tenants has started it, for one tenant.
        let operator = Principal::operator();
        let run = agent.run("What failed?").scope("other").by(&operator);
        let run = run.start().await.unwrap();
        let working = Working::on(&runtime);
        let request = waits(&run).await.remove(0);
        let decided = runtime.approvals();
        let eve = Principal::new("eve", "other");
        decided
            .decide(&request.id, Approval::Approve, &eve)
            .await
            .unwrap();
        answered(&run).await;
        working.stop().await;
        let said = outputs(&runtime, &run).await;
        assert_eq!(said[0], Ok(json!([])));
        assert_eq!(said[1], Ok(json!([])));
        for refused in [&said[2], &said[3]] {
            let why = refused.as_ref().unwrap_err();
            assert!(why.contains("no dead letter"), "{why}");
        }
        assert_eq!(dead(runtime.as_client()).await.len(), 1);
        assert!(taken.lock().unwrap().is_empty());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn d5_a_triage_needs_approval_and_sets_the_status_with_its_notes() {
    each(async |place| {
        let runtime = place.runtime().await;
        // Failures first.
        let schema = json!({"type": "object"});
        let broken = FnTool::new("fetch", "Fetches.", Effects::Reads, schema, |_, _| async {
            Err::<String, _>("the server of ada@example.com is down")
        });
        let (model, _) = ScriptedModel::new([
            Script::call("fetch", "{}"),
            Script::call("fetch", r#"{"again": true}"#),
            Script::text("It fails."),
        ]);
        let reader = AgentBuilder::<String, String>::new("reader").model(model);
        let reader = runtime.agent(reader.tool(broken).build());
        let working = Working::on(&runtime);
        let run = reader.run("Read.").scope("acme").start().await.unwrap();
        answered(&run).await;
        let failures = runtime.as_client().failures();
        let query = FailureQuery::default();
        let all = failures.list(&query, &ada()).await.unwrap();
        assert_eq!(all.len(), 1);
        let id = all[0].cluster_id.clone();
        let triage = |notes: &str| {
            json!({"cluster_id": id, "status": "escalate", "notes": notes}).to_string()
        };
        let (model, _) = ScriptedModel::new([
            Script::call("list_failure_clusters", r#"{"status": "open"}"#),
            Script::call("get_cluster_detail", json!({"cluster_id": id}).to_string()),
            Script::call("triage_cluster", triage("call the host")),
            Script::text("It is escalated."),
        ]);
        let agent = operations(&runtime, model);
        let run = agent.run("What failed?").scope("acme").by(&ada());
        let run = run.start().await.unwrap();
        let request = waits(&run).await.remove(0);
        assert_eq!(request.tool_name, "triage_cluster");
        assert_eq!(
            request.effect_description,
            format!("set the status of cluster {id} to escalate: call the host")
        );
        let still = failures.get(&id, &ada()).await.unwrap();
        assert_eq!(still.cluster.status, ClusterStatus::Open);
        let decided = runtime.approvals();
        decided
            .decide(&request.id, Approval::Approve, &crate::grace())
            .await
            .unwrap();
        answered(&run).await;
        working.stop().await;
        let now = failures.get(&id, &ada()).await.unwrap();
        assert_eq!(now.cluster.status, ClusterStatus::Escalate);
        assert_eq!(now.notes.as_deref(), Some("call the host"));
        assert_eq!(now.cluster.triaged_by.as_deref(), Some("ada"));
        assert_eq!((now.cluster.count, now.cluster.since), (2, 0));
        let said = outputs(&runtime, &run).await;
        assert_eq!(said[0].as_ref().unwrap()[0]["agent_name"], "reader");
        let error = &said[1].as_ref().unwrap()["failures"][0]["error"];
        assert_eq!(error, "the server of [email] is down");
    })
    .await;
}

#[test]
fn d4_d5_the_tools_have_the_parameters_of_the_contract() {
    let client = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(async {
            Runtime::client(agents_runtime::SqliteStore::in_memory().await.unwrap())
        });
    let tools = tools::operations(&client);
    let told: Vec<_> = tools
        .specs()
        .map(|spec| {
            let names = spec.input_schema["properties"].as_object().unwrap().keys();
            let required = spec.input_schema["required"].as_array();
            let is_required = |name: &&String| {
                required.is_some_and(|all| all.iter().any(|one| *one == json!(name)))
            };
            let mut required: Vec<_> = names.clone().filter(is_required).cloned().collect();
            required.sort();
            (spec.name.to_string(), names.len(), required.join(" "))
        })
        .collect();
    let expected = [
        ("list_dlq_events", 3, ""),
        ("get_dlq_event_detail", 1, "event_id"),
        ("replay_dlq_event", 2, "event_id reason"),
        ("list_failure_clusters", 2, ""),
        ("get_cluster_detail", 1, "cluster_id"),
        ("triage_cluster", 3, "cluster_id notes status"),
    ];
    let expected =
        expected.map(|(name, all, required)| (name.to_owned(), all, required.to_owned()));
    assert_eq!(told, expected);
}
