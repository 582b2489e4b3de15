//! Knowledge of agents: its text is sent only when the model asks for it.

use crate::world::{Add, told};
use agents::{
    Agent, AgentBuilder, ErrorKind,
    agent::Skill,
    run::EventKind,
    testing::{Script, ScriptedModel},
};
use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU32, Ordering::SeqCst},
};

type Log = Arc<Mutex<Vec<String>>>;

#[tokio::test]
async fn it_is_a_tool_without_arguments_whose_text_is_made_when_asked_for() {
    let (model, handle) = ScriptedModel::new([
        Script::calls([("house_style", ""), ("add", r#"{"left":1,"right":2}"#)]),
        Script::text("done"),
    ]);
    let (made, log) = (Arc::new(AtomicU32::new(0)), Log::default());
    let (making, style, tool, event) = (made.clone(), log.clone(), log.clone(), log.clone());
    // The text is borrowed and need not be `'static`.
    let text = String::from("One line a change.");
    let agent = AgentBuilder::<String, String>::new("writer")
        .tool(Add)
        .knowledge("house_style", "How notes are written.", || {
            making.fetch_add(1, SeqCst);
            text.as_str()
        })
        .knowledge("glossary", "What words mean.", || String::from("none"))
        .on_knowledge_used(move |name| style.lock().unwrap().push(format!("known {name}")))
        .on_tool_use(move |name, _, result| {
            tool.lock()
                .unwrap()
                .push(format!("called {name}: {result:?}"));
        })
        .build();
    let outcome = agent
        .run("go")
        .model(model)
        .on_event(move |told| {
            if let EventKind::KnowledgeUsed { knowledge } = &told.kind {
                event.lock().unwrap().push(format!("event {knowledge}"));
            }
        })
        .outcome()
        .await
        .unwrap();
    let first = &handle.requests()[0];
    assert_eq!(first.tools, ["add", "house_style", "glossary"]);
    assert!(!format!("{:?}", first.messages).contains("One line"));
    assert_eq!(told(&handle)[0], "One line a change.");
    assert_eq!(made.load(SeqCst), 1);
    // (42) Knowledge fires its own hook only.
    let mut log = log.lock().unwrap().clone();
    log.sort();
    assert_eq!(
        log,
        [
            "called add: Ok(3)",
            "event house_style",
            "known house_style"
        ]
    );
    let names: Vec<_> = outcome
        .outputs
        .receipts()
        .map(|receipt| &*receipt.name)
        .collect();
    assert_eq!(
        names,
        ["house_style", "add"],
        "it leaves a receipt, as every call"
    );
}

#[tokio::test]
async fn every_skill_of_the_model_has_it_whatever_its_list_says() {
    let (model, handle) = ScriptedModel::always(Script::text("done"));
    let agent = AgentBuilder::<String, String>::new("writer")
        .tool(Add)
        .knowledge("house_style", "How notes are written.", || "Briefly.")
        .skill(Skill::model("write", "Writes.").tools([] as [&str; 0]))
        .model(model)
        .build();
    agent.run("go").await.unwrap();
    assert_eq!(handle.requests()[0].tools, ["house_style"]);
}

#[tokio::test]
async fn a_name_that_a_tool_has_is_refused() {
    let agent = AgentBuilder::<String, String>::new("writer")
        .tool(Add)
        .knowledge("add", "How to add.", || "With care.")
        .build();
    let (model, _) = ScriptedModel::new([]);
    let error = agent.run("go").model(model).outcome().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Build);
    assert_eq!(
        error.message(),
        "agent `writer`: two tools are called `add`; rename one or remove it (what an agent knows has a name among its tools)"
    );
}

#[tokio::test]
async fn a_panic_in_it_is_a_failure_of_its_call() {
    let (model, handle) =
        ScriptedModel::new([Script::call("style", "{}"), Script::text("so be it")]);
    let agent = AgentBuilder::<String, String>::new("writer")
        .knowledge("style", "Style.", || -> String { panic!("torn out") })
        .build();
    assert_eq!(agent.run("go").model(model).await.unwrap(), "so be it");
    assert!(told(&handle)[0].contains("torn out"));
}
