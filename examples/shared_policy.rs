//! An agent with two skills, a computed list of tools, a repair policy shared by all tools, and arms for its final
//! answer.
//!
//! `cargo run --example shared_policy`
//!
//! No server is needed: a scripted model makes the mistakes that small models make. With `ollama("qwen2.5:7b")`
//! instead, the rest of the program stays the same.

use agents::{
    console::print_line,
    prelude::*,
    recovery::{AnyError, Decision, Execution, Failure, Raw, Repair},
    testing::{Script, ScriptedModel},
    tool::SharedTool,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    io::{self, ErrorKind},
    path::PathBuf,
    sync::atomic::{AtomicU32, Ordering::SeqCst},
};

tool! {
    /// Read a file's contents.
    #[tool(reads)]
    pub async fn read_file(
        /// Path, relative to the workspace.
        path: PathBuf,
        /// Maximum number of lines.
        #[serde(default)] lines: Option<u32>,
    ) -> io::Result<String> {
        static RUNS: AtomicU32 = AtomicU32::new(0);
        match (path.to_str(), RUNS.fetch_add(1, SeqCst)) {
            (Some("config.json"), 0) => Err(io::Error::new(ErrorKind::Interrupted, "the disk was asleep")),
            (Some("config.json"), _) => Ok(format!("{{\"port\": 8080}} ({lines:?} lines)")),
            _ => Err(io::Error::new(ErrorKind::NotFound, format!("{} is not there", path.display()))),
        }
    }

    on_error {
        invalid_args(raw, _) => fix(my_cleanup(raw)).or(fix(agent = JsonFixer, retries = 3)),
        deserialization_error(value, error) if error.field("lines") => sanitize(words_to_number(value)),
        execution_error(Returned(e)) => match e.kind() {
            ErrorKind::NotFound         => escalate("file not found", severity = Medium),
            ErrorKind::PermissionDenied => throw("credentials cannot read the workspace"),
            _                           => retry(max_attempts = 3, backoff = exponential()).or(feedback(format!("still failing: {e}"))),
        },
        execution_error(TimedOut(_) | Panicked(_)) => escalate("the reader is sick", severity = High),
    }
}

/// Write content to a file.
#[agents::tool(writes, idempotent)]
pub async fn write_file(
    /// Path, relative to the workspace.
    path: String,
    /// New content of the file.
    content: String,
    #[inject] root: PathBuf,
) -> io::Result<String> {
    Ok(format!(
        "{} bytes in {}",
        content.len(),
        root.join(path).display()
    ))
}

/// List the files of a folder.
#[agents::tool(reads)]
pub async fn list_dir() -> Vec<String> {
    vec!["config.json".into()]
}

/// Delete a file.
#[agents::tool(writes)]
pub async fn delete_file(
    /// Path, relative to the workspace.
    path: String,
) -> io::Result<()> {
    Err(io::Error::other(format!("{path} is locked")))
}

/// Repairs JSON by editing the text, without a model.
#[agent]
fn json_fixer(request: Repair) -> String {
    let path = request
        .raw
        .split_whitespace()
        .find(|word| word.contains('.'))
        .unwrap_or_default();
    json!({ "path": path }).to_string()
}

/// Summary of the files.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Summary {
    /// Summary in one sentence.
    text: String,
}

struct FileManager {
    root: PathBuf,
}

impl FileManager {
    fn at(root: impl Into<PathBuf>) -> Self {
        FileManager { root: root.into() }
    }

    fn extra_tools(&self) -> Vec<SharedTool> {
        Vec::new()
    }
}

#[agent(
    prompt = "You manage files. Use tools to read, write and list files.",
    budget(max_turns = 10),
    tools  = [ReadFile, WriteFile { root: self.root.clone() }, ListDir, DeleteFile, ..self.extra_tools()],
)]
impl FileManager {
    /// File management operations.
    #[skill]
    async fn manage_files(&self, request: String) -> Summary;

    /// Answers without a model when the question is only about the root.
    #[skill(when = |r: &String| r.contains("where"))]
    fn root(&self, _request: String) -> Summary {
        Summary {
            text: self.root.display().to_string(),
        }
    }

    on_error!(match error {
        invalid_args(raw, _) => fix(my_cleanup(raw)).or(fix(agent = JsonFixer, retries = 2)),
        execution_error(failure) => patient(failure),
        invalid_output(raw, _) => fix(as_summary(raw)),
    });
    on_error!(
        DeleteFile,
        match error {
            execution_error(_) => escalate("no retry for destructive operations"),
        }
    );
}

/// Repairs a notation that no schema describes: `file: PATH`.
fn my_cleanup(raw: &Raw<'_>) -> Option<String> {
    let path = raw.strip_prefix("file: ")?;
    Some(json!({ "path": path }).to_string())
}

fn words_to_number(value: Option<&Value>) -> Option<u32> {
    match value?.as_str()? {
        "ten" => Some(10),
        "all" => Some(u32::MAX),
        _ => None,
    }
}

/// Returns the recovery decision that all tools share.
fn patient(failure: Failure<'_, AnyError>) -> Decision<Execution> {
    use agents::recovery::*;
    match failure {
        Failure::Returned(_) => retry().max_attempts(2).backoff(exponential()),
        _ => feedback("this tool is slow today; try another"),
    }
}

/// Wraps an answer in prose as a summary.
fn as_summary(raw: &str) -> Option<String> {
    Some(json!({ "text": raw }).to_string())
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    println!("A scripted model makes the calls; the tools are stand-ins.");
    let (model, _) = ScriptedModel::new([
        Script::call("read_file", r#"{"path": "config.json", "lines": "ten"}"#),
        Script::call("read_file", "please read notes.txt for me"),
        Script::call("delete_file", r#"{'path': 'old.log',}"#),
        Script::call(
            "write_file",
            r#"{"path": "summary.md", "content": "port 8080"}"#,
        ),
        Script::text("config.json sets the port to 8080; old.log could not be deleted."),
    ]);
    let outcome = FileManager::at("/srv/files")
        .run("Summarise config.json, and tidy up.")
        .model(model)
        .on_event(print_line)
        .outcome()
        .await?;
    println!("= {}", outcome.result?.text);
    println!(
        "= {}",
        FileManager::at("/srv/files")
            .run("where are the files?")
            .await?
            .text
    );
    Ok(())
}
