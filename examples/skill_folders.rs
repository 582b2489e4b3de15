//! An agent that looks up how things are done, in folders with a `SKILL.md`.
//!
//! `cargo run --example skill_folders`
//!
//! No server is needed: a scripted model makes the calls. The folders are read while the program is compiled: a mistake in
//! a header of `examples/skills/` is a compile error.

use agents::{
    console::print_line,
    prelude::*,
    testing::{Script, ScriptedModel},
};

/// Pays money back.
#[agents::tool(writes)]
async fn pay_back(
    /// The sum, in euros.
    euros: u32,
) -> String {
    format!("{euros} euros arrive on Friday")
}

/// You answer customers of a ferry.
#[agent(tools = [PayBack], knowledge = dir!("examples/skills/"))]
async fn desk(letter: String) -> String;

#[tokio::main]
async fn main() -> Result<(), Error> {
    println!("A scripted model makes the calls; nothing is paid.");
    let (model, handle) = ScriptedModel::new([
        Script::calls([("refunds", "{}"), ("tone-of-voice", "{}")]),
        Script::call("refunds", r#"{"file": "references/limits.md"}"#),
        Script::call("pay_back", r#"{"euros": 42}"#),
        Script::text("We pay 42 euros back. They arrive on Friday."),
    ]);
    let answer = Desk
        .run("The ferry did not sail. I want my 42 euros.")
        .model(model)
        .on_event(print_line)
        .await?;
    println!("= {answer}");
    let offered = &handle.requests()[0];
    println!("offered at first: {}", offered.tools.join(" "));
    Ok(())
}
