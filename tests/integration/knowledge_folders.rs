//! Folders of knowledge: their texts are told when the model asks for them.

use crate::world::{Plain, put_down, scripted_model};
use agents::{
    Agent, AgentBuilder, ErrorKind,
    agent::KnowledgeFolder,
    journal::MemoryJournal,
    model::Message,
    prelude::{agent, dir},
    run::EventKind,
    testing::{Script, ScriptedModel},
};
use std::sync::{Arc, Mutex};

fn refunds() -> KnowledgeFolder {
    KnowledgeFolder::new(
        "refunds",
        "How money is paid back.",
        "---\nname: refunds\n---\nSee limits.md.",
    )
    .file("limits.md", "50 euros")
    .file("references/kinds.md", "tickets")
}

fn clerk() -> AgentBuilder<'static, String, String> {
    let style = KnowledgeFolder::new("style", "How we write.", "Short.");
    AgentBuilder::new("clerk").knowledge_from([refunds(), style])
}

fn told(handle: &ScriptedModel) -> Vec<String> {
    let last = handle.requests().pop().unwrap();
    let results = last.messages.iter().filter_map(|message| match message {
        Message::Tool { content, .. } => Some(content.to_string()),
        _ => None,
    });
    results.collect()
}

fn asks() -> [Script; 3] {
    [
        Script::calls([("refunds", "{}"), ("style", "")]),
        Script::call("refunds", r#"{"file": "limits.md"}"#),
        Script::text("done"),
    ]
}

#[tokio::test]
async fn the_text_is_told_without_its_header_and_files_by_their_names() {
    let (model, handle) = ScriptedModel::new(asks());
    let used: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = used.clone();
    let run = clerk().build();
    let run = run.run("Go.").model(model).on_event(move |event| {
        if let EventKind::KnowledgeUsed { knowledge } = &event.kind {
            seen.lock().unwrap().push(knowledge.to_string());
        }
    });
    run.await.unwrap();
    assert_eq!(told(&handle), ["See limits.md.", "Short.", "50 euros"]);
    let first = &handle.requests()[0];
    assert_eq!(first.tools, ["refunds", "style"]);
    assert!(
        !format!("{first:?}").contains("50 euros"),
        "loaded when asked for"
    );
    let mut used = used.lock().unwrap().clone();
    used.sort();
    assert_eq!(used, ["refunds", "refunds", "style"]);
}

#[tokio::test]
async fn a_file_that_is_not_there_is_answered_with_the_names() {
    let (model, handle) = ScriptedModel::new([
        Script::call("refunds", r#"{"file": "../../etc/passwd"}"#),
        Script::call("refunds", r#"{"file": "kinds.md"}"#),
        Script::call("refunds", r#"{'file': "limits.md",}"#),
        Script::text("done"),
    ]);
    clerk().build().run("Go.").model(model).await.unwrap();
    let told = told(&handle);
    for refused in &told[..2] {
        assert!(refused.starts_with("ERROR"), "{refused}");
        assert!(
            refused.contains("limits.md") && refused.contains("references/kinds.md"),
            "{refused}"
        );
    }
    assert_eq!(told[2], "50 euros", "read leniently");
}

#[tokio::test]
async fn a_stored_run_goes_on_with_what_it_was_told() {
    let journal = MemoryJournal::new();
    let run = clerk().build();
    run.run("Go.")
        .model(scripted_model(asks()))
        .journal(journal.clone())
        .await
        .unwrap();
    for at in put_down(&journal) {
        let (model, handle) = ScriptedModel::new(asks().into_iter().skip(at.replies()));
        let run = clerk().build();
        assert_eq!(
            run.run("Go.")
                .model(model)
                .journal(at.journal())
                .await
                .unwrap(),
            "done",
            "{at}"
        );
        if handle.count() > 0 {
            assert_eq!(
                told(&handle),
                ["See limits.md.", "Short.", "50 euros"],
                "{at}"
            );
        }
    }
}

#[tokio::test]
async fn two_pieces_of_knowledge_with_one_name_are_a_defect() {
    let twice: Plain = clerk().knowledge("refunds", "The same.", || "no").build();
    let error = twice
        .run("Go.")
        .model(scripted_model([]))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Build);
    assert!(error.to_string().contains("refunds"), "{error}");
    let twice: Plain = clerk().knowledge_from([refunds()]).build();
    assert!(twice.run("Go.").model(scripted_model([])).await.is_err());
}

/// You answer customers.
#[agent(knowledge = dir!("examples/skills"))]
async fn desk(letter: String) -> String;

struct Office;

#[agent(prompt = "You answer.", knowledge = dir!(crate = agents, "examples/skills/"))]
impl Office {
    /// Answers letters.
    async fn answer(&self, letter: String) -> String;

    /// When we are open.
    #[knowledge]
    fn hours(&self) -> &'static str {
        "Nine to five."
    }
}

#[tokio::test]
async fn folders_of_this_repository_are_knowledge_of_an_agent() {
    let (model, handle) = ScriptedModel::new([
        Script::call("refunds", "{}"),
        Script::call("refunds", r#"{"file": "references/limits.md"}"#),
        Script::call("tone-of-voice", "{}"),
        Script::text("done"),
    ]);
    Desk.run("Go.").model(model).await.unwrap();
    let told = told(&handle);
    assert!(told[0].starts_with("# Refunds"), "{}", told[0]);
    assert!(told[1].contains("50 euros"));
    assert_eq!(told[2], "At most three sentences. Never apologise twice.");

    let (model, handle) = ScriptedModel::new([Script::text("done")]);
    Office.run("Go.").model(model).await.unwrap();
    assert_eq!(
        handle.requests()[0].tools,
        ["refunds", "tone-of-voice", "hours"]
    );
}
