//! Approvals with other arguments.

use crate::office::*;
use agents::{
    Json,
    policy::{Action, Verdict, named},
    run::ApprovalReason,
    testing::{Script, ScriptedModel},
    tool::Risk,
};
use agents_runtime::{Approval, Principal, Request, Roles, Runtime, RuntimeErrorKind, SqliteStore};
use agents_store::{ApprovalFilter, ApprovalStatus};
use serde_json::json;

#[tokio::test]
async fn edited_arguments_run_and_those_that_do_not_fit_are_refused() {
    let office = office([pays(900), Script::text("Paid.")]).await;
    let _worker = Worker::start(&office.runtime);
    let run = office.start().await;
    let request = waiting(&run).await.remove(0);
    for bad in [json!({"cents": "90"}), json!({}), json!([90]), json!(null)] {
        let error = office.decide(&request, Approval::approve_with(bad)).await;
        assert_eq!(error.unwrap_err().kind(), RuntimeErrorKind::Invalid);
    }
    let less = Approval::approve_with(json!({"cents": 90}));
    office.decide(&request, less).await.unwrap();
    let outcome = done(&run).await;
    assert_eq!(*office.ran.lock().unwrap(), [json!(90)]);
    let receipt = outcome.outputs.receipts().next().unwrap();
    assert_eq!(receipt.input.as_str(), r#"{"cents":90}"#);
    outcome.result.unwrap();
}

/// Returns an office whose payments above 1000 have a high risk, and whose runs may pay 10000 at most.
async fn careful(
    runtime: Runtime,
    scripts: Vec<Script>,
) -> (
    Runtime,
    agents_runtime::AgentRef<String, String>,
    Ran,
    ScriptedModel,
) {
    let (model, handle) = ScriptedModel::new(scripts);
    let bound = |action: &Action<'_>| match action {
        Action::Tool(call) => match call.args.map(Json::to_value) {
            Some(Ok(args)) if args["cents"].as_i64() > Some(10_000) => {
                Verdict::deny("at most 10000 a payment")
            }
            _ => Verdict::Allow,
        },
        Action::Model(_) => Verdict::Allow,
    };
    let runtime = runtime.model(model).policy(named("bound", bound));
    let ran = Ran::default();
    let pay = pay_of(&ran, "1.0.0").risk_of(|args| match args["cents"].as_i64() {
        Some(..=1000) => Risk::Medium,
        _ => Risk::High,
    });
    let payer = runtime.agent(payer(pay));
    (runtime, payer, ran, handle)
}

fn clerk() -> Principal {
    grace().role("clerk")
}

fn treasurer() -> Principal {
    Principal::new("tilda", "acme")
        .role("clerk")
        .role("treasurer")
}

#[tokio::test(flavor = "multi_thread")]
async fn edited_arguments_of_a_higher_risk_than_their_author_may_approve_are_asked_about_anew() {
    on_each_store("edits", async |runtime, _| {
        let scripts = vec![pays(900), Script::text("Paid.")];
        let (runtime, payer, ran, _) = careful(runtime, scripts).await;
        let _worker = Worker::start(&runtime);
        let roles = Roles::new()
            .for_risk(Risk::Medium, "clerk")
            .for_risk(Risk::High, "treasurer");
        let approvals = runtime.as_client().clone().roles(roles).approvals();
        let run = payer
            .run("Pay.")
            .scope("acme")
            .by(&ada())
            .start()
            .await
            .unwrap();
        let first = waiting(&run).await.remove(0);
        assert_eq!(first.risk_level, Risk::Medium);
        let more = || Approval::approve_with(json!({"cents": 5000}));
        approvals.decide(&first.id, more(), &clerk()).await.unwrap();
        let second: Request = loop {
            let request = waiting(&run).await.remove(0);
            if request.id != first.id {
                break request;
            }
        };
        assert!(ran.lock().unwrap().is_empty());
        assert_eq!(second.correlation_id, first.correlation_id, "it is linked");
        assert_eq!(second.args_summary, "cents: 5000");
        assert_eq!(second.risk_level, Risk::High);
        let reasons = [ApprovalReason::Always, ApprovalReason::RiskierArguments];
        assert_eq!(second.reasons, reasons);
        let refused = approvals
            .decide(&second.id, Approval::Approve, &clerk())
            .await;
        assert_eq!(refused.unwrap_err().kind(), RuntimeErrorKind::Forbidden);
        approvals
            .decide(&second.id, Approval::Approve, &treasurer())
            .await
            .unwrap();
        let outcome = done(&run).await;
        outcome.result.unwrap();
        assert_eq!(*ran.lock().unwrap(), [json!(5000)]);
        let receipt = outcome.outputs.receipts().next().unwrap();
        assert_eq!(receipt.attempts[0].approved_by.as_deref(), Some("tilda"));
        let filter = ApprovalFilter {
            run: Some(run.id().to_owned()),
            ..ApprovalFilter::default()
        };
        let all = approvals.list(&filter, &grace()).await.unwrap();
        // The first approval was never used, and ends with the run.
        let states: Vec<_> = all.iter().map(|one| one.status).collect();
        assert_eq!(
            states,
            [ApprovalStatus::Cancelled, ApprovalStatus::Consumed]
        );
        let verdict = runtime.audit().verify().await.unwrap();
        assert!(verdict.is_intact(), "{verdict}");
    })
    .await;
}

#[tokio::test]
async fn edited_arguments_within_what_their_author_may_approve_run_at_once() {
    let store = SqliteStore::in_memory().await.unwrap();
    let scripts = vec![pays(900), pays(800), Script::text("Paid.")];
    let (runtime, payer, ran, _) = careful(Runtime::open(store), scripts).await;
    let _worker = Worker::start(&runtime);
    let roles = Roles::new().for_risk(Risk::High, "treasurer");
    let approvals = runtime.as_client().clone().roles(roles).approvals();
    let run = payer
        .run("Pay.")
        .scope("acme")
        .by(&ada())
        .start()
        .await
        .unwrap();
    let first = waiting(&run).await.remove(0);
    let edit = |cents: u32| Approval::approve_with(json!({ "cents": cents }));
    approvals
        .decide(&first.id, edit(1000), &clerk())
        .await
        .unwrap();
    let second = loop {
        let request = waiting(&run).await.remove(0);
        if request.id != first.id {
            break request;
        }
    };
    approvals
        .decide(&second.id, edit(5000), &treasurer())
        .await
        .unwrap();
    done(&run).await.result.unwrap();
    assert_eq!(*ran.lock().unwrap(), [json!(1000), json!(5000)]);
}

#[tokio::test]
async fn edited_arguments_that_a_policy_refuses_refuse_the_call_and_say_so() {
    let store = SqliteStore::in_memory().await.unwrap();
    let scripts = vec![pays(900), Script::text("Not paid.")];
    let (runtime, payer, ran, model) = careful(Runtime::open(store), scripts).await;
    let _worker = Worker::start(&runtime);
    let run = payer
        .run("Pay.")
        .scope("acme")
        .by(&ada())
        .start()
        .await
        .unwrap();
    let request = waiting(&run).await.remove(0);
    let edit = Approval::approve_with(json!({"cents": 20_000}));
    let operator = Principal::operator();
    runtime
        .approvals()
        .decide(&request.id, edit, &operator)
        .await
        .unwrap();
    done(&run).await.result.unwrap();
    assert!(ran.lock().unwrap().is_empty());
    let told = model.requests()[1].results()[0].1.to_owned();
    assert_eq!(
        told,
        "ERROR POLICY_DENIED (Policy) in `pay`: not approved: the approver gave other arguments, which a policy refuses: at most 10000 a payment"
    );
}

#[tokio::test]
async fn edited_arguments_that_have_run_before_are_asked_about_anew() {
    let store = SqliteStore::in_memory().await.unwrap();
    let one = || Script::call("pay", r#"{"cents": 1}"#);
    let scripts = vec![one(), pays(900), Script::text("Paid.")];
    let (runtime, payer, ran, _) = careful(Runtime::open(store), scripts).await;
    let _worker = Worker::start(&runtime);
    let run = payer
        .run("Pay.")
        .scope("acme")
        .by(&ada())
        .start()
        .await
        .unwrap();
    let approvals = runtime.approvals();
    let mut seen: Vec<Request> = Vec::new();
    let mut next = async || loop {
        let request = waiting(&run).await.remove(0);
        if seen.iter().all(|one| one.id != request.id) {
            seen.push(request.clone());
            return request;
        }
    };
    let first = next().await;
    approvals
        .decide(&first.id, Approval::Approve, &grace())
        .await
        .unwrap();
    let second = next().await;
    let edit = Approval::approve_with(json!({"cents": 1}));
    approvals.decide(&second.id, edit, &grace()).await.unwrap();
    let third = next().await;
    assert_eq!(ran.lock().unwrap().len(), 1);
    assert!(
        matches!(third.reasons[..], [_, ApprovalReason::Repeated(_)]),
        "{third:?}"
    );
    assert_eq!(third.correlation_id, second.correlation_id);
    approvals
        .decide(&third.id, Approval::Approve, &grace())
        .await
        .unwrap();
    done(&run).await.result.unwrap();
    assert_eq!(ran.lock().unwrap().len(), 2);
}
