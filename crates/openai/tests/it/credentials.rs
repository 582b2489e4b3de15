//! Credentials that are looked up for each request: secrets of a run, and tokens that are refreshed.

use crate::{HELLO, client, replies};
use agents_core::{
    Agent, AgentBuilder, Error,
    agent::{ModelAgent, Run},
    async_trait,
};
use agents_http::{
    KeyHeader,
    testing::{Answer, EARLIER_KEY, Server, check_credentials},
};
use agents_openai::{Bundle, BundleStore, Credential, MemoryBundles, OAuth, StoreError, openai};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};

type Greeter = ModelAgent<'static, String, String>;

fn greeter(server: &Server, credential: impl Into<Credential>) -> Greeter {
    let model = client(server).credential(credential);
    AgentBuilder::new("greeter").model(model).build()
}

/// Returns the values of `Authorization` that the server got.
fn authorizations(server: &Server) -> Vec<String> {
    let of = |head: &str| {
        let mut lines = head.lines();
        let found = lines.find_map(|line| line.strip_prefix("authorization: "));
        found.unwrap_or("none").to_owned()
    };
    server.seen().iter().map(|seen| of(&seen.head)).collect()
}

/// Starts a server that gives these tokens, with a new refresh token.
async fn issuer(access: &str, refresh: &str, wait: u64) -> Server {
    let body = format!(
        r#"{{"access_token":"{access}","refresh_token":"{refresh}","expires_in":3600,"token_type":"Bearer"}}"#
    );
    let answer = Answer::nothing().wait(wait).and(Answer::json(200, &body));
    Server::plays([answer]).await
}

/// Returns a bundle whose access token has expired.
fn expired(issuer: &Server, access: &str, refresh: &str) -> Bundle {
    Bundle::new(access, format!("{}/token", issuer.url))
        .refresh_token(refresh)
        .client("my-app", Some("s3cret&=".into()))
        .expires_in(Duration::ZERO)
}

async fn greet(run: Run<'_, Greeter>) -> Result<String, Error> {
    run.await
}

#[tokio::test]
async fn l24_two_organisations_refresh_their_own_tokens() {
    let server = replies(Answer::json(200, HELLO)).await;
    let (acme, globex) = (
        issuer("acme-at-2", "acme-rt-2", 0).await,
        issuer("globex-at-2", "globex-rt-2", 0).await,
    );
    let bundles = MemoryBundles::new()
        .with("acme", expired(&acme, "acme-at-1", "acme-rt-1"))
        .with("globex", expired(&globex, "globex-at-1", "globex-rt-1"));
    let bundles = Arc::new(bundles);
    let agent = greeter(&server, OAuth::new(bundles.clone()));
    for org in ["acme", "globex", "acme"] {
        greet(agent.run("hi").scope(org)).await.unwrap();
    }
    assert_eq!(
        authorizations(&server),
        ["Bearer acme-at-2", "Bearer globex-at-2", "Bearer acme-at-2"]
    );
    // Each issuer was asked once, with the token of its organisation.
    for (issuer, org, other) in [(&acme, "acme", "globex"), (&globex, "globex", "acme")] {
        let bodies = issuer.bodies();
        assert_eq!(bodies.len(), 1);
        assert_eq!(
            bodies[0],
            format!(
                "grant_type=refresh%5Ftoken&refresh_token={org}%2Drt%2D1&client_id=my%2Dapp&client_secret=s3cret%26%3D"
            )
        );
        assert!(!bodies[0].contains(other));
        assert!(
            issuer.seen()[0]
                .head
                .contains("application/x-www-form-urlencoded")
        );
        // The new bundle is written back.
        let kept = serde_json::to_value(bundles.get(org).unwrap()).unwrap();
        assert_eq!(kept["access_token"], format!("{org}-at-2"));
        assert_eq!(kept["refresh_token"], format!("{org}-rt-2"));
    }
    // An organisation without a bundle, and a run without an organisation, have no token.
    for (scope, why) in [
        ("initech", "the organisation `initech` has no credential"),
        ("", "a run without an organisation"),
    ] {
        let error = greet(agent.run("hi").scope(scope)).await.unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn l24_an_organisation_has_one_refresh_at_a_time() {
    let issuer = issuer("at-2", "rt-2", 50).await;
    let bundles = Arc::new(MemoryBundles::new().with("acme", expired(&issuer, "at-1", "rt-1")));
    let oauth = OAuth::new(bundles);
    let asked = (0..20).map(|_| {
        let oauth = oauth.clone();
        tokio::spawn(async move { oauth.token("acme").await.unwrap() })
    });
    for token in asked.collect::<Vec<_>>() {
        assert_eq!(token.await.unwrap(), "at-2");
    }
    assert_eq!(issuer.seen().len(), 1);
}

#[tokio::test]
async fn l24_a_refresh_ends_even_if_nobody_waits_for_it() {
    let issuer = issuer("at-2", "rt-2", 100).await;
    let bundles = Arc::new(MemoryBundles::new().with("acme", expired(&issuer, "at-1", "rt-1")));
    let oauth = OAuth::new(bundles.clone());
    let cancelled = tokio::time::timeout(Duration::from_millis(30), oauth.token("acme"));
    cancelled.await.unwrap_err();
    assert_eq!(oauth.token("acme").await.unwrap(), "at-2");
    assert_eq!(bundles.get("acme").unwrap().access_token(), "at-2");
    assert_eq!(issuer.seen().len(), 1);
}

/// Store whose first writes fail.
struct Failing(MemoryBundles, AtomicU32);

#[async_trait]
impl BundleStore for Failing {
    async fn read(&self, org: &str) -> Result<Option<Bundle>, StoreError> {
        self.0.read(org).await
    }

    async fn write(&self, org: &str, bundle: &Bundle) -> Result<(), StoreError> {
        match self.1.fetch_add(1, SeqCst) {
            0 | 1 => Err("the disk is full".into()),
            _ => self.0.write(org, bundle).await,
        }
    }
}

#[tokio::test]
async fn l24_a_bundle_that_cannot_be_stored_is_kept_and_stored_later() {
    let issuer = issuer("at-2", "rt-2", 0).await;
    let bundles = MemoryBundles::new().with("acme", expired(&issuer, "at-1", "rt-1"));
    let store = Arc::new(Failing(bundles, AtomicU32::new(0)));
    let oauth = OAuth::new(store.clone());
    for kept in ["at-1", "at-1", "at-2"] {
        assert_eq!(oauth.token("acme").await.unwrap(), "at-2");
        assert_eq!(store.0.get("acme").unwrap().access_token(), kept);
    }
    assert_eq!(issuer.seen().len(), 1);
}

#[tokio::test]
async fn l24_a_refresh_that_is_refused_says_so_without_tokens() {
    let body = r#"{"error":"invalid_grant","error_description":"rt-1 was revoked"}"#;
    let issuer = replies(Answer::json(400, body)).await;
    let oauth = OAuth::new(MemoryBundles::new().with("acme", expired(&issuer, "at-1", "rt-1")));
    let error = oauth.token("acme").await.unwrap_err().to_string();
    assert!(error.contains("could not be refreshed"), "{error}");
    assert!(
        !error.contains("rt-1") && !error.contains("s3cret"),
        "{error}"
    );

    let plain = Bundle::new("at-1", "http://auth.example.com/token")
        .refresh_token("rt-1")
        .expires_in(Duration::ZERO);
    let oauth = OAuth::new(MemoryBundles::new().with("acme", plain));
    let error = oauth.token("acme").await.unwrap_err().to_string();
    assert!(error.contains("use HTTPS"), "{error}");

    let dead = Bundle::new("at-1", issuer.url.clone()).expires_in(Duration::ZERO);
    let oauth = OAuth::new(MemoryBundles::new().with("acme", dead));
    let error = oauth.token("acme").await.unwrap_err().to_string();
    assert!(error.contains("sign in again"), "{error}");
}

#[tokio::test]
async fn a_credential_is_looked_up_at_each_request_and_never_shown() {
    check_credentials(KeyHeader::BEARER, HELLO, |url, credential| {
        let client = openai("m").base_url(url).api_key(EARLIER_KEY);
        client.credential(credential)
    })
    .await;
}

#[tokio::test]
async fn a_list_of_models_has_the_token_of_no_organisation_and_no_secret_of_a_run() {
    let list = r#"{"data":[{"id":"a"}]}"#;
    let server = replies(Answer::json(200, list)).await;
    let bundles = MemoryBundles::new().with("", Bundle::new("at-1", "https://auth.example.com"));
    let model = client(&server).credential(OAuth::new(bundles));
    assert_eq!(model.models().await.unwrap(), ["a"]);
    assert_eq!(authorizations(&server), ["Bearer at-1"]);

    let model = client(&server).credential(Credential::secret("openai"));
    let error = model.models().await.unwrap_err().to_string();
    assert!(error.contains("set a key with `.api_key(..)`"), "{error}");
    let others = MemoryBundles::new().with("acme", Bundle::new("at-2", "https://auth.example.com"));
    let model = client(&server).credential(OAuth::new(others));
    assert!(model.models().await.is_err());
    assert_eq!(server.seen().len(), 1);
}
