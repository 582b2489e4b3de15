//! A file manager on a real folder, whose tools say how to handle their own failures.
//!
//! `cargo run --example file_manager`
//!
//! No server is needed: a scripted model makes the mistakes that small models make. With `ollama("qwen2.5:7b")`
//! instead, the rest of the program stays the same.

use agents::{
    console::print_line,
    prelude::*,
    recovery::Repair,
    run::EventKind,
    testing::{Script, ScriptedModel},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::{
    env, fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU32, Ordering::SeqCst},
};

/// A path inside the folder, with slashes.
#[derive(Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String", inline)]
struct Inside(String);

impl TryFrom<String> for Inside {
    type Error = &'static str;

    fn try_from(path: String) -> Result<Self, Self::Error> {
        match path.starts_with('/') || path.contains("..") || path.contains('\\') {
            true => Err("a path is relative, with slashes and without `..`"),
            false => Ok(Inside(path)),
        }
    }
}

/// Returns the full path of a file. The second and the fifth call fail, as on a disk that has to wake up.
fn wake(root: &Path, path: &Inside) -> io::Result<PathBuf> {
    static USES: AtomicU32 = AtomicU32::new(0);
    match USES.fetch_add(1, SeqCst) {
        1 | 4 => Err(io::Error::new(ErrorKind::Interrupted, "the disk sleeps")),
        _ => Ok(root.join(&path.0)),
    }
}

tool! {
    /// Read a file's contents.
    #[tool(reads)]
    async fn read_file(
        /// Path, relative to the folder.
        path: Inside,
        #[inject] root: PathBuf,
    ) -> io::Result<String> {
        fs::read_to_string(wake(&root, &path)?)
    }

    on_error {
        execution_error(Returned(e)) => match e.kind() {
            ErrorKind::NotFound         => escalate("file not found", severity = Medium),
            ErrorKind::PermissionDenied => throw("credentials cannot read the folder"),
            _                           => retry(max_attempts = 3, backoff = exponential()),
        },
        execution_error(TimedOut(_) | Panicked(_)) => throw("the reader is broken"),
    }
}

tool! {
    /// Write content to a file.
    // Writing the same content twice has no further effect, so the tool may be retried.
    #[tool(writes, idempotent)]
    async fn write_file(
        /// Path, relative to the folder.
        path: Inside,
        /// New content of the file.
        content: String,
        #[inject] root: PathBuf,
    ) -> io::Result<String> {
        fs::write(wake(&root, &path)?, &content)?;
        Ok(format!("{} bytes written to {}", content.len(), path.0))
    }

    on_error {
        deserialization_error(value, error) if error.field("path") => sanitize(normalize_separators(value?.as_str()?)),
        execution_error(_) => retry(max_attempts = 2, backoff = exponential()),
    }
}

tool! {
    /// List the files of a folder.
    #[tool(reads)]
    async fn list_dir(
        /// Path, relative to the folder; empty for the folder itself.
        path: Inside,
        #[inject] root: PathBuf,
    ) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(wake(&root, &path)?)? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        Ok(names)
    }
    // Without arms of its own, this tool uses the agent's defaults.
}

/// You repair the JSON of tool calls. Answer with the JSON alone.
#[agent(budget(max_turns = 1))]
async fn json_fixer(request: Repair) -> String;

/// Repairs text such as `path <- content`; returns `None` for any other text, so that the next step is tried.
fn try_cleanup(raw: &str) -> Option<String> {
    let (path, content) = raw.split_once(" <- ")?;
    Some(json!({ "path": path, "content": content }).to_string())
}

struct FileManager {
    root: PathBuf,
}

#[agent(
    prompt = "You manage files. Use tools to read, write and list files.",
    budget(max_turns = 10),
    tools = [
        ReadFile { root: self.root.clone() },
        WriteFile { root: self.root.clone() },
        ListDir { root: self.root.clone() },
    ],
)]
impl FileManager {
    /// File management operations.
    #[skill]
    async fn manage_files(&self, request: String) -> String;

    on_error!(match error {
        invalid_args(raw, _) => fix(try_cleanup(raw)).or(fix(agent = JsonFixer, retries = 2)),
    });
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = env::temp_dir().join(format!("agents-file-manager-{}", process::id()));
    fs::create_dir_all(root.join("notes"))?;
    fs::write(root.join("config.json"), r#"{"port": 8080}"#)?;
    println!("A scripted model makes the calls, on a real folder.");

    let (model, _) = ScriptedModel::new([
        Script::call("list_dir", r#"{"path": ""}"#),
        Script::call("read_file", "The file is config.json, I believe."),
        // First reply of the repair agent, which is no repair.
        Script::text("config.json"),
        // Second reply of the repair agent, which repairs the call.
        Script::text(r#"{"path": "config.json"}"#),
        Script::call("read_file", r#"{"path": "notes/todo.md"}"#),
        Script::call("write_file", "summary.md <- It listens on port 8080."),
        Script::call(
            "write_file",
            r#"{"path": "notes\\todo.md", "content": "Change the port."}"#,
        ),
        Script::call("list_dir", r#"{"path": "notes"}"#),
        Script::text("config.json sets the port to 8080; I wrote a summary and a note."),
    ]);
    let answer = FileManager { root: root.clone() }
        .run("What does config.json say? Write it down.")
        .model(model)
        .on_event(|event| match event.kind {
            // The hook below prints a line for each call.
            EventKind::CallEnded(_) => {}
            _ => print_line(event),
        })
        .on_tool_use(|name, args, result| match result {
            Ok(output) => println!("[{name}] args={args} result={output}"),
            Err(error) => println!("[{name}] args={args} error={}", error.message),
        })
        .await?;
    println!("= {answer}");
    for file in ["summary.md", "notes/todo.md"] {
        println!("{file}: {}", fs::read_to_string(root.join(file))?);
    }
    fs::remove_dir_all(root)?;
    Ok(())
}
