//! The example `control_room`, started as a program, and agents that need approvals: for the tests over HTTP and for those
//! in a browser.

mod booker;
mod payer;

pub(crate) use booker::booker;
pub(crate) use payer::payer;

use crate::built;
use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Control room in a process of its own, which is killed when this value goes.
pub(crate) struct Program {
    child: Child,
    /// Output of the program, which cannot print any more if nobody reads on.
    _output: BufReader<ChildStdout>,
    /// URL that signs in whoever opens it.
    pub(crate) url: String,
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the command that starts the example.
pub(crate) fn command() -> Command {
    let name = format!("control_room{}", std::env::consts::EXE_SUFFIX);
    Command::new(built::EXAMPLES.join(name))
}

impl Program {
    /// Starts the example with the store and the ledger of this folder.
    pub(crate) fn start(folder: &Path) -> Program {
        Program::start_at(folder, "0")
    }

    /// Starts the example at this port.
    pub(crate) fn start_at(folder: &Path, port: &str) -> Program {
        let mut child = command()
            .args(["--listen", &format!("127.0.0.1:{port}"), "--store"])
            .arg(format!("sqlite:{}", folder.join("room.db").display()))
            .arg("--ledger")
            .arg(folder.join("ledger"))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        let url = line.strip_prefix("listening on ").unwrap().trim();
        Program {
            url: url.to_owned(),
            child,
            _output: output,
        }
    }
}

/// Creates an empty folder for a test of this name.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("agents-room-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).unwrap();
    folder
}

/// Waits until the ledger of a folder has so many lines, and returns them.
pub(crate) fn ledger(folder: &Path, count: usize) -> Vec<String> {
    until("the ledger", || {
        let text = fs::read_to_string(folder.join("ledger")).unwrap_or_default();
        let lines: Vec<_> = text.lines().map(str::to_owned).collect();
        (lines.len() == count).then_some(lines)
    })
}

/// Waits until there is a value.
pub(crate) fn until<T>(what: &str, look: impl Fn() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(value) = look() {
            return value;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "{what}");
        thread::sleep(Duration::from_millis(30));
    }
}
