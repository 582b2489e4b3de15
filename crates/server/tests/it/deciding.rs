//! Decisions in forms and as JSON.

use crate::house::{House, attribute, fields};
use agents_core::run::EventKind;
use agents_runtime::{Action, Approval, Principal, Roles};
use agents_store::{ApprovalFilter, ApprovalStatus};
use axum::http::{StatusCode, header};
use serde_json::json;
use std::time::Duration;

/// Returns the output of the run's payment once the run is over.
async fn paid(house: &House, run: &str) -> String {
    let run = house.client().run::<String>(run);
    match run.wait(Duration::from_secs(20)).await.unwrap() {
        agents_runtime::Progress::Done(outcome) => outcome.result.unwrap(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a9_the_inbox_shows_tool_risk_arguments_and_buttons_or_that_nothing_waits() {
    let house = House::new(Roles::new()).await;
    let empty = house.get("acme/grace", "/approvals").await;
    assert!(empty.body.contains("Nothing waits for a decision."));
    let request = house.ask("acme", r#"{"amount": "12", "to": "ACME"}"#).await;
    let page = house.get("acme/grace", "/approvals").await;
    assert_eq!(page.status, StatusCode::OK);
    assert_eq!(attribute(&page.body, "data-approval-id"), request.id);
    assert_eq!(attribute(&page.body, "data-tool"), "pay");
    assert_eq!(
        attribute(&page.body, "data-correlation-id"),
        request.correlation_id
    );
    for part in [
        "medium risk",
        // How long it has waited, when it expires, and for whom it is asked.
        "<b>payer</b> at <b>acme</b>",
        " · asked <time",
        " · expires in <time",
        "value=\"approve\"",
        "value=\"deny\"",
        "value=\"revise\"",
        "name=\"note\"",
        "name=\"arguments\"",
        // The way from what the model wrote to what will run.
        "{&quot;amount&quot;: &quot;12&quot;, &quot;to&quot;: &quot;ACME&quot;}",
        "number taken out of its quotes",
        "\"argument.amount\" type=\"text\" inputmode=\"decimal\" value=\"12\"",
        &request.args_digest,
    ] {
        assert!(page.body.contains(part), "{part}: {}", page.body);
    }
    let of_request = format!("/api/approvals/{}", request.id);
    let json = house.get("acme/grace", &of_request).await.json();
    assert_eq!(json["written"], r#"{"amount": "12", "to": "ACME"}"#);
    let of_run = format!("/runs/{}", request.run_id);
    for (agent, is_there) in [("payer", true), ("nobody", false)] {
        let path = format!("/runs?agent={agent}");
        let runs = house.get("acme/grace", &path).await.body;
        assert_eq!(runs.contains(&of_run), is_there, "{agent}");
    }
    // What was not changed is not shown twice.
    let request = house.ask("acme", r#"{"amount": 12}"#).await;
    let of_request = format!("/api/approvals/{}", request.id);
    let json = house.get("acme/grace", &of_request).await.json();
    assert_eq!(json.get("written"), None, "{json}");
}

#[tokio::test]
async fn the_inbox_tells_where_known_values_come_from() {
    use agents::{
        AgentBuilder,
        evidence::{Known, User},
        testing::{Script, ScriptedModel},
    };

    /// Reads a mail.
    #[agents::tool(reads)]
    async fn read_mail() -> String {
        "Pay to <b>DE89370400440532013000</b>".to_owned()
    }

    /// Pays.
    #[agents::tool(writes, approval = always)]
    async fn pay_to(
        /// Account.
        account: Known<String, (User, ReadMail)>,
    ) -> String {
        account.into_inner()
    }

    let house = House::new(Roles::new()).await;
    let (model, _) = ScriptedModel::new([
        Script::call("read_mail", "{}"),
        Script::call("pay_to", r#"{"account": "<b>DE89370400440532013000</b>"}"#),
        Script::text("paid"),
    ]);
    let clerk = AgentBuilder::<String, String>::new("mail_clerk").model(model);
    let clerk = house
        .runtime
        .agent(clerk.tool(ReadMail).tool(PayTo).build());
    let run = clerk
        .run("Pay the bill")
        .scope("acme")
        .start()
        .await
        .unwrap();
    let mut requests = Vec::new();
    while requests.is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
        match run.progress().await.unwrap() {
            agents_runtime::Progress::Waiting(waiting) => requests = waiting,
            agents_runtime::Progress::Done(outcome) => panic!("{:?}", outcome.result),
            _ => {}
        }
    }
    let page = house.get("acme/grace", "/approvals").await.body;
    let (_, known) = page.split_once("<ul class=\"known\"").unwrap();
    let (known, _) = known.split_once("</ul>").unwrap();
    assert!(
        known.contains("from a text in the output of `read_mail`"),
        "{known}"
    );
    assert!(!known.contains("<b>"), "{known}");
    let of_request = format!("/api/approvals/{}", requests[0].id);
    let json = house.get("acme/grace", &of_request).await.json();
    assert_eq!(json["request"]["known"][0]["in_text"], true, "{json}");
}

#[tokio::test]
async fn a_form_as_it_is_approves_the_arguments_as_they_are() {
    let house = House::new(Roles::new()).await;
    let request = house.ask("acme", r#"{"amount": 12, "to": "a\nb"}"#).await;
    let answer = house
        .decide("acme/grace", &request.id, "approve", &[])
        .await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    let location = answer.head.headers()[header::LOCATION].to_str().unwrap();
    assert!(
        house
            .get("acme/grace", location)
            .await
            .body
            .contains("One request was approved.")
    );
    assert_eq!(paid(&house, &request.run_id).await, "paid 12 to a\nb");
    let operator = agents_runtime::Principal::operator();
    let approvals = house.client().approvals();
    let stored = approvals.get(&request.id, &operator).await.unwrap();
    assert_eq!(stored.decided_by.as_deref(), Some("grace"));
    let filter = agents_store::AuditFilter::default();
    let events = house.client().audit().events(&filter).await.unwrap();
    let approved = events
        .iter()
        .find(|event| event.kind == agents_store::AuditKind::Approved);
    assert!(approved.unwrap().reason.is_none(), "nothing was edited");
}

#[tokio::test]
async fn arguments_are_edited_one_by_one_or_as_json() {
    let house = House::new(Roles::new()).await;
    let first = house.ask("acme", r#"{"amount": 12, "to": "ACME"}"#).await;
    let edit = [("argument.amount", "7"), ("argument.urgent", "true")];
    let answer = house
        .decide("acme/grace", &first.id, "approve", &edit)
        .await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    assert_eq!(paid(&house, &first.run_id).await, "paid 7 to ACME");
    let second = house.ask("acme", r#"{"amount": 12}"#).await;
    let edit = [("arguments", r#"{"amount": 8}"#)];
    let answer = house
        .decide("acme/grace", &second.id, "approve", &edit)
        .await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    assert_eq!(paid(&house, &second.run_id).await, "paid 8");
    // What was asked for is shown beside what was approved, and so it is in the audit trail.
    let page = house
        .get("acme/grace", &format!("/approvals/{}", second.id))
        .await
        .body;
    let approved = &page[page.find("Approved with other arguments").unwrap()..];
    assert!(
        page.contains("<bdi>12</bdi>") && approved.contains("&quot;amount&quot;: 8\n"),
        "{page}"
    );
    let trail = house.get("acme/grace", "/audit?kind=approved").await.body;
    let reason = "approved with {amount: 8} in place of {amount: 12}";
    assert!(trail.contains(reason), "{trail}");
}

#[tokio::test]
async fn edits_that_do_not_fit_are_refused_with_the_field_and_change_nothing() {
    let house = House::new(Roles::new()).await;
    let request = house.ask("acme", r#"{"amount": 12, "to": "ACME"}"#).await;
    for (decision, edit, said) in [
        (
            "approve",
            &[("argument.amount", "much")][..],
            "`amount` is not of the type `integer`",
        ),
        ("approve", &[("argument.amount", "")], "`amount` is missing"),
        ("approve", &[("arguments", "{")], "`arguments` is no JSON"),
        (
            "approve",
            &[("arguments", r#"{"amount": "x"}"#)],
            "`amount`",
        ),
        (
            "approve",
            &[("argument.amount", "1"), ("arguments", "{}")],
            "edit one of them",
        ),
        ("deny", &[("argument.amount", "1")], "for an approval"),
        ("perhaps", &[], "`approve`, `deny`, `revise`"),
    ] {
        let answer = house
            .decide("acme/grace", &request.id, decision, edit)
            .await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{edit:?}");
        assert!(answer.body.contains(said), "{edit:?}: {}", answer.body);
    }
    let pending = house
        .client()
        .approvals()
        .pending(&Principal::operator())
        .await
        .unwrap();
    assert_eq!(pending.len(), 1);
}

#[tokio::test]
async fn a_revision_asks_again_with_the_same_correlation_id() {
    let house = House::new(Roles::new()).await;
    let request = house.ask("acme", r#"{"amount": 12}"#).await;
    let note = [("note", "at most one euro")];
    let answer = house
        .decide("acme/grace", &request.id, "revise", &note)
        .await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    let mut again = Vec::new();
    for _ in 0..500 {
        again = house
            .client()
            .approvals()
            .pending(&Principal::operator())
            .await
            .unwrap();
        if !again.is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(again[0].correlation_id, request.correlation_id);
    assert_ne!(again[0].id, request.id);
}

#[tokio::test]
async fn a10_those_that_are_ticked_are_decided_in_one_go() {
    let house = House::new(Roles::new()).await;
    let first = house.ask("acme", r#"{"amount": 1}"#).await;
    let second = house.ask("acme", r#"{"amount": 2}"#).await;
    let page = house.get("acme/grace", "/approvals").await.body;
    let token = attribute(&page, "name=\"token\" value").to_owned();
    let none = house
        .post(
            "acme/grace",
            "/approvals",
            &[("token", &token), ("decision", "deny")],
        )
        .await;
    assert_eq!(none.status, StatusCode::UNPROCESSABLE_ENTITY);
    let both = [
        ("token", &*token),
        ("id", &first.id),
        ("id", &second.id),
        ("decision", "deny"),
    ];
    let answer = house.post("acme/grace", "/approvals", &both).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    let third = house.ask("acme", r#"{"amount": 3}"#).await;
    let late = [
        ("token", &*token),
        ("id", &first.id),
        ("id", &third.id),
        ("decision", "approve"),
    ];
    let answer = house.post("acme/grace", "/approvals", &late).await;
    assert_eq!(answer.status, StatusCode::CONFLICT);
    assert!(answer.body.contains("decided: 1;"), "{}", answer.body);
    let filter = ApprovalFilter {
        status: Some(ApprovalStatus::Denied),
        ..ApprovalFilter::default()
    };
    assert_eq!(
        house
            .client()
            .approvals()
            .list(&filter, &Principal::operator())
            .await
            .unwrap()
            .len(),
        2
    );
}

#[tokio::test]
async fn everything_is_json_too() {
    let house = House::new(Roles::new()).await;
    let request = house.ask("acme", r#"{"amount": 12}"#).await;
    let list = house.get("acme/grace", "/api/approvals").await.json();
    assert_eq!(list["approvals"][0]["id"], json!(request.id));
    let path = format!("/api/approvals/{}", request.id);
    let whole = house.get("acme/grace", &path).await.json();
    assert_eq!(whole["request"]["args"], json!({"amount": 12}));
    let bad = house
        .post_json("acme/grace", &path, &json!({"decision": "perhaps"}))
        .await;
    assert_eq!(bad.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(bad.json()["error"]["kind"], "invalid");
    let decision = json!({"decision": "approve", "arguments": {"amount": 3}});
    let decided = house.post_json("acme/grace", &path, &decision).await;
    assert_eq!(decided.json()["status"], "approved", "{}", decided.body);
    let again = house.post_json("acme/grace", &path, &decision).await;
    assert_eq!(again.json()["status"], "approved", "it is the first one");
    let other = json!({"decision": "deny"});
    let other = house.post_json("acme/grace", &path, &other).await;
    assert_eq!(other.status, StatusCode::CONFLICT);
    assert_eq!(paid(&house, &request.run_id).await, "paid 3");
    let run = house
        .get("acme/grace", &format!("/api/runs/{}", request.run_id))
        .await
        .json();
    assert_eq!(run["end"], "answered");
    assert!(run["events"].as_array().unwrap().len() > 5);
    let audit = house.get("acme/grace", "/api/audit").await.json();
    assert_eq!(audit["events"][0]["kind"], "started");
}

#[tokio::test]
async fn a_form_holds_what_a_browser_sends() {
    let house = House::new(Roles::new()).await;
    house.ask("acme", r#"{"amount": 12, "to": "<b>"}"#).await;
    let page = house.get("acme/grace", "/approvals").await.body;
    let fields = fields(&page);
    let value = |name: &str| {
        fields
            .iter()
            .find(|(own, _)| own == name)
            .map(|(_, value)| &**value)
    };
    assert_eq!(value("argument.to"), Some("<b>"));
    assert_eq!(
        value("arguments"),
        Some("{\r\n  \"amount\": 12,\r\n  \"to\": \"<b>\"\r\n}")
    );
    assert_eq!(value("note"), Some(""));
}

#[tokio::test]
async fn a_text_that_a_browser_sends_back_changed_counts_as_not_edited() {
    let house = House::new(Roles::new()).await;
    for text in ["a\r\nb", "a\rb", "\na", "\r\n", "a\u{0}b", "a\u{202e}b\n"] {
        let args = json!({"amount": 12, "to": text}).to_string();
        for decision in ["approve", "deny"] {
            let request = house.ask("acme", &args).await;
            let answer = house.decide("acme/grace", &request.id, decision, &[]).await;
            assert_eq!(
                answer.status,
                StatusCode::SEE_OTHER,
                "{text:?}: {}",
                answer.body
            );
            paid(&house, &request.run_id).await;
            let recorded = house.client().recorded(&request.run_id).await.unwrap();
            let events = recorded.unwrap().events();
            let decided = events.iter().find_map(|event| match &event.kind {
                EventKind::ApprovalDecided { approval, .. } => Some(approval),
                _ => None,
            });
            let is_as_asked = match decided.unwrap() {
                Approval::Approve => decision == "approve",
                Approval::Deny { .. } => decision == "deny",
                _ => false,
            };
            assert!(is_as_asked, "{text:?}: {decided:?}");
        }
    }
}

#[tokio::test]
async fn whoever_does_not_see_the_arguments_cannot_edit_them_unseen() {
    let roles = Roles::new().for_action(Action::ReadArguments, "auditor");
    let house = House::new(roles).await;
    let request = house.ask("acme", r#"{"amount": 12}"#).await;
    let edit = [("arguments", r#"{"amount": 1}"#)];
    let answer = house
        .decide("acme/grace", &request.id, "approve", &edit)
        .await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(answer.body.contains("does not see them"), "{}", answer.body);
    let answer = house
        .decide("acme/grace", &request.id, "approve", &[])
        .await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    assert_eq!(paid(&house, &request.run_id).await, "paid 12");
}
