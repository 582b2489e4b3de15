//! Escape suite: programs that try to get out of their box, or to take more than it allows. Each is stopped, and named.
//!
//! Where no box can be made, a line says so, and these tests check nothing.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]
#![cfg(target_os = "linux")]

mod files;
mod jobs;
mod kernel;
mod network;
mod platform;
mod processes;
mod quotas;
mod runs;
mod stages;

use agents_core::{Effects, Tool, ToolContext};
use agents_needs::Need;
use agents_sandbox::{Limit, PythonArgs, PythonTool, Ran, Sandbox, SandboxError};
use std::{
    fs,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{self, Command, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// Returns `true` if a box can be made on this machine, or says why not.
fn has_boxes() -> bool {
    static BOX: OnceLock<Result<(), String>> = OnceLock::new();
    let made = BOX.get_or_init(plain_box);
    if let Err(why) = made {
        Need::Bubblewrap.missing(why);
    }
    made.is_ok()
}

/// Makes a box by bubblewrap alone, so that a mistake of the crate does not skip its own tests.
fn plain_box() -> Result<(), String> {
    let folders = ["/usr/bin", "/bin", "/usr/local/bin"].map(Path::new);
    let mut paths = folders.iter().map(|folder| folder.join("bwrap"));
    let bwrap = paths
        .find(|path| path.is_file())
        .ok_or("bubblewrap is not installed")?;
    if !Path::new("/usr/bin/python3").exists() {
        return Err("there is no /usr/bin/python3".to_owned());
    }
    let mut command = Command::new(bwrap);
    command.args([
        "--unshare-user",
        "--disable-userns",
        "--unshare-pid",
        "--unshare-net",
    ]);
    command.args(["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]);
    command.arg("true").current_dir("/").stdin(Stdio::null());
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut users = status.lines().filter_map(|line| line.strip_prefix("Uid:"));
    if users.any(|ids| ids.split_whitespace().nth(1) == Some("0")) {
        // The programs of root run as `nobody`.
        command.uid(65_534).gid(65_534);
    }
    let made = command
        .output()
        .map_err(|error| format!("bubblewrap does not start: {error}"))?;
    let said = String::from_utf8_lossy(&made.stderr);
    let line = said.lines().next().unwrap_or("bubblewrap makes no box");
    made.status.success().then_some(()).ok_or(line.to_owned())
}

/// Runs Python code in a box; `None` if no box can be made on this machine.
async fn python_in(sandbox: Sandbox, code: &str) -> Option<Result<Ran, SandboxError>> {
    if !has_boxes() {
        return None;
    }
    let tool = PythonTool::new(Effects::Writes, sandbox).unwrap();
    Some(call(&tool, code).await)
}

async fn call(tool: &PythonTool, code: &str) -> Result<Ran, SandboxError> {
    let args = PythonArgs { code: code.into() };
    tool.call(args, &ToolContext::detached("run_python")).await
}

/// Runs Python code that has to end well, and returns what it prints; `None` without a box.
async fn printed(sandbox: Sandbox, code: &str) -> Option<String> {
    let ran = python_in(sandbox, code).await?.unwrap();
    assert_eq!(ran.status, 0, "{ran:?}");
    Some(ran.stdout)
}

/// Runs Python code that has to be stopped by this limit, in a sentence with these words.
async fn stopped(sandbox: Sandbox, code: &str, limit: Limit, words: &str) {
    let Some(ran) = python_in(sandbox, code).await else {
        return;
    };
    let error = ran.unwrap_err();
    assert_eq!(error.limit(), Some(limit), "{error}");
    assert_eq!(
        agents_core::ToolFailure::code(&error),
        agents_core::Code::SandboxError
    );
    assert!(error.to_string().contains(words), "{error}");
}

/// Name that no other test of this machine has.
fn unique(name: &str) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("agents-escape-{name}-{}-{next}", process::id())
}

/// Folder of the host for one test, which `nobody` can read and write.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        use std::os::unix::fs::PermissionsExt;
        let path = std::env::temp_dir().join(unique(name));
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
        Folder(path)
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Returns the processes of the host whose command line has this text.
fn processes_with(text: &str) -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        *pid != process::id() && String::from_utf8_lossy(&line).contains(text)
    })
    .collect()
}

/// Waits until a condition holds; panics after half a minute.
fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(30);
    while !holds() {
        assert!(Instant::now() < until, "{what}");
        thread::sleep(Duration::from_millis(5));
    }
}
