//! One opinion for all tools of an agent, and another for the one that destroys.
//!
//! `cargo run --example defaults`
//!
//! No server is asked: a scripted model says what `main` gives it.

use agents::{
    console::print_line,
    prelude::*,
    recovery::Repair,
    testing::{Script, ScriptedModel},
    tool,
};
use serde_json::json;
use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
};

/// Files that fail as often as they are told to before they work.
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
#[tool(reads)]
async fn read_file(
    /// Which.
    path: String,
    #[inject] disk: Disk,
) -> io::Result<String> {
    disk.touch().map(|()| format!("what is in {path}"))
}

/// Write a file.
#[tool(writes, idempotent)]
async fn write_file(
    /// Which.
    path: String,
    /// What.
    content: String,
    #[inject] disk: Disk,
) -> io::Result<String> {
    disk.touch()
        .map(|()| format!("{} bytes in {path}", content.len()))
}

/// Delete a file.
#[tool(writes)]
async fn delete_file(
    /// Which.
    path: String,
    #[inject] disk: Disk,
) -> io::Result<String> {
    disk.touch().map(|()| format!("{path} is gone"))
}

/// Takes what stands in backticks for the path.
#[agent]
fn path_fixer(request: Repair) -> Result<String, Error> {
    let path = request.raw.split('`').nth(1).unwrap_or_default();
    Ok(json!({ "path": path }).to_string())
}

/// `@notes.md`
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

    // For every tool that has no arm of that kind itself.
    on_error!(match error {
        invalid_args(raw, _) => fix(try_cleanup(raw)).or(fix(agent = PathFixer, retries = 2)),
        execution_error(_) => retry(max_attempts = 3, backoff = exponential()),
    });

    // Without these arms the `retry` above would not compile: `delete_file` writes, and is not
    // idempotent. What it cannot read is still repaired by the default.
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
