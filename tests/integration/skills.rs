//! Which of several skills answers, and what the model has for it.

use crate::world::{Add, ReadFile, WriteFile};
use agents::{
    Agent, AgentBuilder, Budget, ErrorKind,
    agent::{ModelAgent, Skill},
    console,
    model::Message,
    observe::StepKind,
    record::{Recording, Replay},
    run::{EventKind, Limit, Snapshot, Stopped},
    testing::{Script, ScriptedModel},
    timeline,
};
use std::sync::{Arc, Mutex};

type Plain = ModelAgent<'static, String, String>;

/// Three skills between which only a model can choose.
fn clerk() -> AgentBuilder<'static, String, String> {
    AgentBuilder::new("clerk")
        .prompt("You are a clerk.")
        .tool(Add)
        .tool(ReadFile)
        .tool(WriteFile)
        .skill(Skill::model("read_notes", "Reads the notes.\nOf anybody.").tools(["read_file"]))
        .skill(Skill::model("do_sums", "Does sums."))
        .skill(Skill::native(
            "say_hello",
            "Greets.",
            |name: String| async move { Ok(format!("hello, {name}")) },
        ))
}

fn texts(messages: &[Message]) -> Vec<&str> {
    fn text(message: &Message) -> &str {
        match message {
            Message::System { content }
            | Message::User { content }
            | Message::Assistant { content, .. }
            | Message::Tool { content, .. } => content.as_str(),
        }
    }
    messages.iter().map(text).collect()
}

#[tokio::test]
async fn the_model_chooses_in_a_turn_of_its_own() {
    let (model, handle) = ScriptedModel::new([
        Script::text("I would go for `read_notes`."),
        Script::call("read_file", r#"{"path": "ada"}"#),
        Script::call("add", r#"{"left": 1, "right": 2}"#),
        Script::text("they are empty"),
    ]);
    let outcome = clerk()
        .build()
        .run("What did Ada note?")
        .model(model)
        .outcome()
        .await
        .unwrap();
    assert_eq!(outcome.result.unwrap(), "they are empty");
    assert_eq!(outcome.usage.requests, 4, "it is charged");
    let asked = handle.requests();
    assert_eq!(
        texts(&asked[0].messages),
        [
            "You choose the skill that answers a request. Say its name and nothing else.",
            "Skills:\n- read_notes: Reads the notes. Of anybody.\n- do_sums: Does sums.\n- say_hello: Greets.\n\nRequest: What did Ada note?\n\nWhich skill answers the request? Say its name and nothing else.",
        ]
    );
    assert!(asked[0].tools.is_empty());
    assert_eq!(
        asked[0].format,
        Some(serde_json::json!({"type": "string", "enum": ["read_notes", "do_sums", "say_hello"]}))
    );
    assert_eq!(
        texts(&asked[1].messages),
        [
            "You are a clerk.\n\nReads the notes.\nOf anybody.",
            "What did Ada note?"
        ]
    );
    assert_eq!(asked[1].tools, ["read_file"], "the list is strict");
    assert_eq!(
        asked[3].last(),
        "ERROR POLICY_DENIED (Policy) in `add`: there is no tool `add`; you have `read_file`"
    );
}

#[tokio::test]
async fn a_native_skill_can_be_chosen_and_has_no_more_turns() {
    let (model, handle) = ScriptedModel::new([Script::text("**Say Hello**")]);
    let answer = clerk().model(model).build().run("Ada").await.unwrap();
    assert_eq!(answer, "hello, Ada");
    assert_eq!(handle.count(), 1);
}

#[tokio::test]
async fn an_unknown_name_goes_back_with_the_list_once() {
    let (model, handle) = ScriptedModel::new([Script::text("sing"), Script::text("say_hello")]);
    let answer = clerk().model(model).build().run("Ada").await.unwrap();
    assert_eq!(answer, "hello, Ada");
    assert_eq!(
        handle.requests()[1].last(),
        r#"That is none of the skills: expected one of "read_notes", "do_sums", "say_hello", got sing. Say the name of one of them and nothing else."#
    );

    let (model, handle) = ScriptedModel::always(Script::text("sing"));
    let error = clerk().model(model).build().run("Ada").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidOutput);
    assert_eq!(
        error.to_string(),
        r#"agent `clerk`: the model chose none of the skills `read_notes`, `do_sums`, `say_hello`: expected one of "read_notes", "do_sums", "say_hello", got sing"#
    );
    assert_eq!(handle.count(), 2);
}

#[tokio::test]
async fn strictly_only_the_name_itself_counts() {
    let (model, handle) =
        ScriptedModel::new([Script::text("Say Hello"), Script::text("say_hello")]);
    let answer = clerk()
        .model(model)
        .build()
        .run("Ada")
        .strict()
        .await
        .unwrap();
    assert_eq!((answer.as_str(), handle.count()), ("hello, Ada", 2));
}

#[tokio::test]
async fn calls_instead_of_a_name_are_answered() {
    let (model, handle) = ScriptedModel::new([
        Script::calls([("say_hello", "{}"), ("read_file", r#"{"path":"ada"}"#)]),
        Script::text("say_hello"),
    ]);
    let outcome = clerk()
        .model(model)
        .build()
        .run("Ada")
        .outcome()
        .await
        .unwrap();
    assert_eq!(outcome.result.unwrap(), "hello, Ada");
    let asked = handle.requests();
    let [.., skill, tool] = &texts(&asked[1].messages)[..] else {
        panic!("{asked:?}")
    };
    assert_eq!(
        *skill,
        "ERROR POLICY_DENIED (Policy) in `say_hello`: `say_hello` is a skill and no tool; to choose it, say say_hello and nothing else"
    );
    assert_eq!(
        *tool,
        "ERROR POLICY_DENIED (Policy) in `read_file`: no tool can be called before a skill is chosen; say the name of one and nothing else: `read_notes`, `do_sums`, `say_hello`"
    );
    assert_eq!(
        outcome.outputs.tool_order.len(),
        2,
        "each call has its receipt"
    );

    let (model, _) = ScriptedModel::always(Script::call("say_hello", "{}"));
    let error = clerk().model(model).build().run("Ada").await.unwrap_err();
    assert!(
        error
            .message()
            .ends_with("`say_hello`: it made calls instead"),
        "{error}"
    );
}

#[tokio::test]
async fn how_a_choice_looks_on_a_console_and_in_a_trace() {
    let (model, _) = ScriptedModel::new([
        Script::call("say_hello", "{}"),
        Script::text("do_sums"),
        Script::text("two"),
    ]);
    let lines: Arc<Mutex<Vec<String>>> = Arc::default();
    let sink = lines.clone();
    let agent = clerk().build();
    let run = agent.run("1 + 1").model(model).on_event(move |event| {
        let line = console::line(event, false);
        let line = line.map(|line| line.split("  (").next().unwrap_or_default().to_owned());
        sink.lock().unwrap().extend(line);
    });
    let outcome = run.outcome().await.unwrap();
    let refused = "say_hello \"{}\" → POLICY_DENIED: `say_hello` is a skill and no tool; to choose it, say say_hello and nothing else";
    assert_eq!(
        *lines.lock().unwrap(),
        [
            "? scripted chooses a skill".to_owned(),
            format!("✗ {refused}"),
            "? scripted chooses a skill".to_owned(),
            "· answers with the skill do_sums".to_owned(),
        ]
    );
    let turns = outcome
        .trace
        .steps
        .iter()
        .filter_map(|step| match &step.kind {
            StepKind::Turn { turn, choosing, .. } => Some((*turn, *choosing)),
            _ => None,
        });
    assert_eq!(
        turns.collect::<Vec<_>>(),
        [(1, true), (2, true), (3, false)]
    );
    let drawn = timeline::of(&outcome).to_string();
    assert_eq!(
        drawn.matches("scripted chooses a skill").count(),
        2,
        "{drawn}"
    );
}

#[tokio::test]
async fn choosing_counts_as_a_turn() {
    let (model, _) = ScriptedModel::always(Script::text("do_sums"));
    let agent = clerk()
        .budget(Budget::new().max_turns(1))
        .model(model)
        .build();
    let outcome = agent.run("1 + 1").outcome().await.unwrap();
    let turns = Limit::Turns(1);
    let stopped = Stopped::Budget {
        agent: "clerk".into(),
        limit: turns,
    };
    assert_eq!(outcome.stopped, Some(stopped));
    assert_eq!(outcome.usage.requests, 1);
}

#[tokio::test]
async fn it_is_told_which_skill_answers_and_no_name_is_shown_as_text() {
    let (model, _) = ScriptedModel::new([Script::text("do_sums"), Script::text("two")]);
    let (told, hooked) = <(Arc<Mutex<Vec<String>>>, Arc<Mutex<Vec<String>>>)>::default();
    let (sink, hook) = (told.clone(), hooked.clone());
    let agent = clerk()
        .on_skill_chosen(move |skill| hook.lock().unwrap().push(skill.to_owned()))
        .build();
    agent
        .run("1 + 1")
        .model(model)
        .on_event(move |event| {
            sink.lock().unwrap().extend(match &event.kind {
                EventKind::Asked { turn, .. } => Some(format!("asked {turn}")),
                EventKind::Text(text) => Some(text.clone()),
                EventKind::SkillChosen { skill } => Some(format!("chosen {skill}")),
                _ => None,
            });
        })
        .await
        .unwrap();
    assert_eq!(
        *told.lock().unwrap(),
        ["asked 1", "chosen do_sums", "asked 2", "two"]
    );
    assert_eq!(*hooked.lock().unwrap(), ["do_sums"]);
}

fn script() -> Vec<Script> {
    vec![
        Script::text("whichever"),
        Script::text("do_sums"),
        Script::call("add", r#"{"left": 1, "right": 2}"#),
        Script::text("three"),
    ]
}

#[tokio::test]
async fn a_choice_is_stored_and_not_made_again() {
    let kept: Arc<Mutex<Vec<Snapshot>>> = Arc::default();
    let keep = kept.clone();
    let (agent, (model, _)) = (clerk().build(), ScriptedModel::new(script()));
    let whole = agent
        .run("1 + 2")
        .model(model)
        .on_checkpoint(move |snapshot| keep.lock().unwrap().push(snapshot))
        .outcome()
        .await
        .unwrap();
    let snapshots = kept.lock().unwrap().clone();
    assert_eq!(snapshots.len(), 5, "four replies and one round of calls");
    for (after, snapshot) in [1, 2, 3, 3, 4].into_iter().zip(snapshots) {
        let stored = serde_json::to_string(&snapshot).unwrap();
        let (model, handle) = ScriptedModel::new(script().into_iter().skip(after));
        let resumed = agent
            .resume(serde_json::from_str(&stored).unwrap())
            .model(model)
            .outcome()
            .await
            .unwrap();
        assert_eq!(resumed.result.unwrap(), "three", "after {after}: {stored}");
        assert_eq!(handle.count(), 4 - after);
        assert_eq!(resumed.outputs.tool_order, whole.outputs.tool_order);
        assert_eq!(resumed.usage, whole.usage);
    }
}

#[tokio::test]
async fn a_stored_choice_that_the_agent_no_longer_has_is_an_error() {
    let kept: Arc<Mutex<Option<Snapshot>>> = Arc::default();
    let keep = kept.clone();
    let (model, _) = ScriptedModel::new(script());
    clerk()
        .build()
        .run("1 + 2")
        .model(model)
        .on_checkpoint(move |snapshot| *keep.lock().unwrap() = Some(snapshot))
        .await
        .unwrap();
    let other: Plain = AgentBuilder::new("clerk")
        .skill(Skill::model("dream", "Dreams."))
        .build();
    let snapshot = kept.lock().unwrap().clone().unwrap();
    let error = other.resume(snapshot).await.unwrap_err();
    assert_eq!(
        error.message(),
        "agent `clerk` (skills `dream`): the stored run has chosen `do_sums`, which is not among them"
    );
}

#[tokio::test]
async fn a_choice_replays_from_its_tape() {
    let path = std::env::temp_dir().join(format!("agents-skills-{}.jsonl", std::process::id()));
    let (model, _) = ScriptedModel::new(script());
    let tape = Recording::create(&path).unwrap();
    let agent = clerk().build();
    let first = agent
        .run("1 + 2")
        .model(model)
        .tape(tape)
        .outcome()
        .await
        .unwrap();
    let replay = Replay::open(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    let again = agent
        .run("1 + 2")
        .tape(replay.clone())
        .outcome()
        .await
        .unwrap();
    assert_eq!(again.result.unwrap(), first.result.unwrap());
    assert_eq!(again.outputs, first.outputs);
    assert_eq!(replay.left(), 0);
}

#[tokio::test(start_paused = true)]
async fn choosing_and_working_share_the_agent_s_time() {
    use std::time::Duration;
    /// Answers after six seconds.
    struct Slow(ScriptedModel);
    #[agents::__rt::async_trait]
    impl agents::Model for Slow {
        fn id(&self) -> &str {
            "slow"
        }
        async fn chat(
            &self,
            request: agents::model::Request<'_>,
        ) -> Result<agents::model::Reply, agents::model::ModelError> {
            tokio::time::sleep(Duration::from_secs(6)).await;
            self.0.chat(request).await
        }
    }
    let (model, _) = ScriptedModel::always(Script::text("do_sums"));
    let ten = Duration::from_secs(10);
    let agent = clerk()
        .budget(Budget::new().time(ten))
        .model(Slow(model))
        .build();
    let outcome = agent.run("1 + 2").outcome().await.unwrap();
    let stopped = Stopped::Budget {
        agent: "clerk".into(),
        limit: Limit::Time(ten),
    };
    assert_eq!(outcome.stopped, Some(stopped));
}

#[tokio::test]
async fn what_does_not_fit_together_is_said_at_once() {
    let agent = clerk()
        .skill(Skill::model("do_sums", "Again.").tools(["multiply", "read_*", "github_*"]))
        .skill(Skill::native("idle", "Idles.", |_| async { Ok(String::new()) }).tools(["add"]))
        .on_error_of::<std::io::Error>("divide", |_, _| None)
        .build();
    let error = agent.run("1 + 2").outcome().await.unwrap_err();
    assert!(error.is_build());
    assert_eq!(
        error.message().split("; ").collect::<Vec<_>>(),
        [
            "agent `clerk` has `on_error` arms for `divide`, which is not among its tools (arms for a delegate are written for `agents_core::error::Error`, and these for `std::io::error::Error`)",
            "agent `clerk` has two skills called `do_sums`",
            "rename one or remove it",
            "skill `do_sums` lists the tool `multiply`, and agent `clerk` has none",
            "add it to the agent's tools, or remove it from the list",
            "skill `do_sums` lists the tools by the pattern `github_*`, and agent `clerk` has none",
            "add it to the agent's tools, or remove it from the list",
            "skill `idle` of agent `clerk` lists tools, and it has a body: no model is there to use that",
            "remove the one or the other",
            "agent `clerk` has no model to choose among its skills `read_notes`, `do_sums`, `say_hello`, `do_sums`, `idle`",
            "give all of them but one a `when = |input| ..`, or name one with `#[agent(model = ..)]` or `.model(..)` on the agent, or with `.run(..).model(..)`",
        ]
    );
}

#[tokio::test]
async fn agents_in_a_skill_without_a_model_have_the_agent_s_model() {
    let (model, handle) = ScriptedModel::new([Script::text("from the clerk's model")]);
    let agent: Plain = AgentBuilder::new("clerk")
        .model(model)
        .skill(Skill::native(
            "ask",
            "Asks a colleague.",
            |input: String| async move {
                AgentBuilder::<String, String>::new("colleague")
                    .build()
                    .run(input)
                    .await
            },
        ))
        .build();
    assert_eq!(agent.run("go").await.unwrap(), "from the clerk's model");
    assert_eq!(handle.count(), 1);
}
