//! The promises of `.credential(..)`, which every client keeps.

#![allow(clippy::unwrap_used)]

use super::{Answer, Seen, Server};
use crate::{Bundle, Credential, KeyHeader, MemoryBundles, OAuth};
use agents_core::{
    Agent, AgentBuilder, Error, agent::ModelAgent, model::Model, secret::SecretStore,
};
use std::time::Duration;

/// Key that a client in [`check_credentials`] has set for all its requests.
pub const EARLIER_KEY: &str = "an-earlier-key";

/// Checks that a client looks its credential up for each request, and that no message shows what it has found.
///
/// `client` makes a client of the server at this address that has [`EARLIER_KEY`] and then this credential. `key` is
/// where its provider takes a key, and `reply` is a reply in one document.
///
/// # Panics
/// When the client breaks a promise.
pub async fn check_credentials<M: Model + 'static>(
    key: KeyHeader,
    reply: &str,
    client: impl Fn(&str, Credential) -> M,
) {
    let server = Server::plays([Answer::json(200, reply)]).await;
    let agent = greeter(client(&server.url, Credential::secret("model")));
    for (org, value) in [
        ("acme", "acme-key-1"),
        ("globex", "globex-key"),
        ("acme", "acme-key-2"),
    ] {
        greet(&agent, org, value).await.unwrap();
        let seen = server.seen().pop().unwrap();
        let expected = format!("{}{value}", key.prefix);
        assert_eq!(header(&seen, key.name), [expected], "{}", seen.head);
        assert!(!seen.head.contains(EARLIER_KEY), "{}", seen.head);
    }
    let error = agent.run("hi").scope("initech").await.unwrap_err();
    let error = error.to_string();
    assert!(error.contains("the model needs a secret"), "{error}");
    assert_eq!(server.seen().len(), 3);

    let token = Bundle::new("acme-token", "http://127.0.0.1:1/token");
    let token = token.expires_in(Duration::from_secs(3_600));
    let tokens = OAuth::new(MemoryBundles::new().with("acme", token));
    let agent = greeter(client(&server.url, tokens.clone().into()));
    agent.run("hi").scope("acme").await.unwrap();
    let seen = server.seen().pop().unwrap();
    assert_eq!(header(&seen, "authorization"), ["Bearer acme-token"]);
    assert!(!seen.head.contains(EARLIER_KEY), "{}", seen.head);

    let body = r#"{"error":{"message":"acme-key-1 and acme-token are not valid"}}"#;
    let server = Server::plays([Answer::json(401, body)]).await;
    let agent = greeter(client(&server.url, Credential::secret("model")));
    let error = greet(&agent, "acme", "acme-key-1").await.unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("*** and acme-token are not valid"),
        "{error}"
    );
    let agent = greeter(client(&server.url, tokens.into()));
    let error = agent.run("hi").scope("acme").await.unwrap_err().to_string();
    assert!(
        error.contains("acme-key-1 and *** are not valid"),
        "{error}"
    );
}

type Greeter = ModelAgent<'static, String, String>;

fn greeter(model: impl Model + 'static) -> Greeter {
    AgentBuilder::new("greeter").model(model).build()
}

/// Runs the agent for this organisation. The organisation has a secret with the name `model` and this value.
async fn greet(agent: &Greeter, org: &str, value: &str) -> Result<String, Error> {
    let secrets = SecretStore::new().org(org, "model", value);
    agent.run("hi").scope(org).secrets(secrets).await
}

/// Returns the values that a recorded request has for a header.
fn header<'a>(seen: &'a Seen, name: &str) -> Vec<&'a str> {
    let fields = seen.head.lines().filter_map(|line| line.split_once(": "));
    fields
        .filter_map(|(held, value)| (held == name).then_some(value))
        .collect()
}
