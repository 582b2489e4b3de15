//! Manifests: which stored runs another version of the code can go on with.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]

use agents::{
    Agent, AgentBuilder, Effects, Error, Model, Severity,
    agent::ModelAgent,
    async_trait,
    escalation::{Escalation, retry_with_model},
    model::{ModelError, Reply, Request},
    policy,
    recovery::{CallError, Decision, Execution, escalate},
    run::{Approval, RunContext, Timestamp},
    testing::{Script, ScriptedModel},
    tool::{
        FnTool, IntoTool, NeedsApproval, Pattern, RemoteTool, SharedTool, ToolContext, ToolSet,
        ToolSource, ToolSpec,
    },
};
use agents_runtime::{Manifest, Principal, Progress, Runtime, RuntimeErrorKind, SqliteStore};
use serde_json::{Value, json};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio_util::sync::CancellationToken;

fn pay(version: &'static str) -> FnTool {
    let schema = json!({"type": "object"});
    let spec = ToolSpec::new("pay", "Pays.", Effects::Writes, schema)
        .version(version)
        .approval(NeedsApproval::Always);
    FnTool::with_spec(spec, |_: Value, _| async { Ok::<_, Error>("paid") })
}

fn payer(version: &'static str) -> ModelAgent<'static, String, String> {
    AgentBuilder::<String, String>::new("payer")
        .tool(pay(version))
        .build()
}

/// Returns a runtime on this store whose model calls a tool until it has a result: that of its own agent.
fn runtime(store: &SqliteStore) -> Runtime {
    let (model, _) = ScriptedModel::from_fn(|asked| match &asked.results()[..] {
        [] if asked.tools.is_empty() => Script::text("Done."),
        [] => Script::call(&*asked.tools[0], r#"{"input": "go on"}"#),
        _ => Script::text("Done."),
    });
    Runtime::open(store.clone()).model(model)
}

/// Starts a run of the runtime's agent, and works on it until it waits.
async fn waiting<A: Agent<In = String, Out = String> + 'static>(runtime: &Runtime, agent: A) {
    let run = runtime.agent(agent).run("Pay.").start().await.unwrap();
    let stop = CancellationToken::new();
    let worker = tokio::spawn(runtime.clone().work(stop.clone()));
    loop {
        match run.progress().await.unwrap() {
            Progress::Waiting(requests) if !requests.is_empty() => break,
            Progress::Running | Progress::Waiting(_) => {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            other => panic!("the run does not wait: {other:?}"),
        }
    }
    stop.cancel();
    worker.await.unwrap();
}

async fn store() -> SqliteStore {
    SqliteStore::in_memory().await.unwrap()
}

/// Returns the reasons why the runs of the store cannot go on with this manifest.
async fn reasons(store: &SqliteStore, manifest: &Manifest) -> Vec<String> {
    let misfits = Runtime::client(store.clone())
        .misfits(manifest)
        .await
        .unwrap();
    misfits
        .into_iter()
        .flat_map(|misfit| misfit.reasons)
        .collect()
}

async fn manifest_of(agent: impl Agent + 'static) -> Manifest {
    let other = Runtime::open(store().await);
    other.agent(agent);
    other.manifest()
}

#[tokio::test]
async fn a_manifest_has_tools_with_versions_and_is_read_again() {
    let manifest = manifest_of(payer("1.2.0")).await;
    let json = serde_json::to_string(&manifest).unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(&json).unwrap(),
        json!({
            "agents_manifest": 1,
            "agents": {"payer": {
                "tools": [{
                    "name": "pay",
                    "version": "1.2.0",
                    "writes": true,
                    "description": {
                        "name": "pay",
                        "version": "1.2.0",
                        "description": "Pays.",
                        "effects": "writes",
                        "external": false,
                        "idempotent": false,
                        "category": "utility",
                        "risk": "medium",
                        "approval": "always",
                        "status": "active",
                        "cache": "none",
                        "has_undo": false,
                        "input_schema": {"type": "object"},
                    },
                }],
                "answer": "text",
                "chart": {"name": "payer", "tools": ["pay"], "confirm": [], "budget": {}, "delegates": []},
            }},
            "models": [],
        })
    );
    assert_eq!(Manifest::read(&json).unwrap(), manifest);
    for wrong in ["", "[]", "{}", r#"{"agents_manifest": 2, "agents": {}}"#] {
        let error = Manifest::read(wrong).unwrap_err();
        assert_eq!(error.kind(), RuntimeErrorKind::Invalid, "{wrong}");
    }
}

#[test]
fn a_manifest_of_an_earlier_version_is_read() {
    let tools = json!([{"name": "pay", "version": "1.2.0", "writes": true}]);
    let json = json!({"agents_manifest": 1, "agents": {"payer": {"tools": tools}}});
    let manifest = Manifest::read(&json.to_string()).unwrap();
    assert_eq!(manifest.agents["payer"].tools[0].description, None);
}

#[tokio::test]
async fn every_client_of_a_store_knows_the_agents_of_its_workers() {
    let minutes = Arc::new(AtomicU64::new(0));
    let clock = minutes.clone();
    let store = store().await.clock(move || {
        let begin = Duration::from_secs(1_790_000_000);
        let passed = Duration::from_secs(60 * clock.load(SeqCst));
        Timestamp::from_millis(u64::try_from((begin + passed).as_millis()).unwrap())
    });
    let client = Runtime::client(store.clone());
    assert_eq!(client.agents().await.unwrap(), []);
    let known = async |agents: usize| loop {
        let known = client.agents().await.unwrap();
        if known.len() >= agents {
            let of = |one: &agents_runtime::KnownAgent| {
                let version = one
                    .manifest
                    .tools
                    .first()
                    .and_then(|tool| tool.version.clone());
                (
                    one.name.clone(),
                    version.unwrap_or_default(),
                    one.is_current,
                )
            };
            break known.iter().map(of).collect::<Vec<_>>();
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    let of =
        |name: &str, version: &str, is_current| (name.to_owned(), version.to_owned(), is_current);

    let stop = CancellationToken::new();
    let first = runtime(&store);
    first.agent(payer("1.0.0"));
    tokio::spawn(first.clone().work(stop.clone()));
    assert_eq!(known(1).await, [of("payer", "1.0.0", true)]);
    // An agent that is registered while the worker works is known as well.
    first.agent(AgentBuilder::<String, String>::new("clerk").build());
    assert_eq!(
        known(2).await,
        [of("clerk", "", true), of("payer", "1.0.0", true)]
    );

    // The program of a later version, which is tried beside the first one.
    minutes.store(2, SeqCst);
    let second = runtime(&store);
    second.agent(payer("2.0.0"));
    tokio::spawn(second.clone().work(stop.clone()));
    let expected = [
        of("clerk", "", true),
        of("payer", "2.0.0", true),
        of("payer", "1.0.0", true),
    ];
    assert_eq!(known(3).await, expected);
    // The first one is silent for three minutes, while the later one goes on.
    minutes.store(3, SeqCst);
    second.agent(AgentBuilder::<String, String>::new("auditor").build());
    let expected = [
        of("auditor", "", true),
        of("clerk", "", true),
        of("payer", "2.0.0", true),
        of("payer", "1.0.0", false),
    ];
    assert_eq!(known(4).await, expected);
    stop.cancel();
}

/// A bank that lists its tools, until it is closed. Calls still work.
#[derive(Clone)]
struct Bank {
    is_closed: bool,
}

#[async_trait]
impl ToolSource for Bank {
    fn names(&self) -> Pattern {
        "bank_*".into()
    }

    async fn list(&self, _: &RunContext) -> Result<Vec<RemoteTool>, Error> {
        assert!(!self.is_closed, "a stored run asks for no list");
        let listed = json!([{"name": "bank_pay", "inputSchema": {"type": "object"}}]);
        Ok(serde_json::from_value(listed).unwrap())
    }

    fn tool(&self, listed: RemoteTool) -> SharedTool {
        let tool = listed.into_tool(|_, _| async { Ok::<_, Error>("paid") });
        tool.into_tool()
    }
}

fn client_of_the_bank(is_closed: bool) -> ModelAgent<'static, String, String> {
    AgentBuilder::<String, String>::new("payer")
        .tools(ToolSet::new().with_all(&Bank { is_closed }))
        .build()
}

#[tokio::test]
async fn a_run_with_an_open_call_of_a_listed_tool_fits_its_source_and_goes_on_without_a_list() {
    let store = store().await;
    waiting(&runtime(&store), client_of_the_bank(false)).await;
    let later = manifest_of(client_of_the_bank(true)).await;
    let json = serde_json::to_value(&later).unwrap();
    assert_eq!(
        json["agents"]["payer"]["tools"],
        json!([{"name": "bank_*", "writes": true}])
    );
    assert_eq!(reasons(&store, &later).await, [""; 0]);
    assert_eq!(
        reasons(&store, &manifest_of(payer("1.0.0")).await).await,
        ["an open call of `bank_pay` is of version 1.0.0, and there is no such tool"]
    );

    // Another process, whose bank lists nothing any more: somebody approves, and the call is made.
    let worker = runtime(&store);
    worker.agent(client_of_the_bank(true));
    let client = Runtime::client(store.clone());
    let operator = Principal::operator();
    let approvals = client.approvals();
    let request = approvals.pending(&operator).await.unwrap().remove(0);
    let decided = approvals.decide(&request.id, Approval::Approve, &operator);
    decided.await.unwrap();
    let stop = CancellationToken::new();
    let work = tokio::spawn(worker.work(stop.clone()));
    let run = client.run::<String>(&request.run_id);
    let Progress::Done(outcome) = run.wait(Duration::from_secs(20)).await.unwrap() else {
        panic!("the run is not over");
    };
    let receipt = outcome.outputs.receipts().next().unwrap();
    assert_eq!(receipt.output.as_ref().unwrap().as_str(), r#""paid""#);
    stop.cancel();
    work.await.unwrap();
}

#[tokio::test]
async fn a_run_needs_its_agent_and_the_tools_of_its_open_calls() {
    let store = store().await;
    waiting(&runtime(&store), payer("1.0.0")).await;
    assert!(
        reasons(&store, &manifest_of(payer("1.0.0")).await)
            .await
            .is_empty()
    );
    assert_eq!(
        reasons(&store, &manifest_of(payer("1.1.0")).await).await,
        ["an open call of `pay` is of version 1.0.0, and there is version 1.1.0"]
    );
    let idle = AgentBuilder::<String, String>::new("payer").build();
    assert_eq!(
        reasons(&store, &manifest_of(idle).await).await,
        ["an open call of `pay` is of version 1.0.0, and there is no such tool"]
    );
    let other = AgentBuilder::<String, String>::new("other").build();
    assert_eq!(
        reasons(&store, &manifest_of(other).await).await,
        ["there is no agent `payer`"]
    );
}

#[tokio::test]
async fn a_run_needs_the_type_of_its_answer_and_its_policies() {
    let store = store().await;
    let ruled = runtime(&store).policy(policy::named("careful", policy::no_external()));
    waiting(&ruled, payer("1.0.0")).await;
    assert!(reasons(&store, &ruled.manifest()).await.is_empty());
    let counting = AgentBuilder::<String, u32>::new("payer")
        .tool(pay("1.0.0"))
        .build();
    assert_eq!(
        reasons(&store, &manifest_of(counting).await).await,
        [
            "the type of the answer has changed",
            "there is no policy `careful`"
        ]
    );
}

#[tokio::test]
async fn a_run_that_has_not_begun_needs_its_agent_alone() {
    let store = store().await;
    let runtime = runtime(&store);
    runtime
        .agent(payer("1.0.0"))
        .run("Pay.")
        .start()
        .await
        .unwrap();
    assert!(
        reasons(&store, &manifest_of(payer("2.0.0")).await)
            .await
            .is_empty()
    );
    let nobody = Runtime::open(store.clone()).manifest();
    assert_eq!(reasons(&store, &nobody).await.len(), 1);
}

#[tokio::test]
async fn the_parts_of_a_composite_are_compared() {
    let chain = |version| {
        let clerk = AgentBuilder::<String, String>::new("clerk").build();
        clerk.then(payer(version))
    };
    let store = store().await;
    waiting(&runtime(&store), chain("1.0.0")).await;
    assert!(
        reasons(&store, &manifest_of(chain("1.0.0")).await)
            .await
            .is_empty()
    );
    let changed = reasons(&store, &manifest_of(chain("2.0.0")).await).await;
    assert!(changed[0].contains("there is version 2.0.0"), "{changed:?}");
}

#[tokio::test]
async fn the_delegates_of_a_team_are_compared() {
    let team = |version| {
        let boss = AgentBuilder::<String, String>::new("boss").build();
        agents::structure!(boss.delegates(payer(version)))
    };
    let store = store().await;
    waiting(&runtime(&store), team("1.0.0")).await;
    assert!(
        reasons(&store, &manifest_of(team("1.0.0")).await)
            .await
            .is_empty()
    );
    let changed = reasons(&store, &manifest_of(team("2.0.0")).await).await;
    assert!(changed[0].contains("there is version 2.0.0"), "{changed:?}");
}

/// The profile of an agent does not list what the bodies of its tools run.
#[tokio::test]
async fn an_agent_in_the_body_of_a_tool_is_not_missed() {
    let asking = || {
        let spec = ToolSpec::new("ask", "Asks.", Effects::Reads, json!({"type": "object"}));
        let ask = FnTool::with_spec(spec, |_: Value, _: ToolContext| async {
            payer("1.0.0").run("Pay.").await
        });
        AgentBuilder::<String, String>::new("boss")
            .tool(ask)
            .build()
    };
    let store = store().await;
    waiting(&runtime(&store), asking()).await;
    let manifest = manifest_of(asking()).await;
    assert_eq!(manifest.agents["boss"].tools.len(), 1);
    assert!(reasons(&store, &manifest).await.is_empty());
}

#[tokio::test]
async fn a_run_that_is_over_needs_nothing() {
    let store = store().await;
    let runtime = runtime(&store);
    let clerk = AgentBuilder::<String, String>::new("clerk").build();
    runtime.agent(clerk).run("Hello.").await.unwrap();
    let nobody = Runtime::open(store.clone()).manifest();
    assert!(reasons(&store, &nobody).await.is_empty());
}

#[tokio::test]
async fn a_run_needs_the_model_that_an_escalation_gave_it() {
    let store = store().await;
    let (small, _) = ScriptedModel::new([Script::call("look", "{}")]);
    let (large, _) = ScriptedModel::new([Script::call("pay", "{}")]);
    let large = Named("large", large);
    let spare = large.clone();
    let schema = json!({"type": "object"});
    let look = FnTool::new(
        "look",
        "Looks.",
        Effects::Reads,
        schema,
        |_: Value, _| async { Err::<String, _>(std::io::Error::other("it is dark")) },
    );
    let payer = AgentBuilder::<String, String>::new("payer")
        .tool(pay("1.0.0"))
        .tool(look)
        .on_error(|error, _| match error {
            CallError::Execution(_) => {
                let up: Decision<Execution> = escalate("it is dark").severity(Severity::Low);
                Some(up.into())
            }
            _ => None,
        })
        .on_escalation(move |_: Escalation| retry_with_model(spare.clone()))
        .build();
    let runtime = Runtime::open(store.clone()).model(small);
    waiting(&runtime, payer).await;
    let [reason] = &reasons(&store, &runtime.manifest()).await[..] else {
        panic!("the model is not missing")
    };
    assert!(reason.contains("the model `large`"), "{reason}");
    let mut knows = runtime.known_model(large).manifest();
    assert_eq!(knows.models.as_ref().unwrap().len(), 2);
    assert!(reasons(&store, &knows).await.is_empty());
    // A manifest from before does not say which models there are.
    knows.models = None;
    assert!(reasons(&store, &knows).await.is_empty());
}

/// A scripted model of this name.
#[derive(Clone)]
struct Named(&'static str, ScriptedModel);

#[agents::async_trait]
impl Model for Named {
    fn id(&self) -> &str {
        self.0
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        self.1.chat(request).await
    }
}
