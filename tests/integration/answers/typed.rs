use crate::world::worker;
use crate::world::{Plain, put_down, same};
use agents::{
    Agent, AgentBuilder, Budget, ErrorKind,
    agent::Skill,
    journal::MemoryJournal,
    recovery::{CallError, Decision, InvalidOutput, Repair, fix, fix_with},
    testing::{Script, ScriptedModel},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Verdict {
    score: u32,
    reasons: Vec<String>,
}

#[tokio::test]
async fn a_typed_answer_is_asked_for_by_its_schema_and_read() {
    let (model, handle) =
        ScriptedModel::new([Script::text(r#"{"score": 90, "reasons": ["short"]}"#)]);
    let verdict: Verdict = worker().run("judge").model(model).await.unwrap();
    assert_eq!(
        verdict,
        Verdict {
            score: 90,
            reasons: vec!["short".into()]
        }
    );
    let asked = &handle.requests()[0];
    let agents::model::Message::System { content } = &asked.messages[0] else {
        panic!("no system message")
    };
    assert!(content.contains(r#""score""#), "{content}");
    assert_eq!(
        asked.format, None,
        "a schema is not forced while tools are offered"
    );
}

#[tokio::test]
async fn an_answer_is_read_as_leniently_as_arguments() {
    let text = "Here you are:\n```json\n{'score': \"90\", reasons: 'short',}\n```\nAnything else?";
    let (model, _) = ScriptedModel::new([Script::text(text)]);
    let verdict: Verdict = worker().run("judge").model(model).await.unwrap();
    assert_eq!(
        verdict,
        Verdict {
            score: 90,
            reasons: vec!["short".into()]
        }
    );
}

#[tokio::test]
async fn an_answer_that_does_not_fit_goes_back() {
    let (model, handle) = ScriptedModel::new([
        Script::text("I would say it is quite good."),
        Script::text(r#"{"score": 7, "reasons": []}"#),
    ]);
    let verdict: Verdict = worker().run("judge").model(model).await.unwrap();
    assert_eq!(verdict.score, 7);
    let second = &handle.requests()[1];
    assert!(
        second.last().starts_with("Your answer cannot be used:"),
        "{}",
        second.last()
    );
    assert!(!second.tools.is_empty() && second.format.is_none());
}

#[tokio::test]
async fn a_refused_answer_takes_no_tools_away() {
    let add = || Script::call("add", r#"{"left": 3, "right": 4}"#);
    let (model, handle) = ScriptedModel::new([
        Script::text("quite good"),
        add(),
        Script::text("seven"),
        Script::text("still seven"),
        Script::text("and again"),
        add(),
        Script::text(r#"{"score": 7, "reasons": []}"#),
    ]);
    let verdict: Verdict = worker().run("judge").model(model).await.unwrap();
    assert_eq!(verdict.score, 7);
    let asked = handle.requests();
    let has_tools: Vec<_> = asked.iter().map(|asked| !asked.tools.is_empty()).collect();
    // After two refused answers in a row, the next request has only the schema and no tools.
    assert_eq!(has_tools, [true, true, true, true, false, true, true]);
    for asked in &asked {
        assert_eq!(asked.format.is_some(), asked.tools.is_empty());
    }
    assert_eq!((asked[2].last(), asked[6].last()), ("7", "7"));
}

#[tokio::test]
async fn in_the_last_turn_nothing_but_an_answer_is_asked_for() {
    let (model, handle) = ScriptedModel::always(Script::text("no idea"));
    let two = Budget::new().max_turns(2);
    let worker = worker::<Verdict>();
    let run = worker.run("judge").model(model).budget(two);
    let error = run.await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidOutput, "{error:?}");
    let last = &handle.requests()[1];
    assert!(last.tools.is_empty() && last.format.is_some());
}

#[tokio::test]
async fn an_answer_that_never_fits_is_an_invalid_output() {
    let (model, handle) = ScriptedModel::always(Script::text("no idea"));
    let agent = AgentBuilder::<String, Verdict>::new("judge")
        .budget(Budget::new().max_turns(3))
        .model(model)
        .build();
    let error = agent.run("judge").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidOutput, "{error:?}");
    assert!(error.to_string().contains("3 turns are used up"), "{error}");
    assert_eq!(handle.count(), 3);
}

#[tokio::test]
async fn a_strict_run_repairs_nothing() {
    let script = [
        Script::text("```json\n{\"score\":1,\"reasons\":[]}\n```"),
        Script::text(r#"{"score":2,"reasons":[]}"#),
    ];
    let (model, _) = ScriptedModel::new(script);
    let verdict: Verdict = worker().run("judge").model(model).strict().await.unwrap();
    assert_eq!(verdict.score, 2);
}

#[tokio::test]
async fn text_is_taken_as_it_is() {
    let (model, handle) = ScriptedModel::new([Script::text("  {not json}\n")]);
    let text: String = worker().run("say").model(model).await.unwrap();
    assert_eq!(text, "  {not json}\n");
    let agents::model::Message::System { content } = &handle.requests()[0].messages[0] else {
        panic!()
    };
    assert_eq!(content, "Work.");
}

#[tokio::test]
async fn a_skill_with_a_condition_answers_without_a_model() {
    let agent = AgentBuilder::<String, String>::new("manager")
        .skill(Skill::model("manage", "Manages."))
        .skill(
            Skill::native("root", "Says where.", |_| async { Ok("/srv".to_owned()) })
                .when(|request: &String| request.contains("where")),
        )
        .build();
    assert_eq!(agent.run("where is it?").await.unwrap(), "/srv");
    assert!(
        agent.run("do it").await.unwrap_err().kind() == ErrorKind::Build,
        "this one needs a model"
    );
}

#[tokio::test]
async fn an_invalid_output_says_which_field() {
    let (model, _) = ScriptedModel::new([Script::text(r#"{"a": 1, "b": "two"}"#)]);
    let agent = AgentBuilder::<String, std::collections::BTreeMap<String, u32>>::new("typed")
        .model(model)
        .on_error(|error, _| match error {
            CallError::InvalidOutput(_, fault) if fault.field("b") => {
                let decision: Decision<InvalidOutput> = fix(r#"{"a": 1, "b": 2}"#);
                Some(decision.into())
            }
            _ => None,
        })
        .build();
    assert_eq!(agent.run("?").await.unwrap()["b"], 2);
}

/// Creates an agent that gives the same invalid answer twice. A repair agent repairs each, with one attempt per
/// answer. The arguments are the numbers of replies given already.
fn mended_judge(said: usize, mended: usize) -> (Plain<String, u32>, [ScriptedModel; 2]) {
    let answers = ["no idea", "no idea", "7"].map(Script::text);
    let (model, handle) = ScriptedModel::new(answers.into_iter().skip(said));
    let better = ["worse", "even worse"].map(Script::text);
    let (fixer, asked) = ScriptedModel::new(better.into_iter().skip(mended));
    let mender = AgentBuilder::<Repair, String>::new("mender").model(fixer);
    let mender = Arc::new(mender.build());
    let judge = AgentBuilder::<String, u32>::new("judge")
        .model(model)
        .fixer(mender.clone())
        .on_error(move |error, _| match error {
            CallError::InvalidOutput(..) => {
                Some(fix_with::<InvalidOutput>(mender.clone()).retries(1).into())
            }
            _ => None,
        })
        .build();
    (judge, [handle, asked])
}

#[tokio::test]
async fn what_may_be_tried_with_an_answer_is_counted_for_each() {
    let journal = MemoryJournal::new();
    let (judge, [model, fixer]) = mended_judge(0, 0);
    let run = judge.run("judge").journal(journal.clone());
    let whole = run.outcome().await.unwrap();
    assert_eq!((model.count(), fixer.count()), (3, 2));
    assert_eq!(whole.usage.requests, 5);
    assert_eq!(whole.result.as_ref().unwrap(), &7);
    // Both repairs have the same text; a resumed run does not confuse them.
    for at in put_down(&journal) {
        let said = |text: &str| {
            let replies = at.0.iter().filter(|entry| entry.kind() == "replied");
            replies.filter(|entry| entry.fact().contains(text)).count()
        };
        let mended = said("worse");
        let judged = at.replies() - mended;
        let (judge, [model, fixer]) = mended_judge(judged, mended);
        let run = judge.run("judge").journal(at.journal());
        let outcome = run.outcome().await.unwrap();
        same(&outcome, &whole, &at);
        assert_eq!(
            (judged + model.count(), mended + fixer.count()),
            (3, 2),
            "nothing is asked twice {at}"
        );
    }
}
