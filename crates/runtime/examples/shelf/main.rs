//! A team whose clerk asks before each loan, and whose librarian decides about what the clerk cannot do.
//!
//! ```console
//! $ cargo run -p typed-agents-runtime --example shelf
//! ```
//!
//! The program may be killed while it waits, and started again. The files are those of the book's tutorial, and
//! `crates/cli/tests/it/tutorials.rs` compares them. The store is `shelf.db`.

#![allow(unreachable_pub, reason = "a reader of the tutorial writes `pub`")]

mod catalogue;
mod clerk;
mod lend;
mod librarian;
mod slips;
#[cfg(test)]
mod tests;

use agents::{
    prelude::*,
    testing::{Script, ScriptedModel},
};
use agents_runtime::{Progress, RunRef, Runtime, SqliteStore};
use catalogue::Catalogue;
use clerk::Clerk;
use lend::Lend;
use librarian::Librarian;
use std::{collections::BTreeSet, time::Duration};
use tokio_util::sync::CancellationToken;

/// Returns a model that plays both agents. It knows them by their prompts.
fn script() -> ScriptedModel {
    let (model, _) = ScriptedModel::from_fn(|asked| {
        let is_clerk = asked.prompt().starts_with("You lend books.");
        match asked.results()[..] {
            [] if is_clerk => Script::call("lend", r#"{"title": "Sanditon", "reader": "Ada"}"#),
            [] => Script::call("clerk", r#"{"wish": "Sanditon, for Ada"}"#),
            [(_, result), ..] => Script::text(result),
        }
    });
    model
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let catalogue = Catalogue::default();
    let team = structure!(Librarian.delegates(Clerk { catalogue }.confirm([Lend])));
    println!("{}", team.render());

    let runtime = Runtime::open(SqliteStore::open("shelf.db").await?).model(script());
    let library = runtime.agent(team);
    let run = library
        .run("Sanditon, for Ada")
        .key("sanditon-for-ada")
        .start()
        .await?;
    println!("Run {}.", run.id());

    let stop = CancellationToken::new();
    let worker = tokio::spawn(runtime.clone().work(stop.clone()));
    let answer = answer(&run).await;
    stop.cancel();
    worker.await?;
    println!("= {}", answer?);
    Ok(())
}

/// Waits for the answer of the run, and says meanwhile what it waits for.
async fn answer(run: &RunRef<String>) -> Result<String, Box<dyn std::error::Error>> {
    let mut told = BTreeSet::new();
    loop {
        match run.wait(Duration::from_millis(200)).await? {
            Progress::Done(outcome) => {
                for climb in &outcome.escalations {
                    let given_up = &climb.escalation;
                    let asked = given_up.path.join(", ");
                    println!("{} gave up; asked: {asked}", given_up.source);
                }
                return Ok(outcome.result?);
            }
            Progress::Held(why) => return Err(format!("the run is held: {why}").into()),
            Progress::Waiting(requests) => {
                for request in requests {
                    if told.insert(request.id.clone()) {
                        let (agent, tool) = (request.agent_name, request.tool_name);
                        println!("{agent} wants to {tool}: {}", request.args_summary);
                        println!("  agents --store sqlite:shelf.db approve {}", request.id);
                    }
                }
            }
            Progress::Running => {}
        }
    }
}
