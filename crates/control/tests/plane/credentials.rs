//! Credentials: whose key is sent where.

use super::{activate, ask, plane, prices, reply, scoring};
use agents_control::{ControlPlane, ModelProfile, OverrideClass, PurposeKey::Scoring, SqliteStore};
use agents_core::{
    Agent, AgentBuilder, Effects, async_trait,
    model::{ModelError, ModelErrorKind},
    secret::{ExposeSecret, SecretError, SecretOwner, SecretStore, SecretValue, Secrets},
    testing::{Script, ScriptedModel},
    tool::FnTool,
};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

type Sent = Arc<Mutex<Vec<String>>>;

/// Creates a plane whose models note the key with which they are made.
async fn noting(secrets: impl Secrets) -> (ControlPlane, Sent) {
    let store = SqliteStore::in_memory().await.unwrap();
    let sent = Sent::default();
    let note = |provider: &'static str, sent: Sent| {
        move |target: &agents_control::Target<'_>| {
            let key = target.key.map_or("none", |key| key.expose_secret());
            let (key, sent) = (format!("{provider} {key}"), sent.clone());
            let answer = Script::with(move |_| {
                sent.lock().unwrap().push(key.clone());
                reply(1, 1)
            });
            ScriptedModel::always(answer).0
        }
    };
    let control = ControlPlane::open(&store)
        .provider("p", note("p", sent.clone()))
        .provider("q", note("q", sent.clone()))
        .prices(prices().model("q/*", 0.0, 1.0))
        .secrets(secrets);
    (control, sent)
}

fn of_org(org: &str) -> ModelProfile {
    ModelProfile::org(org, Scoring)
        .model("p", "m")
        .credential("own")
}

#[tokio::test]
async fn l24_each_organisation_sends_its_own_key() {
    let secrets = SecretStore::new()
        .org("", "managed", SecretValue::new("of the platform"))
        .org("acme", "own", SecretValue::new("of acme"))
        .org("other", "own", SecretValue::new("of other"));
    let (control, sent) = noting(secrets).await;
    activate(&control, scoring().credential("managed")).await;
    activate(&control, of_org("acme")).await;
    activate(&control, of_org("other")).await;
    for org in ["acme", "other", "third", "acme"] {
        ask(&control.model(Scoring, org)).await.unwrap();
    }
    let sent = sent.lock().unwrap();
    let expect = ["p of acme", "p of other", "p of the platform", "p of acme"];
    assert_eq!(*sent, expect);
}

#[tokio::test]
async fn a_key_is_not_sent_to_another_provider() {
    let secrets = SecretStore::new().org("", "managed", SecretValue::new("of the platform"));
    let (control, sent) = noting(secrets).await;
    let open = scoring()
        .credential("managed")
        .override_class(OverrideClass::Open);
    activate(&control, open).await;
    let other = ModelProfile::org("acme", Scoring).model("q", "m");
    activate(&control, other).await;
    ask(&control.model(Scoring, "acme")).await.unwrap();
    assert_eq!(*sent.lock().unwrap(), ["q none"]);
}

/// Source whose one key changes.
#[derive(Clone, Default)]
struct Changing(Arc<Mutex<Option<&'static str>>>);

#[async_trait]
impl Secrets for Changing {
    async fn find(
        &self,
        _owner: &SecretOwner,
        _name: &str,
    ) -> Result<Option<SecretValue>, SecretError> {
        Ok(self.0.lock().unwrap().map(SecretValue::new))
    }
}

#[tokio::test]
async fn l24_a_key_is_rotated_without_stopping_and_a_revoked_one_is_not_sent() {
    let key = Changing::default();
    let (control, sent) = noting(key.clone()).await;
    activate(&control, scoring().credential("managed")).await;
    let model = control.model(Scoring, "acme");
    for now in ["first key", "second key"] {
        *key.0.lock().unwrap() = Some(now);
        ask(&model).await.unwrap();
    }
    *key.0.lock().unwrap() = None;
    let error = ask(&model).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Setup);
    assert!(
        error.to_string().contains("no credential `managed`"),
        "{error}"
    );
    assert_eq!(*sent.lock().unwrap(), ["p first key", "p second key"]);
}

#[tokio::test]
async fn l24_a_credential_that_is_revoked_in_the_middle_of_a_run_is_not_sent_for_its_next_turn() {
    let key = Changing::default();
    *key.0.lock().unwrap() = Some("a key");
    let store = SqliteStore::in_memory().await.unwrap();
    let (model, handle) = ScriptedModel::new([Script::call("revoke", "{}"), Script::text("Oslo")]);
    let control = ControlPlane::open(&store)
        .provider("p", move |_| model.clone())
        .secrets(key.clone());
    activate(&control, scoring().credential("managed")).await;
    let schema = serde_json::json!({"type": "object"});
    let revoke = FnTool::new("revoke", "Revokes.", Effects::Reads, schema, move |_, _| {
        *key.0.lock().unwrap() = None;
        async { Ok::<_, std::io::Error>("revoked") }
    });
    let agent = AgentBuilder::<String, String>::new("scorer")
        .purpose(Scoring)
        .tool(revoke)
        .build();
    let run = agent.run("Norway").scope("acme").purposes(control);
    let error = run.await.unwrap_err();
    assert!(
        error.to_string().contains("no credential `managed`"),
        "{error}"
    );
    assert_eq!(handle.count(), 1);
}

#[tokio::test]
async fn l20_the_credential_survives_a_rollback() {
    let secrets = SecretStore::new().org("", "managed", SecretValue::new("of the platform"));
    let (control, sent) = noting(secrets).await;
    let first = activate(&control, scoring().credential("managed")).await;
    activate(&control, scoring().model("p", "other")).await;
    control
        .rollback(first)
        .by(&super::operator())
        .await
        .unwrap();
    ask(&control.model(Scoring, "acme")).await.unwrap();
    assert_eq!(*sent.lock().unwrap(), ["p of the platform"]);
}

#[tokio::test]
async fn a_profile_with_a_credential_needs_a_source() {
    let (control, handle) = plane(reply(1, 1)).await;
    activate(&control, scoring().credential("managed")).await;
    let error = ask(&control.model(Scoring, "acme")).await.unwrap_err();
    assert!(error.to_string().contains(".secrets(..)"), "{error}");
    assert_eq!(handle.count(), 0);
}

#[tokio::test]
async fn a_circuit_belongs_to_a_model_and_the_credential_of_its_owner() {
    let secrets = SecretStore::new()
        .org("acme", "own", SecretValue::new("of acme"))
        .org("other", "own", SecretValue::new("of other"));
    let store = SqliteStore::in_memory().await.unwrap();
    let busy = ModelError::new(ModelErrorKind::Overloaded, "busy").with_status(503);
    let (busy, _) = ScriptedModel::always(Script::Fail(busy));
    let control = ControlPlane::open(&store)
        .provider("p", move |_| busy.clone())
        .prices(prices())
        .secrets(secrets);
    activate(&control, scoring()).await;
    activate(&control, of_org("acme")).await;
    activate(&control, of_org("other")).await;
    let open = async |org: &str| {
        let profile = control.resolve(&Scoring, org).await.unwrap().unwrap();
        let circuits = control.circuits(&profile, org).await.unwrap();
        assert_eq!((&*circuits[0].provider, &*circuits[0].model), ("p", "m"));
        circuits[0].open_for
    };
    assert_eq!(open("acme").await, None);
    tokio::time::pause();
    for _ in 0..5 {
        ask(&control.model(Scoring, "acme")).await.unwrap_err();
    }
    let left = open("acme").await.unwrap();
    assert!(left > Duration::ZERO && left <= Duration::from_secs(10));
    assert_eq!(open("other").await, None, "it has a key of its own");
    assert_eq!(open("third").await, None, "it has the key of the platform");
    let active = control.active().await.unwrap();
    let tiers: Vec<_> = active.iter().map(|one| one.profile.tier.org_id()).collect();
    assert_eq!(tiers, [None, Some("acme"), Some("other")]);
}
