//! Requests for approval over HTTP: what they hold, what each decision does, and who takes none.

use crate::house::House;
use agents_core::{Json, tool::Risk, tool::Scope};
use agents_runtime::{Principal, Progress, Roles, RunRef};
use agents_store::Timestamp;
use axum::http::StatusCode;
use serde_json::{Value, json};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(20);

/// Waits until a run asks again, and returns its request that waits.
async fn asked_again(house: &House, run: &str) -> Value {
    for _ in 0..2_000 {
        let listed = house
            .get("acme/grace", &format!("/api/approvals?run={run}"))
            .await
            .json();
        if listed["approvals"][0].is_object() {
            return listed["approvals"][0].clone();
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the run does not ask");
}

async fn answer(house: &House, run: &str) -> String {
    let run: RunRef<String> = house.client().run(run);
    match run.wait(LONG).await.unwrap() {
        Progress::Done(outcome) => outcome.result.unwrap(),
        other => panic!("{other:?}"),
    }
}

/// Returns the states of what a run has executed.
async fn ran(house: &House, run: &str) -> Vec<String> {
    let path = format!("/api/runs/{run}/executions");
    let executions = house.get("acme/grace", &path).await.json();
    let states = executions["executions"].as_array().unwrap().iter();
    let state = |one: &Value| one["state"].as_str().unwrap().to_owned();
    states.map(state).collect()
}

#[tokio::test]
async fn a2_a_request_is_json_with_all_that_a_decision_needs() {
    let house = House::new(Roles::new()).await;
    let args = json!({"amount": 12, "to": "ada@example.org, 4111 1111 1111 1111"});
    let ada = Principal::new("ada", "acme");
    let run = house.client().agent("payer");
    let run = run
        .run(Json::of(&args.to_string()).unwrap())
        .scope(Scope::from("acme").user("ada"))
        .by(&ada)
        .start()
        .await
        .unwrap();
    let request = asked_again(&house, run.id()).await;
    let text = |name: &str| request[name].as_str().unwrap_or_else(|| panic!("{name}"));
    let time = |name: &str| serde_json::from_value::<Timestamp>(request[name].clone()).unwrap();
    let asked = time("requested_at");
    assert!(Timestamp::now().since(asked) < LONG);
    assert_eq!(
        time("expires_at").since(asked),
        Duration::from_secs(24 * 60 * 60)
    );
    for secret in ["ada@example.org", "4111"] {
        assert!(!request.to_string().contains(secret), "{request}");
    }
    assert!(text("args_summary").contains("amount: 12"), "{request}");
    // What differs from run to run is compared by itself.
    for name in ["id", "correlation_id", "args_digest"] {
        assert!(text(name).len() >= 16, "{name}");
    }
    let mut fixed = request.clone();
    let members = fixed.as_object_mut().unwrap();
    for name in [
        "id",
        "run_id",
        "correlation_id",
        "args_digest",
        "args_summary",
        "requested_at",
        "expires_at",
        "reasons",
    ] {
        assert!(members.remove(name).is_some(), "{name}");
    }
    let expected = json!({
        "tool_name": "pay",
        "tool_version": request["tool_version"],
        "agent_name": "payer",
        "effect_description": "Runs `pay`, which writes.",
        "risk_level": "medium",
        "tenant_id": "acme",
        "user_id": "ada",
        "status": "pending",
    });
    assert_eq!(fixed, expected);
    assert_eq!(request["run_id"], run.id());
    assert!(!request["reasons"].as_array().unwrap().is_empty());

    // The request by itself has the exact arguments beside the same fields.
    let path = format!("/api/approvals/{}", text("id"));
    let whole = house.get("acme/grace", &path).await.json();
    for (name, value) in request.as_object().unwrap() {
        assert_eq!(whole[name], *value, "{name}");
    }
    assert_eq!(whole["request"]["args"], args);
}

#[tokio::test]
async fn a3_an_approved_call_runs_once_with_its_arguments() {
    let house = House::new(Roles::new()).await;
    let request = house.ask("acme", r#"{"amount": 12}"#).await;
    let path = format!("/api/approvals/{}", request.id);
    let approve = json!({"decision": "approve"});
    let decided = house.post_json("acme/grace", &path, &approve).await;
    assert_eq!(decided.status, StatusCode::OK, "{}", decided.body);
    assert_eq!(decided.json()["decided_by"], "grace");
    assert_eq!(answer(&house, &request.run_id).await, "paid 12");
    assert_eq!(ran(&house, &request.run_id).await, ["done"]);
    let stored = house.get("acme/grace", &path).await.json();
    assert_eq!(stored["status"], "consumed");
    let again = house.post_json("acme/grace", &path, &approve).await;
    assert_eq!(again.json()["status"], "consumed", "it is the first one");
    let deny = json!({"decision": "deny"});
    let other = house.post_json("acme/grace", &path, &deny).await;
    assert_eq!(other.status, StatusCode::CONFLICT);
    assert_eq!(ran(&house, &request.run_id).await, ["done"]);
}

#[tokio::test]
async fn a3_a_denied_call_does_not_run_and_the_model_is_told_why() {
    let house = House::new(Roles::new()).await;
    let request = house.ask("acme", r#"{"amount": 12}"#).await;
    let path = format!("/api/approvals/{}", request.id);
    let deny = json!({"decision": "deny", "note": "too much for a Monday"});
    let decided = house.post_json("acme/grace", &path, &deny).await;
    assert_eq!(decided.json()["status"], "denied", "{}", decided.body);
    let told = answer(&house, &request.run_id).await;
    assert!(told.contains("APPROVAL_DENIED"), "{told}");
    assert!(told.contains("too much for a Monday"), "{told}");
    assert!(ran(&house, &request.run_id).await.is_empty());
}

#[tokio::test]
async fn a3_a_call_that_is_sent_back_is_asked_about_again_as_the_model_has_changed_it() {
    let house = House::new(Roles::new()).await;
    let request = house.ask("acme", r#"{"amount": 12}"#).await;
    let path = format!("/api/approvals/{}", request.id);
    let revise = json!({"decision": "revise", "note": "one euro at most"});
    let decided = house.post_json("acme/grace", &path, &revise).await;
    assert_eq!(
        decided.json()["status"],
        "revision_requested",
        "{}",
        decided.body
    );
    let again = asked_again(&house, &request.run_id).await;
    assert_ne!(again["id"], json!(request.id));
    assert_eq!(again["correlation_id"], json!(request.correlation_id));
    assert!(ran(&house, &request.run_id).await.is_empty());
    let path = format!("/api/approvals/{}", again["id"].as_str().unwrap());
    let whole = house.get("acme/grace", &path).await.json();
    assert_eq!(whole["request"]["args"], json!({"amount": 1}));
    let approve = json!({"decision": "approve"});
    let decided = house.post_json("acme/grace", &path, &approve).await;
    assert_eq!(decided.status, StatusCode::OK, "{}", decided.body);
    assert_eq!(answer(&house, &request.run_id).await, "paid 1");
    assert_eq!(ran(&house, &request.run_id).await, ["done"]);
}

#[tokio::test]
async fn a11_whoever_has_started_a_run_or_is_its_user_or_lacks_the_role_decides_nothing() {
    let house = House::new(Roles::new().for_risk(Risk::Medium, "treasurer")).await;
    let starts = Principal::new("ada", "acme");
    let args = Json::of(&r#"{"amount": 12}"#).unwrap();
    let run = house.client().agent("payer");
    let run = run
        .run(args)
        .scope(Scope::from("acme").user("uma"))
        .by(&starts)
        .start()
        .await
        .unwrap();
    let mut id = None;
    for _ in 0..2_000 {
        let path = format!("/api/approvals?run={}", run.id());
        let listed = house.get("acme/tess/treasurer", &path).await.json();
        id = listed["approvals"][0]["id"].as_str().map(str::to_owned);
        if id.is_some() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let id = id.unwrap();
    let path = format!("/api/approvals/{id}");
    for (who, status, why) in [
        ("acme/ada/treasurer", StatusCode::FORBIDDEN, "started"),
        ("acme/uma/treasurer", StatusCode::FORBIDDEN, "uma"),
        ("acme/carl/clerk", StatusCode::FORBIDDEN, "treasurer"),
        // Another tenant's request is not there, whatever the role.
        ("beta/tess/treasurer", StatusCode::NOT_FOUND, "no request"),
    ] {
        for decision in ["approve", "deny", "revise"] {
            let decision = json!({"decision": decision});
            let answer = house.post_json(who, &path, &decision).await;
            assert_eq!(answer.status, status, "{who}: {}", answer.body);
            assert!(answer.body.contains(why), "{who}: {}", answer.body);
        }
        if status == StatusCode::FORBIDDEN {
            let token = &*house.token(who).await;
            let fields = [("decision", "approve"), ("token", token)];
            let form = house.post(who, &format!("/approvals/{id}"), &fields).await;
            assert_eq!(form.status, status, "{who}: {}", form.body);
            let fields = [("id", &*id), ("decision", "approve"), ("token", token)];
            let ticked = house.post(who, "/approvals", &fields).await;
            assert_eq!(ticked.status, status, "{who}: {}", ticked.body);
        }
    }
    assert!(
        matches!(run.progress().await.unwrap(), Progress::Waiting(all) if all.len() == 1),
        "nothing was decided"
    );
    // Each refusal is in the audit trail.
    let trail = house
        .get(
            "acme/tess/treasurer",
            &format!("/api/audit?run={}", run.id()),
        )
        .await
        .json();
    let refused = |who: &str| {
        let events = trail["events"].as_array().unwrap().iter();
        let of = events.filter(|one| one["kind"] == "refused" && one["actor"] == *who);
        of.count()
    };
    assert_eq!(["ada", "uma", "carl"].map(refused), [5, 5, 5], "{trail:#}");
    let approve = json!({"decision": "approve"});
    let tess = house
        .post_json("acme/tess/treasurer", &path, &approve)
        .await;
    assert_eq!(tess.status, StatusCode::OK, "{}", tess.body);
    assert_eq!(answer(&house, run.id()).await, "paid 12");
}
