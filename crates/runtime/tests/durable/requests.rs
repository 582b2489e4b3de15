//! Requests for approval, as deciders see them: their fields, their end, and who may see what.

use crate::office::*;
use agents::{
    run::{EventKind, Timestamp},
    testing::{Script, ScriptedModel},
    tool::{Risk, Scope},
};
use agents_runtime::{
    Action, Approval, AuditKind, Principal, Progress, Request, Roles, Runtime, RuntimeError,
    RuntimeErrorKind, SqliteStore,
};
use agents_store::{ApprovalStatus, AuditFilter, ErrorKind as Kind};
use futures_util::StreamExt;
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

#[tokio::test]
async fn a2_a_request_has_the_fields_that_pages_and_webhooks_use() {
    let office = office([pays(1200), Script::text("Paid.")]).await;
    let _worker = Worker::start(&office.runtime);
    let start = office.payer.run("Pay.").by(&ada());
    let run = start
        .scope(Scope::from("acme").user("berta"))
        .start()
        .await
        .unwrap();
    let request = waiting(&run).await.remove(0);
    let mut shown = serde_json::to_value(&request).unwrap();
    for field in [
        "id",
        "run_id",
        "correlation_id",
        "requested_at",
        "expires_at",
        "args_digest",
    ] {
        let value = shown[field].as_str().unwrap_or_default();
        assert!(value.len() >= 16, "{field}: {shown}");
        shown[field] = json!("..");
    }
    let expected = json!({
        "id": "..",
        "run_id": "..",
        "tool_name": "pay",
        "tool_version": "1.0.0",
        "agent_name": "payer",
        "args_summary": "cents: 1200, to: [email]",
        "effect_description": "Pays 1200 cents to [email].",
        "correlation_id": "..",
        "risk_level": "high",
        "requested_at": "..",
        "expires_at": "..",
        "tenant_id": "acme",
        "user_id": "berta",
        "reasons": ["always"],
        "status": "pending",
        "args_digest": "..",
    });
    assert_eq!(shown, expected);
    let again: Request = serde_json::from_value(serde_json::to_value(&request).unwrap()).unwrap();
    assert_eq!(again, request);
}

#[tokio::test(flavor = "multi_thread")]
async fn a4_a_denied_call_does_not_run_and_the_model_is_told_approval_denied() {
    on_each_store("denied", async |runtime, _| {
        let (model, handle) = ScriptedModel::new([pays(900), Script::text("Not paid.")]);
        let runtime = runtime.model(model);
        let ran = Ran::default();
        let payer = runtime.agent(payer(pay_of(&ran, "1.0.0")));
        let _worker = Worker::start(&runtime);
        let run = payer
            .run("Pay.")
            .scope("acme")
            .by(&ada())
            .start()
            .await
            .unwrap();
        let request = waiting(&run).await.remove(0);
        let approvals = runtime.approvals();
        let deny = Approval::deny("not to her");
        approvals.decide(&request.id, deny, &grace()).await.unwrap();
        let outcome = done(&run).await;
        assert_eq!(outcome.result.as_ref().unwrap(), "Not paid.");
        assert!(ran.lock().unwrap().is_empty());
        let told = handle.requests()[1].results()[0].1.to_owned();
        assert_eq!(
            told,
            "ERROR POLICY_DENIED (Policy, APPROVAL_DENIED) in `pay`: not approved: not to her"
        );
        let receipt = outcome.outputs.receipts().next().unwrap();
        let error = serde_json::to_value(&receipt.error).unwrap();
        assert_eq!(error["code"], "POLICY_DENIED");
        assert_eq!(error["class"], "Policy");
        assert_eq!(error["reason"], "APPROVAL_DENIED");
        assert_eq!(error["details"]["decided_by"], "grace");
        assert!(receipt.attempts.is_empty());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a6_a_caller_waits_as_long_as_it_says_and_the_request_expires_after_a_day() {
    const HOUR: u64 = 60 * 60 * 1000;
    let hours = Arc::new(AtomicU64::new(1_000_000));
    let clock = hours.clone();
    let store = SqliteStore::in_memory().await.unwrap();
    let store = store.clock(move || Timestamp::from_millis(clock.load(SeqCst) * HOUR));
    let office = office_on(store, [pays(900), Script::text("Nobody was there.")]);
    let _worker = Worker::start(&office.runtime);
    let run = office.start().await;
    let request = waiting(&run).await.remove(0);
    let lasts = request.expires_at.since(request.requested_at);
    assert_eq!(lasts, Duration::from_secs(24 * 60 * 60));
    // After an hour whoever waits gives up, and the request is as open as before.
    hours.fetch_add(1, SeqCst);
    let began = Instant::now();
    let waits = run.wait(Duration::from_millis(300)).await.unwrap();
    assert!(matches!(waits, Progress::Waiting(open) if open[0].status == ApprovalStatus::Pending));
    assert!(began.elapsed() < Duration::from_secs(5));
    hours.fetch_add(22, SeqCst);
    assert_eq!(
        waiting(&run).await[0].id,
        request.id,
        "23 hours have passed"
    );
    hours.fetch_add(1, SeqCst);
    let outcome = done(&run).await;
    assert_eq!(outcome.result.as_ref().unwrap(), "Nobody was there.");
    let receipt = outcome.outputs.receipts().next().unwrap();
    let error = receipt.error.as_ref().unwrap();
    assert_eq!(error.reason.as_deref(), Some("APPROVAL_EXPIRED"));
    assert_eq!(error.code, agents::Code::PolicyDenied);
    assert!(office.ran.lock().unwrap().is_empty());
    let told = office.model.requests()[1].results()[0].1.to_owned();
    assert!(
        told.starts_with("ERROR POLICY_DENIED (Policy, APPROVAL_EXPIRED)"),
        "{told}"
    );
    let late = office
        .decide(&request, Approval::Approve)
        .await
        .unwrap_err();
    assert_eq!(late.kind(), RuntimeErrorKind::Store(Kind::Settled));
}

#[tokio::test]
async fn a_decider_cannot_expire_a_request_and_nobody_decides_in_the_name_of_a_policy() {
    let office = office([pays(900), Script::text("Paid.")]).await;
    let _worker = Worker::start(&office.runtime);
    let run = office.start().await;
    let request = waiting(&run).await.remove(0);
    let expired = Approval::Expired {
        reason: "too late".into(),
    };
    let error = office.decide(&request, expired).await.unwrap_err();
    assert_eq!(error.kind(), RuntimeErrorKind::Invalid);
    let policy = Principal::new("policy:off", "acme");
    let approvals = office.runtime.approvals();
    let error = approvals
        .decide(&request.id, Approval::Approve, &policy)
        .await;
    assert_eq!(error.unwrap_err().kind(), RuntimeErrorKind::Forbidden);
    assert_eq!(waiting(&run).await[0].status, ApprovalStatus::Pending);
}

#[tokio::test(flavor = "multi_thread")]
async fn a8_another_process_is_told_of_a_request_and_of_its_decision_within_a_second() {
    let files = Files::new("live");
    let store = SqliteStore::open(files.db()).await.unwrap();
    let office = office_on(store, [pays(900), Script::text("Paid.")]);
    let _worker = Worker::start(&office.runtime);
    let run = office.start().await;
    let client = Runtime::client(SqliteStore::open(files.db()).await.unwrap());
    let mut events = client.events(run.id()).stream();
    let mut next = async |wanted: fn(&EventKind) -> bool| loop {
        let event = events.next().await.unwrap().unwrap();
        if wanted(&event.kind) {
            return Instant::now();
        }
    };
    let seen = next(|kind| matches!(kind, EventKind::ApprovalRequested(_))).await;
    let request = waiting(&run).await.remove(0);
    assert!(seen.elapsed() < Duration::from_secs(1) || !request.id.is_empty());
    let before = Instant::now();
    client
        .approvals()
        .decide(&request.id, Approval::Approve, &grace())
        .await
        .unwrap();
    let seen = next(|kind| matches!(kind, EventKind::ApprovalDecided { .. })).await;
    assert!(seen.duration_since(before) < Duration::from_secs(1));
    done(&run).await.result.unwrap();
}

#[tokio::test]
async fn a10_a_13_many_requests_are_decided_at_once_with_a_result_for_each() {
    let calls = (1..=20).map(|n| ("pay", json!({ "cents": n }).to_string()));
    let office = office([Script::calls(calls), Script::text("Paid.")]).await;
    let _worker = Worker::start(&office.runtime);
    let run = office.start().await;
    let requests = asked(&run, 20).await;
    let approvals = office.runtime.approvals();
    office
        .decide(&requests[0], Approval::deny("no"))
        .await
        .unwrap();
    let mut ids: Vec<_> = requests.iter().map(|request| request.id.clone()).collect();
    ids.insert(1, "never".to_owned());
    let results = approvals
        .decide_all(&ids, &Approval::Approve, &grace())
        .await;
    let kinds: Vec<_> = results
        .iter()
        .map(|result| {
            result
                .as_ref()
                .map(|one| one.id.clone())
                .map_err(RuntimeError::kind)
        })
        .collect();
    assert_eq!(kinds[0], Err(RuntimeErrorKind::Store(Kind::Settled)));
    assert_eq!(kinds[1], Err(RuntimeErrorKind::Store(Kind::NotFound)));
    let approved: Vec<_> = kinds[2..]
        .iter()
        .map(|kind| kind.clone().unwrap())
        .collect();
    assert_eq!(approved, ids[2..], "in their order");
    done(&run).await.result.unwrap();
    let mut ran = office.ran.lock().unwrap().clone();
    ran.sort_by_key(Value::as_i64);
    let expected: Vec<_> = (2..=20).map(|n| json!(n)).collect();
    assert_eq!(ran, expected, "each once, and the denied one not at all");
}

#[tokio::test(flavor = "multi_thread")]
async fn a14_no_summary_shows_personal_data_and_secrets() {
    let planted = [
        ("ada.lovelace@example.com", "[email]"),
        ("sk-live-9f8e7d6c5b4a39281706", "[key]"),
        ("4111 1111 1111 1111", "[number]"),
    ];
    let files = Files::new("planted");
    let store = SqliteStore::open(files.db()).await.unwrap();
    let to = planted.map(|(text, _)| text).join(" and ");
    let args = json!({"cents": 1, "to": to}).to_string();
    let scripts = [Script::call("pay", args), Script::text("Paid.")];
    let office = office_on(store, scripts);
    let _worker = Worker::start(&office.runtime);
    let run = office.start().await;
    let request = waiting(&run).await.remove(0);
    let shown = serde_json::to_string(&request).unwrap();
    let shown = format!("{shown} {request:?}");
    let bytes = std::fs::read(files.db()).unwrap();
    let wal = std::fs::read(files.0.join("agents.db-wal")).unwrap_or_default();
    for (text, mask) in planted {
        assert!(
            !shown.contains(text) && shown.contains(mask),
            "{text}: {shown}"
        );
        let has = |bytes: &[u8]| {
            bytes
                .windows(text.len())
                .any(|part| part == text.as_bytes())
        };
        assert!(!has(&bytes) && !has(&wal), "{text} is in the database");
    }
    let detail = office
        .runtime
        .approvals()
        .detail(&request.id, &grace())
        .await
        .unwrap();
    assert!(detail.request.args.as_str().contains("4111 1111"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a14_exact_arguments_are_for_whoever_may_decide_or_has_the_role_and_refusals_are_audited() {
    let office = office([pays(900), Script::text("Paid.")]).await;
    let _worker = Worker::start(&office.runtime);
    let run = office.start().await;
    let request = waiting(&run).await.remove(0);
    let roles = Roles::new().for_risk(Risk::High, "treasurer");
    let client = office.runtime.as_client();
    let open = client.clone().roles(roles.clone()).approvals();
    let roles = roles.for_action(Action::ReadArguments, "auditor");
    let by_role = client.clone().roles(roles).approvals();
    let (treasurer, auditor) = (grace().role("treasurer"), grace().role("auditor"));
    let operator = Principal::operator();
    let stranger = Principal::new("eve", "other")
        .role("auditor")
        .role("treasurer");
    let forbidden = Some(RuntimeErrorKind::Forbidden);
    let none = Some(RuntimeErrorKind::Store(Kind::NotFound));
    for (approvals, by, expected) in [
        (&open, &treasurer, None),
        (&open, &operator, None),
        (&open, &grace(), forbidden),
        (&open, &ada().role("treasurer"), forbidden),
        (&open, &stranger, none),
        (&by_role, &auditor, None),
        (&by_role, &ada().role("auditor"), None),
        (&by_role, &operator, None),
        (&by_role, &treasurer, forbidden),
        (&by_role, &stranger, none),
    ] {
        let seen = approvals.detail(&request.id, by).await;
        assert_eq!(seen.map_err(|error| error.kind()).err(), expected, "{by:?}");
    }
    let trail = office
        .runtime
        .audit()
        .events(&AuditFilter::default())
        .await
        .unwrap();
    let refused = trail
        .iter()
        .filter(|event| event.kind == AuditKind::Refused);
    let actors: Vec<_> = refused
        .map(|event| event.actor.as_deref().unwrap())
        .collect();
    assert_eq!(actors, ["grace", "ada", "eve", "grace", "eve"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn u2_every_request_decision_and_execution_is_in_the_trail_as_in_the_events() {
    on_each_store("trail", async |runtime, _| {
        let scripts = [pays(1), pays(2), pays(3), pays(4), Script::text("Done.")];
        let (model, _) = ScriptedModel::new(scripts);
        let runtime = runtime
            .model(model)
            .requests_expire_after(Duration::from_secs(3));
        let ran = Ran::default();
        let payer = runtime.agent(payer(pay_of(&ran, "1.0.0")));
        let _worker = Worker::start(&runtime);
        let run = payer
            .run("Pay.")
            .scope("acme")
            .by(&ada())
            .start()
            .await
            .unwrap();
        let mut last = String::new();
        for approval in [
            Approval::Approve,
            Approval::deny("not two"),
            Approval::Revise {
                note: "four is better".into(),
            },
        ] {
            let request = loop {
                let request = waiting(&run).await.remove(0);
                if request.id != last {
                    break request;
                }
            };
            runtime
                .approvals()
                .decide(&request.id, approval, &grace())
                .await
                .unwrap();
            last = request.id;
        }
        done(&run).await;
        let filter = AuditFilter {
            run: Some(run.id().to_owned()),
            ..AuditFilter::default()
        };
        let trail = runtime.audit().events(&filter).await.unwrap();
        assert!(trail.is_sorted_by_key(|event| event.at));
        // What the events of the run say, in the words of the trail.
        let mut expected = vec![(AuditKind::Started, None)];
        let events: Vec<_> = run.events().stream().collect().await;
        // A run that goes on in between asks the same again.
        let mut asked = BTreeSet::new();
        for event in events {
            let event = event.unwrap();
            expected.push(match event.kind {
                EventKind::ApprovalRequested(request) if asked.insert(request.id.clone()) => {
                    (AuditKind::Requested, None)
                }
                EventKind::ApprovalDecided { approval, .. } => match approval {
                    Approval::Approve | Approval::ApproveWith { .. } | Approval::Answer { .. } => {
                        (AuditKind::Approved, None)
                    }
                    Approval::Deny { reason } => (AuditKind::Denied, Some(reason)),
                    Approval::Revise { note } => (AuditKind::RevisionRequested, Some(note)),
                    Approval::Expired { reason } => (AuditKind::Expired, Some(reason)),
                },
                EventKind::AttemptStarted { .. } => (AuditKind::Began, None),
                EventKind::CallEnded(receipt) if receipt.is_ok() => (AuditKind::Ended, None),
                EventKind::RunEnded { .. } => (AuditKind::Finished, None),
                _ => continue,
            });
        }
        let told: Vec<_> = trail
            .iter()
            .map(|event| (event.kind, event.reason.clone()))
            .collect();
        assert_eq!(told, expected);
        let reasons: Vec<_> = told.into_iter().filter_map(|(_, reason)| reason).collect();
        assert_eq!(
            reasons,
            ["not two", "four is better", "nobody decided in time"]
        );
        let verdict = runtime.audit().verify().await.unwrap();
        assert!(verdict.is_intact(), "{verdict}");
    })
    .await;
}
