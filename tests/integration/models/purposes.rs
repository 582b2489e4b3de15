//! Agents that name a purpose in place of a model.

use agents::{
    Agent, AgentBuilder, Effects, ErrorKind, Model, PurposeKey, agent,
    agent::Skill,
    async_trait,
    model::{ModelError, Purposes, Reply, Request},
    structure,
    testing::{Script, ScriptedModel},
    tool::{FnTool, Scope},
};
use serde_json::json;
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
async fn a_run_with_purposes_within_a_tool_is_a_run_of_its_own() {
    let inner = Noting::new([Script::text("7")]);
    let purposes = inner.clone();
    let schema = json!({"type": "object"});
    let rate = FnTool::new("rate", "Rates.", Effects::Reads, schema, move |_, _| {
        let run = Score.run("Norway").purposes(purposes.clone());
        async move { run.await.map_err(std::io::Error::other) }
    });
    let (model, _) = ScriptedModel::new([Script::call("rate", "{}"), Script::text("done")]);
    let clerk = AgentBuilder::<String, String>::new("clerk")
        .tool(rate)
        .model(model)
        .build();
    let outcome = clerk.run("go").scope("acme").outcome().await.unwrap();
    let receipt = outcome.outputs.receipts().next().unwrap();
    assert!(receipt.error.is_none(), "{receipt:?}");
    let asked = inner.asked.lock().unwrap();
    assert!(asked.contains(&"scoring for acme".to_owned()), "{asked:?}");
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

/// Models of their own for each purpose, which answer in turn and note for which purpose they are asked.
#[derive(Clone)]
struct Apart {
    model: ScriptedModel,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Apart {
    fn new(script: impl IntoIterator<Item = Script>) -> Self {
        Apart {
            model: ScriptedModel::new(script).0,
            asked: Arc::default(),
        }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl Purposes for Apart {
    fn model(&self, purpose: &PurposeKey, _: &Scope) -> Arc<dyn Model> {
        Arc::new(OfPurpose {
            id: format!("purpose/{purpose}"),
            of: self.clone(),
        })
    }
}

struct OfPurpose {
    id: String,
    of: Apart,
}

#[async_trait]
impl Model for OfPurpose {
    fn id(&self) -> &str {
        &self.id
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        self.of.asked.lock().unwrap().push(self.id.clone());
        let mut reply = self.of.model.chat(request).await?;
        reply.model = None;
        Ok(reply)
    }
}

struct Clerk;

#[agent(prompt = "You are a clerk.", purpose = PurposeKey::AgentTurn)]
impl Clerk {
    /// Rates a customer.
    #[skill(purpose = PurposeKey::Scoring)]
    async fn rate(&self, customer: String) -> String;

    /// Writes a letter.
    #[skill]
    async fn write(&self, customer: String) -> String;
}

fn clerk() -> impl Agent<In = String, Out = String> {
    AgentBuilder::new("clerk")
        .prompt("You are a clerk.")
        .purpose(PurposeKey::AgentTurn)
        .skill(Skill::model("rate", "Rates a customer.").purpose(PurposeKey::Scoring))
        .skill(Skill::model("write", "Writes a letter."))
        .build()
}

/// Runs an agent, and returns the models that it has asked.
async fn asked(agent: impl Agent<In = String, Out = String>, says: [&str; 2]) -> Vec<String> {
    let purposes = Apart::new(says.map(Script::text));
    let answer = agent.run("Ada").purposes(purposes.clone()).await.unwrap();
    assert_eq!(answer, says[1]);
    purposes.asked()
}

#[tokio::test]
async fn the_purpose_of_a_skill_is_for_its_turns_and_that_of_the_agent_for_the_others() {
    let rated = ["purpose/agent_turn", "purpose/scoring"];
    assert_eq!(asked(clerk(), ["rate", "7"]).await, rated);
    assert_eq!(asked(Clerk, ["rate", "7"]).await, rated);
    let written = ["purpose/agent_turn", "purpose/agent_turn"];
    assert_eq!(asked(clerk(), ["write", "Dear Ada"]).await, written);
    assert_eq!(asked(Clerk, ["write", "Dear Ada"]).await, written);
}

#[tokio::test]
async fn the_purpose_of_a_skill_wins_over_the_model_of_its_agent() {
    let own = ScriptedModel::new([Script::text("rate")]);
    let agent = |model| {
        AgentBuilder::<String, String>::new("clerk")
            .model(model)
            .skill(Skill::model("rate", "Rates.").purpose(PurposeKey::Scoring))
            .skill(Skill::model("write", "Writes."))
            .build()
    };
    let purposes = Apart::new([Script::text("7")]);
    let agent_of = agent(own.0);
    let run = agent_of.run("Ada").purposes(purposes.clone());
    assert_eq!(run.await.unwrap(), "7");
    assert_eq!(
        (own.1.count(), purposes.asked()),
        (1, vec!["purpose/scoring".to_owned()])
    );
    // Without models for purposes, it is a skill without a model of its own.
    let own = ScriptedModel::new([Script::text("rate")]);
    let error = agent(own.0).run("Ada").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Build);
    let lacks =
        "skill `rate` of agent `clerk` has the purpose `scoring`, and the run knows no models";
    assert!(error.to_string().contains(lacks), "{error}");
}

#[tokio::test]
async fn whoever_has_the_purpose_that_lacks_a_control_plane_is_named() {
    let says = async |agent: &dyn Fn() -> AgentBuilder<'static, String, String>| {
        let error = agent().build().run("Ada").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Build);
        error.to_string()
    };
    let clerk = || AgentBuilder::new("clerk").purpose(PurposeKey::AgentTurn);
    let rate = || Skill::model("rate", "Rates.").purpose(PurposeKey::Scoring);
    let of_skill = says(&|| clerk().skill(rate())).await;
    assert!(
        of_skill.contains("skill `rate` of agent `clerk` has the purpose `scoring`"),
        "{of_skill}"
    );
    // The turn that chooses a skill is the agent's, and so are those of a skill without a purpose.
    let write = || Skill::model("write", "Writes.");
    for of_agent in [
        says(&|| clerk().skill(rate()).skill(write())).await,
        says(&|| clerk().skill(write())).await,
    ] {
        assert!(
            of_agent.contains("agent `clerk` has the purpose `agent_turn`")
                && !of_agent.contains("skill `"),
            "{of_agent}"
        );
    }
}

#[tokio::test]
async fn an_agent_whose_skills_bring_a_purpose_needs_no_model() {
    let agent = AgentBuilder::<String, String>::new("clerk")
        .skill(Skill::model("rate", "Rates.").purpose(PurposeKey::Scoring))
        .build();
    agent.profile().check(false).unwrap();
    let purposes = Apart::new([Script::text("7")]);
    let run = agent.run("Ada").purposes(purposes.clone());
    assert_eq!(run.await.unwrap(), "7");
    assert_eq!(purposes.asked(), ["purpose/scoring"]);
}

#[tokio::test]
async fn a_skill_with_a_body_has_no_purpose_and_the_agents_that_it_runs_have_that_of_its_agent() {
    let helper = || AgentBuilder::<String, String>::new("helper").build();
    let body = move |name: String| async move { helper().run(name).await };
    let skill = || Skill::native("rate", "Rates.", body);
    let agent = |skill| {
        AgentBuilder::<String, String>::new("clerk")
            .purpose(PurposeKey::AgentTurn)
            .skill(skill)
            .build()
    };
    let purposes = Apart::new([Script::text("7")]);
    let plain = agent(skill());
    let run = plain.run("Ada").purposes(purposes.clone());
    assert_eq!(run.await.unwrap(), "7");
    assert_eq!(purposes.asked(), ["purpose/agent_turn"]);
    let misused = agent(skill().purpose(PurposeKey::Scoring));
    let run = misused.run("Ada").purposes(purposes);
    let error = run.await.unwrap_err();
    assert!(error.to_string().contains("names a purpose"), "{error}");
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
