//! Servers that are child processes.

use super::{description::Child, wording};
use rmcp::{RoleClient, transport::async_rw::AsyncRwTransport};
use std::{
    collections::VecDeque,
    env, io,
    process::Stdio,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader},
    process::{ChildStdin, ChildStdout, Command},
};
use tokio_util::sync::CancellationToken;

/// Environment variables that every child process inherits: those without which a program does not run.
const INHERITED: [&str; 16] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "TERM",
    "TMPDIR",
    "TEMP",
    "TMP",
    "SystemRoot",
    "PATHEXT",
    "APPDATA",
    "LOCALAPPDATA",
    "USERPROFILE",
];

/// Longest line of a server's standard error that is read as one, in bytes.
const LONGEST_LINE: u64 = 4096;

/// Number of lines of a server's standard error that an error quotes.
const QUOTED: usize = 3;

/// Transport of the protocol over the standard input and output of a child process.
pub(super) type Transport = AsyncRwTransport<RoleClient, ChildStdout, ChildStdin>;

/// Child process that is the server. The process ends when this is dropped, or when the runtime in which it was started
/// ends.
pub(super) struct Process {
    ends: CancellationToken,
    said: Arc<Mutex<VecDeque<String>>>,
}

impl Process {
    /// Returns the last lines that the process wrote to its standard error, for the text of an error.
    pub(super) fn said(&self) -> String {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let lines: Vec<_> = said.iter().map(String::as_str).collect();
        wording::last_lines(&lines)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.ends.cancel();
    }
}

/// Starts the child process, with its pipes.
pub(super) fn start(
    server: &str,
    child: &Child,
    max_message_bytes: usize,
) -> io::Result<(Transport, Process)> {
    let Child {
        program,
        args,
        env: own,
        inherited,
        folder,
    } = child;
    let mut command = Command::new(program);
    command.args(args).env_clear();
    let inherited = INHERITED
        .into_iter()
        .chain(inherited.iter().map(String::as_str));
    for name in inherited {
        if let Some(value) = env::var_os(name) {
            command.env(name, value);
        }
    }
    command.envs(own);
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    let piped = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut process = piped.kill_on_drop(true).spawn()?;
    let gone = || io::Error::other(wording::NO_STREAMS);
    let output = process.stdout.take().ok_or_else(gone)?;
    let input = process.stdin.take().ok_or_else(gone)?;
    let errors = process.stderr.take().ok_or_else(gone)?;
    let ends = CancellationToken::new();
    let said = Arc::default();
    tokio::spawn(listen(server.to_owned(), errors, Arc::clone(&said)));
    let ended = ends.clone();
    let server = server.to_owned();
    // The task owns the process: a runtime that ends drops the task, and the process with it.
    tokio::spawn(async move {
        tokio::select! {
            status = process.wait() => match status {
                Ok(status) => tracing::debug!(server, %status, "the server has ended"),
                Err(error) => tracing::warn!(server, %error, "the server cannot be waited for"),
            },
            () = ended.cancelled() => drop(process.kill().await),
        }
    });
    let transport = AsyncRwTransport::new(output, input).with_max_line_length(max_message_bytes);
    Ok((transport, Process { ends, said }))
}

/// Passes what the server writes to its standard error on to `tracing`, and keeps the last lines for errors.
async fn listen(
    server: String,
    errors: impl AsyncRead + Unpin,
    said: Arc<Mutex<VecDeque<String>>>,
) {
    let mut errors = BufReader::new(errors);
    let mut line = Vec::new();
    loop {
        line.clear();
        // A line without an end is cut.
        let mut bounded = (&mut errors).take(LONGEST_LINE);
        match bounded.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end();
        if text.is_empty() {
            continue;
        }
        tracing::debug!(server, "{text}");
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.len() == QUOTED {
            said.pop_front();
        }
        said.push_back(text.chars().take(300).collect());
    }
}
