//! Calls that ask for approval: by their arguments, their risk, and after a repair.

use crate::office::*;
use agents::{
    AgentBuilder, Effects, Error,
    run::ApprovalReason,
    testing::{Script, ScriptedModel},
    tool::{FnTool, Risk, ToolSpec},
};
use agents_runtime::{Approval, Progress, Request, Runtime, SqliteStore};
use agents_store::{ApprovalFilter, ApprovalStatus};
use serde_json::{Value, json};
use std::time::Duration;

agents::prelude::tool! {
    /// Pays a bill.
    #[tool(writes, approval = when(|args, _| {
        assert!(args.cents != 13, "no rule for 13");
        args.cents > 100
    }))]
    async fn spend(
        /// Amount in cents.
        cents: u32,
        #[inject] ran: Ran,
    ) -> Result<String, String> {
        ran.lock().unwrap().push(json!(cents));
        match cents {
            700 => Err("not 700".to_owned()),
            _ => Ok("paid".to_owned()),
        }
    }

    on_error {
        invalid_args(raw, _) if raw.contains("please") => fix(r#"{"cents": 500}"#),
        execution_error(_) => fix(r#"{"cents": 900}"#),
    }
}

/// Runs a call with these arguments until it asks or is over; returns the open requests, and what has run.
async fn spent(
    args: &str,
) -> (
    Vec<Request>,
    Vec<Value>,
    agents_runtime::RunRef<String>,
    Runtime,
) {
    let (model, _) = ScriptedModel::new([Script::call("spend", args), Script::text("Done.")]);
    let store = SqliteStore::in_memory().await.unwrap();
    let runtime = Runtime::open(store).model(model);
    let ran = Ran::default();
    let agent = AgentBuilder::<String, String>::new("payer")
        .prompt("Pay.")
        .tool(Spend { ran: ran.clone() })
        .build();
    let payer = runtime.agent(agent);
    let worker = Worker::start(&runtime);
    let run = payer.run("Pay.").scope("acme").start().await.unwrap();
    let requests = loop {
        match run.progress().await.unwrap() {
            Progress::Waiting(open) if !open.is_empty() => break open,
            Progress::Done(_) => break Vec::new(),
            Progress::Held(why) => panic!("{why}"),
            _ => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    };
    worker.stop().await;
    let ran = ran.lock().unwrap().clone();
    (requests, ran, run, runtime)
}

#[tokio::test(flavor = "multi_thread")]
async fn a7_a_rule_sees_the_arguments_and_unreadable_ones_neither_ask_nor_run() {
    // Arguments, what a person is asked about, what has run.
    let cases: [(&str, Option<&str>, &[u32]); 10] = [
        (r#"{"cents": 100}"#, None, &[100]),
        (r#"{"cents": 101}"#, Some("cents: 101"), &[]),
        // Read leniently, and gated with what was read.
        (r#"{"cents": 500,}"#, Some("cents: 500"), &[]),
        ("```json\n{\"cents\": 500}\n```", Some("cents: 500"), &[]),
        // No arguments: there is nothing to ask about, and nothing runs.
        (r#"{"cents": 500"#, None, &[]),
        ("five hundred", None, &[]),
        (r#"{"cents": "lots"}"#, None, &[]),
        (r#"{"cents": -1}"#, None, &[]),
        ("", None, &[]),
        // The rule panics: the call is refused.
        (r#"{"cents": 13}"#, None, &[]),
    ];
    for (args, summary, runs) in cases {
        let (requests, ran, ..) = spent(args).await;
        let summaries: Vec<_> = requests.iter().map(|one| &*one.args_summary).collect();
        let expected: Vec<_> = summary.into_iter().collect();
        assert_eq!(summaries, expected, "{args}");
        let runs: Vec<_> = runs.iter().map(|cents| json!(cents)).collect();
        assert_eq!(ran, runs, "{args}");
        for request in requests {
            assert_eq!(request.reasons, [ApprovalReason::Condition]);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a7_repaired_arguments_are_gated_and_a_change_after_an_approval_is_asked_about_again() {
    let (requests, ran, ..) = spent("five hundred, please").await;
    assert_eq!(requests[0].args_summary, "cents: 500", "the repair asks");
    assert!(ran.is_empty());

    // An approved call fails, and its arm gives another amount, which was not approved.
    let (requests, ran, run, runtime) = spent(r#"{"cents": 700}"#).await;
    assert!(ran.is_empty());
    let first = &requests[0];
    let approvals = runtime.approvals();
    approvals
        .decide(&first.id, Approval::Approve, &grace())
        .await
        .unwrap();
    let _worker = Worker::start(&runtime);
    let second = loop {
        let request = waiting(&run).await.remove(0);
        if request.id != first.id {
            break request;
        }
    };
    assert_eq!(second.args_summary, "cents: 900");
    assert_ne!(second.args_digest, first.args_digest);
    approvals
        .decide(&second.id, Approval::deny("no"), &grace())
        .await
        .unwrap();
    done(&run).await;
    let all = approvals
        .list(&ApprovalFilter::default(), &grace())
        .await
        .unwrap();
    let states: Vec<_> = all.iter().map(|one| one.status).collect();
    assert_eq!(states, [ApprovalStatus::Consumed, ApprovalStatus::Denied]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a7_the_risk_follows_from_the_effects_the_declaration_and_the_arguments() {
    type Set = fn(ToolSpec) -> ToolSpec;
    let cases: [(Set, Risk); 5] = [
        (|spec| spec, Risk::Medium),
        (ToolSpec::external, Risk::High),
        (|spec| spec.irreversible("gone"), Risk::High),
        (|spec| spec.risk(Risk::Low), Risk::Low),
        (|spec| spec.external().risk(Risk::Medium), Risk::Medium),
    ];
    for (set, risk) in cases {
        assert_eq!(asked_risk(set, None).await, risk);
    }
    let by_args = |args: &Value| match args["n"].as_u64() {
        Some(..=10) => Risk::Low,
        _ => Risk::High,
    };
    assert_eq!(asked_risk(|spec| spec, Some(by_args)).await, Risk::High);
}

/// Returns the risk of the request of a call with the argument 11.
async fn asked_risk(set: fn(ToolSpec) -> ToolSpec, by_args: Option<fn(&Value) -> Risk>) -> Risk {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let spec = set(ToolSpec::new("act", "Acts.", Effects::Writes, schema));
    let mut act = FnTool::with_spec(spec, |_: Value, _| async { Ok::<_, Error>("done") });
    if let Some(by_args) = by_args {
        act = act.risk_of(by_args);
    }
    let (model, _) = ScriptedModel::new([Script::call("act", r#"{"n": 11}"#)]);
    let store = SqliteStore::in_memory().await.unwrap();
    let runtime = Runtime::open(store).model(model);
    let runtime = runtime.policy(agents::policy::confirm_writes());
    let agent = AgentBuilder::<String, String>::new("clerk")
        .prompt("Act.")
        .tool(act);
    let clerk = runtime.agent(agent.build());
    let _worker = Worker::start(&runtime);
    let run = clerk.run("Act.").start().await.unwrap();
    waiting(&run).await[0].risk_level
}
