//! Recovery arms for all tools of an agent, and different arms for the one that deletes.
//!
//! `cargo run --example defaults`
//!
//! No server is needed: a scripted model gives the replies listed in `main`.

use agents::{
    console::print_line,
    prelude::*,
    recovery::Repair,
    testing::{Script, ScriptedModel},
};
use serde_json::json;
use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
};

/// A disk that fails a set number of times before it works.
#[derive(Clone, Default)]
struct Disk {
    failures: Arc<AtomicU32>,
}

impl Disk {
    fn touch(&self) -> io::Result<()> {
        match self
            .failures
            .fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1))
        {
            Ok(_) => Err(io::Error::new(io::ErrorKind::TimedOut, "the disk is busy")),
            Err(_) => Ok(()),
        }
    }
}

/// Read a file.
#[agents::tool(reads)]
async fn read_file(
    /// Path of the file.
    path: String,
    #[inject] disk: Disk,
) -> io::Result<String> {
    disk.touch().map(|()| format!("what is in {path}"))
}

/// Write a file.
#[agents::tool(writes, idempotent)]
async fn write_file(
    /// Path of the file.
    path: String,
    /// New content of the file.
    content: String,
    #[inject] disk: Disk,
) -> io::Result<String> {
    disk.touch()
        .map(|()| format!("{} bytes in {path}", content.len()))
}

/// Delete a file.
#[agents::tool(writes)]
async fn delete_file(
    /// Path of the file.
    path: String,
    #[inject] disk: Disk,
) -> io::Result<String> {
    disk.touch().map(|()| format!("{path} is gone"))
}

/// Reads the path from text in backticks.
#[agent]
fn path_fixer(request: Repair) -> Result<String, Error> {
    let path = request.raw.split('`').nth(1).unwrap_or_default();
    Ok(json!({ "path": path }).to_string())
}

/// Reads the path from text such as `@notes.md`.
fn try_cleanup(raw: &str) -> Option<String> {
    let path = raw.strip_prefix('@')?;
    Some(json!({ "path": path }).to_string())
}

struct DataOps {
    disk: Disk,
}

#[agent(
    prompt = "You look after data files.",
    tools = [
        ReadFile { disk: self.disk.clone() },
        WriteFile { disk: self.disk.clone() },
        DeleteFile { disk: self.disk.clone() },
    ],
)]
impl DataOps {
    /// Data operations.
    #[skill]
    async fn operate(&self, request: String) -> String;

    // These arms apply to every tool without an arm of the same kind.
    on_error!(match error {
        invalid_args(raw, _) => fix(try_cleanup(raw)).or(fix(agent = PathFixer, retries = 2)),
        execution_error(_) => retry(max_attempts = 3, backoff = exponential()),
    });

    // Without this arm, the `retry` above would not compile: `delete_file` writes and is not idempotent. The default
    // still repairs its invalid arguments.
    on_error!(
        DeleteFile,
        match error {
            execution_error(_) => escalate("no retry for destructive operations"),
        }
    );
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    println!("A scripted model makes the calls; each tool is told how often it has to fail.");
    let calls = [
        ("read_file", "@notes.md", 2),
        (
            "write_file",
            r#"{"path": "notes.md", "content": "milk"}"#,
            1,
        ),
        ("delete_file", "please remove `old.log`, thank you", 1),
    ];
    for (tool, arguments, failures) in calls {
        let disk = Disk::default();
        disk.failures.store(failures, SeqCst);
        let script = [Script::call(tool, arguments), Script::text("done")];
        let outcome = DataOps { disk }
            .run("Tidy up.")
            .model(ScriptedModel::new(script).0)
            .on_event(print_line)
            .outcome()
            .await?;
        for receipt in outcome.outputs.receipts() {
            println!("= {tool} ran {} time(s)", receipt.attempts.len());
        }
    }
    Ok(())
}
