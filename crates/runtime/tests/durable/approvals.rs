//! Approvals: asked, decided from elsewhere, edited, denied, expired.

use crate::office::*;
use agents::{
    testing::Script,
    tool::{Risk, Scope},
};
use agents_runtime::{Approval, Principal, Request, Roles, Runtime, RuntimeErrorKind, SqliteStore};
use agents_store::{ApprovalFilter, ApprovalStatus, ErrorKind as Kind};
use serde_json::{Value, json};
use std::time::Duration;

#[tokio::test]
async fn a1_a_run_waits_without_a_worker_and_is_approved_from_elsewhere() {
    let office = office([pays(1200), Script::text("Paid.")]).await;
    let worker = Worker::start(&office.runtime);
    let run = office.start().await;
    let requests = waiting(&run).await;
    worker.stop().await;
    let [request] = &requests[..] else {
        panic!("{requests:?}")
    };
    assert_eq!(
        (
            &*request.tool_name,
            &*request.agent_name,
            request.risk_level
        ),
        ("pay", "payer", Risk::High)
    );
    assert_eq!(request.args_summary, "cents: 1200, to: [email]");
    assert_eq!(request.effect_description, "Pays 1200 cents to [email].");
    assert_eq!(
        (&*request.tenant_id, request.status),
        ("acme", ApprovalStatus::Pending)
    );
    let day = request.expires_at.since(request.requested_at);
    assert_eq!(day, Duration::from_secs(24 * 60 * 60));

    // Whoever may see it gets the exact arguments.
    let approvals = office.runtime.approvals();
    let detail = approvals.detail(&request.id, &grace()).await.unwrap();
    assert_eq!(
        detail.request.args.as_str(),
        r#"{"cents":1200,"to":"ada@example.com"}"#
    );
    assert!(detail.schema.is_some());

    let decided = office.decide(request, Approval::Approve).await.unwrap();
    assert_eq!(decided.decided_by.as_deref(), Some("grace"));
    assert!(office.ran.lock().unwrap().is_empty(), "nobody works");
    let _worker = Worker::start(&office.runtime);
    let outcome = done(&run).await;
    assert_eq!(outcome.result.as_ref().unwrap(), "Paid.");
    assert_eq!(outcome.run_id, run.id());
    assert_eq!(*office.ran.lock().unwrap(), [json!(1200)]);
    let receipt = outcome.outputs.receipts().next().unwrap();
    assert_eq!(receipt.attempts[0].approved_by.as_deref(), Some("grace"));
    let found = approvals
        .list(&ApprovalFilter::default(), &grace())
        .await
        .unwrap();
    assert_eq!(found[0].status, ApprovalStatus::Consumed);
}

#[tokio::test]
async fn a3_a5_a_denial_and_a_revision_are_told_to_the_model() {
    let office = office([
        pays(900),
        pays(90),
        pays(9),
        Script::text("Nine were paid."),
    ])
    .await;
    let _worker = Worker::start(&office.runtime);
    let run = office.start().await;
    let first = waiting(&run).await.remove(0);
    let revise = Approval::Revise {
        note: "at most 100".into(),
    };
    office.decide(&first, revise).await.unwrap();
    let second = loop {
        let request = waiting(&run).await.remove(0);
        if request.id != first.id {
            break request;
        }
    };
    assert_eq!(second.correlation_id, first.correlation_id);
    office
        .decide(&second, Approval::deny("not to her"))
        .await
        .unwrap();
    let third = loop {
        let request = waiting(&run).await.remove(0);
        if request.id != second.id {
            break request;
        }
    };
    office.decide(&third, Approval::Approve).await.unwrap();
    let outcome = done(&run).await;
    assert_eq!(outcome.result.unwrap(), "Nine were paid.");
    assert_eq!(*office.ran.lock().unwrap(), [json!(9)]);
    let told = format!("{:?}", office.model.requests()[3].messages);
    assert!(
        told.contains("at most 100") && told.contains("not to her"),
        "{told}"
    );
}

#[tokio::test]
async fn a13_siblings_are_decided_one_by_one_and_run_once() {
    let calls = (1..=3).map(|n| ("pay", json!({ "cents": n }).to_string()));
    let office = office([Script::calls(calls), Script::text("Paid.")]).await;
    let _worker = Worker::start(&office.runtime);
    let run = office.start().await;
    let requests = waiting(&run).await;
    assert_eq!(requests.len(), 3);
    office
        .decide(&requests[1], Approval::Approve)
        .await
        .unwrap();
    while office.ran.lock().unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(
        *office.ran.lock().unwrap(),
        [json!(2)],
        "it does not wait for the others"
    );
    assert_eq!(office.model.requests().len(), 1, "the model does");
    for at in [2, 0] {
        office
            .decide(&requests[at], Approval::Approve)
            .await
            .unwrap();
    }
    done(&run).await.result.unwrap();
    let mut ran = office.ran.lock().unwrap().clone();
    ran.sort_by_key(Value::as_i64);
    assert_eq!(ran, [json!(1), json!(2), json!(3)]);
}

#[tokio::test]
async fn a11_only_others_of_the_tenant_with_the_role_decide() {
    let office = office([pays(900), Script::text("Paid.")]).await;
    let worker = Worker::start(&office.runtime);
    let scope = Scope::from("acme").user("berta");
    let run = office.payer.run("Pay.").scope(scope).by(&ada());
    let run = run.start().await.unwrap();
    let request = waiting(&run).await.remove(0);
    worker.stop().await;
    let roles = Roles::new().for_risk(Risk::High, "treasurer");
    let client = office.runtime.as_client().clone().roles(roles);
    let approvals = client.approvals();
    let decide = async |by: Principal| {
        // Whoever may not decide knows it before, unless the request is not there or does not wait.
        let known = approvals.get_readable(&request.id, &by).await;
        let refusal = known.ok().and_then(|known| known.refusal);
        let decided = approvals.decide(&request.id, Approval::Approve, &by).await;
        let forbidden = decided
            .as_ref()
            .err()
            .filter(|error| error.kind() == RuntimeErrorKind::Forbidden);
        assert_eq!(
            refusal.map(|why| why.to_string()),
            forbidden.map(ToString::to_string)
        );
        decided.map_err(|error| error.kind())
    };
    let treasurer = |id: &str, tenant: &str| Principal::new(id, tenant).role("treasurer");
    let forbidden = Err(RuntimeErrorKind::Forbidden);
    let none = Err(RuntimeErrorKind::Store(Kind::NotFound));
    let kind = |result: Result<Request, RuntimeErrorKind>| result.map(drop);
    assert_eq!(
        kind(decide(treasurer("ada", "acme")).await),
        forbidden,
        "she started it"
    );
    assert_eq!(
        kind(decide(treasurer("berta", "acme")).await),
        forbidden,
        "it works for her"
    );
    assert_eq!(
        kind(decide(grace()).await),
        forbidden,
        "she has not the role"
    );
    assert_eq!(kind(decide(treasurer("grace", "other")).await), none);
    let detail = approvals
        .detail(&request.id, &Principal::new("eve", "other"))
        .await;
    assert!(detail.is_err());
    decide(treasurer("grace", "acme")).await.unwrap();
    let again = decide(Principal::operator()).await;
    assert_eq!(kind(again), Err(RuntimeErrorKind::Store(Kind::Settled)));
}

#[tokio::test]
async fn a6_a_request_that_nobody_decides_expires_and_the_model_is_told() {
    let set = |runtime: Runtime| runtime.requests_expire_after(Duration::from_millis(300));
    let office = office_with([pays(900), Script::text("Nobody was there.")], set).await;
    let _worker = Worker::start(&office.runtime);
    let run = office.start().await;
    let request = waiting(&run).await.remove(0);
    assert_eq!(done(&run).await.result.unwrap(), "Nobody was there.");
    assert!(office.ran.lock().unwrap().is_empty());
    let told = format!("{:?}", office.model.requests()[1].messages.last());
    assert!(told.contains("APPROVAL_EXPIRED"), "{told}");
    let late = office
        .decide(&request, Approval::Approve)
        .await
        .unwrap_err();
    assert_eq!(late.kind(), RuntimeErrorKind::Store(Kind::Settled));
}

#[tokio::test(flavor = "multi_thread")]
async fn a6_an_approval_that_is_used_too_late_is_asked_for_again() {
    let files = Files::new("late");
    let store = SqliteStore::open(files.db()).await.unwrap();
    let office = office_on(store, [pays(100), pays(100), Script::text("Done.")]);
    let worker = Worker::start(&office.runtime);
    let run = office.start().await;
    let first = waiting(&run).await.remove(0);
    worker.stop().await;
    let approvals = office.runtime.approvals();
    let brief = approvals.clone().use_within(Duration::from_millis(20));
    brief
        .decide(&first.id, Approval::Approve, &grace())
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_millis(60)).await;
    let worker = Worker::start(&office.runtime);
    let second = waiting(&run).await.remove(0);
    assert_ne!(second.id, first.id);
    assert!(office.ran.lock().unwrap().is_empty());
    approvals
        .decide(&second.id, Approval::Approve, &grace())
        .await
        .unwrap();
    done(&run).await;
    worker.stop().await;
    assert_eq!(office.ran.lock().unwrap().len(), 1);
    let told = format!("{:?}", office.model.requests());
    assert!(told.contains("APPROVAL_EXPIRED"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a11_the_inbox_of_a_principal_has_the_requests_of_its_tenant_alone() {
    let office = office([pays(900)]).await;
    let _worker = Worker::start(&office.runtime);
    let run = office.start().await;
    let request = waiting(&run).await.remove(0);
    let approvals = office.runtime.approvals();
    let (eve, operator) = (Principal::new("eve", "other"), Principal::operator());
    for (by, sees) in [(&grace(), 1), (&eve, 0), (&operator, 1)] {
        let pending = approvals.pending(by).await.unwrap();
        assert_eq!(pending.len(), sees, "{by:?}");
        for tenant in [None, Some("acme".to_owned())] {
            let filter = ApprovalFilter {
                tenant,
                run: Some(run.id().to_owned()),
                ..ApprovalFilter::default()
            };
            let found = approvals.list(&filter, by).await.unwrap();
            assert_eq!(found.len(), sees, "{by:?}");
        }
    }
    // A request of another tenant as the place to go on from is as unknown as one that never was.
    let refused = async |id: &str| {
        let after = ApprovalFilter {
            after: Some(id.to_owned()),
            ..ApprovalFilter::default()
        };
        let error = approvals.list(&after, &eve).await.unwrap_err();
        error.to_string().replace(id, "it")
    };
    assert_eq!(refused(&request.id).await, refused("none").await);
}
