//! Refused answers: they are reported at once, and the attempts to repair them are kept.

use crate::world::Buffer;
use crate::world::{put_down, same};
use agents::{
    Agent, console,
    journal::MemoryJournal,
    prelude::*,
    recovery::Repair,
    run::EventKind,
    testing::{Script, ScriptedModel},
    timeline,
};
use std::sync::{Arc, Mutex};

fn unfit(text: &str) -> String {
    format!("expected an integer, got {text}")
}

/// A repair agent that repeats the text, but repairs a few known ones.
#[agent]
fn mender(repair: Repair) -> Result<String, Error> {
    assert_eq!(
        [&*repair.tool, &*repair.stage],
        ["counter", "invalid_output"]
    );
    assert!(repair.description.starts_with("You count eggs."));
    match (&*repair.raw, repair.attempt) {
        ("done for", _) => Err(Error::thrown("nothing helps")),
        ("some, sesame-open", _) => Ok("sesame-open then".to_owned()),
        ("a few", 2) => Ok("4".to_owned()),
        (raw, 1) => Ok(format!("{raw} or so")),
        (raw, _) => Ok(format!("{raw} or more")),
    }
}

struct Counter;

#[agent(prompt = "You count eggs.")]
impl Counter {
    /// Counts.
    #[skill]
    async fn count(&self, what: String) -> u32;

    on_error!(match error {
        invalid_output(_, _) => fix(agent = Mender, retries = 2),
    });
}

struct Seen {
    outcome: agents::Outcome<u32>,
    events: Vec<String>,
    console: Vec<String>,
    live: String,
}

impl Seen {
    fn repairs(&self) -> Vec<String> {
        self.outcome
            .repairs
            .iter()
            .map(ToString::to_string)
            .collect()
    }
}

async fn see(answers: &[&str]) -> Seen {
    let (model, _) = ScriptedModel::new(answers.iter().map(|text| Script::text(*text)));
    let told: Arc<Mutex<(Vec<String>, Vec<String>)>> = Arc::default();
    let sink = told.clone();
    let paper = Buffer::default();
    let outcome = Counter
        .run("eggs")
        .model(model)
        .secret("till", "sesame-open")
        .on_event(timeline::live_to(paper.clone(), false))
        .on_event(move |event| {
            let (events, lines) = &mut *sink.lock().unwrap();
            lines.extend(console::line(event, false));
            match &event.kind {
                EventKind::AnswerFailed { answer, reason } => {
                    events.push(format!("failed {answer}: {reason}"));
                }
                EventKind::AnswerRefused { reason } => events.push(format!("refused: {reason}")),
                EventKind::AnswerRepaired { answer, .. } => {
                    events.push(format!("repaired {answer}"));
                }
                EventKind::FixerRequested { attempt, .. } => {
                    events.push(format!("asked {attempt}"))
                }
                _ => {}
            }
        })
        .outcome()
        .await
        .unwrap();
    let (events, console) = std::mem::take(&mut *told.lock().unwrap());
    let live = paper.text();
    Seen {
        outcome,
        events,
        console,
        live,
    }
}

#[tokio::test]
async fn an_answer_and_each_try_at_it_are_told_when_they_are_found_not_to_fit() {
    let seen = see(&["who knows", "a few"]).await;
    assert_eq!(seen.outcome.result.as_ref().unwrap(), &4);
    let unread = |text: &str| format!("failed {text}: {}", unfit(text));
    assert_eq!(
        seen.events,
        [
            unread("who knows"),
            "asked 1".into(),
            unread("who knows or so"),
            "asked 2".into(),
            unread("who knows or more"),
            format!("refused: {}", unfit("who knows")),
            unread("a few"),
            "asked 1".into(),
            unread("a few or so"),
            "asked 2".into(),
            "repaired a few".into(),
        ]
    );
    let failed = |line: &&String| line.starts_with("! the answer ");
    let lines: Vec<_> = seen.console.iter().filter(failed).collect();
    assert_eq!(
        *lines[0],
        format!("! the answer who knows → {}", unfit("who knows"))
    );
    assert_eq!(
        *lines[2],
        format!(
            "! the answer who knows or more → {}",
            unfit("who knows or more")
        )
    );
    assert_eq!(
        *lines[3],
        format!("! the answer goes back: {}", unfit("who knows"))
    );
}

#[tokio::test]
async fn what_was_tried_on_an_answer_that_went_back_is_kept() {
    let seen = see(&["who knows", "a few"]).await;
    let tried = |text: &str| format!("`mender` tried `{text}` in vain: {}", unfit(text));
    assert_eq!(
        seen.repairs(),
        [
            tried("who knows or so"),
            tried("who knows or more"),
            tried("a few or so"),
            "`mender` gave the answer anew".into()
        ]
    );
    // The record is kept if the next answer is valid.
    let seen = see(&["who knows", "5"]).await;
    assert_eq!(
        seen.repairs(),
        [tried("who knows or so"), tried("who knows or more")]
    );
    let json = serde_json::to_string(&seen.outcome).unwrap();
    assert!(json.contains("who knows or more"), "{json}");
    // The record is kept if no valid answer follows.
    let seen = see(&["who knows", "done for"]).await;
    assert!(seen.outcome.result.is_err());
    assert_eq!(
        seen.repairs(),
        [
            tried("who knows or so"),
            tried("who knows or more"),
            "`mender` ended the run: nothing helps".into()
        ]
    );
}

#[tokio::test]
async fn a_turn_whose_answer_was_not_used_is_drawn_as_refused() {
    let notes = |drawn: &str| {
        let mut notes = Vec::new();
        for line in drawn.lines().filter(|line| line.contains("· ")) {
            notes.push(line.split_whitespace().last().unwrap().to_owned());
        }
        notes
    };
    let seen = see(&["who knows", "a few"]).await;
    let drawn = timeline::of(&seen.outcome).to_string();
    assert_eq!(notes(&drawn), ["refused", "answered"], "{drawn}");
    assert_eq!(
        notes(&seen.live),
        ["answered", "refused", "answered"],
        "{}",
        seen.live
    );
    let seen = see(&["done for"]).await;
    let drawn = timeline::of(&seen.outcome).to_string();
    assert_eq!(notes(&drawn), ["refused"], "{drawn}");
}

#[tokio::test]
async fn no_secret_is_told_of_an_answer() {
    let seen = see(&["some, sesame-open", "6"]).await;
    let written = format!(
        "{:?} {:?} {}",
        seen.events,
        seen.console,
        serde_json::to_string(&seen.outcome).unwrap()
    );
    assert!(!written.contains("sesame"), "{written}");
    assert_eq!(
        seen.events[0],
        format!(
            "failed some, [secret:till]: {}",
            unfit("some, [secret:till]")
        )
    );
    assert!(seen.repairs()[0].starts_with("`mender` tried `[secret:till] then` in vain"));
}

#[tokio::test]
async fn a_run_that_was_stored_still_knows_what_was_tried() {
    let journal = MemoryJournal::new();
    let (model, _) = ScriptedModel::new([Script::text("who knows"), Script::text("a few")]);
    let run = Counter.run("eggs").model(model);
    let whole = run.journal(journal.clone()).outcome().await.unwrap();
    assert_eq!(whole.result.as_ref().unwrap(), &4);
    assert_eq!(whole.repairs.len(), 4);
    let kinds = |outcome: &agents::Outcome<u32>| {
        let steps = outcome.trace.steps.iter();
        steps.map(|step| step.kind.clone()).collect::<Vec<_>>()
    };
    for at in put_down(&journal) {
        let rest = ["who knows", "a few"].map(Script::text);
        let (model, _) = ScriptedModel::new(rest.into_iter().skip(at.replies()));
        let run = Counter.run("eggs").model(model).journal(at.journal());
        let outcome = run.outcome().await.unwrap();
        same(&outcome, &whole, &at);
        assert_eq!(outcome.repairs, whole.repairs, "{at}");
        // An interrupted repair agent runs again, and that is a step as well.
        if at.0.last().is_some_and(|last| last.kind() == "replied") {
            assert_eq!(kinds(&outcome), kinds(&whole), "{at}");
        }
    }
}
