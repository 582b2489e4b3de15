//! Web server that sends an agent's answer while it is written, as server-sent events.
//!
//! `cargo run -p agents-sse-example` uses the model `qwen3:4b` of Ollama; another model is named as the argument. Then
//! open `http://127.0.0.1:3000`, or
//!
//! ```text
//! curl -N 'http://127.0.0.1:3000/answer?question=Why%20is%20the%20sea%20salty'
//! curl -N 'http://127.0.0.1:3000/recipe?dish=Pancakes'
//! ```
//!
//! If the client goes away, axum drops the response, and with it the run.

use agents::{
    Outcome,
    agent::{Partial, TextDelta},
    prelude::*,
};
use axum::{
    Router,
    extract::{Query, State},
    response::{
        Html,
        sse::{Event, KeepAlive, Sse},
    },
    routing::get,
};
use futures_util::stream::{self, Stream};
use serde::{Deserialize, Serialize};
use std::{env, sync::Arc};
use tokio::net::TcpListener;

/// You answer questions about the sea, in a few sentences.
#[agent]
async fn guide(question: String) -> String;

#[derive(Serialize, Deserialize, schemars::JsonSchema)]
struct Recipe {
    title: String,
    minutes: u32,
    steps: Vec<String>,
}

/// You write recipes for beginners.
#[agent]
async fn cook(dish: String) -> Recipe;

type SharedModel = Arc<dyn Model>;
type Sent = Result<Event, axum::Error>;

#[derive(Deserialize)]
struct Asked {
    question: String,
}

/// Sends the answer as a stream of events: each `piece` goes on with the text, `reset` says that the text so far is not
/// the answer, and `done` comes last.
async fn answer(
    State(model): State<SharedModel>,
    Query(asked): Query<Asked>,
) -> Sse<impl Stream<Item = Sent>> {
    let text = Guide
        .run(asked.question)
        .model(model)
        .owned()
        .stream()
        .text();
    let events = stream::unfold(Some(text), async |text| {
        let mut text = text?;
        Some(match text.next().await {
            // As JSON: a piece may hold line breaks, which an event of plain text cannot.
            Some(TextDelta::Piece(piece)) => {
                (Event::default().event("piece").json_data(piece), Some(text))
            }
            Some(TextDelta::Reset) => (Ok(Event::default().event("reset").data("")), Some(text)),
            None => (done(text.outcome().await), None),
        })
    });
    Sse::new(events).keep_alive(KeepAlive::default())
}

#[derive(Deserialize)]
struct Wanted {
    dish: String,
}

/// Sends the recipe as far as it is written, again and again: events `recipe`, and at the end `done`.
async fn recipe(
    State(model): State<SharedModel>,
    Query(wanted): Query<Wanted>,
) -> Sse<impl Stream<Item = Sent>> {
    let recipes = Cook
        .run(wanted.dish)
        .model(model)
        .owned()
        .stream()
        .partials();
    let events = stream::unfold(Some(recipes), async |recipes| {
        let mut recipes = recipes?;
        Some(match recipes.next().await {
            Some(so_far) => (Ok(shown(&so_far)), Some(recipes)),
            None => (done(recipes.outcome().await), None),
        })
    });
    Sse::new(events).keep_alive(KeepAlive::default())
}

fn shown(so_far: &Partial<Recipe>) -> Event {
    Event::default().event("recipe").data(so_far.json())
}

/// End of a run: `{"error": null}`, or the reason why there is no answer.
#[derive(Serialize)]
struct Done {
    error: Option<String>,
}

fn done<O>(outcome: Result<Outcome<O>, Error>) -> Sent {
    let result = outcome.and_then(|outcome| outcome.result);
    let error = result.err().map(|error| format!("{error:#}"));
    Event::default().event("done").json_data(Done { error })
}

fn router(model: SharedModel) -> Router {
    Router::new()
        .route("/", get(async || Html(include_str!("page.html"))))
        .route("/answer", get(answer))
        .route("/recipe", get(recipe))
        .with_state(model)
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let model = env::args().nth(1).unwrap_or_else(|| "qwen3:4b".to_owned());
    let listener = TcpListener::bind("127.0.0.1:3000").await?;
    println!("http://{}", listener.local_addr()?);
    axum::serve(listener, router(Arc::new(ollama(model)))).await
}

#[cfg(test)]
mod tests;
