//! Dead letters: the list, the page of one, its replay, and clusters of failures.

use crate::house::{Answer, House, attribute, fields};
use agents::{
    AgentBuilder, Effects,
    testing::{Script, ScriptedModel},
    tool::{FnTool, ToolSpec},
};
use agents_runtime::{
    Action, AuditKind, Client, DeadLetter, DeliveryError, LetterQuery, Notification, Principal,
    Roles, Runtime, SqliteStore, Subscriber, Told,
};
use agents_server::ControlRoom;
use agents_store::AuditFilter;
use axum::{
    body::Body,
    http::{Request, StatusCode, header},
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio_util::sync::CancellationToken;

const HOSTILE: &str =
    "</td></pre><script>alert(1)</script>\u{202e}evil\u{1b}[31m\"><img src=x onerror=alert(1)>";

/// An order has left the house.
#[derive(Serialize, Deserialize)]
struct OrderShipped {
    order: u32,
    note: String,
}

impl Notification for OrderShipped {
    const NAME: &'static str = "shop.order_shipped";
}

/// House whose subscribers fail until they are mended.
pub(crate) struct Post {
    pub(crate) house: House,
    works: Arc<AtomicBool>,
    /// Orders that were taken.
    taken: Arc<Mutex<Vec<u32>>>,
}

impl Post {
    /// Creates a house in which these orders of tenants are dead letters, one to each of these subscribers.
    pub(crate) async fn of(roles: Roles, handlers: &[&str], orders: &[(&str, u32)]) -> Post {
        let (works, taken) = (Arc::new(AtomicBool::new(false)), Arc::default());
        let mut runtime = Runtime::open(SqliteStore::in_memory().await.unwrap()).roles(roles);
        for handler in handlers {
            runtime = runtime.subscriber(subscriber(handler, &works, &taken));
        }
        let room = ControlRoom::of(runtime.as_client());
        let house = House::with(runtime, room);
        for &(tenant, order) in orders {
            let note = format!("order {HOSTILE}");
            let shipped = OrderShipped { order, note };
            let published = house.runtime.publish(&shipped).scope(tenant);
            published.await.unwrap();
        }
        tokio::spawn(house.runtime.clone().work(CancellationToken::new()));
        let post = Post {
            house,
            works,
            taken,
        };
        let count = handlers.len() * orders.len();
        until(async || dead(post.house.client()).await.len() == count).await;
        post
    }

    /// Returns the path of the oldest dead letter of a tenant.
    pub(crate) async fn path(&self, tenant: &str) -> String {
        let letters = dead(self.house.client()).await.into_iter();
        let own = letters.rev().find(|letter| letter.tenant_id == tenant);
        format!("/letters/{}", encoded(&own.unwrap().event_id))
    }

    async fn replays(&self) -> Vec<(Option<String>, Option<String>)> {
        let filter = AuditFilter {
            kind: Some(AuditKind::Replayed),
            ..AuditFilter::default()
        };
        let events = self.house.client().audit().events(&filter).await.unwrap();
        let told = events.into_iter().map(|event| (event.actor, event.reason));
        told.collect()
    }
}

fn subscriber(name: &str, works: &Arc<AtomicBool>, taken: &Arc<Mutex<Vec<u32>>>) -> Subscriber {
    let (works, taken) = (works.clone(), taken.clone());
    let take = move |shipped: OrderShipped, _: Told| {
        let is_taken = works.load(SeqCst);
        if is_taken {
            taken.lock().unwrap().push(shipped.order);
        }
        async move {
            match is_taken {
                true => Ok(()),
                false => Err(DeliveryError::new(format!("the printer is off {HOSTILE}"))),
            }
        }
    };
    Subscriber::new(name, take).retry_after([Duration::from_millis(1); 2])
}

async fn dead(client: &Client) -> Vec<DeadLetter> {
    let all = LetterQuery::default();
    let listed = client.letters().list(&all, &Principal::operator()).await;
    listed.unwrap()
}

/// Waits until this is so.
async fn until(mut is_so: impl AsyncFnMut() -> bool) {
    for _ in 0..3000 {
        if is_so().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it did not come to that");
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// Returns the addresses of the letters on a page.
fn listed(page: &str) -> Vec<String> {
    let rows = page.split("data-letter=").skip(1);
    rows.map(|row| attribute(row, "<td><a href").to_owned())
        .collect()
}

fn is_inert(page: &str) {
    assert!(
        !page.contains("<script>alert") && !page.contains("<img"),
        "{page}"
    );
    let unseen = page.chars().find(|c| *c == '\u{202e}' || *c == '\u{1b}');
    assert_eq!(unseen, None, "{page}");
}

/// Sends the form of a page, with this field in the place of its own.
async fn send(house: &House, who: &str, path: &str, field: (&str, &str)) -> Answer {
    let page = house.get(who, path).await.body;
    let mut fields = fields_of_the_form(&page);
    fields.retain(|(name, _)| name != field.0);
    let mut fields: Vec<_> = fields.iter().map(|(a, b)| (&**a, &**b)).collect();
    fields.push(field);
    house.post(who, path, &fields).await
}

fn fields_of_the_form(page: &str) -> Vec<(String, String)> {
    fields(&page.replace("class=\"decision try\"", "class=\"decision\""))
}

#[tokio::test]
async fn d4_dead_letters_are_listed_by_handler_age_and_tenant_and_page_by_page() {
    let orders = [("acme", 1), ("acme", 2), ("acme", 3), ("beta", 4)];
    let post = Post::of(Roles::new(), &["invoices", "mails"], &orders).await;
    let house = &post.house;
    for (who, query, count) in [
        ("acme/ann", "", 6),
        ("beta/bob", "", 2),
        ("operator", "", 8),
        (
            "acme/ann",
            "?handler_name=&min_minutes=&max_minutes=&before=",
            6,
        ),
        ("acme/ann", "?handler_name=invoices", 3),
        ("acme/ann", "?handler_name=nobody", 0),
        ("acme/ann", "?max_minutes=10", 6),
        ("acme/ann", "?min_minutes=10", 0),
        ("acme/ann", "?min_minutes=0&handler_name=mails", 3),
    ] {
        let page = house.get(who, &format!("/letters{query}")).await;
        assert_eq!(page.status, StatusCode::OK, "{query}: {}", page.body);
        assert_eq!(listed(&page.body).len(), count, "{who} {query}");
        let is_empty = page.body.contains("There are no such dead letters.");
        assert_eq!(is_empty, count == 0, "{query}");
        is_inert(&page.body);
        let json = house.get(who, &format!("/api/letters{query}")).await.json();
        assert_eq!(
            json["letters"].as_array().unwrap().len(),
            count,
            "{who} {query}"
        );
    }
    let (mut found, mut before) = (Vec::new(), String::new());
    loop {
        let path = format!("/api/letters?limit=4&before={}", encoded(&before));
        let part = house.get("acme/ann", &path).await.json();
        let ids = part["letters"].as_array().unwrap().iter();
        found.extend(ids.map(|letter| letter["event_id"].as_str().unwrap().to_owned()));
        match part["next"].as_str() {
            Some(next) => before = next.to_owned(),
            None => break,
        }
    }
    let each: BTreeSet<_> = found.iter().collect();
    assert_eq!((found.len(), each.len()), (6, 6), "{found:?}");
    for (query, field) in [("min_minutes=soon", "min_minutes"), ("before=x", "before")] {
        for path in ["/letters", "/api/letters"] {
            let answer = house.get("acme/ann", &format!("{path}?{query}")).await;
            assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{query}");
            assert!(answer.body.contains(&format!("`{field}`")), "{query}");
        }
    }
    let empty = House::new(Roles::new()).await;
    let page = empty.get("acme/ann", "/letters").await.body;
    assert!(page.contains("There are no dead letters"), "{page}");
}

#[tokio::test]
async fn more_letters_than_a_page_has_are_behind_a_link() {
    let orders: Vec<_> = (0..60).map(|order| ("acme", order)).collect();
    let post = Post::of(Roles::new(), &["invoices"], &orders).await;
    let page = post.house.get("acme/ann", "/letters?max_minutes=60").await;
    let first = listed(&page.body);
    assert_eq!(first.len(), 50);
    let next = attribute(&page.body, "rel=\"next\" href").replace("&amp;", "&");
    assert!(next.contains("max_minutes=60"), "{next}");
    let page = post.house.get("acme/ann", &next).await.body;
    let second = listed(&page);
    assert_eq!(second.len(), 10);
    assert!(!page.contains("rel=\"next\""));
    assert!(second.iter().all(|path| !first.contains(path)));
}

#[tokio::test]
async fn d4_a_letter_is_shown_with_its_failures_and_with_its_contents_for_whoever_may_see_them() {
    let roles = Roles::new().for_action(Action::ReadArguments, "reader");
    let post = Post::of(roles, &["invoices"], &[("acme", 7)]).await;
    let path = post.path("acme").await;
    assert!(path.contains("%2F"), "ids of letters have slashes: {path}");
    let listed = listed(&post.house.get("acme/ann", "/letters").await.body);
    assert_eq!(listed.len(), 1);
    for (who, may_see) in [("acme/ann", false), ("acme/rita/reader", true)] {
        let answer = post.house.get(who, &listed[0]).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
        let page = answer.body;
        for text in ["shop.order_shipped", "invoices", "the printer is off"] {
            assert!(page.contains(text), "{text}: {page}");
        }
        assert_eq!(page.matches("data-try=").count(), 3, "{page}");
        assert_eq!(page.contains("&quot;order&quot;: 7"), may_see, "{page}");
        assert_eq!(page.contains("may not see contents"), !may_see, "{page}");
        is_inert(&page);
        let json = post.house.get(who, &format!("/api{path}")).await.json();
        assert_eq!(json["payload"]["order"] == 7, may_see, "{json}");
        assert_eq!(json["failure_history"].as_array().unwrap().len(), 3);
        assert_eq!(json["attempts"], 3);
    }
}

#[tokio::test]
async fn d4_a_letter_is_replayed_once_and_whoever_comes_later_is_told() {
    let post = Post::of(Roles::new(), &["invoices"], &[("acme", 7)]).await;
    let (house, path) = (&post.house, post.path("acme").await);
    let reason = ("reason", "the printer is on");
    let nothing = send(house, "acme/ann", &path, ("reason", " ")).await;
    assert_eq!(nothing.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(nothing.body.contains("needs a reason"), "{}", nothing.body);
    let page = house.get("acme/ann", &path).await.body;
    let token = attribute(&page, "name=\"token\" value");
    let given = [("token", token), reason];
    post.works.store(true, SeqCst);
    let all = (0..6).map(|_| house.post("acme/ann", &path, &given));
    let answers = futures_util::future::join_all(all).await;
    let (won, lost): (Vec<_>, Vec<_>) = answers
        .iter()
        .partition(|answer| answer.status == StatusCode::SEE_OTHER);
    assert_eq!(won.len(), 1);
    let told = &won[0].head.headers()[header::LOCATION];
    let page = house.get("acme/ann", told.to_str().unwrap()).await.body;
    assert!(page.contains("The letter is on its way again."), "{page}");
    for answer in lost {
        // Once the subscriber has taken it, there is no such letter.
        let is_told = matches!(answer.status, StatusCode::CONFLICT | StatusCode::NOT_FOUND);
        assert!(is_told, "{}: {}", answer.status, answer.body);
    }
    until(async || !post.taken.lock().unwrap().is_empty()).await;
    until(async || dead(house.client()).await.is_empty()).await;
    assert_eq!(*post.taken.lock().unwrap(), [7]);
    let audited = (Some("ann".to_owned()), Some(reason.1.to_owned()));
    assert_eq!(post.replays().await, [audited]);
    let gone = house.get("acme/ann", &path).await;
    assert_eq!(gone.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_letter_that_is_on_its_way_again_is_a_conflict_that_says_so() {
    // Without a worker the letter stays on its way.
    let store = SqliteStore::in_memory().await.unwrap();
    let (works, taken) = (Arc::default(), Arc::default());
    let runtime = Runtime::open(store.clone());
    let runtime = runtime.subscriber(subscriber("invoices", &works, &taken));
    let shipped = OrderShipped {
        order: 1,
        note: String::new(),
    };
    runtime.publish(&shipped).scope("acme").await.unwrap();
    let stop = CancellationToken::new();
    let worker = tokio::spawn(runtime.clone().work(stop.clone()));
    until(async || dead(runtime.as_client()).await.len() == 1).await;
    stop.cancel();
    worker.await.unwrap();
    let room = ControlRoom::of(runtime.as_client());
    let house = House::with(runtime, room);
    let id = dead(house.client()).await.remove(0).event_id;
    let path = format!("/letters/{}", encoded(&id));
    let page = house.get("acme/ann", &path).await.body;
    let token = attribute(&page, "name=\"token\" value").to_owned();
    let given = [("token", &*token), ("reason", "it is on")];
    let first = house.post("acme/ann", &path, &given).await;
    assert_eq!(first.status, StatusCode::SEE_OTHER, "{}", first.body);
    let again = house.post("acme/bea", &path, &given).await;
    assert_eq!(again.status, StatusCode::FORBIDDEN, "the token is Ann's");
    let again = house.post("acme/ann", &path, &given).await;
    assert_eq!(again.status, StatusCode::CONFLICT);
    assert!(
        again.body.contains("somebody has replayed it already"),
        "{}",
        again.body
    );
    let json = json!({"reason": "it is on"});
    let again = house
        .post_json("acme/ann", &format!("/api{path}"), &json)
        .await;
    assert_eq!(again.status, StatusCode::CONFLICT);
    assert_eq!(again.json()["error"]["kind"], "settled");
}

#[tokio::test]
async fn d4_nobody_replays_a_letter_of_others_without_the_role_or_with_a_forged_form() {
    let roles = Roles::new().for_action(Action::Replay, "mechanic");
    let post = Post::of(roles, &["invoices"], &[("acme", 7)]).await;
    let (house, path) = (&post.house, post.path("acme").await);
    let api = format!("/api{path}");
    let reason = json!({"reason": "mine now"});
    for path in [&path, &api] {
        let foreign = house.get("beta/eve/mechanic", path).await;
        assert_eq!(foreign.status, StatusCode::NOT_FOUND);
        assert!(!foreign.body.contains("shop.order_shipped"));
    }
    let own = house.get("beta/eve/mechanic", "/letters").await.body;
    assert!(!own.contains("data-letter"), "{own}");
    let foreign = house.post_json("beta/eve/mechanic", &api, &reason).await;
    assert_eq!(foreign.status, StatusCode::NOT_FOUND, "{}", foreign.body);
    let page = house.get("acme/carl", &path).await.body;
    assert!(page.contains("`replay` needs the role `mechanic`, which `carl` has not"));
    assert!(!page.contains("name=\"reason\""), "{page}");
    let refused = house.post_json("acme/carl", &api, &reason).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN, "{}", refused.body);
    let page = house.get("acme/mia/mechanic", &path).await.body;
    let of_mia = attribute(&page, "name=\"token\" value");
    for (who, token) in [
        ("acme/mia/mechanic", ""),
        ("acme/mia/mechanic", "x"),
        ("acme/max/mechanic", of_mia),
    ] {
        let given = [("token", token), ("reason", "forged")];
        let forged = house.post(who, &path, &given).await;
        assert_eq!(forged.status, StatusCode::FORBIDDEN, "{who}: {token}");
    }
    let sent = Request::post(&api)
        .header("x-user", "acme/mia/mechanic")
        .header("host", "room.example")
        .header("origin", "https://evil.example")
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(reason.to_string()));
    let other_site = house.send(sent.unwrap()).await;
    assert_eq!(other_site.status, StatusCode::FORBIDDEN);
    assert_eq!(dead(house.client()).await.len(), 1);
    assert_eq!(post.replays().await, []);
}

/// Returns a house with a run that is held because its worker lacks a model.
async fn with_a_held_run(roles: Roles) -> (House, String) {
    let runtime = Runtime::open(SqliteStore::in_memory().await.unwrap()).roles(roles);
    let clerk = runtime.agent(AgentBuilder::<String, String>::new("clerk").build());
    let room = ControlRoom::of(runtime.as_client());
    let house = House::with(runtime, room);
    let run = clerk.run(HOSTILE).scope("acme").start().await.unwrap();
    let stop = CancellationToken::new();
    let worker = tokio::spawn(house.runtime.clone().work(stop.clone()));
    until(async || dead(house.client()).await.len() == 1).await;
    stop.cancel();
    worker.await.unwrap();
    let run = run.id().to_owned();
    (house, run)
}

#[tokio::test]
async fn d4_a_run_that_is_held_is_a_dead_letter_with_a_link_and_needs_the_role_of_a_release() {
    let roles = Roles::new()
        .for_action(Action::Replay, "mechanic")
        .for_action(Action::Release, "dispatcher");
    let (house, run) = with_a_held_run(roles).await;
    let path = format!("/letters/{run}");
    let list = house.get("acme/ann", "/letters").await.body;
    assert_eq!(listed(&list), std::slice::from_ref(&path));
    assert!(list.contains("a run that is held"), "{list}");
    let mechanic = house.get("acme/mia/mechanic", &path).await.body;
    assert!(mechanic.contains("`release` needs the role `dispatcher`"));
    let page = house.get("acme/dan/dispatcher", &path).await.body;
    let link = format!("href=\"/runs/{run}\"");
    assert!(page.contains(&link) && page.contains("model"), "{page}");
    is_inert(&page);
    let reason = ("reason", "there is a model");
    let token = attribute(&page, "name=\"token\" value").to_owned();
    let released = send(&house, "acme/dan/dispatcher", &path, reason).await;
    assert_eq!(released.status, StatusCode::SEE_OTHER, "{}", released.body);
    let location = &released.head.headers()[header::LOCATION];
    assert_eq!(location.to_str().unwrap(), format!("/runs/{run}"));
    let given = [("token", &*token), reason];
    let again = house.post("acme/dan/dispatcher", &path, &given).await;
    assert_eq!(again.status, StatusCode::CONFLICT, "{}", again.body);
    assert!(again.body.contains("not held: there is nothing to replay"));
    let (api, mine) = (format!("/api{path}"), json!({"reason": "mine now"}));
    let foreign = house.post_json("beta/eve/dispatcher", &api, &mine).await;
    assert_eq!(foreign.status, StatusCode::NOT_FOUND);
}

/// Returns a house with a dead letter, and with a run of each tenant whose call has failed.
pub(crate) async fn with_failures(roles: Roles) -> (Post, String) {
    let post = Post::of(roles, &["invoices"], &[("acme", 7)]).await;
    let house = &post.house;
    let (model, _) = ScriptedModel::from_fn(|asked| match asked.results()[..] {
        [] => Script::call("look", "{}"),
        _ => Script::text("I could not."),
    });
    let schema = json!({"type": "object"});
    let spec = ToolSpec::new("look", "Looks.", Effects::Reads, schema);
    let look = FnTool::with_spec(spec, |_: Value, _| async {
        Err::<String, _>(std::io::Error::other(format!(
            "the archive is shut {HOSTILE}"
        )))
    });
    let clerk = AgentBuilder::<String, String>::new("clerk").model(model);
    let clerk = house.runtime.agent(clerk.tool(look).build());
    let mut ids = Vec::new();
    for tenant in ["acme", "beta"] {
        let run = clerk.run("Look.").scope(tenant).start().await.unwrap();
        crate::runs::over(house, run.id()).await;
        ids.push(run.id().to_owned());
    }
    (post, ids.remove(0))
}

/// Returns the ids of the clusters on a page.
fn clusters(page: &str) -> Vec<String> {
    let cards = page.split("<article").skip(1);
    cards
        .map(|card| attribute(card, "data-cluster").to_owned())
        .collect()
}

#[tokio::test]
async fn d5_failures_are_shown_in_clusters_with_links_to_their_runs_and_letters() {
    let roles = Roles::new().for_action(Action::ReadArguments, "reader");
    let (post, run) = with_failures(roles).await;
    let house = &post.house;
    for (who, query, count) in [
        ("acme/ann", "", 2),
        ("beta/bob", "", 1),
        ("operator", "", 3),
        ("acme/ann", "?severity=HIGH&status=open", 2),
        ("acme/ann", "?severity=&status=", 2),
        ("acme/ann", "?severity=CRITICAL", 0),
        ("acme/ann", "?status=dismissed", 0),
    ] {
        let page = house.get(who, &format!("/failures{query}")).await.body;
        assert_eq!(clusters(&page).len(), count, "{who} {query}: {page}");
        assert_eq!(page.contains("There are no such failures."), count == 0);
        is_inert(&page);
        let json = house.get(who, &format!("/api/failures{query}")).await;
        let found = json.json()["clusters"].as_array().unwrap().len();
        assert_eq!(found, count, "{who} {query}");
    }
    let unknown = house.get("acme/ann", "/failures?severity=high").await;
    assert_eq!(unknown.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        unknown.body.contains("none of `CRITICAL`"),
        "{}",
        unknown.body
    );
    let all = clusters(&house.get("acme/ann", "/failures").await.body);
    let mut linked = BTreeSet::new();
    for id in &all {
        let page = house
            .get("acme/rita/reader", &format!("/failures/{id}"))
            .await;
        assert_eq!(page.status, StatusCode::OK);
        is_inert(&page.body);
        if page.body.contains("the archive is shut") {
            assert!(page.body.contains("look") && page.body.contains("clerk"));
            let call = attribute(&page.body, "class=\"call\" href");
            assert!(call.starts_with(&format!("/runs/{run}/calls/")), "{call}");
            let call = house.get("acme/rita/reader", call).await;
            assert_eq!(call.status, StatusCode::OK, "{}", call.body);
            linked.insert("call");
            // Whoever may not see what is in a call gets the link to its run alone.
            let page = house.get("acme/ann", &format!("/failures/{id}")).await.body;
            assert!(page.contains(&format!("\"/runs/{run}\"")), "{page}");
            assert!(!page.contains("/calls/"), "{page}");
        } else {
            assert!(page.body.contains("the printer is off"), "{}", page.body);
            assert!(
                page.body
                    .contains(&post.path("acme").await.replace("%2D", "-"))
            );
            linked.insert("letter");
        }
        let foreign = house
            .get("beta/bob/reader", &format!("/failures/{id}"))
            .await;
        assert_eq!(foreign.status, StatusCode::NOT_FOUND);
    }
    assert_eq!(linked.len(), 2);
    let empty = House::new(Roles::new()).await;
    let page = empty.get("acme/ann", "/failures").await.body;
    assert!(page.contains("There are no failures"), "{page}");
}

#[tokio::test]
async fn d5_a_cluster_is_triaged_with_notes_by_those_alone_who_may() {
    let roles = Roles::new().for_action(Action::Triage, "chief");
    let (post, _) = with_failures(roles).await;
    let house = &post.house;
    let id = clusters(&house.get("acme/ann", "/failures").await.body).remove(0);
    let (path, api) = (format!("/failures/{id}"), format!("/api/failures/{id}"));
    let page = house.get("acme/carl", &path).await.body;
    assert!(page.contains("`triage` needs the role `chief`"), "{page}");
    assert!(!page.contains("name=\"notes\""), "{page}");
    let dismiss = json!({"status": "dismissed", "notes": "known"});
    let refused = house.post_json("acme/carl", &api, &dismiss).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    let foreign = house.post_json("beta/eve/chief", &api, &dismiss).await;
    assert_eq!(foreign.status, StatusCode::NOT_FOUND);
    let page = house.get("acme/cora/chief", &path).await.body;
    let token = attribute(&page, "name=\"token\" value").to_owned();
    for (who, token, status, answer) in [
        ("acme/cora/chief", "x", "wait", StatusCode::FORBIDDEN),
        ("acme/cyd/chief", &*token, "wait", StatusCode::FORBIDDEN),
        (
            "acme/cora/chief",
            &*token,
            "open",
            StatusCode::UNPROCESSABLE_ENTITY,
        ),
        (
            "acme/cora/chief",
            &*token,
            "",
            StatusCode::UNPROCESSABLE_ENTITY,
        ),
        ("acme/cora/chief", &*token, "wait", StatusCode::SEE_OTHER),
    ] {
        let notes = format!("until Monday {HOSTILE}");
        let given = [("token", token), ("status", status), ("notes", &*notes)];
        let got = house.post(who, &path, &given).await;
        assert_eq!(got.status, answer, "{who} {status}: {}", got.body);
    }
    let page = house.get("acme/ann", &path).await.body;
    assert_eq!(attribute(&page, "data-cluster-status"), "wait");
    assert!(page.contains("until Monday") && page.contains("cora"));
    is_inert(&page);
    let told = house.post_json("acme/cora/chief", &api, &dismiss).await;
    assert_eq!(told.json()["status"], "dismissed", "{}", told.body);
    assert_eq!(told.json()["notes"], "known");
    let open = house.get("acme/ann", "/failures?status=open").await.body;
    assert!(!clusters(&open).contains(&id), "{open}");
}
