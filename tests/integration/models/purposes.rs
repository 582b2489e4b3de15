//! Agents that name a purpose in place of a model.

use agents::{
    Agent, AgentBuilder, ErrorKind, Model, PurposeKey, agent, async_trait,
    model::{ModelError, Purposes, Reply, Request},
    structure,
    testing::{Script, ScriptedModel},
    tool::Scope,
};
use std::sync::{Arc, Mutex};

/// Gives one model for all purposes, notes for which, and admits no other model.
#[derive(Clone)]
struct Noting {
    model: ScriptedModel,
    asked: Arc<Mutex<Vec<String>>>,
    judged: Arc<Mutex<Vec<bool>>>,
}

impl Noting {
    fn new(script: impl IntoIterator<Item = Script>) -> Self {
        Noting {
            model: ScriptedModel::new(script).0,
            asked: Arc::default(),
            judged: Arc::default(),
        }
    }
}

impl Purposes for Noting {
    fn model(&self, purpose: &PurposeKey, scope: &Scope) -> Arc<dyn Model> {
        let asked = format!("{purpose} for {}", scope.org_id);
        self.asked.lock().unwrap().push(asked);
        Arc::new(self.model.clone())
    }

    fn admits(&self, model: &str) -> bool {
        model == self.model.id()
    }

    fn judged(&self, _run_id: &str, _purpose: &PurposeKey, fits: bool) {
        self.judged.lock().unwrap().push(fits);
    }
}

/// You score.
#[agent(purpose = PurposeKey::Scoring)]
async fn score(text: String) -> u32;

#[tokio::test]
async fn a_purpose_finds_its_model_for_the_scope_of_the_run() {
    let purposes = Noting::new([Script::text("7")]);
    let run = Score.run("Norway").scope("acme").purposes(purposes.clone());
    assert_eq!(run.await.unwrap(), 7);
    let asked = purposes.asked.lock().unwrap();
    assert!(
        asked.iter().all(|asked| asked == "scoring for acme"),
        "{asked:?}"
    );
    assert!(!asked.is_empty());
}

#[tokio::test]
async fn answers_are_judged_once_each() {
    let purposes = Noting::new([Script::text("much"), Script::text("7")]);
    assert_eq!(
        Score
            .run("Norway")
            .purposes(purposes.clone())
            .await
            .unwrap(),
        7
    );
    assert_eq!(*purposes.judged.lock().unwrap(), [false, true]);
}

#[tokio::test]
async fn without_models_for_purposes_the_run_drives_the_agent_or_says_what_is_missing() {
    let (model, _) = ScriptedModel::new([Script::text("7")]);
    assert_eq!(Score.run("Norway").model(model).await.unwrap(), 7);
    let error = Score.run("Norway").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Build);
    let text = error.to_string();
    assert!(
        text.contains("the purpose `scoring`") && text.contains(".purposes(..)"),
        "{text}"
    );
}

#[tokio::test]
async fn a_delegate_names_its_own_purpose() {
    let purposes = Noting::new([
        Script::call("score", r#"{"text": "Norway"}"#),
        Script::text("7"),
        Script::text("it scores 7"),
    ]);
    let lead = AgentBuilder::<String, String>::new("lead")
        .purpose(PurposeKey::AgentTurn)
        .build();
    let team = structure!(lead.delegates(Score));
    let run = team
        .run("How does Norway score?")
        .purposes(purposes.clone());
    assert_eq!(run.await.unwrap(), "it scores 7");
    let asked = purposes.asked.lock().unwrap();
    for purpose in ["agent_turn for ", "scoring for "] {
        assert!(asked.iter().any(|asked| asked == purpose), "{asked:?}");
    }
}

/// Model of a control plane: it tells the cost of its replies.
struct Priced;

#[async_trait]
impl Model for Priced {
    fn id(&self) -> &str {
        "priced"
    }

    fn knows_cost(&self) -> bool {
        true
    }

    async fn chat(&self, _: Request<'_>) -> Result<Reply, ModelError> {
        Ok(Reply::default())
    }
}

#[tokio::test]
async fn a_fallback_is_admitted_only_with_both_of_its_models() {
    let admitted = || ScriptedModel::new([Script::text("7")]).0;
    let agent = |model: Arc<dyn Model>| {
        AgentBuilder::<String, String>::new("scorer")
            .model(model)
            .build()
    };
    let purposes = Noting::new([]);
    let both = agent(Arc::new(admitted().or(admitted())));
    assert_eq!(
        both.run("Norway").purposes(purposes.clone()).await.unwrap(),
        "7"
    );
    for model in [
        Arc::new(admitted().or(Priced)) as Arc<dyn Model>,
        Arc::new(Priced.or(admitted())),
    ] {
        let error = agent(model).run("Norway").purposes(purposes.clone()).await;
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Build);
    }
}

#[test]
fn models_around_a_model_know_what_its_replies_cost() {
    let (unpriced, _) = ScriptedModel::new([]);
    assert!(Priced.retry(3).knows_cost() && Priced.or(Priced).knows_cost());
    assert!(!Priced.or(unpriced).knows_cost());
}
