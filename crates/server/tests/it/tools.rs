//! Tools: the selector, calls in a form, pinned results, and calls as programs.

use crate::house::{House, attribute, fields_of};
use agents::{
    AgentBuilder, Effects, Error,
    run::Timestamp,
    secret::SecretStore,
    testing::{Script, ScriptedModel},
    tool::{Category, DynTool, FnTool, ToolSpec},
};
use agents_runtime::{Action, Principal, Progress, Roles, RunRef, Runtime, SqliteStore};
use agents_server::ControlRoom;
use axum::http::StatusCode;
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio_util::sync::CancellationToken;

fn rate() -> FnTool {
    let schema = json!({
        "type": "object",
        "properties": {"currency": {"type": "string", "description": "Currency, as USD."}},
        "required": ["currency"],
    });
    let spec = ToolSpec::new(
        "rate",
        "Returns what a euro is worth.",
        Effects::Reads,
        schema,
    )
    .category(Category::Search)
    .secret("bank")
    .secret("mint");
    FnTool::with_spec(spec, |args: Value, _| async move {
        Ok::<_, Error>(json!({"rate": 1.16, "currency": args["currency"]}))
    })
}

fn old_rate() -> FnTool {
    let spec = ToolSpec::new(
        "old_rate",
        "Returns a rate.",
        Effects::Reads,
        json!({"type": "object"}),
    )
    .category(Category::Data)
    .deprecated("use rate");
    FnTool::with_spec(spec, |_: Value, _| async { Ok::<_, Error>("1.0") })
}

/// Returns a house with a clerk beside the payer, and its worker.
pub(crate) async fn house() -> House {
    house_on(&SqliteStore::in_memory().await.unwrap()).await
}

async fn house_on(store: &SqliteStore) -> House {
    let (model, _) = ScriptedModel::from_fn(|asked| match asked.results()[..] {
        [] => Script::call("rate", format!("{{\"currency\": {:?}}}", asked.last())),
        [(_, told), ..] => Script::text(told),
    });
    let roles = Roles::new().for_action(Action::Call, "tester");
    let runtime = Runtime::open(store.clone()).model(model).roles(roles);
    let clerk = AgentBuilder::<String, String>::new("clerk")
        .tool(rate())
        .tool(old_rate());
    let clerk = runtime.agent(clerk.build());
    let secrets = SecretStore::new().org("acme", "bank", "a-key-of-the-bank");
    let room = ControlRoom::of(runtime.as_client()).secrets(secrets);
    let mut house = House::with(runtime, room);
    house.clerk = Some(clerk);
    tokio::spawn(house.runtime.clone().work(CancellationToken::new()));
    while house.client().agents().await.unwrap().len() < 2 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    house
}

/// Returns the names of the tools on a page.
fn shown(page: &str) -> BTreeSet<&str> {
    let cards = page.split("<article").skip(1);
    cards.map(|card| attribute(card, "data-tool")).collect()
}

pub(crate) async fn over(house: &House, run: &str) -> String {
    let run: RunRef<String> = house.client().run(run);
    match run.wait(Duration::from_secs(20)).await.unwrap() {
        Progress::Done(outcome) => outcome.result.unwrap(),
        other => panic!("the run is not over: {other:?}"),
    }
}

#[tokio::test]
async fn t10_tools_are_found_by_name_category_effects_state_and_agent() {
    let house = house().await;
    for (query, expected) in [
        ("", vec!["old_rate", "pay", "rate"]),
        ("?q=EURO", vec!["rate"]),
        ("?q=rate", vec!["old_rate", "rate"]),
        ("?category=search", vec!["rate"]),
        ("?effects=writes", vec!["pay"]),
        ("?status=deprecated", vec!["old_rate"]),
        ("?agent=payer", vec!["pay"]),
        ("?q=rate&category=data&effects=reads", vec!["old_rate"]),
        ("?status=gone", vec![]),
    ] {
        let page = house.get("acme/ann", &format!("/tools{query}")).await;
        assert_eq!(
            shown(&page.body),
            expected.iter().copied().collect(),
            "{query}"
        );
        let json = house
            .get("acme/ann", &format!("/api/tools{query}"))
            .await
            .json();
        let names = json["tools"].as_array().unwrap().iter();
        let names: BTreeSet<_> = names.map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, expected.into_iter().collect(), "{query}");
    }
    let unknown = house.get("acme/ann", "/tools?category=magic").await;
    assert_eq!(unknown.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(unknown.body.contains("none of `api`"), "{}", unknown.body);
}

#[tokio::test]
async fn k2_t10_a_tool_tells_its_deprecation_and_whose_secrets_it_has() {
    let house = house().await;
    let page = house.get("acme/ann", "/tools").await.body;
    assert!(page.contains("use rate"), "{page}");
    for (who, bank, mint) in [
        ("acme/ann", "there", "missing"),
        ("beta/bob", "missing", "missing"),
        // Nobody says for whom the operator asks.
        ("operator", "not_known", "not_known"),
    ] {
        let json = house.get(who, "/api/tools?q=euro").await.json();
        let secrets = &json["tools"][0]["secrets"];
        let state = |nth: usize| secrets[nth]["state"].as_str().unwrap();
        assert_eq!((state(0), state(1)), (bank, mint), "{who}");
        let page = house.get(who, "/tools?q=euro").await.body;
        assert!(
            page.contains(&format!("data-secret=\"bank\" data-state=\"{bank}\"")),
            "{page}"
        );
        assert!(
            !page.contains("a-key-of-the-bank") && !json.to_string().contains("a-key-of-the-bank")
        );
    }
    let json = house.get("acme/ann", "/api/tools?q=euro").await.json();
    assert_eq!(json["tools"][0]["secrets"][0]["scope"], "organisation");
}

/// Lets the program of a later version work, in another process with this store. It has the clerk with another rate.
async fn later(store: &SqliteStore, house: &House) {
    let later = Runtime::open(store.clone());
    let spec = DynTool::spec(&rate()).clone().version("2.0.0");
    let newer = FnTool::with_spec(spec, |_: Value, _| async { Ok::<_, Error>("2") });
    let clerk = AgentBuilder::<String, String>::new("clerk").tool(newer);
    later.agent(clerk.build());
    tokio::spawn(later.work(CancellationToken::new()));
    while house.client().agents().await.unwrap().len() < 3 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn versions_that_are_at_work_side_by_side_are_both_there() {
    let store = SqliteStore::in_memory().await.unwrap();
    let house = house_on(&store).await;
    later(&store, &house).await;
    let json = house.get("acme/ann", "/api/tools?q=euro").await.json();
    let found = json["tools"].as_array().unwrap();
    let found = found.iter().map(|tool| (&tool["version"], &tool["status"]));
    let (first, second, active) = (json!("1.0.0"), json!("2.0.0"), json!("active"));
    assert_eq!(
        found.collect::<Vec<_>>(),
        [(&first, &active), (&second, &active)]
    );
    let call = json!({"arguments": {"currency": "USD"}});
    for version in ["1.0.0", "2.0.0"] {
        let path = format!("/api/tools/clerk/rate/{version}");
        let called = house.post_json("operator", &path, &call).await;
        assert_eq!(called.status, StatusCode::OK, "{}", called.body);
    }
    let page = house.get("acme/ann", "/teams/clerk").await.body;
    assert!(page.contains("in 2 forms at present"), "{page}");
    assert_eq!(page.matches("data-place=\"clerk\"").count(), 2, "{page}");
    let json = house.get("acme/ann", "/api/agents/clerk").await.json();
    let forms = json["forms"].as_array().unwrap();
    let tools = forms.iter().map(|form| &form["chart"]["tools"]);
    // The newest form first: it has no other tool.
    let newest = (&json!(["rate"]), &json!(["rate", "old_rate"]));
    assert_eq!(tools.collect::<Vec<_>>(), [newest.0, newest.1]);
    assert_eq!(json["earlier"], 0);
}

#[tokio::test]
async fn a_version_that_is_gone_is_kept_apart_and_cannot_be_called() {
    let passed = Arc::new(AtomicU64::new(0));
    let minutes = passed.clone();
    let store = SqliteStore::in_memory()
        .await
        .unwrap()
        .clock(move || Timestamp::from_millis(1_790_000_000_000 + 60_000 * minutes.load(SeqCst)));
    let house = house_on(&store).await;
    // Nothing was heard of the first version for some minutes.
    passed.store(3, SeqCst);
    later(&store, &house).await;
    let json = house
        .get("acme/ann", "/api/tools?q=euro&status=gone")
        .await
        .json();
    assert_eq!(json["tools"][0]["version"], "1.0.0");
    assert_eq!(json["tools"][0]["other_versions"], json!(["2.0.0"]));
    let page = house.get("acme/ann", "/tools/clerk/rate/1.0.0").await.body;
    assert!(
        page.contains("No worker would carry the call out"),
        "{page}"
    );
    let call = json!({"arguments": {"currency": "USD"}});
    let answer = house
        .post_json("operator", "/api/tools/clerk/rate/1.0.0", &call)
        .await;
    assert_eq!(
        answer.status,
        StatusCode::UNPROCESSABLE_ENTITY,
        "{}",
        answer.body
    );
}

#[tokio::test]
async fn a_tool_is_called_in_a_form_by_whoever_may() {
    let house = house().await;
    let path = "/tools/clerk/rate/1.0.0";
    let page = house.get("acme/tess/tester", path).await.body;
    let mut fields = fields_of(&page, "<form class=\"editing try\"");
    let names: Vec<_> = fields.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["token", "once", "argument.currency", "arguments"]);
    fields[2].1 = "USD".to_owned();
    let form: Vec<_> = fields
        .iter()
        .map(|(name, value)| (&**name, &**value))
        .collect();
    let answer = house.post("acme/tess/tester", path, &form).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    let run = answer.head.headers()["location"].to_str().unwrap();
    let run = run.strip_prefix("/runs/").unwrap();
    let told = over(&house, run).await;
    assert!(told.contains("1.16") && told.contains("USD"), "{told}");
    // A form that is sent twice is one call, and with other contents another one.
    let again = house.post("acme/tess/tester", path, &form).await;
    assert_eq!(
        again.head.headers()["location"],
        answer.head.headers()["location"]
    );
    let mut other = form.clone();
    other[2].1 = "CHF";
    let other = house.post("acme/tess/tester", path, &other).await;
    assert_eq!(other.status, StatusCode::SEE_OTHER, "{}", other.body);
    assert_ne!(
        other.head.headers()["location"],
        answer.head.headers()["location"]
    );
    let stored = house
        .client()
        .stored(run, &Principal::operator())
        .await
        .unwrap();
    assert_eq!(
        (&*stored.tenant, stored.started_by.as_deref()),
        ("acme", Some("tess"))
    );

    // Somebody without the role may not; nor may a form of another visitor.
    let own = house.token("acme/ann").await;
    let token_of_ann = [("token", &*own), ("argument.currency", "USD")];
    assert_eq!(
        house.post("acme/ann", path, &token_of_ann).await.status,
        StatusCode::FORBIDDEN
    );
    assert_eq!(
        house
            .post("acme/tess/tester", path, &token_of_ann)
            .await
            .status,
        StatusCode::FORBIDDEN
    );
    // The field that is missing is named.
    let token = fields[0].1.clone();
    let empty = [("token", &*token), ("arguments", "{")];
    let answer = house.post("acme/tess/tester", path, &empty).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        answer.body.contains("`arguments` is no JSON"),
        "{}",
        answer.body
    );
}

#[tokio::test]
async fn a_tool_that_writes_asks_somebody_else_when_it_is_tried() {
    let house = house().await;
    let call = json!({"arguments": {"amount": 5}, "tenant": "acme"});
    let path = "/api/tools/payer/pay/1.0.0";
    let answer = house.post_json("acme/tess/tester", path, &call).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    let run = answer.json()["run_id"].as_str().unwrap().to_owned();
    let request = loop {
        let pending = house
            .client()
            .approvals()
            .pending(&Principal::operator())
            .await
            .unwrap();
        if let Some(request) = pending.into_iter().next() {
            break request;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    assert_eq!(request.run_id, run);
    let own = house
        .decide("acme/tess/tester", &request.id, "approve", &[])
        .await;
    assert_eq!(own.status, StatusCode::FORBIDDEN);
    let other = house.decide("acme/ann", &request.id, "approve", &[]).await;
    assert_eq!(other.status, StatusCode::SEE_OTHER, "{}", other.body);
    assert_eq!(over(&house, &run).await, "paid 5");
}

/// Lets the clerk work, and returns its run with the id of the receipt of its call.
pub(crate) async fn asked(house: &House) -> (String, String) {
    let call = json!({"arguments": {"currency": "USD"}, "tenant": "acme"});
    let called = house
        .post_json("operator", "/api/tools/clerk/rate/1.0.0", &call)
        .await;
    let run = called.json()["run_id"].as_str().unwrap().to_owned();
    over(house, &run).await;
    let whole = house
        .get("acme/ann", &format!("/api/runs/{run}"))
        .await
        .json();
    let call = whole["executions"][0]["call_id"]
        .as_str()
        .unwrap()
        .to_owned();
    (run, call)
}

#[tokio::test]
async fn a_pinned_result_is_shown_with_its_handle() {
    let house = house().await;
    let (run, call) = asked(&house).await;
    let pinned = async |query: &str| {
        let json = house
            .get("acme/ann", &format!("/api/runs/{run}/pinned?{query}"))
            .await;
        assert_eq!(json.status, StatusCode::OK, "{}", json.body);
        json.json()
    };
    let last = pinned("tool=rate").await;
    assert_eq!(last["receipt"]["output"]["rate"], 1.16);
    assert_eq!(last["handle"]["name"], "rate_result");
    let handle: agents::run::PinnedHandle = serde_json::from_value(last["handle"].clone()).unwrap();
    assert_eq!(
        handle,
        agents::run::PinnedHandle::latest("rate_result", "rate")
    );
    let by_id = pinned(&format!(
        "tool=rate&strategy=by_call_id&call_id={call}&name=usd"
    ))
    .await;
    assert_eq!(
        (&by_id["receipt"], &by_id["handle"]["name"]),
        (&last["receipt"], &json!("usd"))
    );
    let none = pinned("tool=pay").await;
    assert_eq!(
        (&none["receipt"], &none["error"]),
        (&Value::Null, &Value::Null)
    );
    let error = pinned("tool=pay&on_missing=error").await;
    assert!(
        error["error"]
            .as_str()
            .unwrap()
            .contains("`pay` was not called"),
        "{error}"
    );
    let path = format!("/api/runs/{run}/pinned?tool=rate&strategy=by_call_id");
    assert_eq!(
        house.get("acme/ann", &path).await.status,
        StatusCode::UNPROCESSABLE_ENTITY
    );
    assert_eq!(
        house
            .get("beta/bob", &format!("/api/runs/{run}/pinned?tool=rate"))
            .await
            .status,
        StatusCode::NOT_FOUND
    );

    let page = house
        .get(
            "acme/ann",
            &format!("/tools/clerk/rate/1.0.0?run={run}&name=usd"),
        )
        .await
        .body;
    assert!(
        page.contains("&quot;name&quot;: &quot;usd&quot;") && page.contains("1.16"),
        "{page}"
    );
}

#[tokio::test]
async fn a_call_is_shown_with_a_program_to_whoever_may_see_it() {
    let house = house().await;
    let (run, call) = asked(&house).await;
    let path = format!("/runs/{run}/calls/{call}");
    let steps = house.get("acme/ann", &format!("/runs/{run}")).await.body;
    assert!(steps.contains(&format!("href=\"{path}\"")), "{steps}");
    let page = house.get("acme/ann", &path).await.body;
    assert!(
        page.contains("client.call(&quot;clerk&quot;, &quot;rate&quot;, &quot;1.0.0&quot;, args)"),
        "{page}"
    );
    let program = house.get("acme/ann", &format!("/api{path}")).await.json();
    let rust = program["rust"].as_str().unwrap();
    assert!(
        rust.contains(r##"Json::parse(r#"{"currency":"USD"}"#)"##),
        "{rust}"
    );
    assert!(
        rust.contains(r#"call.scope(Scope::from("acme"))"#),
        "{rust}"
    );
    assert_eq!(
        house.get("beta/bob", &path).await.status,
        StatusCode::NOT_FOUND
    );
    let none = house
        .get("acme/ann", &format!("/runs/{run}/calls/none"))
        .await;
    assert_eq!(none.status, StatusCode::NOT_FOUND);
}

/// Program of a call, as the control room writes it. Cargo builds it as an example.
const CALL_AGAIN: &str = include_str!("../../examples/call_again.rs");

#[tokio::test]
async fn t12_a_call_as_a_program_compiles_and_returns_what_the_call_has_returned() {
    let folder = crate::room::folder("call-again");
    let store = SqliteStore::open(folder.join("agents.db")).await.unwrap();
    let house = house_on(&store).await;
    let (run, call) = asked(&house).await;
    let program = house
        .get("acme/ann", &format!("/api/runs/{run}/calls/{call}"))
        .await
        .json();
    let rust = program["rust"].as_str().unwrap().replace(&run, "RUN");
    assert_eq!(rust, CALL_AGAIN, "the example is the program of this call");

    let examples =
        crate::built::EXAMPLES.join(format!("call_again{}", std::env::consts::EXE_SUFFIX));
    let mut program = std::process::Command::new(examples);
    program.arg(folder.join("agents.db"));
    let ran = tokio::task::spawn_blocking(move || program.output());
    let ran = ran.await.unwrap().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    let printed = String::from_utf8(ran.stdout).unwrap();
    assert_eq!(printed.trim_end(), over(&house, &run).await);
    let runs = house
        .client()
        .runs(&agents_store::RunFilter::default())
        .await
        .unwrap();
    assert_eq!(runs.len(), 2, "the program has made the call once more");
    std::fs::remove_dir_all(folder).unwrap();
}

/// Lets the clerk answer a question, and returns its run with the id of the receipt of its call.
pub(crate) async fn worked(house: &House) -> (String, String) {
    let clerk = house.clerk();
    let run = clerk.run("USD").scope("acme").start().await.unwrap();
    over(house, run.id()).await;
    let whole = house
        .get("acme/ann", &format!("/api/runs/{}", run.id()))
        .await
        .json();
    let call = whole["executions"][0]["call_id"]
        .as_str()
        .unwrap()
        .to_owned();
    (run.id().to_owned(), call)
}

#[tokio::test]
async fn a_finished_run_is_varied_in_a_form_and_a_run_tells_the_outcome() {
    let house = house().await;
    let (run, call) = worked(&house).await;
    let path = format!("/runs/{run}/calls/{call}");
    let who = "acme/tess/tester";
    let page = house.get(who, &path).await.body;
    let mut fields = fields_of(&page, "<form class=\"editing try\"");
    fields.push(("code".to_owned(), String::new()));
    let mut vary = async |output: &str, code: &str| {
        for (name, value) in &mut fields {
            match &**name {
                "output" => *value = output.to_owned(),
                "code" => *value = code.to_owned(),
                _ => {}
            }
        }
        let form: Vec<_> = fields
            .iter()
            .map(|(name, value)| (&**name, &**value))
            .collect();
        house.post(who, &path, &form).await
    };
    let answer = vary("{\"rate\": 7}", "").await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    let told = answer.head.headers()["location"].to_str().unwrap();
    let told = over(&house, told.strip_prefix("/runs/").unwrap()).await;
    assert!(
        told.starts_with("The answer would be: {\"rate\": 7}"),
        "{told}"
    );
    let answer = vary("", "TIMEOUT").await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    for (output, code) in [("", ""), ("1", "TIMEOUT"), ("{", ""), ("", "LATE")] {
        let answer = vary(output, code).await;
        assert_eq!(
            answer.status,
            StatusCode::UNPROCESSABLE_ENTITY,
            "{output} {code}"
        );
    }
    let token = house.token("acme/ann").await;
    let form = [("token", &*token), ("output", "1")];
    assert_eq!(
        house.post("acme/ann", &path, &form).await.status,
        StatusCode::FORBIDDEN
    );
}
