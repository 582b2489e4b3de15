use std::{
    fs, io,
    process::ExitStatus,
    thread,
    time::{Duration, Instant},
};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};

/// Box with a program in it. If it is dropped before it has ended, it is killed with all its processes.
///
/// Killing bubblewrap kills the box, but only once the first process of the box has asked the kernel for that. Until then,
/// some ten milliseconds after the start, bubblewrap is not killed.
pub(super) struct Running {
    child: Option<Child>,
}

/// Longest time to wait until a box that is to be killed can be killed.
const PATIENCE: Duration = Duration::from_secs(2);

/// Time between two checks whether a box that is being made can be killed.
const PAUSE: Duration = Duration::from_millis(1);

impl Running {
    pub(super) fn new(child: Child) -> Self {
        Running { child: Some(child) }
    }

    /// Returns the ends of the pipes to the program: its input and outputs. They can be taken once.
    pub(super) fn pipes(
        &mut self,
    ) -> (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>) {
        match &mut self.child {
            Some(child) => (child.stdin.take(), child.stdout.take(), child.stderr.take()),
            None => (None, None, None),
        }
    }

    /// Waits until the box has ended, and returns its exit status.
    pub(super) async fn wait(&mut self) -> io::Result<ExitStatus> {
        let Some(child) = &mut self.child else {
            return Err(io::Error::other("the box has ended before"));
        };
        let status = child.wait().await?;
        self.child = None;
        Ok(status)
    }

    /// Kills the box, and waits until bubblewrap has ended.
    pub(super) async fn kill(&mut self) -> io::Result<()> {
        let until = Instant::now() + PATIENCE;
        while let Some(pid) = self.child.as_ref().and_then(Child::id) {
            if dies_with(pid) || Instant::now() > until {
                break;
            }
            tokio::time::sleep(PAUSE).await;
        }
        match &mut self.child {
            Some(child) => child.kill().await,
            None => Ok(()),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else {
            return;
        };
        // Without an id, the box has ended.
        let Some(pid) = child.id() else {
            return;
        };
        // Once the box is ready, as it almost always is, dropping the child is enough.
        if dies_with(pid) {
            return;
        }
        let wait_and_kill = move || {
            let until = Instant::now() + PATIENCE;
            while !dies_with(pid) && Instant::now() < until && matches!(child.try_wait(), Ok(None))
            {
                thread::sleep(PAUSE);
            }
        };
        // If there is no thread for it, the child is dropped at once, and the box ends by its own `timeout`.
        if let Err(error) = thread::Builder::new()
            .name("agents-sandbox-end".to_owned())
            .spawn(wait_and_kill)
        {
            tracing::warn!(%error, "a box that was just being made may go on until its time is over");
        }
    }
}

/// Returns `true` if killing bubblewrap, the process with this number, kills its box. The first process of the box has
/// then started `prlimit` or `timeout`, has asked the kernel for that, and has taken on the filters of system calls
/// after that.
fn dies_with(bwrap: u32) -> bool {
    let before = filters(bwrap);
    let is_ready = |first: &Process| match (before, filters(first.pid)) {
        (Some(before), Some(now)) => now > before,
        // Linux before 5.9 does not tell.
        (None, None) => true,
        _ => false,
    };
    children(bwrap)
        .iter()
        .filter(|first| is_ready(first))
        .flat_map(|first| children(first.pid))
        .any(|process| matches!(&*process.name, "prlimit" | "timeout"))
}

/// Returns how many filters of system calls a process has; `None` if the kernel does not tell.
fn filters(pid: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let mut lines = status.lines();
    let filters = lines.find_map(|line| line.strip_prefix("Seccomp_filters:"))?;
    filters.trim().parse().ok()
}

/// Returns the children of a process that has one thread. If the kernel has no list of them, all processes are
/// searched.
fn children(of: u32) -> Vec<Process> {
    match fs::read_to_string(format!("/proc/{of}/task/{of}/children")) {
        Ok(pids) => {
            let pids = pids.split_whitespace().filter_map(|pid| pid.parse().ok());
            pids.filter_map(process).collect()
        }
        Err(_) => scanned(of),
    }
}

/// Returns the children of a process, which are searched among all processes of this machine.
fn scanned(of: u32) -> Vec<Process> {
    let mut all = processes();
    all.retain(|process| process.parent == of);
    all
}

/// Process of this machine, as `/proc` describes it.
struct Process {
    pid: u32,
    parent: u32,
    name: String,
}

fn processes() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(process).collect()
}

fn process(pid: u32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // 7 (a name (of any kind)) S 1 ..
    let (start, rest) = stat.rsplit_once(')')?;
    let (_, name) = start.split_once('(')?;
    Some(Process {
        pid,
        parent: rest.split_whitespace().nth(1)?.parse().ok()?,
        name: name.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_found_with_its_parent() {
        let own = process(std::process::id()).unwrap();
        assert_eq!(own.parent, std::os::unix::process::parent_id());
        assert!(!own.name.is_empty() && !own.name.contains('('));
        assert!(!dies_with(own.pid));
        assert!(scanned(own.parent).iter().any(|child| child.pid == own.pid));
    }
}
