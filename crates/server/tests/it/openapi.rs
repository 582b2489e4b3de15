//! The OpenAPI document: every route is in it, and every answer is as it says.

use crate::{
    house::{Answer, House},
    models::{activate, ask, house, scoring},
    runs::{paid, with_a_doubt},
};
use agents::PurposeKey::Scoring;
use agents_control::ModelProfile;
use agents_runtime::{Action, Roles};
use axum::{
    body::Body,
    http::{Method, Request, StatusCode, header},
};
use jsonschema::Validator;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Source of the routes.
const ROUTER: &str = include_str!("../../src/router.rs");

/// Document as it is served, and the answers that were checked.
struct Document {
    document: Value,
    checked: BTreeSet<String>,
}

impl Document {
    async fn of(house: &House) -> Self {
        let answer = house.get("operator", "/api/openapi.json").await;
        assert_eq!(
            answer.head.headers()[header::CONTENT_TYPE],
            "application/json"
        );
        Document {
            document: answer.json(),
            checked: BTreeSet::new(),
        }
    }

    fn operations(&self) -> Vec<(String, String, &Value)> {
        let paths = self.document["paths"].as_object().unwrap().iter();
        let operations = paths.flat_map(|(path, methods)| {
            let methods = methods.as_object().unwrap().iter();
            methods.map(move |(method, operation)| (method.to_uppercase(), path.clone(), operation))
        });
        operations.collect()
    }

    /// Returns the check of a schema. A member that the schema does not name does not fit, although programs are to expect
    /// such members.
    fn validator(&self, schema: &Value) -> Validator {
        let mut closed = json!({"components": self.document["components"], "allOf": [schema]});
        close(&mut closed);
        jsonschema::validator_for(&closed).unwrap()
    }

    /// Checks an answer, and a body that was sent, against what the document says about the path that matches.
    fn check(&mut self, method: &str, path: &str, sent: Option<&Value>, answer: &Answer) {
        let plain = path.split('?').next().unwrap();
        let operations = self.operations();
        // A path without parameters comes before one with parameters.
        let mut found: Vec<_> = operations
            .iter()
            .filter(|(own, pattern, _)| own == method && matches(pattern, plain))
            .collect();
        found.sort_by_key(|(_, pattern, _)| pattern.matches('{').count());
        let (_, pattern, operation) = found.first().unwrap_or_else(|| panic!("{method} {path}"));
        let status = answer.status.as_u16().to_string();
        let response = &operation["responses"][&status];
        assert!(
            !response.is_null(),
            "{method} {path}: {status} is not there: {}",
            answer.body
        );
        let content = response["content"].as_object().unwrap();
        let kind = answer.head.headers()[header::CONTENT_TYPE]
            .to_str()
            .unwrap();
        let kind = kind.split(';').next().unwrap();
        let schema = &content
            .get(kind)
            .unwrap_or_else(|| panic!("{path}: {kind}"))["schema"];
        if kind == "application/json" {
            let validator = self.validator(schema);
            let value = answer.json();
            let errors: Vec<_> = validator.iter_errors(&value).collect();
            let told = errors
                .iter()
                .map(|error| format!("{} {error}", error.instance_path()));
            let told: Vec<_> = told.collect();
            assert!(told.is_empty(), "{method} {path}: {told:#?}\n{value:#}");
        }
        if let Some(sent) = sent {
            let body = &operation["requestBody"]["content"]["application/json"]["schema"];
            let fits = self.validator(body).is_valid(sent);
            assert_eq!(fits, status == "200", "{method} {path}: {sent}");
        }
        let checked = format!("{method} {pattern} {status}");
        self.checked.insert(checked);
    }

    async fn get(&mut self, house: &House, who: &str, path: &str) -> Value {
        let answer = house.get(who, path).await;
        self.check("GET", path, None, &answer);
        serde_json::from_str(&answer.body).unwrap_or_default()
    }

    async fn post(&mut self, house: &House, who: &str, path: &str, body: &Value) -> Value {
        let answer = house.post_json(who, path, body).await;
        // What is refused for other reasons than its body has a body that fits.
        let fits_anyway = matches!(answer.status.as_u16(), 403 | 404 | 409);
        self.check("POST", path, Some(body).filter(|_| !fits_anyway), &answer);
        answer.json()
    }
}

fn matches(pattern: &str, path: &str) -> bool {
    let parts = |text: &str| text.split('/').map(str::to_owned).collect::<Vec<_>>();
    let (pattern, path) = (parts(pattern), parts(path));
    let mut pairs = pattern.iter().zip(&path);
    pattern.len() == path.len() && pairs.all(|(own, part)| own.starts_with('{') || own == part)
}

fn close(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if members.get("properties").is_some_and(Value::is_object)
                && members.contains_key("required")
            {
                members.insert("additionalProperties".to_owned(), json!(false));
            }
            members.values_mut().for_each(close);
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

#[tokio::test]
async fn every_route_of_the_api_is_in_the_document_with_its_methods() {
    let house = House::new(Roles::new()).await;
    let document = Document::of(&house).await;
    let routes: BTreeSet<_> = ROUTER
        .split('"')
        .filter(|part| part.starts_with("/api/"))
        .map(str::to_owned)
        .collect();
    assert!(routes.len() > 10, "{routes:?}");
    let mut methods: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (method, path, operation) in document.operations() {
        assert!(operation["operationId"].is_string() && operation["summary"].is_string());
        let named = operation["parameters"].as_array().into_iter().flatten();
        let named = named
            .filter(|one| one["in"] == "path")
            .map(|one| format!("{{{}}}", one["name"].as_str().unwrap()));
        let in_path = path
            .split('/')
            .filter(|part| part.starts_with('{'))
            .map(str::to_owned);
        assert_eq!(
            named.collect::<Vec<_>>(),
            in_path.collect::<Vec<_>>(),
            "{path}"
        );
        methods.entry(path).or_default().insert(method);
    }
    assert_eq!(methods.keys().cloned().collect::<BTreeSet<_>>(), routes);
    for (path, known) in methods {
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
            let request = Request::builder().method(Method::from_bytes(method.as_bytes()).unwrap());
            let request = request
                .uri(path.replace(['{', '}'], ""))
                .header("x-user", "operator");
            let status = house.app_status(request.body(Body::empty()).unwrap()).await;
            let is_there = status != StatusCode::METHOD_NOT_ALLOWED;
            assert_eq!(
                is_there,
                known.contains(method),
                "{method} {path}: {status}"
            );
        }
    }
}

#[tokio::test]
async fn programs_find_the_api_where_an_application_has_put_it() {
    use tower::ServiceExt;
    let house = House::new(Roles::new()).await;
    let app = axum::Router::new().nest("/agents", house.app.clone());
    let request = Request::get("/agents/api/openapi.json").header("x-user", "operator");
    let answer = app
        .oneshot(request.body(Body::empty()).unwrap())
        .await
        .unwrap();
    let body = axum::body::to_bytes(answer.into_body(), 1_000_000)
        .await
        .unwrap();
    let document: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(document["servers"], json!([{"url": "/agents"}]));
}

#[tokio::test]
async fn answers_about_runs_are_as_the_document_says() {
    let house = House::new(Roles::new()).await;
    let mut document = Document::of(&house).await;
    let request = house.ask("acme", r#"{"amount": "12", "to": "ACME"}"#).await;
    let who = "acme/grace";
    document.get(&house, who, "/api/approvals").await;
    document
        .get(&house, who, "/api/approvals?status=lost")
        .await;
    let path = format!("/api/approvals/{}", request.id);
    document.get(&house, who, &path).await;
    document.get(&house, who, "/api/approvals/none").await;
    document
        .post(&house, who, &path, &json!({"decision": "perhaps"}))
        .await;
    let run = format!("/api/runs/{}", request.run_id);
    document.get(&house, who, &run).await;
    document
        .post(&house, who, &run, &json!({"action": "pause"}))
        .await;
    document.get(&house, who, &run).await;
    document
        .post(&house, who, &run, &json!({"action": "release"}))
        .await;
    document
        .post(&house, who, &run, &json!({"action": "jump"}))
        .await;
    document
        .post(
            &house,
            who,
            &path,
            &json!({"decision": "approve", "note": ""}),
        )
        .await;
    document
        .post(&house, who, &path, &json!({"decision": "approve"}))
        .await;
    let paid = paid(&house, r#"{"amount": 1}"#).await;
    document
        .get(&house, who, &format!("/api/runs/{paid}"))
        .await;
    document
        .get(&house, who, &format!("/api/runs/{paid}/text"))
        .await;
    let ran = format!("/api/runs/{paid}/executions");
    let ran_there = document.get(&house, who, &ran).await;
    let execution = ran_there["executions"][0]["execution_id"].as_str().unwrap();
    let execution = format!("{ran}/{execution}");
    document
        .post(&house, who, &execution, &json!({"action": "repeat"}))
        .await;
    document
        .post(&house, who, &execution, &json!({"action": "undo"}))
        .await;
    document.get(&house, who, &ran).await;
    document.get(&house, who, "/api/runs").await;
    document.get(&house, who, "/api/runs?limit=many").await;
    document.get(&house, who, "/api/runs/none").await;
    document.get(&house, who, "/api/audit").await;
    document.get(&house, who, "/api/audit?kind=lost").await;
    document
        .get(&house, who, "/api/audit.jsonl?kind=started")
        .await;
    document.get(&house, who, "/api/openapi.json").await;
    document.get(&house, who, "/api/models").await;
    document.get(&house, who, "/api/costs.csv").await;
    let talk = "/api/conversations/c1";
    let pay = json!({"agent": "payer", "input": "{\"amount\": 1}"});
    document.get(&house, who, talk).await;
    document.get(&house, who, &format!("{talk}/events")).await;
    document.post(&house, who, talk, &pay).await;
    document
        .post(&house, who, talk, &json!({"agent": "payer"}))
        .await;
    let clerk = json!({"agent": "clerk", "input": 1});
    document.post(&house, who, talk, &clerk).await;
    document.get(&house, who, talk).await;
    document
        .get(&house, who, &format!("{talk}/events?after=1"))
        .await;
    assert!(document.checked.len() >= 27, "{:#?}", document.checked);

    let (house, run) = with_a_doubt().await;
    let ran = document.get(&house, who, &format!("/api/runs/{run}")).await;
    let execution = ran["executions"][0]["execution_id"].as_str().unwrap();
    let path = format!("/api/runs/{run}/executions/{execution}");
    let finding = json!({"action": "had_no_effect", "note": "I looked."});
    document.post(&house, who, &path, &finding).await;
    document.post(&house, who, &path, &finding).await;
    document.get(&house, who, &format!("/api/runs/{run}")).await;
}

#[tokio::test]
async fn answers_about_tools_and_agents_are_as_the_document_says() {
    let house = crate::tools::house().await;
    let mut document = Document::of(&house).await;
    let (run, call) = crate::tools::asked(&house).await;
    let who = "acme/ann";
    for path in [
        "/api/tools".to_owned(),
        "/api/tools?category=magic".to_owned(),
        "/api/agents".to_owned(),
        "/api/agents/clerk".to_owned(),
        "/api/agents/nobody".to_owned(),
        format!("/api/runs/{run}/pinned?tool=rate"),
        format!("/api/runs/{run}/pinned?tool=pay&on_missing=error"),
        format!("/api/runs/{run}/pinned?tool=rate&strategy=first"),
        format!("/api/runs/{run}/calls/{call}"),
        format!("/api/runs/{run}/calls/none"),
    ] {
        document.get(&house, who, &path).await;
    }
    let tool = "/api/tools/clerk/rate/1.0.0";
    let call = json!({"arguments": {"currency": "USD"}, "tenant": "acme"});
    for who in ["operator", "acme/ann"] {
        document.post(&house, who, tool, &call).await;
    }
    document
        .post(&house, "operator", tool, &json!({"tenant": "acme"}))
        .await;
    let (run, id) = crate::tools::worked(&house).await;
    let vary = format!("/api/runs/{run}/calls/{id}");
    document.get(&house, who, &vary).await;
    for change in [
        json!({"output": {"rate": 2}}),
        json!({"error": {"code": "TIMEOUT", "message": "too late"}}),
        json!({}),
    ] {
        document.post(&house, "operator", &vary, &change).await;
    }
    document
        .post(&house, who, &vary, &json!({"output": 1}))
        .await;
    let none = "/api/tools/clerk/rate/9.0.0";
    document.post(&house, "operator", none, &call).await;
    assert!(document.checked.len() >= 12, "{:#?}", document.checked);
}

#[tokio::test]
async fn answers_about_letters_and_failures_are_as_the_document_says() {
    let roles = Roles::new()
        .for_action(Action::Replay, "mechanic")
        .for_action(Action::Triage, "mechanic");
    let (post, _) = crate::letters::with_failures(roles).await;
    let (house, who) = (&post.house, "acme/mia/mechanic");
    let mut document = Document::of(house).await;
    let letter = format!("/api{}", post.path("acme").await);
    let found = document.get(house, who, "/api/failures").await;
    let cluster = found["clusters"][0]["cluster_id"].as_str().unwrap();
    let cluster = format!("/api/failures/{cluster}");
    for path in [
        "/api/letters",
        "/api/letters?max_minutes=60&limit=1",
        "/api/letters?min_minutes=soon",
        "/api/letters/none",
        &letter,
        "/api/failures?status=lost",
        "/api/failures/none",
        &cluster,
    ] {
        document.get(house, who, path).await;
    }
    let triage = json!({"status": "escalate", "notes": "look"});
    document.post(house, who, &cluster, &triage).await;
    document.get(house, who, &cluster).await;
    document
        .post(house, who, &cluster, &json!({"status": "open"}))
        .await;
    document.post(house, "acme/ann", &cluster, &triage).await;
    let none = "/api/failures/none";
    document.post(house, who, none, &triage).await;
    let replay = json!({"reason": "the printer is on"});
    document.post(house, "acme/ann", &letter, &replay).await;
    document
        .post(house, who, &letter, &json!({"reason": ""}))
        .await;
    document.post(house, who, &letter, &json!({})).await;
    document.post(house, who, &letter, &replay).await;
    let none = "/api/letters/none";
    document.post(house, who, none, &replay).await;
    assert!(document.checked.len() >= 16, "{:#?}", document.checked);
}

#[tokio::test]
async fn answers_about_models_and_costs_are_as_the_document_says() {
    let (house, control) = house().await;
    let mut document = Document::of(&house).await;
    let first = activate(&control, scoring().credential("key")).await;
    activate(&control, scoring().fallback("p", "good-too")).await;
    let own = ModelProfile::org("acme", Scoring)
        .model("p", "good")
        .credential("own");
    let denied = agents_runtime::Principal::new("eve", "beta");
    control.activate(own).by(&denied).await.unwrap_err();
    ask(&house, "scorer", Scoring, &["acme"]).await;
    for who in ["operator", "acme/grace"] {
        document.get(&house, who, "/api/models").await;
        document.get(&house, who, "/api/models/scoring").await;
        document.get(&house, who, "/api/costs?by=agent").await;
        document.get(&house, who, "/api/costs.csv?by=run").await;
    }
    document.get(&house, "operator", "/api/models/none").await;
    document
        .get(&house, "operator", "/api/costs?by=colour")
        .await;
    document
        .get(&house, "operator", "/api/costs.csv?since=now")
        .await;
    let back = json!({"action": "roll_back", "version": first});
    document
        .post(&house, "operator", "/api/models/scoring", &back)
        .await;
    let stale = json!({"action": "roll_back", "version": first, "replaces": 99});
    document
        .post(&house, "operator", "/api/models/scoring", &stale)
        .await;
    document
        .post(
            &house,
            "operator",
            "/api/models/scoring",
            &json!({"action": "go", "version": 1}),
        )
        .await;
    assert!(document.checked.len() >= 9, "{:#?}", document.checked);
}
