//! One model for every agent of a run, whatever the agents name.

use crate::world::{Named, Plain, native, on_args, put_down_after};
use agents::{
    Agent, AgentBuilder, Budget, Effects, ErrorKind,
    agent::Skill,
    escalation::{self, Escalation},
    journal::{Entry, MemoryJournal},
    prelude::agent,
    recovery::{Repair, escalate, fix_with},
    structure,
    testing::{ReceivedRequest, Script, ScriptedModel},
    tool::FnTool,
};
use serde_json::json;
use std::{io, sync::Arc};

/// Creates a model that a test must not ask.
fn dear() -> (ScriptedModel, ScriptedModel) {
    ScriptedModel::always(Script::fail("a real model was asked"))
}

/// Creates an agent that names its model.
fn own(name: &'static str, model: &ScriptedModel) -> AgentBuilder<'static, String, String> {
    AgentBuilder::new(name)
        .prompt(format!("You are {name}."))
        .model(model.clone())
}

/// Returns the name of the agent that was asked.
fn who(asked: &ReceivedRequest) -> String {
    let name = asked.prompt().strip_prefix("You are ").unwrap();
    name.trim_end_matches('.').to_owned()
}

/// Names of the agents that the model was asked by.
fn asked_by(handle: &ScriptedModel) -> Vec<String> {
    handle.requests().iter().map(who).collect()
}

/// You are a namer.
#[agent(model = dear().0)]
async fn namer(project: String) -> String;

#[tokio::test]
async fn an_agent_that_names_its_model_is_tested_without_it() {
    let (model, handle) = ScriptedModel::new([Script::text("Ariadne")]);
    let name = Namer.run("A maze solver").override_model(model).await;
    assert_eq!(name.unwrap(), "Ariadne");
    assert_eq!(handle.count(), 1);
    // `model` is for agents that bring none.
    let (model, handle) = ScriptedModel::new([Script::text("Ariadne")]);
    let error = Namer.run("A maze solver").model(model).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Model);
    assert_eq!(handle.count(), 0);
}

#[tokio::test]
async fn delegates_have_it() {
    let (dear, asked) = dear();
    let team = structure!(
        own("lead", &dear).build().delegates(
            own("helper", &dear)
                .build()
                .delegates(own("hand", &dear).build())
        )
    );
    let (model, handle) =
        ScriptedModel::from_fn(|asked| match (&*who(asked), asked.results().len()) {
            ("lead", 0) => Script::call("helper", r#"{"input": "lift"}"#),
            ("helper", 0) => Script::call("hand", r#"{"input": "lift"}"#),
            _ => Script::text("lifted"),
        });
    assert_eq!(
        team.run("go").override_model(model).await.unwrap(),
        "lifted"
    );
    assert_eq!(
        asked_by(&handle),
        ["lead", "helper", "hand", "helper", "lead"]
    );
    assert_eq!(asked.count(), 0);
}

#[tokio::test]
async fn skills_and_their_choice_have_it() {
    let (dear, asked) = dear();
    let singer = own("singer", &dear)
        .skill(Skill::model("sing", "Sings."))
        .skill(Skill::model("hum", "Hums."))
        .build();
    let (model, handle) = ScriptedModel::new([Script::text("hum"), Script::text("mmm")]);
    assert_eq!(singer.run("go").override_model(model).await.unwrap(), "mmm");
    assert_eq!((handle.count(), asked.count()), (2, 0));
}

#[tokio::test]
async fn repair_agents_have_it() {
    let (dear, asked) = dear();
    let fixer = AgentBuilder::<Repair, String>::new("fixer")
        .prompt("You are fixer.")
        .model(dear.clone())
        .build();
    let fixer = Arc::new(fixer);
    let schema =
        json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let count = FnTool::new(
        "count",
        "Counts.",
        Effects::None,
        schema,
        |args, _| async move { Ok::<_, io::Error>(args["n"].clone()) },
    );
    let counter = own("counter", &dear)
        .tool(count)
        .on_error(on_args(move |_, _| fix_with(fixer.clone())))
        .build();
    let (model, handle) = ScriptedModel::new([
        Script::call("count", "three, I think"),
        Script::text(r#"{"n": 3}"#),
        Script::text("It is 3."),
    ]);
    let answer = counter.run("go").override_model(model).await;
    assert_eq!(answer.unwrap(), "It is 3.");
    assert_eq!(asked_by(&handle), ["counter", "fixer", "counter"]);
    assert_eq!(asked.count(), 0);
}

#[tokio::test]
async fn parts_of_composed_agents_have_it() {
    let (dear, asked) = dear();
    let merge = native("merge", |(one, other): (String, String)| async move {
        Ok(format!("{one} {other}"))
    });
    let both = own("first", &dear)
        .build()
        .then((own("second", &dear).build(), own("third", &dear).build()))
        .then(merge);
    let (model, handle) = ScriptedModel::from_fn(|asked| Script::text(who(asked)));
    let answer = both.run("go").override_model(model).await;
    assert_eq!(answer.unwrap(), "second third");
    assert_eq!((handle.count(), asked.count()), (3, 0));
}

#[tokio::test]
async fn runs_within_the_run_have_it_whatever_they_set() {
    let (dear, asked) = dear();
    let inner = Arc::new(own("inner", &dear).build());
    let other = dear.clone();
    let ask = FnTool::new("ask", "Asks.", Effects::None, json!({"type": "object"}), {
        move |_, _| {
            let (inner, other) = (inner.clone(), other.clone());
            async move {
                let part = inner.run("a part").model(other.clone()).await?;
                let run = inner.run("a run of its own").model(other);
                let own = run.budget(Budget::new().max_turns(1)).await?;
                Ok::<_, agents::Error>(format!("{part} {own}"))
            }
        }
    });
    let outer = own("outer", &dear).tool(ask).build();
    let (model, handle) =
        ScriptedModel::from_fn(|asked| match (&*who(asked), asked.results().len()) {
            ("outer", 0) => Script::call("ask", "{}"),
            _ => Script::text(asked.last()),
        });
    let answer = outer.run("go").override_model(model).await;
    assert_eq!(answer.unwrap(), "a part a run of its own");
    assert_eq!(asked_by(&handle), ["outer", "inner", "inner", "outer"]);
    assert_eq!(asked.count(), 0);
}

/// Creates an agent whose failing tool has its handler give it the model `large`.
fn climber(model: ScriptedModel, large: ScriptedModel) -> Plain {
    let fail = FnTool::new(
        "fail",
        "Fails.",
        Effects::None,
        json!({"type": "object"}),
        |_, _| async { Err::<String, _>(io::Error::other("no")) },
    );
    let arms = |error: agents::recovery::CallError<'_, agents::error::AnyError>,
                _: &agents::recovery::ErrorContext| match error {
        agents::recovery::CallError::Execution(_) => {
            Some(escalate::<agents::recovery::Execution>("it fails").into())
        }
        _ => None,
    };
    own("climber", &model)
        .tool(fail)
        .on_error(arms)
        .on_escalation(move |_: Escalation| {
            escalation::retry_with_model(Named("large", large.clone()))
        })
        .build()
}

#[tokio::test]
async fn a_model_given_after_an_escalation_gives_way_to_it() {
    let (dear, asked) = dear();
    let climber = climber(dear.clone(), dear);
    let (model, handle) = ScriptedModel::new([Script::call("fail", "{}"), Script::text("done")]);
    let journal = MemoryJournal::new();
    let run = climber.run("go").override_model(model);
    assert_eq!(run.journal(journal.clone()).await.unwrap(), "done");
    assert_eq!((handle.count(), asked.count()), (2, 0));
    // Resumed after the escalation. Nobody gives the model now, and nobody has to.
    let stored = put_down_after(&journal, "asked", 2);
    let (dear, asked) = self::dear();
    let lame = own("climber", &dear);
    let (tool, _) = crate::world::counted(crate::world::spec("fail", Effects::None));
    let lame = lame.tool(tool).build();
    let (model, handle) = ScriptedModel::new([Script::text("done")]);
    let run = lame.run("go").override_model(model);
    assert_eq!(run.journal(stored.journal()).await.unwrap(), "done");
    assert_eq!((handle.count(), asked.count()), (1, 0));
}

#[tokio::test]
async fn a_conversation_has_it_for_each_message() {
    let (dear, asked) = dear();
    let clerk = own("clerk", &dear).build();
    let mut chat = clerk.chat();
    for said in ["Hello", "Bye"] {
        let (model, _) = ScriptedModel::new([Script::text(said)]);
        assert_eq!(chat.send("?").override_model(model).await.unwrap(), said);
    }
    assert_eq!(asked.count(), 0);
}

#[tokio::test]
async fn the_journal_names_it_and_the_run_goes_on_with_it_alone() {
    let (dear, asked) = dear();
    let (tool, _) = crate::world::counted(crate::world::spec("look", Effects::Reads));
    let clerk = own("clerk", &dear).tool(tool).build();
    let journal = MemoryJournal::new();
    let (model, _) = ScriptedModel::new([Script::call("look", "{}"), Script::text("done")]);
    let run = clerk.run("go").override_model(Named("stand_in", model));
    run.journal(journal.clone()).await.unwrap();
    let facts = journal.entries();
    let models: Vec<_> = facts
        .iter()
        .filter(|entry| entry.kind() == "asked")
        .collect();
    assert!(
        models.iter().all(|entry| entry.fact().contains("stand_in")),
        "{models:?}"
    );
    let stored = put_down_after(&journal, "replied", 1);
    // The agent's own model would answer for another one.
    let outcome = clerk
        .run("go")
        .journal(stored.journal())
        .outcome()
        .await
        .unwrap();
    assert_eq!(
        outcome.result.unwrap_err().to_string(),
        "agent `clerk` of the stored run used the model `stand_in`, and now has `scripted`; give it `stand_in` again, or allow the change with `.allow_model_change(..)`",
    );
    assert_eq!(asked.count(), 0);
    let (model, handle) = ScriptedModel::new([Script::text("done")]);
    let run = clerk.run("go").override_model(Named("stand_in", model));
    let journal = stored.journal();
    assert_eq!(run.journal(journal.clone()).await.unwrap(), "done");
    assert_eq!((handle.count(), asked.count()), (1, 0));
    let is_finished = |entry: &Entry| entry.kind() == "finished";
    assert!(journal.entries().iter().any(is_finished));
}
