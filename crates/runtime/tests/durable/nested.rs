//! Agents that the bodies of tools run: decision 28.

use crate::{
    office::{Ran, Worker, ada, done, grace, pay_of, pays, waiting},
    stores::{Place, each},
};
use agents::{
    Agent, AgentBuilder, Budget, Effects, Error,
    agent::ModelAgent,
    policy,
    testing::{Script, ScriptedModel},
    tool::{FnTool, ToolSpec},
};
use agents_runtime::{AgentRef, Approval, Runtime};
use agents_store::RunStatus;
use serde_json::{Value, json};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

/// Agent whose tool runs an agent that pays, with or without a setting of its own.
fn manager(
    spec: ToolSpec,
    ran: &Ran,
    bodies: &Arc<AtomicUsize>,
    own: bool,
) -> ModelAgent<'static, String, String> {
    let (ran, bodies) = (ran.clone(), bodies.clone());
    let payer = move || -> ModelAgent<'static, String, String> {
        AgentBuilder::<String, String>::new("payer")
            .prompt("Pay.")
            .tool(pay_of(&ran, "1.0.0"))
            .build()
    };
    let tool = FnTool::with_spec(spec, move |_: Value, _| {
        bodies.fetch_add(1, SeqCst);
        let payer = payer();
        async move {
            match own {
                false => payer.run("Pay.").await,
                true => payer.run("Pay.").budget(Budget::new().max_turns(5)).await,
            }
        }
    });
    AgentBuilder::<String, String>::new("manager")
        .prompt("Manage.")
        .tool(tool)
        .build()
}

fn spec(effects: Effects) -> ToolSpec {
    ToolSpec::new(
        "delegate",
        "Has it paid.",
        effects,
        json!({"type": "object"}),
    )
    .version("1.0.0")
}

fn scripts() -> [Script; 4] {
    [
        Script::call("delegate", "{}"),
        pays(70),
        Script::text("70 are paid."),
        Script::text("Done."),
    ]
}

async fn office(
    place: &Place,
    spec: ToolSpec,
    own: bool,
    set: impl FnOnce(Runtime) -> Runtime,
) -> (Runtime, AgentRef<String, String>, Ran, Arc<AtomicUsize>) {
    let (model, _) = ScriptedModel::new(scripts());
    let runtime = set(place.runtime().await.model(model));
    let (ran, bodies) = (Ran::default(), Arc::default());
    let manager = runtime.agent(manager(spec, &ran, &bodies, own));
    (runtime, manager, ran, bodies)
}

#[tokio::test]
async fn a_request_in_a_body_that_may_run_again_suspends_the_run() {
    let bodies_of = [
        ("none", spec(Effects::None)),
        ("reads", spec(Effects::Reads)),
        ("idempotent", spec(Effects::Writes).idempotent()),
    ];
    for (name, spec) in bodies_of {
        for own in [false, true] {
            println!("{name}, a run of its own: {own}");
            each(async |place| {
                let (runtime, manager, ran, bodies) =
                    office(place, spec.clone(), own, |runtime| runtime).await;
                let worker = Worker::start(&runtime);
                let run = manager
                    .run("Go.")
                    .scope("acme")
                    .by(&ada())
                    .start()
                    .await
                    .unwrap();
                let request = waiting(&run).await.remove(0);
                assert_eq!(
                    (&*request.agent_name, &*request.tenant_id),
                    ("payer", "acme")
                );
                // Nothing is left of it in this process.
                worker.stop().await;
                assert!(ran.lock().unwrap().is_empty());
                let approvals = place.client().await.approvals();
                approvals
                    .decide(&request.id, Approval::Approve, &grace())
                    .await
                    .unwrap();
                let _worker = Worker::start(&runtime);
                assert_eq!(done(&run).await.result.unwrap(), "Done.");
                assert_eq!(*ran.lock().unwrap(), [json!(70)], "once");
                assert_eq!(bodies.load(SeqCst), 2, "the body runs again");
            })
            .await;
        }
    }
}

#[tokio::test]
async fn a_request_in_a_body_that_may_not_run_again_waits_in_place_under_the_lease() {
    for own in [false, true] {
        each(async |place| {
            let set = |runtime: Runtime| runtime.lease(Duration::from_millis(1_500));
            let (runtime, manager, ran, bodies) =
                office(place, spec(Effects::Writes), own, set).await;
            let _worker = Worker::start(&runtime);
            let run = manager
                .run("Go.")
                .scope("acme")
                .by(&ada())
                .start()
                .await
                .unwrap();
            let client = place.client().await;
            let request = loop {
                match client.approvals().pending(&grace()).await.unwrap().pop() {
                    Some(request) => break request,
                    None => tokio::time::sleep(Duration::from_millis(10)).await,
                }
            };
            // For longer than a lease: it is renewed meanwhile.
            tokio::time::sleep(Duration::from_millis(2_500)).await;
            let stored = place.store().await.run(run.id()).await.unwrap().unwrap();
            assert_eq!((stored.status, stored.fence), (RunStatus::Running, 1));
            client
                .approvals()
                .decide(&request.id, Approval::Approve, &grace())
                .await
                .unwrap();
            assert_eq!(done(&run).await.result.unwrap(), "Done.");
            assert_eq!(*ran.lock().unwrap(), [json!(70)]);
            assert_eq!(bodies.load(SeqCst), 1, "the body runs once");
        })
        .await;
    }
}

#[tokio::test]
async fn a_nested_run_is_under_the_policies_of_the_runtime() {
    for own in [false, true] {
        each(async |place| {
            let set = |runtime: Runtime| {
                runtime.policy(policy::named("no payments", policy::deny_tools("pay")))
            };
            let (runtime, manager, ran, _) = office(place, spec(Effects::Reads), own, set).await;
            let _worker = Worker::start(&runtime);
            let run = manager.run("Go.").scope("acme").start().await.unwrap();
            let outcome = done(&run).await;
            assert_eq!(outcome.result.unwrap(), "Done.");
            assert!(ran.lock().unwrap().is_empty());
        })
        .await;
    }
}

/// Context that a tool at the bottom has seen.
#[derive(Clone, Debug, Default, PartialEq)]
struct Seen {
    tenant: String,
    fence: Option<u64>,
}

/// Agent whose tool runs an agent of the next level, as a run of its own or as a part of the run.
fn level(
    left: u32,
    own: bool,
    seen: &Arc<Mutex<Vec<Seen>>>,
) -> ModelAgent<'static, String, String> {
    let seen = seen.clone();
    let spec = ToolSpec::new(
        "down",
        "Goes down.",
        Effects::Reads,
        json!({"type": "object"}),
    );
    let down = FnTool::with_spec(spec, move |_: Value, cx| {
        let seen = seen.clone();
        async move {
            if left == 0 {
                seen.lock().unwrap().push(Seen {
                    tenant: cx.tenant_id().to_owned(),
                    fence: cx.fence(),
                });
                return Ok::<_, Error>("the bottom".to_owned());
            }
            let next = level(left - 1, own, &seen);
            match own {
                false => next.run("Down.").await,
                true => next.run("Down.").budget(Budget::new().max_turns(5)).await,
            }
        }
    });
    AgentBuilder::<String, String>::new(format!("level_{left}"))
        .prompt("Go down.")
        .budget(Budget::new().max_recursion(400))
        .tool(down)
        .build()
}

/// In a build without optimisation, a run of a worker needs up to 400 kB on the stack, where encryption is the deepest of
/// it, and each level some 100 kB more: this stack would hold two.
#[test]
fn levels_of_nested_runs_are_on_the_heap() {
    let thread = std::thread::Builder::new().stack_size(640 * 1024);
    let test = || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.unwrap().block_on(async {
            // Runs of their own may be 15 deep, and parts of a run as deep as the budget allows.
            for (levels, own) in [(15, true), (60, false)] {
                let place = Place::of_file();
                let scripts = (0..=levels).map(|_| Script::call("down", "{}"));
                let answers = (0..=levels).map(|_| Script::text("up"));
                let (model, _) = ScriptedModel::new(scripts.chain(answers));
                let runtime = place.runtime().await.model(model);
                let seen = Arc::default();
                let top = runtime.agent(level(levels, own, &seen));
                let _worker = Worker::start(&runtime);
                let run = top.run("Down.").scope("acme").start().await.unwrap();
                assert_eq!(done(&run).await.result.unwrap(), "up");
                let expected = Seen {
                    tenant: "acme".to_owned(),
                    fence: Some(1),
                };
                assert_eq!(*seen.lock().unwrap(), [expected]);
            }
        });
    };
    thread.spawn(test).unwrap().join().unwrap();
}

#[tokio::test]
async fn runs_of_their_own_that_are_nested_too_deep_are_refused() {
    let place = Place::of_file();
    let scripts = (0..=16).map(|_| Script::call("down", "{}"));
    let answers = (0..=16).map(|_| Script::text("up"));
    let (model, _) = ScriptedModel::new(scripts.chain(answers));
    let runtime = place.runtime().await.model(model);
    let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
    let top = runtime.agent(level(16, true, &seen));
    let _worker = Worker::start(&runtime);
    let run = top.run("Down.").start().await.unwrap();
    done(&run).await.result.unwrap();
    assert!(seen.lock().unwrap().is_empty(), "nobody reaches the bottom");
}
