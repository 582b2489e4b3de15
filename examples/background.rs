//! Delegates that work in the background: the model of their parent goes on writing meanwhile.
//!
//! ```text
//! cargo run --example background
//! ```
//!
//! The models are scripted. The researcher takes a moment for each question, as a real one would.

use agents::{
    console::print_line,
    prelude::*,
    testing::{Script, ScriptedModel},
};
use std::{future::pending, time::Duration};
use tokio::time::sleep;

tool! {
    /// Adds a paragraph to the article.
    #[tool(writes)]
    async fn write_paragraph(
        /// Text of the paragraph.
        text: String,
    ) -> String {
        format!("{} words added", text.split_whitespace().count())
    }
}

/// You look things up, and answer in one sentence.
#[agent(model = researching())]
async fn researcher(question: String) -> String;

/// You look for pictures.
#[agent(model = drawing())]
async fn illustrator(subject: String) -> String;

/// You write articles. Let others look things up while you write.
#[agent(tools = [WriteParagraph])]
async fn editor(subject: String) -> String;

fn researching() -> ScriptedModel {
    let (model, _) = ScriptedModel::from_async_fn(|asked| async move {
        let (millis, answer) = match asked.last().contains("heavy") {
            true => (100, "A blue whale weighs up to 199 tonnes."),
            false => (1200, "The oldest one that is known was 211 years old."),
        };
        sleep(Duration::from_millis(millis)).await;
        Script::text(answer)
    });
    model
}

/// Returns a model that finds no picture in time.
fn drawing() -> ScriptedModel {
    ScriptedModel::from_async_fn(|_| pending()).0
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let mut turns = [
        Script::calls([
            ("researcher", r#"{"question": "How heavy is a whale?"}"#),
            ("researcher", r#"{"question": "How old does it get?"}"#),
            ("illustrator", r#"{"subject": "a whale"}"#),
        ]),
        Script::call("write_paragraph", r#"{"text": "Whales live in the sea."}"#),
        Script::call(
            "write_paragraph",
            r#"{"text": "They weigh up to 199 tonnes."}"#,
        ),
        Script::text("Only the age is missing."),
        Script::text("Done: the last line is about a whale of 211 years."),
    ]
    .into_iter();
    let (writing, handle) = ScriptedModel::from_async_fn(move |_| {
        let turn = turns.next().expect("a turn of the script");
        async move {
            sleep(Duration::from_millis(150)).await;
            turn
        }
    });

    let team = structure!(Editor.budget(tokens(50_000)).delegates(
        Researcher.background(),
        Illustrator.background_until_answer(),
    ));
    println!("{}", team.render());
    let answer = team
        .run("whales")
        .model(writing)
        .on_event(print_line)
        .await?;
    println!("= {answer}\n");
    for (turn, request) in (1..).zip(handle.requests()) {
        println!(
            "turn {turn} was told: {}",
            request.last().replace('\n', " ")
        );
    }
    Ok(())
}
