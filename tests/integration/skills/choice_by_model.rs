//! The turn in which the model chooses a skill.

use super::*;
use agents::{console, model::Message, observe::StepKind, run::EventKind, timeline};

fn texts(messages: &[Message]) -> Vec<&str> {
    fn text(message: &Message) -> &str {
        message.text()
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
    let refused = "say_hello {} → POLICY_DENIED: `say_hello` is a skill and no tool; to choose it, say say_hello and nothing else";
    assert_eq!(
        *lines.lock().unwrap(),
        [
            "? scripted chooses a skill".to_owned(),
            format!("✗ {refused}"),
            "? scripted chooses a skill".to_owned(),
            "· answers with the skill do_sums".to_owned(),
            "▸ clerk answered".to_owned(),
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
                EventKind::ModelRequested { turn, .. } => Some(format!("asked {turn}")),
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
