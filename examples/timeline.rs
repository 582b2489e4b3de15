//! Draws a timeline of a run, both during the run and after its end.
//!
//! `cargo run --example timeline`
//!
//! No server is needed: a scripted model gives the replies listed in `main`. On a terminal, the timeline is redrawn
//! whenever an event changes it. Elsewhere, a line is printed at the end of each step.

use agents::{
    prelude::*,
    testing::{Script, ScriptedModel},
    timeline,
};
use std::{
    io,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
    time::Duration,
};
use tokio::time::sleep;

tool! {
    /// Fetch a page.
    #[tool(reads)]
    async fn fetch(
        /// Name of the page.
        page: String,
    ) -> io::Result<String> {
        static FAILURES: AtomicU32 = AtomicU32::new(0);
        sleep(Duration::from_millis(120)).await;
        match page.as_str() {
            "archive" if FAILURES.fetch_add(1, Relaxed) < 2 => Err(io::Error::other("503 try again")),
            "attic" => Err(io::Error::from(io::ErrorKind::NotFound)),
            page => Ok(format!("<h1>{page}</h1>")),
        }
    }

    on_error {
        execution_error(Returned(e)) if e.kind() == io::ErrorKind::Other => retry(max_attempts = 3, backoff = constant(Duration::from_millis(80))),
    }
}

tool! {
    /// Ask a translator.
    #[tool(none)]
    async fn translate(
        /// Text to translate.
        text: String,
    ) -> Result<String, Error> {
        Translator.run(text).await
    }
}

/// You translate into plain English.
#[agent]
async fn translator(text: String) -> String;

/// You write summaries of pages. Use your tools.
#[agent(tools = [Fetch, Translate])]
async fn editor(request: String) -> String;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let (model, _) = ScriptedModel::new([
        Script::calls([
            ("fetch", r#"{"page": "news"}"#),
            ("fetch", r#"{"page": "archive"}"#),
            ("fetch", r#"{"page": "attic"}"#),
        ]),
        Script::call("translate", r#"{"text": "<h1>news</h1>",}"#),
        Script::text("Something is new."),
        Script::text("There is news, and an archive."),
    ]);
    let outcome = Editor
        .run("Summarise the site.")
        .model(model)
        .on_event(timeline::live())
        .outcome()
        .await?;

    println!("\n{}", timeline::of(&outcome));
    println!("\n= {}", outcome.result?);
    Ok(())
}
