//! Server-sent events: what any process stores reaches every page that is open.

use crate::house::{House, attribute};
use agents_runtime::{Approval, Principal, Roles};
use axum::{
    body::{Body, BodyDataStream},
    http::Request,
};
use futures_util::StreamExt;
use std::time::Duration;
use tower::ServiceExt;

/// Opens the events as somebody, behind this one.
async fn listen(house: &House, who: &str, last: Option<u64>) -> BodyDataStream {
    let mut request = Request::get("/api/live").header("x-user", who);
    if let Some(last) = last {
        request = request.header("last-event-id", last.to_string());
    }
    let request = request.body(Body::empty()).unwrap();
    let answer = house.app.clone().oneshot(request).await.unwrap();
    answer.into_body().into_data_stream()
}

/// Reads events until one has this text, and returns all of them.
async fn until(events: &mut BodyDataStream, text: &str) -> String {
    let mut all = String::new();
    let read = async {
        while !all.contains(text) {
            let piece = events.next().await.unwrap().unwrap();
            all.push_str(std::str::from_utf8(&piece).unwrap());
        }
    };
    let in_time = tokio::time::timeout(Duration::from_secs(20), read).await;
    in_time.unwrap_or_else(|_| panic!("no {text} in {all}"));
    all
}

#[tokio::test]
async fn a8_requests_and_decisions_are_told_to_every_reader_of_the_tenant() {
    let house = House::new(Roles::new()).await;
    let mut own = listen(&house, "acme/grace", None).await;
    let mut too = listen(&house, "operator", None).await;
    let mut other = listen(&house, "beta/bob", None).await;
    let request = house.ask("acme", r#"{"amount": 12}"#).await;
    let said = until(&mut own, "event: requested").await;
    assert!(said.contains(&request.run_id), "{said}");
    until(&mut too, "event: requested").await;
    // Another client of the store, as in another process.
    let approvals = house.client().clone().approvals();
    let grace = Principal::new("grace", "acme");
    approvals
        .decide(&request.id, Approval::Approve, &grace)
        .await
        .unwrap();
    until(&mut own, "event: approved").await;
    house.ask("beta", r#"{"amount": 13}"#).await;
    let said = until(&mut other, "event: requested").await;
    assert!(!said.contains(&request.run_id), "{said}");
}

#[tokio::test]
async fn a_reader_who_comes_back_misses_nothing_and_hears_nothing_twice() {
    let house = House::new(Roles::new()).await;
    let request = house.ask("acme", r#"{"amount": 12}"#).await;
    let mut again = listen(&house, "acme/grace", Some(0)).await;
    let said = until(&mut again, "event: requested").await;
    assert!(said.starts_with("id: 1\n"), "{said}");
    drop(again);
    let number = said
        .rsplit("id: ")
        .next()
        .unwrap()
        .split('\n')
        .next()
        .unwrap();
    let mut again = listen(&house, "acme/grace", number.parse().ok()).await;
    let grace = Principal::new("grace", "acme");
    let deny = Approval::Deny {
        reason: "no".into(),
    };
    house
        .client()
        .approvals()
        .decide(&request.id, deny, &grace)
        .await
        .unwrap();
    let said = until(&mut again, "event: denied").await;
    assert!(!said.contains("event: requested"), "{said}");
}

#[tokio::test]
async fn what_happens_between_a_page_and_its_first_connection_is_told() {
    let house = House::new(Roles::new()).await;
    let before = house.ask("acme", r#"{"amount": 12}"#).await;
    let who = "acme/grace";
    for page in ["/approvals", "/runs", &format!("/runs/{}", before.run_id)] {
        let shown = house.get(who, page).await.body;
        let at = attribute(&shown, "data-at");
        // The page was sent, and its script has not run yet.
        let between = house.ask("acme", r#"{"amount": 13}"#).await;
        house.ask("beta", r#"{"amount": 14}"#).await;
        let address = format!("{}?after={at}", attribute(&shown, "data-live"));
        let request = Request::get(address).header("x-user", who);
        let request = request.body(Body::empty()).unwrap();
        let answer = house.app.clone().oneshot(request).await.unwrap();
        let mut events = answer.into_body().into_data_stream();
        let said = until(&mut events, "event: requested").await;
        assert!(said.contains(&between.run_id), "{page}: {said}");
        assert!(!said.contains(&before.run_id), "{page}: {said}");
        assert!(!said.contains("beta"), "{page}: {said}");
    }
    // A header says more than the address, which a browser keeps when it comes back.
    let request = Request::get("/api/live?after=0").header("x-user", who);
    let request = request.header("last-event-id", "1000000");
    let answer = house
        .app
        .clone()
        .oneshot(request.body(Body::empty()).unwrap());
    let mut events = answer.await.unwrap().into_body().into_data_stream();
    let in_time = tokio::time::timeout(Duration::from_secs(1), events.next()).await;
    assert!(in_time.is_err(), "{in_time:?}");
    let wrong = house.get(who, "/api/live?after=newest").await;
    assert_eq!(wrong.status, 422, "{}", wrong.body);
    assert!(wrong.body.contains("after"), "{}", wrong.body);
}
