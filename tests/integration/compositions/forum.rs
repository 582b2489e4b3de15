//! `forum`.

use super::*;

type Heard = Arc<Mutex<Vec<Transcript<String>>>>;

/// Creates a speaker that answers with its name, and records the transcript.
fn speaker(name: &'static str, heard: &Heard) -> Plain<Transcript<String>> {
    let heard = heard.clone();
    native(name, move |transcript: Transcript<String>| {
        heard.lock().expect("nobody panicked").push(transcript);
        async move { Ok(format!("I am {name}")) }
    })
}

fn captain() -> Plain<Transcript<String>, Vec<String>> {
    native("captain", |all: Transcript<String>| async move {
        Ok(all
            .contributions
            .into_iter()
            .map(|said| said.by)
            .chain([all.topic])
            .collect())
    })
}

#[tokio::test]
async fn each_hears_those_before_and_the_captain_decides() {
    let heard = Heard::default();
    let parts = (
        speaker("initiator", &heard),
        speaker("analyst", &heard),
        speaker("critic", &heard),
    );
    let forum = forum(parts).captain(captain());
    assert_eq!(forum.name(), "forum(initiator, analyst, critic ► captain)");
    assert_eq!(
        forum.run("ship?").await.unwrap(),
        ["initiator", "analyst", "critic", "ship?"]
    );
    let heard = heard.lock().unwrap();
    assert_eq!(heard[0], Transcript::about("ship?".to_owned()));
    assert_eq!(
        heard[2].contributions,
        ["initiator", "analyst"].map(|by| Contribution {
            by: by.to_owned(),
            text: format!("I am {by}"),
        })
    );
}

#[tokio::test]
async fn who_takes_text_is_told_in_words_and_there_may_be_rounds() {
    let (model, handle) = ScriptedModel::new([
        Script::text("No.\ncaptain: Yes."),
        Script::text("Still no."),
    ]);
    let critic: Plain = AgentBuilder::new("critic").model(model).build();
    let forum = forum((speaker("initiator", &Heard::default()), critic))
        .rounds(2)
        .captain(captain());
    let said = forum.run("ship?").await.unwrap();
    assert_eq!(
        said,
        ["initiator", "critic", "initiator", "critic", "ship?"]
    );
    assert_eq!(
        handle.requests()[1].last(),
        "topic: ship?\n\ninitiator: I am initiator\n\ncritic: No.\n  captain: Yes.\n\ninitiator: I am initiator\n"
    );
}

#[tokio::test]
async fn a_participant_that_fails_ends_it() {
    let forum = forum(vec![says("a", ["hm"]), fails("b", 0)]).captain(captain());
    assert_eq!(
        forum.run("x").await.unwrap_err().to_string(),
        "out of order"
    );
}
