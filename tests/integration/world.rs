//! The tools and agents that the tests use.

use agents::{
    Agent, AgentBuilder, Code, Effects, Outcome,
    agent::ModelAgent,
    run::{AgentOutputs, ToolEnvelope},
    testing::{Script, ScriptedModel},
    tool,
    tool::{FnTool, ToolSet, ToolSpec},
};
use serde_json::json;
use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};

/// Adds two integers.
#[tool(none)]
pub(crate) async fn add(
    /// The first.
    left: i64,
    /// The second.
    right: i64,
) -> i64 {
    left + right
}

/// Reads a file.
#[tool(reads)]
pub(crate) async fn read_file(
    /// Where it is.
    path: String,
    /// How many lines at most.
    #[serde(default)]
    lines: Option<u32>,
) -> io::Result<String> {
    match path.as_str() {
        "missing" => Err(io::Error::new(io::ErrorKind::NotFound, "no such file")),
        _ => Ok(format!("{path}:{lines:?}")),
    }
}

/// Waits.
#[tool(none)]
pub(crate) async fn wait(
    /// How long.
    millis: u64,
) -> u64 {
    tokio::time::sleep(Duration::from_millis(millis)).await;
    millis
}

/// Never comes back.
#[tool(none, timeout = Duration::from_millis(50))]
pub(crate) async fn hang() -> String {
    std::future::pending().await
}

/// Panics.
#[tool(none)]
pub(crate) async fn panics() -> String {
    panic!("the disk is on fire")
}

/// How often [`write_file`] ran.
pub(crate) static WRITES: AtomicU32 = AtomicU32::new(0);

/// Writes a file.
#[tool(writes, approval = always)]
pub(crate) async fn write_file(
    /// Where.
    path: String,
) -> String {
    WRITES.fetch_add(1, SeqCst);
    path
}

/// An agent with all of these tools.
pub(crate) fn worker<O: agents::agent::Data + schemars::JsonSchema>()
-> ModelAgent<'static, String, O> {
    AgentBuilder::<String, O>::new("worker")
        .prompt("Work.")
        .tool(Add)
        .tool(ReadFile)
        .tool(Wait)
        .tool(Hang)
        .tool(Panics)
        .tool(WriteFile)
        .build()
}

/// Runs the worker on a script.
pub(crate) async fn work(
    script: impl IntoIterator<Item = Script>,
) -> (Outcome<String>, ScriptedModel) {
    let (model, handle) = ScriptedModel::new(script);
    let outcome = worker::<String>()
        .run("go")
        .model(model)
        .outcome()
        .await
        .expect("the worker is well built");
    (outcome, handle)
}

/// What the model was told about the calls of its last reply.
pub(crate) fn told(handle: &ScriptedModel) -> Vec<String> {
    let last = handle.requests().pop().expect("the model was asked");
    last.results()
        .into_iter()
        .map(|(_, text)| text.to_owned())
        .collect()
}

/// A tool that says what it was called with, and how often it ran.
pub(crate) fn counted(spec: ToolSpec) -> (FnTool, Arc<AtomicU32>) {
    let runs = Arc::new(AtomicU32::new(0));
    let count = runs.clone();
    let tool = FnTool::with_spec(spec, move |args, _| {
        let nth = count.fetch_add(1, SeqCst) + 1;
        async move { Ok::<_, io::Error>(format!("{args} #{nth}")) }
    });
    (tool, runs)
}

/// A tool that takes any object.
pub(crate) fn spec(name: &'static str, effects: Effects) -> ToolSpec {
    ToolSpec::new(name, "Does it.", effects, json!({"type": "object"}))
}

/// An agent with these tools, on a script of its own.
pub(crate) fn agent_with(
    tools: impl IntoIterator<Item = FnTool>,
    script: impl IntoIterator<Item = Script>,
) -> (ModelAgent<'static, String, String>, ScriptedModel) {
    let (model, handle) = ScriptedModel::new(script);
    let agent = AgentBuilder::new("worker")
        .tools(ToolSet::new().with_all(tools))
        .model(model)
        .build();
    (agent, handle)
}

/// What went wrong in each call, by its code and message; nothing where it succeeded.
pub(crate) fn errors(outputs: &AgentOutputs) -> Vec<Option<(Code, String)>> {
    let error = |receipt: &ToolEnvelope| {
        let error = receipt.error.as_ref()?;
        Some((error.code, error.message.clone()))
    };
    outputs.receipts().map(error).collect()
}
