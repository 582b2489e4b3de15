//! Calls of operations against a server of this process.

use crate::PETS;
use agents::{
    AgentBuilder, Code,
    prelude::*,
    run::Approval,
    secret::SecretStore,
    testing::{Script, ScriptedModel},
};
use agents_openapi::Api;
use axum::{
    Router,
    body::to_bytes,
    extract::{Request, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde_json::json;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

type Seen = Arc<Mutex<Vec<String>>>;

/// Starts a server that notes each request, and answers by its path.
async fn server() -> (String, Seen) {
    let seen = Seen::default();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1/", listener.local_addr().unwrap());
    let router = Router::new().fallback(answer).with_state(seen.clone());
    tokio::spawn(axum::serve(listener, router).into_future());
    (url, seen)
}

async fn answer(State(seen): State<Seen>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let header = |name: &str| {
        let value = head.headers.get(name).and_then(|value| value.to_str().ok());
        value
            .map(|value| format!(" {name}={value}"))
            .unwrap_or_default()
    };
    let headers: String = ["x-api-key", "authorization", "x-trace", "content-type"]
        .map(header)
        .concat();
    let has_key = head.headers.contains_key("idempotency-key");
    let body = to_bytes(body, 1 << 20).await.unwrap();
    let line = format!(
        "{} {}{headers}{} {}",
        head.method,
        head.uri,
        if has_key { " +key" } else { "" },
        String::from_utf8_lossy(&body)
    );
    seen.lock().unwrap().push(line.trim_end().to_owned());
    let json = [("content-type", "application/json")];
    match head.uri.path() {
        "/v1/pets" if head.method == "GET" => {
            (json, r#"[{"id": 1, "name": "Rex"}]"#).into_response()
        }
        "/v1/pets" => (StatusCode::CREATED, json, r#"{"id": 2}"#).into_response(),
        "/v1/pets/7" => StatusCode::NO_CONTENT.into_response(),
        "/v1/pets/wrong" => (StatusCode::UNPROCESSABLE_ENTITY, "no such name").into_response(),
        "/v1/pets/busy" => (
            StatusCode::TOO_MANY_REQUESTS,
            [("retry-after", "7")],
            "later",
        )
            .into_response(),
        "/v1/pets/mine" => StatusCode::UNAUTHORIZED.into_response(),
        "/v1/pets/broken" => (StatusCode::INTERNAL_SERVER_ERROR, "oops").into_response(),
        "/v1/pets/secret" => head.uri.to_string().into_response(),
        "/v1/pets/long" => (StatusCode::CONFLICT, "x".repeat(400)).into_response(),
        _ => (StatusCode::NOT_FOUND, "there is none").into_response(),
    }
}

fn pets(url: &str) -> Api {
    let api = Api::read(PETS)
        .unwrap()
        .private_server(url)
        .without("uploadPhoto");
    api.secret("api_key", "pets")
        .secret("login", "pets-login")
        .secret("token", "pets-token")
}

/// Runs these calls with approval; returns what the model was told of each, with the outcome.
async fn told(api: &Api, calls: &[(&str, &str)]) -> (Vec<String>, Outcome<String>) {
    let (model, handle) =
        ScriptedModel::new([Script::calls(calls.iter().copied()), Script::text("done")]);
    let secrets = SecretStore::new()
        .org("acme", "pets", "sesame-key")
        .org("acme", "pets-login", "ada:pass word")
        .org("acme", "pets-token", "sesame-token");
    let agent = AgentBuilder::<String, String>::new("clerk")
        .tools(api.tools().unwrap())
        .build();
    let run = agent.run("go").model(model).scope("acme").secrets(secrets);
    let outcome = run
        .approver(|_| async { Approval::Approve })
        .outcome()
        .await
        .unwrap();
    let requests = handle.requests();
    let said = requests[1]
        .results()
        .iter()
        .map(|(_, text)| (*text).to_owned())
        .collect();
    (said, outcome)
}

#[tokio::test]
async fn t7_the_operation_of_a_server_is_called_by_a_scripted_model() {
    let (url, seen) = server().await;
    let (said, _) = told(
        &pets(&url),
        &[
            ("listPets", r#"{"limit": 5, "tags": ["a b", "c&d"], "ids": [1, 2], "filter": {"kind": "dog"}, "X-Trace": "t-1"}"#),
            ("createPet", r#"{"body": {"name": "Rex", "mother": {"name": "Bella"}}}"#),
            ("getPet", r#"{"petId": "7"}"#),
            ("renamePet", r#"{"petId": "7", "body": {"name": "R&x", "owner": {"city": "Oslo"}}}"#),
            ("deletePet", r#"{"petId": "7"}"#),
        ],
    )
    .await;
    assert_eq!(
        said[..3],
        [
            r#"[{"id":1,"name":"Rex"}]"#,
            r#"{"id":2}"#,
            r#"{"status":204}"#
        ]
    );
    let mut seen = seen.lock().unwrap().clone();
    seen.sort_unstable();
    assert_eq!(
        seen,
        [
            // `user:password` of basic, in Base64
            "DELETE /v1/pets/7 authorization=Basic YWRhOnBhc3Mgd29yZA==",
            "GET /v1/pets/7 x-api-key=sesame-key",
            "GET /v1/pets?limit=5&tags=a%20b&tags=c%26d&ids=1%2C2&filter%5Bkind%5D=dog x-trace=t-1",
            r#"POST /v1/pets x-api-key=sesame-key content-type=application/json +key {"mother":{"name":"Bella"},"name":"Rex"}"#,
            "PUT /v1/pets/7 authorization=Bearer sesame-token content-type=application/x-www-form-urlencoded name=R%26x&owner%5Bcity%5D=Oslo",
        ]
    );
}

#[tokio::test]
async fn a_body_of_json_has_the_media_type_of_the_document() {
    let (url, seen) = server().await;
    let body = |types: &[&str]| {
        let content = types.iter().map(|kind| (*kind, json!({"schema": {}})));
        json!({"required": true, "content": content.collect::<BTreeMap<_, _>>()})
    };
    let operation =
        |id: &str, types: &[&str]| json!({"operationId": id, "requestBody": body(types)});
    let document = json!({"openapi": "3.1.0", "paths": {
        "/a": {"patch": operation("merge", &["text/plain", "application/merge-patch+json; v=2"])},
        "/b": {"patch": operation("both", &["application/geo+json", "application/json"])},
        "/c": {"patch": operation("any", &["*/*"])},
    }});
    let api = Api::read(&document.to_string()).unwrap();
    told(
        &api.private_server(&url),
        &[
            (
                "merge",
                r#"{"body": {"name": null, "big": 12345678901234567890}}"#,
            ),
            ("both", r#"{"body": "a \"word\""}"#),
            ("any", r#"{"body": [1, true]}"#),
        ],
    )
    .await;
    let mut seen = seen.lock().unwrap().clone();
    seen.sort_unstable();
    assert_eq!(
        seen,
        [
            r#"PATCH /v1/a content-type=application/merge-patch+json; v=2 {"big":12345678901234567890,"name":null}"#,
            r#"PATCH /v1/b content-type=application/json "a \"word\"""#,
            "PATCH /v1/c content-type=application/json [1,true]",
        ]
    );
}

#[tokio::test]
async fn the_errors_of_a_server_are_errors_of_tools() {
    let (url, _) = server().await;
    let get = |id: &str| format!(r#"{{"petId": "{id}"}}"#);
    let ids = ["wrong", "busy", "mine", "broken", "gone", "long"].map(get);
    let calls: Vec<_> = ids.iter().map(|args| ("getPet", args.as_str())).collect();
    let (said, outcome) = told(&pets(&url), &calls).await;
    let errors: Vec<_> = outcome
        .outputs
        .receipts()
        .map(|receipt| receipt.error.clone().unwrap())
        .collect();
    let codes: Vec<_> = errors.iter().map(|error| error.code).collect();
    assert_eq!(
        codes,
        [
            Code::ValidationError,
            Code::RateLimit,
            Code::AuthRequired,
            Code::ProviderError,
            Code::Unknown,
            Code::Unknown
        ]
    );
    assert!(
        said[0].contains("the server answered 422: no such name"),
        "{}",
        said[0]
    );
    assert!(
        said[4].contains("the server answered 404: there is none"),
        "{}",
        said[4]
    );
    let brief = format!("answered 409: {}…", "x".repeat(300));
    assert!(said[5].contains(&brief), "{}", said[5]);
    assert_eq!(errors[1].retry_after_s.map(|wait| wait as u64), Some(7));
}

#[tokio::test]
async fn a_value_for_the_path_stays_within_its_place() {
    let (url, seen) = server().await;
    let calls =
        ["..", "", ".", "a/../../admin", "?x=1#y"].map(|id| format!(r#"{{"petId": "{id}"}}"#));
    let calls: Vec<_> = calls.iter().map(|args| ("getPet", args.as_str())).collect();
    let (said, _) = told(&pets(&url), &calls).await;
    for said in &said[..3] {
        assert!(
            said.contains("may neither be empty nor `.` or `..`"),
            "{said}"
        );
    }
    let mut seen = seen.lock().unwrap().clone();
    seen.sort_unstable();
    assert_eq!(
        seen,
        [
            "GET /v1/pets/%3Fx%3D1%23y x-api-key=sesame-key",
            "GET /v1/pets/a%2F..%2F..%2Fadmin x-api-key=sesame-key"
        ]
    );
}

#[tokio::test]
async fn a_secret_in_the_query_is_sent_and_shown_to_nobody() {
    let (url, seen) = server().await;
    let api = Api::read(PETS)
        .unwrap()
        .private_server(&url)
        .only("getPet")
        .secret("key_in_query", "pets");
    let (said, outcome) = told(&api, &[("getPet", r#"{"petId": "secret"}"#)]).await;
    assert_eq!(
        *seen.lock().unwrap(),
        ["GET /v1/pets/secret?key=sesame-key"]
    );
    let shown = format!(
        "{said:?} {}",
        serde_json::to_string(&outcome.outputs).unwrap()
    );
    assert!(!shown.contains("sesame-key"), "{shown}");
}

#[tokio::test]
async fn a_writing_call_without_an_answer_is_in_doubt() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    // It takes the request, and hangs up.
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let mut buffer = [0; 1024];
            stream.readable().await.unwrap();
            _ = stream.try_read(&mut buffer);
        }
    });
    let (said, outcome) = told(
        &pets(&url),
        &[
            ("deletePet", r#"{"petId": "7"}"#),
            ("getPet", r#"{"petId": "7"}"#),
        ],
    )
    .await;
    let receipts: Vec<_> = outcome.outputs.receipts().collect();
    assert!(receipts[0].attempts[0].effect_unknown, "{}", said[0]);
    assert!(!receipts[1].attempts[0].effect_unknown, "{}", said[1]);
    // Nobody is there at all: nothing was sent.
    let (said, outcome) = told(
        &pets("http://127.0.0.1:9"),
        &[("deletePet", r#"{"petId": "7"}"#)],
    )
    .await;
    let receipt = outcome.outputs.receipts().next().unwrap().clone();
    assert!(!receipt.attempts[0].effect_unknown, "{}", said[0]);
    assert_eq!(receipt.error.unwrap().code, Code::NetworkError);
}
