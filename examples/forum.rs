//! A forum: several agents discuss, each sees the earlier contributions, and a captain decides.
//!
//! `cargo run --example forum`
//!
//! No server is needed: a scripted model plays all three agents, and `main` prints its requests.

use agents::{
    compose::{Transcript, forum},
    prelude::*,
    testing::{Script, ScriptedModel},
};

/// You see what could be gained.
#[agent]
async fn optimist(question: Transcript<String>) -> String;

/// You see what could go wrong.
#[agent]
async fn sceptic(question: Transcript<String>) -> String;

/// You have heard the others. Decide.
#[agent]
async fn captain(question: Transcript<String>) -> String;

#[tokio::main]
async fn main() -> Result<(), Error> {
    println!("A scripted model plays the optimist, the sceptic and the captain.");
    let (model, handle) = ScriptedModel::new([
        Script::text("It would be twice as fast."),
        Script::text("Nobody here knows it."),
        Script::text("We try it on the parser, and nowhere else."),
    ]);
    let board = forum((Optimist, Sceptic)).captain(Captain);
    let decision = board
        .run("Should we rewrite it in Rust?")
        .model(model)
        .await?;
    for asked in handle.requests() {
        println!("? {}", asked.last().replace('\n', " "));
    }
    println!("= {decision}");
    Ok(())
}
