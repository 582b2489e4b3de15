//! The tools and agents that the tests use.

use agents::{
    Agent, AgentBuilder, Outcome,
    agent::ModelAgent,
    testing::{Script, ScriptedModel},
    tool,
};
use std::{
    io,
    sync::atomic::{AtomicU32, Ordering::SeqCst},
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
