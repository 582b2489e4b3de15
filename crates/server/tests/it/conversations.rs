//! Conversations over HTTP, while workers elsewhere have the agents: messages, streamed text, requests, and ends.

use crate::{
    house::House,
    room::{Program, folder, ledger, payer},
    runs::Writer,
};
use agents::AgentBuilder;
use agents_core::tool::Risk;
use agents_runtime::{Approval, Principal, Roles, Runtime, SqliteStore};
use agents_server::ControlRoom;
use axum::{
    body::{Body, BodyDataStream},
    http::{Request, StatusCode, header},
};
use futures_util::StreamExt;
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

/// File of a store, the workers on it, and the control of the model that writes.
struct Place {
    folder: PathBuf,
    permits: Arc<Semaphore>,
    stop: CancellationToken,
}

/// Event of a stream.
#[derive(Clone, Debug, PartialEq)]
struct Heard {
    id: String,
    kind: String,
    data: Value,
}

/// Stream of events that is read.
struct Ear {
    body: BodyDataStream,
    text: String,
}

async fn store(folder: &Path) -> SqliteStore {
    SqliteStore::open(folder.join("store.db")).await.unwrap()
}

impl Place {
    /// Creates a store whose worker has the agents `writer`, `counter` and `payer`.
    async fn new(name: &str) -> Place {
        let place = Place {
            folder: folder(name),
            permits: Arc::new(Semaphore::new(0)),
            stop: CancellationToken::new(),
        };
        let writer = Writer {
            words: Arc::new(Mutex::new(vec!["It is ", "\u{202e}dark ", "there."])),
            permits: place.permits.clone(),
        };
        let worker = Runtime::open(store(&place.folder).await);
        let agent = AgentBuilder::<String, String>::new("writer").model(writer.clone());
        worker.agent(agent.build());
        let counter = AgentBuilder::<u32, String>::new("counter").model(writer);
        worker.agent(counter.build());
        worker.agent(payer());
        tokio::spawn(worker.work(place.stop.clone()));
        place
    }

    /// Opens a control room on the store, in which no agent works.
    async fn house(&self, roles: Roles) -> House {
        let runtime = Runtime::open(store(&self.folder).await).roles(roles);
        let room = ControlRoom::of(runtime.as_client());
        let room = ["writer", "counter", "payer"]
            .into_iter()
            .fold(room, ControlRoom::agent);
        House::with(runtime, room)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.stop.cancel();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Sends a message, and returns the run of it.
pub(crate) async fn say(
    house: &House,
    who: &str,
    id: &str,
    agent: &str,
    input: impl Into<Value>,
) -> String {
    let message = json!({"agent": agent, "input": input.into()});
    let path = format!("/api/conversations/{id}");
    let answer = house.post_json(who, &path, &message).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    let run = answer.json();
    assert_eq!(run["agent"], agent);
    run["id"].as_str().unwrap().to_owned()
}

/// Listens to a conversation as somebody, behind the event with this id.
async fn listen(house: &House, who: &str, id: &str, last: Option<&str>) -> Ear {
    let path = format!("/api/conversations/{id}/events");
    let mut request = Request::get(path).header("x-user", who);
    if let Some(last) = last {
        request = request.header("last-event-id", last);
    }
    let request = request.body(Body::empty()).unwrap();
    let answer = house.app.clone().oneshot(request).await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    assert_eq!(answer.headers()[header::CONTENT_TYPE], "text/event-stream");
    Ear {
        body: answer.into_body().into_data_stream(),
        text: String::new(),
    }
}

impl Ear {
    /// Returns the next event.
    async fn next(&mut self) -> Heard {
        let read = async {
            loop {
                if let Some((event, rest)) = self.text.split_once("\n\n") {
                    let field = |name: &str| {
                        let lines = event.lines();
                        let mut values = lines.filter_map(|line| line.strip_prefix(name));
                        values.next().unwrap_or_default().trim().to_owned()
                    };
                    let heard = (field("id:"), field("event:"), field("data:"));
                    self.text = rest.to_owned();
                    // A comment keeps the connection alive.
                    if let (id, kind, data) = heard
                        && !kind.is_empty()
                    {
                        let data = serde_json::from_str(&data).unwrap();
                        return Heard { id, kind, data };
                    }
                    continue;
                }
                let piece = self.body.next().await.expect("the events go on").unwrap();
                self.text.push_str(std::str::from_utf8(&piece).unwrap());
            }
        };
        let in_time = tokio::time::timeout(Duration::from_secs(20), read).await;
        in_time.unwrap_or_else(|_| panic!("no event behind {}", self.text))
    }

    /// Returns the events up to the first one of this kind.
    async fn until(&mut self, kind: &str) -> Vec<Heard> {
        let mut all = Vec::new();
        loop {
            all.push(self.next().await);
            if all.last().is_some_and(|heard| heard.kind == kind) {
                return all;
            }
        }
    }

    /// Returns `true` if nothing comes for a while.
    async fn is_silent(&mut self) -> bool {
        let next = tokio::time::timeout(Duration::from_millis(700), self.next());
        next.await.is_err()
    }
}

fn kinds(heard: &[Heard]) -> Vec<&str> {
    heard.iter().map(|one| &*one.kind).collect()
}

/// Returns the text as a page has it that shows all pieces.
fn text(heard: &[Heard]) -> String {
    heard.iter().fold(String::new(), |text, one| {
        match (&*one.kind, one.data["text"].as_str()) {
            ("piece", Some(piece)) => text + piece,
            ("reset", _) => String::new(),
            _ => text,
        }
    })
}

const WRITTEN: &str = "It is \u{202e}dark there.";

#[tokio::test]
async fn d1_a_message_is_answered_by_a_worker_elsewhere_while_its_text_streams() {
    let place = Place::new("talk").await;
    let house = place.house(Roles::new()).await;
    let run = say(&house, "acme/ada", "c1", "writer", "Is it dark?").await;
    let mut ear = listen(&house, "acme/ada", "c1", None).await;
    let begun = ear.next().await;
    assert_eq!((&*begun.kind, &begun.data["id"]), ("message", &json!(run)));
    assert_eq!(begun.data["started_by"], "ada");
    place.permits.add_permits(1);
    let piece = ear.next().await;
    assert_eq!(piece.kind, "piece");
    assert_eq!(piece.data, json!({"run_id": run, "text": "It is "}));
    place.permits.add_permits(10);
    let mut heard = ear.until("end").await;
    let end = heard.pop().unwrap();
    heard.insert(0, piece);
    assert_eq!(text(&heard), WRITTEN);
    let expected = json!({
        "run_id": run, "end": "answered", "answer": WRITTEN, "partial": false, "error": null,
    });
    assert_eq!(end.data, expected);

    // The next message comes on the same connection.
    let second = say(&house, "acme/ada", "c1", "writer", "Still?").await;
    let heard = ear.until("end").await;
    assert_eq!(heard[0].data["id"], json!(second));
    assert_eq!(heard.last().unwrap().data["run_id"], json!(second));

    let whole = house.get("acme/ada", "/api/conversations/c1").await.json();
    let said = whole["messages"].as_array().unwrap().clone();
    assert_eq!(
        said,
        [
            json!({"role": "user", "text": "Is it dark?"}),
            json!({"role": "assistant", "text": WRITTEN}),
            json!({"role": "user", "text": "Still?"}),
            json!({"role": "assistant", "text": WRITTEN}),
        ]
    );
    assert_eq!(whole["runs"][1]["id"], json!(second));
    let last = whole["last_event_id"].as_str().unwrap();
    assert_eq!(last, heard.last().unwrap().id);
    let mut behind = listen(&house, "acme/ada", "c1", Some(last)).await;
    assert!(behind.is_silent().await, "all is told");
    let mut from_the_start = listen(&house, "acme/ada", "c1", Some("0")).await;
    let again = from_the_start.until("end").await;
    assert_eq!(again[0].data["id"], json!(run));
    assert_eq!(text(&again), WRITTEN);
}

#[tokio::test]
async fn d1_a_reader_goes_on_at_a_server_that_was_started_anew_in_the_middle() {
    let place = Place::new("restart").await;
    let house = place.house(Roles::new()).await;
    let run = say(&house, "acme/ada", "c1", "writer", "?").await;
    let mut ear = listen(&house, "acme/ada", "c1", None).await;
    place.permits.add_permits(1);
    let heard = ear.until("piece").await;
    let page = text(&heard);
    assert_eq!(page, "It is ");
    let last = heard.last().unwrap().id.clone();
    drop((ear, house));

    let house = place.house(Roles::new()).await;
    let mut ear = listen(&house, "acme/ada", "c1", Some(&last)).await;
    place.permits.add_permits(10);
    let heard = ear.until("end").await;
    // The text comes again from its beginning, behind a reset; the message itself does not.
    assert_eq!(heard[0].kind, "reset");
    assert_eq!(text(&heard), WRITTEN);
    assert!(!kinds(&heard).contains(&"message"), "{heard:?}");
    assert_eq!(heard.last().unwrap().data["answer"], WRITTEN);

    let next = say(&house, "acme/ada", "c1", "writer", "?").await;
    let mut behind = listen(&house, "acme/ada", "c1", Some(&format!("{run}.end"))).await;
    assert_eq!(behind.next().await.data["id"], json!(next));
    for unknown in ["1", "none.3", "none.end", &format!("{run}.x")] {
        let path = format!("/api/conversations/c1/events?after={unknown}");
        let answer = house.get("acme/ada", &path).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{unknown}");
    }
}

#[tokio::test]
async fn d1_a_request_is_asked_in_the_conversation_and_the_answer_comes_when_it_is_decided() {
    let place = Place::new("asked").await;
    // Ada may neither decide nor see exact arguments, and talks to the agent.
    let roles = Roles::new().for_risk(Risk::Low, "approver");
    let house = place.house(roles).await;
    let pay = r#"{"amount": 12, "to": "ada@example.org"}"#;
    let run = say(&house, "acme/ada", "pay", "payer", pay).await;
    let mut ear = listen(&house, "acme/ada", "pay", None).await;
    let asked = ear.until("asked").await.pop().unwrap();
    assert_eq!(asked.data["run_id"], json!(run));
    assert_eq!(asked.data["tool_name"], "pay");
    assert_eq!(asked.data["user_id"], "ada");
    assert!(
        !asked.data.to_string().contains("ada@example.org"),
        "the arguments in short: {}",
        asked.data
    );
    assert!(ear.is_silent().await, "it waits");
    drop(ear);
    let id = asked.data["id"].as_str().unwrap();
    let path = format!("/api/approvals/{id}");
    let approve = json!({"decision": "approve"});
    let own = house.post_json("acme/ada/approver", &path, &approve).await;
    assert_eq!(own.status, StatusCode::FORBIDDEN, "{}", own.body);
    let mut ear = listen(&house, "acme/ada", "pay", Some(&asked.id)).await;
    let grace = house
        .post_json("acme/grace/approver", &path, &approve)
        .await;
    assert_eq!(grace.status, StatusCode::OK, "{}", grace.body);
    let heard = ear.until("end").await;
    let kinds: Vec<_> = kinds(&heard)
        .into_iter()
        .filter(|kind| !matches!(*kind, "piece" | "reset"))
        .collect();
    assert_eq!(kinds, ["decided", "end"]);
    let decided = &heard[0].data;
    assert_eq!(decided["id"], json!(id));
    assert_eq!(decided["decided_by"], "grace");
    assert_eq!(
        heard.last().unwrap().data["answer"],
        "paid 12 to ada@example.org"
    );
}

#[tokio::test]
async fn an_input_that_does_not_fit_fails_at_the_worker_and_the_next_one_is_answered() {
    let place = Place::new("misfit").await;
    let house = place.house(Roles::new()).await;
    place.permits.add_permits(10);
    let misfit = say(&house, "acme/ada", "count", "counter", "many").await;
    let fits = say(&house, "acme/ada", "count", "counter", 7).await;
    let mut ear = listen(&house, "acme/ada", "count", Some("0")).await;
    let end = ear.until("end").await.pop().unwrap();
    assert_eq!(end.data["run_id"], json!(misfit));
    assert_eq!(end.data["end"], "failed");
    let error = end.data["error"].as_str().unwrap();
    assert!(error.contains("does not fit the agent"), "{error}");
    let end = ear.until("end").await.pop().unwrap();
    assert_eq!(end.data["run_id"], json!(fits));
    assert_eq!(end.data["answer"], WRITTEN);
    let whole = house.get("acme/ada", "/api/conversations/count").await;
    assert_eq!(whole.json()["messages"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_run_that_is_held_is_told_and_so_is_its_end() {
    let place = Place::new("held").await;
    let house = place.house(Roles::new()).await;
    let run = say(&house, "acme/ada", "c", "payer", r#"{"amount": 1}"#).await;
    let mut ear = listen(&house, "acme/ada", "c", None).await;
    ear.until("asked").await;
    for (action, kind) in [("pause", "held"), ("cancel", "end")] {
        let path = format!("/api/runs/{run}");
        let steered = house
            .post_json("acme/grace", &path, &json!({"action": action}))
            .await;
        assert_eq!(steered.status, StatusCode::OK, "{}", steered.body);
        let heard = ear.until(kind).await.pop().unwrap();
        assert_eq!(heard.data["run_id"], json!(run));
        match kind {
            "held" => assert_eq!(heard.data["held"]["kind"], "paused", "{heard:?}"),
            _ => assert_eq!(heard.data["end"], "cancelled", "{heard:?}"),
        }
    }
}

#[tokio::test]
async fn a_conversation_is_there_for_its_tenant_and_for_whoever_may_read_it() {
    let place = Place::new("others").await;
    let house = place
        .house(Roles::new().for_risk(Risk::Low, "approver"))
        .await;
    place.permits.add_permits(100);
    say(&house, "acme/ada", "c1", "writer", "?").await;
    listen(&house, "acme/ada", "c1", None)
        .await
        .until("end")
        .await;
    let message = json!({"agent": "writer", "input": "?"});
    let paths = ["/api/conversations/c1", "/api/conversations/c1/events"];
    for (who, status) in [
        ("beta/bob/approver", StatusCode::NOT_FOUND),
        ("acme/carl", StatusCode::FORBIDDEN),
    ] {
        for path in paths {
            let answer = house.get(who, path).await;
            assert_eq!(answer.status, status, "{who} {path}: {}", answer.body);
            assert!(!answer.body.contains("dark"), "{}", answer.body);
        }
    }
    for path in paths {
        let path = format!("{path}?tenant=acme");
        let named = house.get("beta/bob/approver", &path).await;
        assert_eq!(named.status, StatusCode::NOT_FOUND);
        let nobody = Request::get(&*path).body(Body::empty()).unwrap();
        assert_eq!(house.app_status(nobody).await, StatusCode::UNAUTHORIZED);
        let none = path.replace("c1", "none");
        assert_eq!(
            house.get("acme/ada", &none).await.status,
            StatusCode::NOT_FOUND
        );
    }
    // Nor does it become readable to whoever writes in it.
    let carl = house.post_json("acme/carl", paths[0], &message).await;
    assert_eq!(carl.status, StatusCode::FORBIDDEN, "{}", carl.body);
    let mut whole = None;
    for who in ["acme/ada", "acme/hal/approver"] {
        let read = house.get(who, paths[0]).await;
        assert_eq!(read.status, StatusCode::OK, "{who}: {}", read.body);
        whole = Some(read.json());
    }
    assert_eq!(whole.unwrap()["runs"].as_array().unwrap().len(), 1);
    let operator = house.get("operator", "/api/conversations/c1").await;
    assert_eq!(operator.status, StatusCode::NOT_FOUND, "of no tenant");
    let operator = house
        .get("operator", "/api/conversations/c1?tenant=acme")
        .await;
    assert_eq!(operator.json()["tenant_id"], "acme");
    // The same id of another tenant is another conversation.
    let other = say(&house, "beta/bob", "c1", "writer", "?").await;
    let whole = house.get("beta/bob", paths[0]).await.json();
    assert_eq!(whole["runs"].as_array().unwrap().len(), 1);
    assert_eq!(whole["runs"][0]["id"], json!(other));
}

/// Without roles, everybody of the tenant sees the contents of runs, but not the conversations of others.
#[tokio::test]
async fn without_roles_a_conversation_is_its_authors_unless_it_is_shared() {
    for is_shared in [false, true] {
        let place = Place::new(&format!("own-{is_shared}")).await;
        let roles = match is_shared {
            true => Roles::new().share_conversations(),
            false => Roles::new(),
        };
        let house = place.house(roles).await;
        place.permits.add_permits(100);
        let run = say(&house, "acme/ada", "c1", "writer", "?").await;
        listen(&house, "acme/ada", "c1", None)
            .await
            .until("end")
            .await;
        let expected = match is_shared {
            true => StatusCode::OK,
            false => StatusCode::FORBIDDEN,
        };
        let read = house.get("acme/carl", "/api/conversations/c1").await;
        assert_eq!(read.status, expected, "{}", read.body);
        let text = format!("/api/runs/{run}");
        let shown = house.get("acme/carl", &text).await;
        assert_eq!(shown.body.contains("dark"), is_shared, "{}", shown.body);
        let message = json!({"agent": "writer", "input": "?"});
        let sent = house
            .post_json("acme/carl", "/api/conversations/c1", &message)
            .await;
        assert_eq!(sent.status, expected, "{}", sent.body);
    }
}

#[tokio::test]
async fn whoever_began_a_conversation_reads_on_after_it_was_erased_and_nobody_passes_for_the_operator()
 {
    let place = Place::new("erased").await;
    let house = place
        .house(Roles::new().for_risk(Risk::Low, "approver"))
        .await;
    place.permits.add_permits(100);
    let first = say(&house, "acme/ada", "c1", "writer", "?").await;
    let mut ear = listen(&house, "acme/ada", "c1", Some("0")).await;
    ear.until("end").await;
    let operator = Principal::operator();
    house.client().erase(&first, &operator).await.unwrap();
    let second = say(&house, "acme/ada", "c1", "writer", "?").await;
    let end = ear.until("end").await.pop().unwrap();
    assert_eq!(end.data["run_id"], json!(second));
    let paths = ["/api/conversations/c1", "/api/conversations/c1/events"];
    for path in paths {
        let request = Request::get(path).header("x-user", "acme/ada");
        let request = request.body(Body::empty()).unwrap();
        assert_eq!(house.app_status(request).await, StatusCode::OK, "{path}");
        let carl = house.get("acme/carl", path).await;
        assert_eq!(carl.status, StatusCode::FORBIDDEN, "{}", carl.body);
    }

    let message = json!({"agent": "writer", "input": "?"});
    let path = "/api/conversations/c2?tenant=acme";
    let begun = house.post_json("operator", path, &message).await;
    assert_eq!(begun.status, StatusCode::OK, "{}", begun.body);
    let named_alike = house
        .get("acme/operator", "/api/conversations/c2")
        .await
        .status;
    assert_eq!(named_alike, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn a_conversation_has_its_newest_runs_and_the_earlier_ones_on_pages() {
    let place = Place::new("pages").await;
    let house = place.house(Roles::new()).await;
    let mut all = Vec::new();
    for _ in 0..103 {
        all.push(say(&house, "acme/ada", "c1", "writer", "?").await);
    }
    let other = say(&house, "acme/ada", "c2", "writer", "?").await;
    let path = "/api/conversations/c1";
    let newest = house.get("acme/ada", path).await.json();
    let ids = |page: &Value| -> Vec<String> {
        let runs = page["runs"].as_array().unwrap().iter();
        runs.map(|run| run["id"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(ids(&newest), all[3..]);
    assert_eq!(newest["next"], json!(all[3]));
    assert_eq!(newest["last_event_id"], "0");
    let before = format!("{path}?before={}", all[3]);
    let earlier = house.get("acme/ada", &before).await.json();
    assert_eq!(ids(&earlier), all[..3]);
    assert_eq!(earlier["next"], Value::Null);
    for unknown in ["none", &other] {
        let page = house
            .get("acme/ada", &format!("{path}?before={unknown}"))
            .await;
        assert_eq!(page.status, StatusCode::NOT_FOUND, "{unknown}");
        assert!(page.body.contains("has no run"), "{}", page.body);
        let events = format!("{path}/events?after={unknown}.end");
        let events = house.get("acme/ada", &events).await;
        assert_eq!(events.status, StatusCode::UNPROCESSABLE_ENTITY, "{unknown}");
    }
    // Whoever comes late is told of all of them, in order.
    place.permits.add_permits(1000);
    let mut ear = listen(&house, "acme/ada", "c1", Some("0")).await;
    for run in &all {
        let end = ear.until("end").await.pop().unwrap();
        assert_eq!(end.data["run_id"], json!(run));
    }
}

#[tokio::test]
async fn events_end_after_ten_minutes_and_the_reader_comes_back_to_the_same_place() {
    let place = Place::new("minutes").await;
    let house = place.house(Roles::new()).await;
    place.permits.add_permits(100);
    let run = say(&house, "acme/ada", "c1", "writer", "?").await;
    let heard = listen(&house, "acme/ada", "c1", None)
        .await
        .until("end")
        .await;
    let end = heard.last().unwrap().id.clone();
    place.stop.cancel();
    let mut ear = listen(&house, "acme/ada", "c1", None).await;
    // A reader that has heard nothing knows where it is, too.
    let first = ear.body.next().await.unwrap().unwrap();
    assert_eq!(first, format!("id: {run}.end\n\n"));
    assert_eq!(end, format!("{run}.end"));
    assert!(ear.is_silent().await);
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(10 * 60)).await;
    let mut rest = Vec::new();
    while let Some(piece) = ear.body.next().await {
        rest.push(piece.unwrap());
        assert!(rest.len() < 100, "the events go on");
    }
    assert!(rest.iter().all(|piece| piece.starts_with(b":")), "{rest:?}");
}

#[tokio::test]
async fn a_message_needs_an_agent_that_is_spoken_to_and_comes_from_this_site() {
    let place = Place::new("refused").await;
    let house = place.house(Roles::new()).await;
    let path = "/api/conversations/c1";
    for (body, status) in [
        (
            json!({"agent": "clerk", "input": "?"}),
            StatusCode::NOT_FOUND,
        ),
        (json!({"agent": "writer"}), StatusCode::UNPROCESSABLE_ENTITY),
        (json!({"input": "?"}), StatusCode::UNPROCESSABLE_ENTITY),
    ] {
        let answer = house.post_json("acme/ada", path, &body).await;
        assert_eq!(answer.status, status, "{body}: {}", answer.body);
    }
    let message = json!({"agent": "writer", "input": "?"}).to_string();
    for (name, value, status) in [
        ("origin", "https://evil.example", StatusCode::FORBIDDEN),
        ("sec-fetch-site", "cross-site", StatusCode::FORBIDDEN),
        (
            "content-type",
            "text/plain",
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ),
    ] {
        let request = Request::post(path)
            .header("x-user", "acme/ada")
            .header("host", "room.example")
            .header(name, value);
        let request = match name {
            "content-type" => request,
            _ => request.header(header::CONTENT_TYPE, "application/json"),
        };
        let answer = house.send(request.body(Body::from(message.clone())).unwrap());
        assert_eq!(answer.await.status, status, "{name}: {value}");
    }
    assert_eq!(
        house.get("acme/ada", path).await.status,
        StatusCode::NOT_FOUND,
        "nothing was sent"
    );
    // A control room that names no agent sends no messages.
    let runtime = Runtime::open(store(&place.folder).await);
    let room = ControlRoom::of(runtime.as_client());
    let closed = House::with(runtime, room);
    let message = json!({"agent": "writer", "input": "?"});
    let answer = closed.post_json("acme/ada", path, &message).await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
    assert!(answer.body.contains("ControlRoom::of"), "{}", answer.body);
}

#[tokio::test]
async fn a_message_with_a_key_is_sent_once_and_a_conversation_has_one_agent() {
    let place = Place::new("key").await;
    let house = place.house(Roles::new()).await;
    let path = "/api/conversations/c1";
    let message = json!({"agent": "writer", "input": "?", "key": "m1"});
    let first = house.post_json("acme/ada", path, &message).await.json();
    let again = house.post_json("acme/ada", path, &message).await.json();
    assert_eq!(first["id"], again["id"]);
    let whole = house.get("acme/ada", path).await.json();
    assert_eq!(whole["runs"].as_array().unwrap().len(), 1);
    let other = json!({"agent": "payer", "input": "{}"});
    let answer = house.post_json("acme/ada", path, &other).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
}

/// The example works in a process of its own; this process has the API, and no agent.
#[tokio::test(flavor = "multi_thread")]
async fn d1_a_worker_in_another_process_answers_what_this_one_is_asked() {
    let folder = folder("processes");
    let worker = {
        let folder = folder.clone();
        tokio::task::spawn_blocking(move || Program::start(&folder))
            .await
            .unwrap()
    };
    let room_db = folder.join("room.db");
    let runtime = Runtime::open(SqliteStore::open(&room_db).await.unwrap());
    let room = ControlRoom::of(runtime.as_client()).agent("office");
    let house = House::with(runtime, room);
    say(&house, "acme/ada", "c1", "office", "Pay the invoice A-17.").await;
    let mut ear = listen(&house, "acme/ada", "c1", None).await;
    let asked = ear.until("asked").await.pop().unwrap();
    let approvals = house.client().approvals();
    let grace = Principal::new("grace", "acme");
    let id = asked.data["id"].as_str().unwrap();
    approvals
        .decide(id, Approval::Approve, &grace)
        .await
        .unwrap();
    let end = ear.until("end").await.pop().unwrap();
    assert_eq!(end.data["end"], "answered", "{end:?}");
    let paid = {
        let folder = folder.clone();
        tokio::task::spawn_blocking(move || ledger(&folder, 1))
            .await
            .unwrap()
    };
    assert!(paid[0].ends_with(" 12"), "{paid:?}");
    drop(worker);
    let _ = fs::remove_dir_all(&folder);
}
