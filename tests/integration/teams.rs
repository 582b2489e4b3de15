//! Teams: grants, delegates, and defects found before a run.

mod background;
mod budgets;
mod charts;
mod confirmations;
mod defects;
mod delegates;
mod delegates_of_code;
mod grants;
mod input_names;
mod missing_models;
mod runners;

use crate::world::Plain;
use agents::{
    Agent, AgentBuilder, Budget, Code, Error, ErrorKind,
    agent::Skill,
    branch,
    journal::MemoryJournal,
    memory::MemoryBank,
    run::{Approval, ApprovalRequest, Stopped, ToolEnvelope, minutes, tokens},
    structure,
    team::{Member, Team, delegate, delegate_named},
    testing::{ReceivedRequest, Script, ScriptedModel},
    tool,
    tool::{FnTool, ToolSet},
};
use serde_json::json;
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

/// Writes a file.
#[tool(writes)]
async fn write_file(
    /// Path of the file.
    path: String,
) -> String {
    format!("wrote {path}")
}

/// Compiles.
#[tool(none)]
async fn compile() -> String {
    "compiled".into()
}

/// Runs the tests.
#[tool(reads)]
async fn run_tests() -> String {
    "green".into()
}

/// Deploys.
#[tool(writes)]
async fn deploy() -> String {
    "live".into()
}

fn all_tools() -> ToolSet {
    ToolSet::new()
        .with(WriteFile)
        .with(Compile)
        .with(RunTests)
        .with(Deploy)
}

/// Creates an agent with all tools and this script; also returns its model.
fn driven(name: &'static str, script: impl IntoIterator<Item = Script>) -> (Plain, ScriptedModel) {
    let (model, handle) = ScriptedModel::new(script);
    (tooled(name).model(model).build(), handle)
}

fn tooled(name: &'static str) -> AgentBuilder<'static, String, String> {
    AgentBuilder::new(name)
        .prompt(format!("You are {name}."))
        .tools(all_tools())
}

/// Creates an agent with all tools, for teams that do not run.
fn idle(name: &'static str) -> Plain {
    tooled(name).build()
}

/// Creates an agent without tools and with this script.
fn lead(script: impl IntoIterator<Item = Script>) -> (Plain, ScriptedModel) {
    let (model, handle) = ScriptedModel::new(script);
    (
        AgentBuilder::new("lead")
            .prompt("You lead.")
            .model(model)
            .build(),
        handle,
    )
}

fn offered(handle: &ScriptedModel) -> Vec<String> {
    handle
        .requests()
        .first()
        .map(|asked| asked.tools.clone())
        .unwrap_or_default()
}

fn told(handle: &ScriptedModel) -> String {
    handle
        .requests()
        .last()
        .map(|asked| asked.last().to_owned())
        .unwrap_or_default()
}
