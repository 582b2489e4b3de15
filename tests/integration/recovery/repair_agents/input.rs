//! Input of repair agents: the text that failed, or the complete report.

use crate::recovery::arms::patient;
use agents::{
    Agent, AgentBuilder, Error, Severity,
    agent::{Profile, Skill},
    async_trait,
    prelude::*,
    recovery::*,
    run::RunContext,
    team::Member,
    testing::{Script, ScriptedModel},
};
use std::sync::{Arc, Mutex};

/// Fix JSON with regex
#[agent]
fn regex_fixer(broken: String) -> String {
    let text = broken.trim();
    let text = text.strip_prefix("```json").unwrap_or(text);
    let text = text.strip_suffix("```").unwrap_or(text).trim();
    let text = text.replace('\'', "\"");
    text.replace(", }", " }").replace(", ]", " ]")
}

tool! {
    /// Save a contact.
    #[tool(none, strict)]
    async fn save_contact(
        /// Name of the person.
        name: String,
        /// Phone numbers of the person.
        phones: Vec<String>,
    ) -> String { format!("{name}: {}", phones.join(", ")) }

    on_error {
        invalid_args(_, _) => fix(agent = RegexFixer, retries = 1),
    }
}

#[tokio::test]
async fn x7_the_regex_fixer_repairs_a_call_of_a_strict_tool() {
    let (model, handle) = ScriptedModel::new([
        Script::call(
            "save_contact",
            "```json\n{'name': 'Ada', 'phones': ['1', '2', ], }\n```",
        ),
        Script::text("saved"),
    ]);
    let book = AgentBuilder::<String, String>::new("book").tool(SaveContact);
    book.model(model).build().run("Save Ada.").await.unwrap();
    assert_eq!(handle.requests()[1].last(), "Ada: 1, 2");
}

/// Runs an agent whose call `gibberish` this agent repairs; returns the call's result as the model got it.
async fn repaired_by(fixer: impl Agent<In = String, Out = String> + 'static) -> String {
    let (agent, handle) = patient(Arc::new(fixer), 1);
    agent.run("go").await.unwrap();
    handle.requests()[1].last().to_owned()
}

type Seen = Arc<Mutex<Vec<String>>>;

/// Creates a native skill that records its input, and repairs it.
fn kept(seen: &Seen) -> Skill<'static, String, String> {
    let seen = seen.clone();
    Skill::native("mend", "Mends.", move |given: String| {
        seen.lock().unwrap().push(given);
        async { Ok(r#"{"n": 3}"#.to_owned()) }
    })
}

/// Creates an agent with that skill.
fn code(seen: &Seen) -> AgentBuilder<'static, String, String> {
    AgentBuilder::new("code").skill(kept(seen))
}

/// Creates an agent with a model; also returns the model.
fn driven() -> (AgentBuilder<'static, String, String>, ScriptedModel) {
    let (model, asked) = ScriptedModel::new([Script::text(r#"{"n": 3}"#)]);
    (AgentBuilder::new("driven").model(model), asked)
}

fn one(seen: &Seen) -> String {
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 1, "{seen:?}");
    seen[0].clone()
}

fn is_report(text: &str) -> bool {
    text.starts_with("The JSON for `flaky`") && text.contains("JSON Schema")
}

#[tokio::test]
async fn code_is_given_the_text_and_a_model_the_report() {
    let seen = Seen::default();
    assert_eq!(repaired_by(code(&seen).build()).await, "3");
    assert_eq!(one(&seen), "gibberish");

    let (fixer, asked) = driven();
    assert_eq!(repaired_by(fixer.build()).await, "3");
    assert!(is_report(asked.requests()[0].last()));
}

#[tokio::test]
async fn the_builder_says_otherwise() {
    let seen = Seen::default();
    let fixer = code(&seen).repair_input(RepairInput::Report).build();
    assert_eq!(repaired_by(fixer).await, "3");
    assert!(is_report(&one(&seen)));

    let (fixer, asked) = driven();
    let fixer = fixer.repair_input(RepairInput::Raw).build();
    assert_eq!(repaired_by(fixer).await, "3");
    assert_eq!(asked.requests()[0].last(), "gibberish");
}

#[tokio::test]
async fn with_a_skill_for_a_model_an_agent_is_given_the_report() {
    let seen = Seen::default();
    let (fixer, asked) = driven();
    let by_model = Skill::model("ask", "Asks a model.").when(|given: &String| is_report(given));
    let fixer = fixer.skill(by_model).skill(kept(&seen)).build();
    assert_eq!(repaired_by(fixer).await, "3");
    assert!(is_report(asked.requests()[0].last()));
    assert!(seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_composite_decides_by_its_first_part() {
    let seen = Seen::default();
    let (second, asked) = driven();
    let fixer = code(&seen).build().then(second.build());
    assert_eq!(repaired_by(fixer).await, "3");
    assert_eq!(one(&seen), "gibberish");
    assert_eq!(asked.requests()[0].last(), r#"{"n": 3}"#);

    let seen = Seen::default();
    let (first, asked) = driven();
    let fixer = first.build().then(code(&seen).build());
    assert_eq!(repaired_by(fixer).await, "3");
    assert!(is_report(asked.requests()[0].last()));
    assert_eq!(one(&seen), r#"{"n": 3}"#);

    // A wrapper around an agent changes nothing.
    let seen = Seen::default();
    let fixer = code(&seen).build().map(|text| text).boxed();
    assert_eq!(repaired_by(fixer).await, "3");
    assert_eq!(one(&seen), "gibberish");

    let (fixer, asked) = driven();
    let fixer = Member::new(fixer.build()).build();
    assert_eq!(repaired_by(fixer).await, "3");
    assert!(is_report(asked.requests()[0].last()));
}

#[tokio::test]
async fn the_agent_of_which_the_way_depends_is_the_first_part() {
    let seen = Seen::default();
    let (target, asked) = driven();
    let fixer = agents::compose::routed(
        code(&seen).build(),
        (target.build(),),
        |cx, text, (target,)| target.run_in(cx, text),
    );
    assert_eq!(repaired_by(fixer).await, "3");
    assert_eq!(one(&seen), "gibberish");
    assert_eq!(asked.requests()[0].last(), r#"{"n": 3}"#);
}

/// An agent without macros that wraps another one.
struct Around<A>(A);

#[async_trait]
impl<A: Agent<In = String, Out = String>> Agent for Around<A> {
    type In = String;
    type Out = String;

    fn name(&self) -> &str {
        "around"
    }

    fn profile(&self) -> Profile {
        self.0.profile()
    }

    async fn work(&self, cx: &RunContext, input: String) -> Result<String, Error> {
        match input.is_empty() {
            true => Err(Error::escalated("nothing to mend", Severity::Low)),
            false => self.0.work(cx, input).await,
        }
    }
}

#[tokio::test]
async fn an_agent_by_hand_says_it_with_its_profile() {
    let (fixer, asked) = driven();
    assert_eq!(repaired_by(Around(fixer.build())).await, "3");
    assert!(is_report(asked.requests()[0].last()));
}
