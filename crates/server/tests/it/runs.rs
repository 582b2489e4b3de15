//! The page of a run: why it does not go on, what it has done, doubts, undo, escalations, and its answer.

use crate::{
    house::{Answer, House},
    room::payer,
};
use agents::{
    AgentBuilder, Effects, async_trait,
    escalation::{Escalation, inherit},
    model::{Delta, Model, ModelError, Reply, Request as Asked},
    recovery::{Execution, escalate},
    team::Member,
    testing::{Script, ScriptedModel},
    tool::{FnTool, ToolSpec},
};
use agents_runtime::{Action, Principal, Progress, Roles, RunRef, Runtime, SqliteStore};
use agents_store::Timestamp;
use axum::{
    body::{Body, BodyDataStream},
    http::{Request, StatusCode, header},
};
use futures_util::StreamExt;
use serde_json::{Value, json};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

const LONG: Duration = Duration::from_secs(20);

/// Returns the token of the first form of a page.
fn token(page: &str) -> String {
    crate::house::attribute(page, "name=\"token\" value").to_owned()
}

fn location(answer: &Answer) -> String {
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    let location = &answer.head.headers()[header::LOCATION];
    location.to_str().unwrap().to_owned()
}

pub(crate) async fn over(house: &House, run: &str) {
    let run: RunRef<Value> = house.client().run(run);
    let progress = run.wait(LONG).await.unwrap();
    assert!(matches!(progress, Progress::Done(_)), "{progress:?}");
}

/// Starts a payment, has it approved, and returns the id of its run.
pub(crate) async fn paid(house: &House, args: &str) -> String {
    let request = house.ask("acme", args).await;
    let answer = house
        .decide("acme/grace", &request.id, "approve", &[])
        .await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    over(house, &request.run_id).await;
    request.run_id
}

async fn executions(house: &House, run: &str) -> Value {
    let path = format!("/api/runs/{run}/executions");
    house.get("acme/grace", &path).await.json()["executions"].clone()
}

/// Waits for the request of a run, and has it approved by Hal.
async fn approve(house: &House, run: &str) {
    for _ in 0..2_000 {
        let path = format!("/api/approvals?run={run}");
        let listed = house.get("acme/hal", &path).await.json();
        if let Some(id) = listed["approvals"][0]["id"].as_str() {
            let answer = house.decide("acme/hal", id, "approve", &[]).await;
            assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the run does not ask");
}

#[tokio::test]
async fn an_execution_is_undone_after_a_page_that_says_what_that_means() {
    let house = House::new(Roles::new()).await;
    let run = paid(&house, r#"{"amount": 12, "to": "ACME"}"#).await;
    let page = house.get("acme/grace", &format!("/runs/{run}")).await.body;
    for part in [
        "paid 12",
        "What it has done",
        "execution-done",
        "Undo…",
        "data-tokens",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let ran = executions(&house, &run).await;
    assert_eq!(ran[0]["state"], "done");
    assert_eq!(ran[0]["may_be_undone"], true);
    let id = ran[0]["execution_id"].as_str().unwrap();
    let path = format!("/runs/{run}/executions/{id}");
    assert!(page.contains(&format!("href=\"{path}\"")), "{page}");

    let confirm = house.get("acme/grace", &path).await.body;
    for part in [
        "The tool says how its calls are undone.",
        "amount: 12, to: ACME",
        "Approved by",
        "medium risk",
        "value=\"undo\"",
    ] {
        assert!(confirm.contains(part), "{part}: {confirm}");
    }
    let fields = [("action", "undo"), ("token", "")];
    let forged = house.post("acme/grace", &path, &fields).await;
    assert_eq!(forged.status, StatusCode::FORBIDDEN);
    let token = token(&confirm);
    let fields = [("action", "undo"), ("token", &*token)];
    let asked = house.post("acme/grace", &path, &fields).await;
    let undo = location(&asked).rsplit('/').next().unwrap().to_owned();
    assert_ne!(undo, run);
    // Whoever wants the undo may not approve it.
    approve(&house, &undo).await;
    over(&house, &undo).await;
    let page = house.get("acme/grace", &format!("/runs/{run}")).await.body;
    assert!(page.contains("execution-undone"), "{page}");
    assert!(page.contains(">undone</span> by grace"), "{page}");
    assert!(!page.contains("Undo…"), "{page}");
    let confirm = house.get("acme/grace", &path).await.body;
    assert!(
        confirm.contains("It cannot be undone: the effect is undone already."),
        "{confirm}"
    );
    let again = house.post("acme/grace", &path, &fields).await;
    assert_eq!(again.status, StatusCode::UNPROCESSABLE_ENTITY);
}

#[tokio::test]
async fn an_undo_that_its_tool_refuses_says_why_and_may_be_tried_again() {
    let house = House::new(Roles::new()).await;
    let run = paid(&house, r#"{"amount": 12, "to": "state"}"#).await;
    let ran = executions(&house, &run).await;
    let id = ran[0]["execution_id"].as_str().unwrap();
    let path = format!("/api/runs/{run}/executions/{id}");
    let asked = house
        .post_json("acme/grace", &path, &json!({"action": "undo"}))
        .await;
    assert_eq!(asked.status, StatusCode::OK, "{}", asked.body);
    let undo = asked.json()["undo_run_id"].as_str().unwrap().to_owned();
    approve(&house, &undo).await;
    over(&house, &undo).await;
    let page = house.get("acme/grace", &format!("/runs/{run}")).await.body;
    assert!(page.contains("the state gives nothing back"), "{page}");
    assert!(
        page.contains("not undone") && page.contains("Undo…"),
        "{page}"
    );
}

#[tokio::test]
async fn what_runs_have_done_is_not_there_for_others_and_needs_its_role() {
    let roles = Roles::new().for_action(Action::Undo, "foreman");
    let house = House::new(roles).await;
    let run = paid(&house, r#"{"amount": 12}"#).await;
    let other = paid(&house, r#"{"amount": 13}"#).await;
    let ran = executions(&house, &run).await;
    let id = ran[0]["execution_id"].as_str().unwrap();
    let undo = json!({"action": "undo"});
    for (who, run, status) in [
        ("beta/bob/foreman", &run, StatusCode::NOT_FOUND),
        ("acme/grace/foreman", &other, StatusCode::NOT_FOUND),
        ("acme/grace", &run, StatusCode::FORBIDDEN),
    ] {
        let path = format!("/api/runs/{run}/executions/{id}");
        let answer = house.post_json(who, &path, &undo).await;
        assert_eq!(answer.status, status, "{who}: {}", answer.body);
    }
    for path in [
        format!("/runs/{run}/executions/{id}"),
        format!("/api/runs/{run}/executions"),
        format!("/api/runs/{run}/text"),
    ] {
        let answer = house.get("beta/bob/foreman", &path).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
    }
    let path = format!("/api/runs/{run}/executions/{id}");
    let odd = house
        .post_json("acme/grace", &path, &json!({"action": "repeat"}))
        .await;
    assert_eq!(odd.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(odd.body.contains("took_effect"), "{}", odd.body);
    let answer = house.post_json("acme/fred/foreman", &path, &undo).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
}

/// House of a runtime with an agent that files what it is told, and whose first process has ended in the middle.
pub(crate) async fn with_a_doubt() -> (House, String) {
    with_a_doubt_for(Roles::new()).await
}

/// House with a doubt, and with these rules about who may settle it.
pub(crate) async fn with_a_doubt_for(roles: Roles) -> (House, String) {
    let store = SqliteStore::in_memory().await.unwrap();
    let begun = Arc::new(Semaphore::new(0));
    let filer = |model: ScriptedModel, begun: Arc<Semaphore>| {
        let schema = json!({"type": "object", "properties": {"paper": {"type": "string"}}});
        let spec = ToolSpec::new("file", "Files.", Effects::Writes, schema).version("1.0.0");
        let file = FnTool::with_spec(spec, move |_: Value, _| {
            begun.add_permits(1);
            async { std::future::pending::<Result<(), std::io::Error>>().await }
        });
        AgentBuilder::<String, String>::new("filer")
            .tool(file)
            .model(model)
            .build()
    };
    let runtime = || {
        Runtime::open(store.clone())
            .roles(roles.clone())
            .grace(Duration::ZERO)
    };
    let (model, _) = ScriptedModel::new([Script::call("file", r#"{"paper": "a <b>deed</b>"}"#)]);
    let first = runtime();
    let ada = Principal::new("ada", "acme");
    let run = first.agent(filer(model, begun.clone()));
    let run = run
        .run("File it.")
        .scope("acme")
        .by(&ada)
        .start()
        .await
        .unwrap();
    let stop = CancellationToken::new();
    let worker = tokio::spawn(first.work(stop.clone()));
    begun.acquire().await.unwrap().forget();
    stop.cancel();
    worker.await.unwrap();
    let (model, _) = ScriptedModel::new([Script::text("I do not know.")]);
    let second = runtime();
    second.agent(filer(model, begun));
    let house = House::of(second, None);
    tokio::spawn(house.runtime.clone().work(CancellationToken::new()));
    over(&house, run.id()).await;
    (house, run.id().to_owned())
}

#[tokio::test]
async fn a_doubt_is_settled_with_a_note_by_whoever_may() {
    let (house, run) = with_a_doubt().await;
    let path = format!("/runs/{run}");
    let page = house.get("acme/grace", &path).await.body;
    for part in [
        "In doubt",
        "It took effect",
        "It had no effect",
        "data-execution-id",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(
        !page.contains("<b>deed</b>") && page.contains("&lt;b&gt;deed"),
        "{page}"
    );
    let action = executions(&house, &run).await;
    let id = action[0]["execution_id"].as_str().unwrap();
    let at = format!("{path}/executions/{id}");
    let confirm = house.get("acme/grace", &at).await.body;
    assert!(confirm.contains("settle the doubt first"), "{confirm}");
    let settle = async |who: &str, token: &str| {
        let note = ("note", "It is in the <i>cabinet</i>.");
        let fields = [("action", "took_effect"), ("token", token), note];
        house.post(who, &at, &fields).await
    };
    assert_eq!(settle("acme/grace", "").await.status, StatusCode::FORBIDDEN);
    // Whoever has started the run does not settle its doubts.
    let of_ada = house.token("acme/ada").await;
    assert_eq!(
        settle("acme/ada", &of_ada).await.status,
        StatusCode::FORBIDDEN
    );
    let token = token(&page);
    assert_eq!(location(&settle("acme/grace", &token).await), path);
    let page = house.get("acme/grace", &path).await.body;
    assert!(!page.contains("In doubt"), "{page}");
    assert!(
        page.contains("took effect</span> found out by grace"),
        "{page}"
    );
    assert_eq!(
        settle("acme/grace", &token).await.status,
        StatusCode::CONFLICT
    );
    let trail = house.get("acme/grace", "/audit").await.body;
    assert!(
        trail.contains("It is in the &lt;i&gt;cabinet&lt;/i&gt;."),
        "{trail}"
    );
}

#[tokio::test]
async fn a_run_says_why_it_does_not_go_on_and_what_to_do() {
    let house = House::new(Roles::new()).await;
    let request = house.ask("acme", r#"{"amount": 12}"#).await;
    let path = format!("/runs/{}", request.run_id);
    let page = house.get("acme/grace", &path).await.body;
    assert!(page.contains("It waits for a decision."), "{page}");
    let token = token(&page);
    let fields = [("token", &*token), ("action", "pause")];
    location(&house.post("acme/grace", &path, &fields).await);
    let page = house.get("acme/grace", &path).await.body;
    assert!(page.contains("paused by `grace`"), "{page}");
    assert!(
        page.contains("Let it go on when its time has come"),
        "{page}"
    );
    let told = house.get("acme/grace", &format!("/api{path}")).await.json();
    assert!(
        told["standstill"]["why"]
            .as_str()
            .unwrap()
            .contains("paused by `grace`")
    );
    let fields = [("token", &*token), ("action", "cancel")];
    location(&house.post("acme/grace", &path, &fields).await);
    over(&house, &request.run_id).await;
    let page = house.get("acme/grace", &path).await.body;
    assert!(!page.contains("Why it does not go on"), "{page}");
    assert!(page.contains("Why there is no answer"), "{page}");
}

#[tokio::test]
async fn a_run_that_no_worker_takes_says_which_agent_is_missing() {
    let store = SqliteStore::in_memory().await.unwrap();
    let before = Timestamp::from_millis(Timestamp::now().as_millis() - 60_000);
    let runtime = Runtime::open(store.clock(move || before));
    let house = House::of(runtime, None);
    let run = house.runtime.agent_for("clerk", |_| payer());
    let run = run.run("1").scope("acme").start().await.unwrap();
    let page = house
        .get("acme/grace", &format!("/runs/{}", run.id()))
        .await
        .body;
    assert!(page.contains("No worker has taken it so far."), "{page}");
    assert!(
        page.contains("Start a worker that has the agent `clerk`"),
        "{page}"
    );
}

#[tokio::test]
async fn an_escalation_is_drawn_from_its_source_to_whoever_settled_it() {
    let runtime = Runtime::open(SqliteStore::in_memory().await.unwrap());
    let house = House::of(runtime.clone(), None);
    let schema = json!({"type": "object"});
    let book = FnTool::new(
        "book",
        "Books.",
        Effects::Reads,
        schema,
        |_: Value, _| async { Err::<(), _>(std::io::Error::other("closed")) },
    );
    let book = book.on_error(|_, _| Some(escalate::<Execution>("the <ledger> is closed").into()));
    let agent = |name: &'static str, scripts: Vec<Script>| {
        let (model, _) = ScriptedModel::new(scripts);
        AgentBuilder::<String, String>::new(name).model(model)
    };
    let clerk = agent("clerk", vec![Script::call("book", "{}")])
        .tool(book)
        .on_escalation(|_: Escalation| inherit())
        .build();
    let lead = agent(
        "lead",
        vec![
            Script::call("clerk", r#"{"input": "book"}"#),
            Script::text("It is closed."),
        ],
    );
    let team = Member::new(lead.build()).delegate(clerk).build();
    let office = runtime.agent(team);
    tokio::spawn(runtime.clone().work(CancellationToken::new()));
    let run = office.run("Go.").scope("acme").start().await.unwrap();
    over(&house, run.id()).await;
    let path = format!("/runs/{}", run.id());
    let page = house.get("acme/grace", &path).await.body;
    let (_, chart) = page
        .split_once("<ol class=\"climb\"")
        .unwrap_or_else(|| panic!("{page}"));
    let (chart, _) = chart.split_once("</ol>").unwrap();
    let at = |text: &str| {
        chart
            .find(text)
            .unwrap_or_else(|| panic!("{text}: {chart}"))
    };
    assert!(at("<b>book</b>") < at("the &lt;ledger&gt; is closed"));
    assert!(at("severity-high") < at("<b>clerk</b>") && at("<b>clerk</b>") < at("<b>lead</b>"));
    assert!(at("<b>lead</b>") < at("class=\"settled\""), "{chart}");
    let told = house.get("acme/grace", &format!("/api{path}")).await.json();
    assert_eq!(told["escalations"].as_array().unwrap().len(), 1);
    assert!(!told["escalations"][0]["settled"].is_null(), "{told}");
    assert_eq!(told["answer"], "It is closed.");
}

/// Model that writes its words one by one: each needs a permit.
#[derive(Clone)]
pub(crate) struct Writer {
    pub(crate) words: Arc<Mutex<Vec<&'static str>>>,
    pub(crate) permits: Arc<Semaphore>,
}

#[async_trait]
impl Model for Writer {
    fn id(&self) -> &str {
        "writer"
    }

    async fn chat(&self, asked: Asked<'_>) -> Result<Reply, ModelError> {
        let words = self.words.lock().unwrap().clone();
        for word in &words {
            self.permits.acquire().await.unwrap().forget();
            if let Some(sink) = asked.sink() {
                sink(Delta::Text(word));
            }
        }
        self.permits.acquire().await.unwrap().forget();
        Ok(Reply {
            content: words.concat(),
            ..Reply::default()
        })
    }
}

async fn until(events: &mut BodyDataStream, text: &str) -> String {
    let mut all = String::new();
    let read = async {
        while !all.contains(text) {
            let piece = events.next().await.expect("the text goes on").unwrap();
            all.push_str(std::str::from_utf8(&piece).unwrap());
        }
    };
    let in_time = tokio::time::timeout(LONG, read).await;
    in_time.unwrap_or_else(|_| panic!("no {text} in {all}"));
    all
}

#[tokio::test]
async fn an_answer_is_shown_as_it_is_written() {
    let writer = Writer {
        words: Arc::new(Mutex::new(vec!["It is ", "\u{202e}<b>dark</b> ", "there."])),
        permits: Arc::new(Semaphore::new(0)),
    };
    let roles = Roles::new().for_action(Action::ReadArguments, "auditor");
    let runtime = Runtime::open(SqliteStore::in_memory().await.unwrap()).roles(roles);
    let house = House::of(runtime.clone(), None);
    let agent = AgentBuilder::<String, String>::new("writer")
        .model(writer.clone())
        .build();
    let agent = runtime.agent(agent);
    tokio::spawn(runtime.clone().work(CancellationToken::new()));
    let run = agent
        .run("?")
        .scope("acme")
        .streamed()
        .start()
        .await
        .unwrap();
    let path = format!("/runs/{}", run.id());
    writer.permits.add_permits(2);
    let request = Request::get(format!("/api{path}/text")).header("x-user", "acme/amy/auditor");
    let answer = house
        .app
        .clone()
        .oneshot(request.body(Body::empty()).unwrap());
    let mut events = answer.await.unwrap().into_body().into_data_stream();
    let said = until(&mut events, "dark").await;
    assert!(said.contains("event: piece"), "{said}");
    assert!(
        said.contains("⟨U+202E⟩") && !said.contains('\u{202e}'),
        "{said}"
    );
    let page = house.get("acme/amy/auditor", &path).await.body;
    let shown = "It is ⟨U+202E⟩&lt;b&gt;dark&lt;/b&gt;";
    assert!(page.contains(shown), "{page}");
    assert!(!page.contains("id=\"writing\" hidden"), "{page}");
    let carl = house.get("acme/carl", &path).await.body;
    assert!(!carl.contains("It is"), "{carl}");
    let carl = house.get("acme/carl", &format!("/api{path}/text")).await;
    assert_eq!(carl.status, StatusCode::FORBIDDEN);
    writer.permits.add_permits(10);
    until(&mut events, "event: end").await;
    over(&house, run.id()).await;
    let page = house.get("acme/amy/auditor", &path).await.body;
    assert!(
        page.contains("there.") && !page.contains("As it is written"),
        "{page}"
    );
}
