//! Behaviour of other frameworks' composition operators that the other files here do not test.

use super::*;
use agents::run::{Event, EventKind};
use serde::{Deserialize, Serialize};

// 45: an agent with state is moved into a composition, so that using it twice does not compile
// (`tests/ui/compose/placed_twice.rs`). Running it directly does not move it.
#[tokio::test]
async fn an_agent_runs_by_itself_as_often_as_one_likes_before_it_is_placed() {
    let agent = shout();
    assert_eq!(agent.run("a").await.unwrap(), "A");
    assert_eq!(agent.run("b").await.unwrap(), "B");
    let placed = agent.then(after("c", 0));
    assert_eq!(placed.run("b").await.unwrap(), "c(B)");
}

// 47: each speaker gets the earlier contributions. Listeners are told who is speaking.
#[tokio::test]
async fn what_each_speaker_does_is_told_under_its_own_name() {
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let sink = seen.clone();
    let (model, _) = ScriptedModel::new([Script::text("Ship it.")]);
    let captain = AgentBuilder::<Transcript<String>, String>::new("captain")
        .model(model)
        .build();
    let forum = forum((says("initiator", ["Let us."]), says("critic", ["No."]))).captain(captain);
    let watch = move |event: &Event| {
        if let EventKind::ModelRequested { .. } = event.kind {
            sink.lock()
                .expect("nobody panicked")
                .push(event.agent.to_string());
        }
    };
    let said = forum.run("ship?").on_event(watch).await.unwrap();
    assert_eq!(said, "Ship it.");
    assert_eq!(*seen.lock().unwrap(), ["initiator", "critic", "captain"]);
}

/// A draft with its score.
#[derive(Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
struct Draft {
    text: String,
    score: u32,
}

// 48: `Done` ends the loop; otherwise the next input is made from the last output.
#[tokio::test]
async fn what_goes_in_again_is_of_the_type_that_goes_in() {
    let writer = native("writer", |wish: String| async move {
        let score = u32::try_from(wish.len()).unwrap_or(u32::MAX);
        Ok(Draft { text: wish, score })
    });
    let refined = writer
        .until(|draft: Draft| match draft.score {
            0..=9 => Again(format!("better: {}", draft.text)),
            _ => Done(draft),
        })
        .at_most(5);
    let draft = refined.run("a").await.unwrap();
    assert_eq!(
        (draft.text.as_str(), draft.score),
        ("better: better: a", 17)
    );
}

// 51: votes are counted by a function of the user. Results come in the order in which the agents are written, so that
// a tie is always settled alike.
#[tokio::test(start_paused = true)]
async fn a_tie_of_votes_goes_to_the_first_that_is_written() {
    let votes = |name, seconds, vote: &'static str| {
        native(name, move |_: String| async move {
            sleep(Duration::from_secs(seconds)).await;
            Ok(vote.to_owned())
        })
    };
    let jury = vec![
        votes("a", 3, "yes"),
        votes("b", 1, "no"),
        votes("c", 2, "no"),
        votes("d", 4, "yes"),
    ];
    let verdict = jury.map(|votes: Vec<String>| {
        let count = |vote: &String| votes.iter().filter(|other| *other == vote).count();
        let most = votes.iter().map(count).max();
        votes
            .iter()
            .find(|vote| Some(count(vote)) == most)
            .cloned()
            .unwrap_or_default()
    });
    assert_eq!(verdict.run("guilty?").await.unwrap(), "yes");
}
