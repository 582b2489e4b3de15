//! Runs and the audit trail on pages, and the control room under a path of an application.

use crate::house::House;
use agents_runtime::{Principal, Roles, RunRef};
use axum::{
    Router,
    body::{Body, to_bytes},
    http::{Request, StatusCode, request::Parts},
};
use tower::ServiceExt;

fn token(page: &str) -> String {
    crate::house::attribute(page, "name=\"token\" value").to_owned()
}

#[tokio::test]
async fn a_run_shows_its_steps_and_is_paused_released_and_cancelled() {
    let house = House::new(Roles::new()).await;
    let request = house.ask("acme", r#"{"amount": "12"}"#).await;
    let path = format!("/runs/{}", request.run_id);
    let page = house.get("acme/grace", &path).await.body;
    for part in [
        "the run begins",
        "repaired",
        "asks for approval of pay",
        "data-run-status=\"waiting\"",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let token = token(&page);
    for (action, status) in [("pause", "held"), ("release", "ready"), ("cancel", "done")] {
        let fields = [("token", &*token), ("action", action)];
        let answer = house.post("acme/grace", &path, &fields).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
        if action == "pause" {
            let page = house.get("acme/grace", &path).await.body;
            assert!(
                page.contains(&format!("data-run-status=\"{status}\"")),
                "{page}"
            );
        }
    }
    let run: RunRef<String> = house.client().run(&request.run_id);
    let over = run.wait(std::time::Duration::from_secs(20)).await.unwrap();
    assert!(
        matches!(over, agents_runtime::Progress::Done(_)),
        "{over:?}"
    );
    let list = house.get("acme/grace", "/runs?status=done").await.body;
    assert!(
        list.contains(&request.run_id) && list.contains("cancelled"),
        "{list}"
    );
    let unknown = house.get("acme/grace", "/runs?status=lost").await;
    assert_eq!(unknown.status, StatusCode::UNPROCESSABLE_ENTITY);
}

#[tokio::test]
async fn the_trail_is_shown_the_newest_first_and_verified_by_the_operator() {
    let house = House::new(Roles::new()).await;
    let request = house.ask("acme", r#"{"amount": 12}"#).await;
    house
        .decide("acme/grace", &request.id, "deny", &[("note", "too much")])
        .await;
    let page = house.get("acme/grace", "/audit").await.body;
    let (_, page) = page.split_once("<tbody").unwrap();
    let at = |word: &str| page.find(word).unwrap_or_else(|| panic!("{word}: {page}"));
    assert!(at("too much") < at("requested"), "{page}");
    assert!(!page.contains("Verify the whole trail"));
    let page = house.get("operator", "/audit?verify=yes").await.body;
    assert!(page.contains("class=\"done\""), "{page}");
}

#[tokio::test]
async fn links_and_forms_lead_to_where_an_application_has_put_the_control_room() {
    let house = House::new(Roles::new()).await;
    let request = house.ask("acme", r#"{"amount": 12}"#).await;
    let by_grace = |_: &Parts| Some(Principal::new("grace", "acme"));
    let room = agents_server::router(house.client(), by_grace);
    let app: Router = Router::new().nest("/agents", room);
    let load = |path: String| {
        let app = app.clone();
        async move {
            let request = Request::get(path).body(Body::empty()).unwrap();
            let answer = app.oneshot(request).await.unwrap();
            let (status, body) = (answer.status(), answer.into_body());
            let body = to_bytes(body, 1_000_000).await.unwrap();
            (status, String::from_utf8(body.to_vec()).unwrap())
        }
    };
    let (status, page) = load("/agents/approvals".to_owned()).await;
    assert_eq!(status, StatusCode::OK);
    for link in page
        .split(['"', ' '])
        .filter(|part| part.starts_with('/') && part.len() > 1)
    {
        assert!(link.starts_with("/agents/"), "{link}");
    }
    let path = format!("action=\"/agents/approvals/{}\"", request.id);
    assert!(page.contains(&path), "{page}");
    let (status, _) = load("/agents/room.css".to_owned()).await;
    assert_eq!(status, StatusCode::OK);
    let (status, _) = load("/agents".to_owned()).await;
    assert_eq!(status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn events_are_found_and_exported_as_lines_of_json() {
    let house = House::new(Roles::new()).await;
    let request = house.ask("acme", r#"{"amount": 1}"#).await;
    house
        .decide("acme/grace", &request.id, "approve", &[])
        .await;
    house.ask("beta", r#"{"amount": 2}"#).await;
    for (query, found) in [
        ("kind=approved", 1),
        ("kind=approved&by=grace", 1),
        ("by=nobody", 0),
        ("kind=requested&tool=pay", 1),
        ("kind=approved&by=ann", 0),
    ] {
        let page = house
            .get("acme/grace", &format!("/audit?{query}"))
            .await
            .body;
        assert_eq!(
            page.matches("data-number").count(),
            found,
            "{query}: {page}"
        );
        let json = house
            .get("acme/grace", &format!("/api/audit?{query}"))
            .await
            .json();
        assert_eq!(json["events"].as_array().unwrap().len(), found, "{query}");
        let lines = house
            .get("acme/grace", &format!("/api/audit.jsonl?{query}"))
            .await;
        assert_eq!(lines.status, StatusCode::OK);
        assert_eq!(lines.body.lines().count(), found, "{query}: {}", lines.body);
    }
    let page = house.get("acme/grace", "/audit?by=grace").await.body;
    assert!(
        page.contains("/api/audit.jsonl?run=&amp;kind=&amp;by=grace&amp;tool="),
        "{page}"
    );
    // What belongs to another tenant is in none of them.
    let lines = house.get("acme/grace", "/api/audit.jsonl").await.body;
    let tenants = lines.lines().map(|line| {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        event["tenant_id"].as_str().unwrap().to_owned()
    });
    assert!(
        tenants.into_iter().all(|tenant| tenant == "acme"),
        "{lines}"
    );
    let unknown = house.get("acme/grace", "/audit?kind=lost").await;
    assert_eq!(
        unknown.status,
        StatusCode::UNPROCESSABLE_ENTITY,
        "{}",
        unknown.body
    );
}

#[tokio::test]
async fn every_page_tells_how_many_requests_wait_for_whoever_looks_at_it() {
    let house = House::new(Roles::new()).await;
    let told = async |who: &str, path: &str| {
        let page = house.get(who, path).await.body;
        crate::house::attribute(&page, "data-pending").to_owned()
    };
    assert_eq!(told("acme/ann", "/runs").await, "0");
    house.ask("acme", r#"{"amount": 1}"#).await;
    let request = house.ask("acme", r#"{"amount": 2}"#).await;
    house.ask("beta", r#"{"amount": 3}"#).await;
    for (who, path, count) in [
        ("acme/ann", "/runs", "2"),
        ("acme/ann", "/approvals", "2"),
        ("beta/bob", "/audit", "1"),
        ("operator", "/tools", "3"),
    ] {
        assert_eq!(told(who, path).await, count, "{who} {path}");
    }
    house.decide("acme/ann", &request.id, "deny", &[]).await;
    assert_eq!(told("acme/ann", "/approvals").await, "1");
}
