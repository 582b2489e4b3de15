//! Output quoted in the book equals the output of its programs.

use crate::read;
use agents::{
    prelude::*,
    run::{Clock, Event, Timestamp},
    testing::{Script, ScriptedModel},
    timeline, tool,
};
use std::{
    io,
    sync::{
        atomic::{AtomicU64, Ordering::SeqCst},
        mpsc,
    },
};

/// A clock that advances by 250 milliseconds at each reading.
#[derive(Default)]
struct Ticking(AtomicU64);

impl Clock for Ticking {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1_777_000_000_000 + self.0.fetch_add(250, SeqCst))
    }

    fn run_id(&self) -> String {
        "run-1".to_owned()
    }
}

/// Checks that the page has this output in a block of this kind.
fn check(page: &str, kind: &str, printed: &str) {
    let shown = read(page).contains(&format!("\n```{kind}\n{printed}\n```\n"));
    assert!(shown, "{page} does not show this:\n{printed}");
}

mod receipts {
    use super::*;

    /// Looks a word up.
    #[tool(reads, version = "1.2.0")]
    async fn look_up(
        /// The word.
        word: String,
        /// Maximum number of meanings.
        #[serde(default)]
        most: Option<u32>,
    ) -> Result<Vec<String>, String> {
        match (word.as_str(), most) {
            ("crab", Some(1)) => Ok(vec!["an animal with ten legs".into()]),
            _ => Err(format!("nobody knows `{word}`")),
        }
    }

    /// You explain words. Look them up.
    #[agent(tools = [LookUp])]
    async fn explainer(question: String) -> String;

    #[tokio::test]
    async fn are_as_on_their_page() {
        let (model, _) = ScriptedModel::new([
            Script::call("look_up", r#"{"word": "crab", "most": "1"}"#),
            Script::call("look_up", r#"{"word": "crabb"}"#),
            Script::text("A crab is an animal with ten legs."),
        ]);
        let run = Explainer.run("What is a crab?").model(model);
        let outcome = run.clock(Ticking::default()).outcome().await.unwrap();
        let printed = serde_json::to_string_pretty(&outcome.outputs).unwrap();
        check("book/src/receipts.md", "json", &printed);
    }
}

mod picture {
    use super::*;

    /// Looks a word up.
    #[tool(reads, cache = forever)]
    async fn look_up(
        /// The word.
        word: String,
    ) -> io::Result<String> {
        match word.as_str() {
            "crab" => Ok("an animal with ten legs".into()),
            _ => Err(io::Error::new(io::ErrorKind::NotFound, "no such word")),
        }
    }

    /// You explain words.
    #[agent(tools = [LookUp])]
    async fn explainer(question: String) -> String;

    #[tokio::test]
    async fn is_as_on_its_page() {
        let (model, _) = ScriptedModel::new([
            Script::call("look_up", r#"{"word": "crabb"}"#),
            Script::call("look_up", r#"{"word": "crab",}"#),
            Script::call("look_up", r#"{"word": "crab"}"#),
            Script::text("It has ten legs."),
        ]);
        let (sender, events) = mpsc::channel();
        let run = Explainer.run("What is a crab?").model(model);
        let run = run.on_event(move |event: &Event| {
            sender.send(serde_json::to_string(event).unwrap()).unwrap();
        });
        let outcome = run.clock(Ticking::default()).outcome().await.unwrap();
        let asked = events
            .iter()
            .find(|event| event.contains("model_requested"));
        check("book/src/what-can-be-seen.md", "json", &asked.unwrap());
        let drawn = timeline::of(&outcome).to_string();
        check("book/src/what-can-be-seen.md", "text", &drawn);
    }
}
