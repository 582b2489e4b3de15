//! Refusals: by tenant, role, token and site. Hostile arguments and paths that are not there.

use crate::house::House;
use agents_core::tool::Risk;
use agents_runtime::{Action, Principal, Roles};
use axum::{
    body::Body,
    http::{Method, Request, StatusCode, header},
};
use serde_json::json;

#[tokio::test]
async fn a11_another_tenant_finds_nothing_and_a_role_that_is_missing_is_403() {
    let house = House::new(Roles::new().for_risk(Risk::Medium, "treasurer")).await;
    let request = house.ask("acme", r#"{"amount": 12}"#).await;
    for page in [
        "/approvals",
        "/runs",
        "/letters",
        "/failures",
        "/audit",
        "/api/approvals",
        "/api/runs",
        "/api/letters",
        "/api/failures",
        "/api/audit",
    ] {
        let other = house.get("beta/bob/treasurer", page).await;
        assert_eq!(other.status, StatusCode::OK);
        assert!(
            !other.body.contains(&request.run_id),
            "{page}: {}",
            other.body
        );
    }
    for path in [
        format!("/approvals/{}", request.id),
        format!("/runs/{}", request.run_id),
        format!("/api/approvals/{}", request.id),
        format!("/api/runs/{}", request.run_id),
        // Nor does it show its place among the others.
        format!("/runs?before={}", request.run_id),
        format!("/api/runs?before={}", request.run_id),
    ] {
        let other = house.get("beta/bob/treasurer", &path).await;
        assert_eq!(other.status, StatusCode::NOT_FOUND, "{path}");
    }
    let path = format!("/api/approvals/{}", request.id);
    let approve = json!({"decision": "approve"});
    let other = house.post_json("beta/bob/treasurer", &path, &approve).await;
    assert_eq!(other.status, StatusCode::NOT_FOUND);
    let clerk = house.post_json("acme/carl", &path, &approve).await;
    assert_eq!(clerk.status, StatusCode::FORBIDDEN, "{}", clerk.body);
    assert!(clerk.body.contains("treasurer"), "{}", clerk.body);
    // Whoever may not decide does not see the exact arguments either, and gets no form to edit them.
    let page = house.get("acme/carl", "/approvals").await.body;
    assert!(
        page.contains("the exact arguments are for others"),
        "{page}"
    );
    assert!(!page.contains("name=\"arguments\""));
    // The steps of the run hold them as well.
    let run = house
        .get("acme/carl", &format!("/runs/{}", request.run_id))
        .await
        .body;
    assert!(
        run.contains("for others") && !run.contains("amount"),
        "{run}"
    );
    let run = house
        .get("acme/carl", &format!("/api/runs/{}", request.run_id))
        .await;
    assert!(run.json()["events"].is_null() && !run.body.contains("amount"));
    let treasurer = house
        .post_json("acme/tess/treasurer", &path, &approve)
        .await;
    assert_eq!(treasurer.status, StatusCode::OK, "{}", treasurer.body);
}

#[tokio::test]
async fn the_contents_of_a_run_are_for_whoever_may_see_exact_arguments() {
    let decides = Roles::new().for_action(Action::Decide, "approver");
    let reads = Roles::new()
        .for_risk(Risk::High, "treasurer")
        .for_action(Action::ReadArguments, "auditor");
    for (roles, by, may_see) in [
        (&decides, "acme/carl", false),
        (&decides, "acme/ann/approver", true),
        (&reads, "acme/tess/treasurer", false),
        (&reads, "acme/amy/auditor", true),
    ] {
        let house = House::new(roles.clone()).await;
        let request = house.ask("acme", r#"{"amount": 12}"#).await;
        let of_request = format!("/api/approvals/{}", request.id);
        let status = house.get(by, &of_request).await.status;
        assert_eq!(status == StatusCode::OK, may_see, "{by}: {status}");
        let of_run = format!("/api/runs/{}", request.run_id);
        let run = house.get(by, &of_run).await;
        assert_eq!(
            run.json()["events"].is_array(),
            may_see,
            "{by}: {}",
            run.body
        );
        // Whoever may see the text gets a stream, which lasts as long as the run.
        let text = Request::get(format!("{of_run}/text")).header("x-user", by);
        let text = house.app_status(text.body(Body::empty()).unwrap()).await;
        assert_eq!(text == StatusCode::FORBIDDEN, !may_see, "{by}: {text}");
    }
}

#[tokio::test]
async fn nobody_gets_nothing() {
    let house = House::new(Roles::new()).await;
    for path in [
        "/",
        "/approvals",
        "/runs",
        "/letters",
        "/failures",
        "/audit",
        "/api/approvals",
        "/api/letters",
        "/api/failures",
        "/api/live",
        "/nothing",
    ] {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let answer = house.send(request).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{path}");
        assert!(answer.body.contains("nobody is signed in"), "{path}");
    }
}

#[tokio::test]
async fn s5_3_a_form_without_the_token_of_its_visitor_changes_nothing() {
    let house = House::new(Roles::new()).await;
    let request = house.ask("acme", r#"{"amount": 12}"#).await;
    let path = format!("/approvals/{}", request.id);
    let of_another = house.get("acme/hal", "/approvals").await.body;
    let of_another = crate::house::attribute(&of_another, "name=\"token\" value");
    for token in ["", "x", of_another] {
        let fields = [("decision", "approve"), ("token", token)];
        let answer = house.post("acme/grace", &path, &fields).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{token}");
    }
    let steer = [("action", "cancel")];
    let answer = house
        .post("acme/grace", &format!("/runs/{}", request.run_id), &steer)
        .await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    assert_eq!(
        house
            .client()
            .approvals()
            .pending(&Principal::operator())
            .await
            .unwrap()
            .len(),
        1
    );
}

#[tokio::test]
async fn a_request_that_another_site_sends_changes_nothing() {
    let house = House::new(Roles::new()).await;
    let request = house.ask("acme", r#"{"amount": 12}"#).await;
    for (name, value) in [
        ("origin", "https://evil.example"),
        ("origin", "null"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ] {
        let sent = Request::post(format!("/api/approvals/{}", request.id))
            .header("x-user", "acme/grace")
            .header("host", "room.example")
            .header(name, value)
            .header(header::CONTENT_TYPE, "application/json")
            .body(Body::from(r#"{"decision": "approve"}"#))
            .unwrap();
        let answer = house.send(sent).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{name}: {value}");
    }
    // A form of another site cannot name this type, and a browser asks before it sends it.
    let plain = Request::post(format!("/api/approvals/{}", request.id))
        .header("x-user", "acme/grace")
        .header(header::CONTENT_TYPE, "text/plain")
        .body(Body::from(r#"{"decision": "approve"}"#))
        .unwrap();
    let answer = house.send(plain).await;
    assert_eq!(answer.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    assert_eq!(
        house
            .client()
            .approvals()
            .pending(&Principal::operator())
            .await
            .unwrap()
            .len(),
        1
    );
}

#[tokio::test]
async fn pages_allow_no_foreign_scripts_frames_or_caches() {
    let house = House::new(Roles::new()).await;
    for path in [
        "/approvals",
        "/runs",
        "/letters",
        "/failures",
        "/audit",
        "/nothing",
        "/api/runs",
    ] {
        let answer = house.get("acme/grace", path).await;
        let headers = answer.head.headers();
        let policy = headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
        assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"));
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(headers[header::CACHE_CONTROL], "no-store", "{path}");
        assert_eq!(headers[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
        assert!(!answer.body.contains(" style=\"") && !answer.body.contains(" onclick"));
    }
}

#[tokio::test]
async fn s5_3_hostile_arguments_stay_text() {
    let house = House::new(Roles::new()).await;
    // The text of the model is shown as well, since the number is taken out of its quotes.
    let hostile = json!({
        "amount": "1",
        "to": "</textarea><script>alert(1)</script>\u{202e}evil\u{1b}[31m\"><img src=x onerror=alert(1)>",
    });
    house.ask("acme", &hostile.to_string()).await;
    let page = house.get("acme/grace", "/approvals").await.body;
    assert!(
        !page.contains("<script>alert") && !page.contains("<img"),
        "{page}"
    );
    let unseen = |c: char| c == '\u{202e}' || (c.is_control() && c != '\n');
    // The field of one argument holds its very text; nothing that is shown beside it does.
    let (before, rest) = page.split_once("name=\"argument.to\"").unwrap();
    let (_, after) = rest.split_once("</textarea>").unwrap();
    assert!(
        !before.contains(unseen) && !after.contains(unseen),
        "{page}"
    );
    assert!(
        page.contains("⟨U+202E⟩") || page.contains("\\u202e"),
        "{page}"
    );
    // Half a megabyte is shown whole, and not put into fields.
    let long = json!({"amount": 1, "to": "x".repeat(500_000)});
    let request = house.ask("acme", &long.to_string()).await;
    let page = house
        .get("acme/grace", &format!("/approvals/{}", request.id))
        .await
        .body;
    assert!(
        page.contains(&"x".repeat(500_000)),
        "the exact arguments are not cut"
    );
    assert!(page.contains("too long to be edited here"));
}

#[tokio::test]
async fn what_is_not_there_is_404_and_what_cannot_be_done_is_405() {
    let house = House::new(Roles::new()).await;
    for path in [
        "/nothing",
        "/approvals/none",
        "/runs/none",
        "/letters/none",
        "/letters/none%2Finvoices",
        "/failures/none",
        "/api/nothing",
        "/api/runs/none",
        "/api/letters/none",
        "/api/failures/none",
    ] {
        let answer = house.get("operator", path).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
        assert_eq!(
            path.starts_with("/api"),
            answer.body.starts_with('{'),
            "{path}"
        );
    }
    let query = house.get("operator", "/api/runs?limit=many").await;
    assert_eq!(query.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(query.json()["error"]["kind"], "invalid");
    let put = Request::builder().method(Method::PUT).uri("/approvals");
    let put = put
        .header("x-user", "operator")
        .body(Body::empty())
        .unwrap();
    assert_eq!(house.send(put).await.status, StatusCode::METHOD_NOT_ALLOWED);
}
