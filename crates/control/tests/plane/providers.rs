//! Providers: where requests go, and what a client has to be.

use super::{activate, ask, prices, scoring};
use agents::openai;
use agents_control::{ControlPlane, PurposeKey::Scoring, SqliteStore, UsageFilter};
use agents_core::{
    async_trait,
    model::{Model, ModelError, Reply, Request},
};
use agents_http::testing::{Answer, Server};
use std::process::Command;

#[tokio::test]
async fn l8_the_address_of_a_client_is_the_way_out() {
    let body = r#"{"choices":[{"message":{"role":"assistant","content":"Oslo"},"finish_reason":"stop"}],
        "usage":{"prompt_tokens":7,"completion_tokens":4,"total_tokens":11}}"#;
    let servers = [
        Server::plays([Answer::json(200, body)]).await,
        Server::plays([Answer::json(200, body)]).await,
    ];
    let store = SqliteStore::in_memory().await.unwrap();
    let [direct, gateway] = servers
        .each_ref()
        .map(|server| format!("{}/v1", server.url));
    let control = ControlPlane::open(&store)
        .provider("direct", move |target| {
            openai(target.model).base_url(&direct)
        })
        .provider("gateway", move |target| {
            openai(target.model).base_url(&gateway)
        });
    for (provider, server) in ["direct", "gateway"].into_iter().zip(&servers) {
        activate(&control, scoring().model(provider, "gpt-6-mini")).await;
        let reply = ask(&control.model(Scoring, "acme")).await.unwrap();
        assert_eq!(reply.content, "Oslo");
        let seen = server.seen();
        assert_eq!(seen.len(), 1, "{provider}");
        assert!(seen[0].head.starts_with("POST /v1/chat/completions"));
        assert!(seen[0].body.contains(r#""model":"gpt-6-mini""#));
        assert!(!format!("{:?}", seen[0]).contains("evil"));
    }
}

/// Variables that name models, servers and keys to clients and frameworks.
const HOSTILE: &[&str] = &[
    "AGENTS_MODEL",
    "LLM_MODEL",
    "OLLAMA_HOST",
    "OPENAI_API_BASE",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OPENAI_MODEL",
];

#[test]
fn l7_a_hostile_environment_changes_neither_the_model_nor_the_key() {
    let exe = std::env::current_exe().unwrap();
    let mut asks = Command::new(exe);
    asks.args([
        "--exact",
        "providers::l8_the_address_of_a_client_is_the_way_out",
    ]);
    asks.envs(HOSTILE.iter().map(|name| (name, "http://127.0.0.1:1/evil")));
    let done = asks.output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{said}");
    assert!(said.contains("1 passed"), "{said}");
}

/// Model with the two methods that a model has to have.
struct Least;

#[async_trait]
impl Model for Least {
    fn id(&self) -> &str {
        "least"
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        let asked = request.messages().len();
        Ok(Reply {
            content: format!("{asked}"),
            ..super::reply(1, 2)
        })
    }
}

#[tokio::test]
async fn l22_a_provider_is_a_name_and_an_answer_and_its_requests_are_in_the_log() {
    let store = SqliteStore::in_memory().await.unwrap();
    let control = ControlPlane::open(&store)
        .provider("p", |_| Least)
        .prices(prices());
    activate(&control, scoring()).await;
    let reply = ask(&control.model(Scoring, "acme")).await.unwrap();
    assert_eq!(
        (&*reply.content, reply.model.as_deref()),
        ("1", Some("least"))
    );
    let rows = control.usage(&UsageFilter::default()).await.unwrap();
    assert_eq!(rows[0].cost_nanos, Some(2_000_000));
}
