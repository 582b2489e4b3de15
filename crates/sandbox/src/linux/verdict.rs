use crate::{Limit, Sandbox, SandboxError, capture::Capture, output, wording};

/// Number that shells add to the signal that has ended a program, to make its status.
const KILLED_BY: i32 = 128;

/// Texts by which programs say that a limit stopped them, with the limits. A limit applies whether or not a program
/// says so: these texts only name it.
const SAID: &[(&str, Limit)] = &[
    ("MemoryError", Limit::Memory),
    ("std::bad_alloc", Limit::Memory),
    ("Cannot allocate memory", Limit::Memory),
    ("memory exhausted", Limit::Memory),
    ("out of memory", Limit::Memory),
    ("Out of memory", Limit::Memory),
    ("Too many open files", Limit::OpenFiles),
    ("Resource temporarily unavailable", Limit::Processes),
    ("Cannot fork", Limit::Processes),
    ("can't start new thread", Limit::Processes),
    ("No space left on device", Limit::Disk),
    ("File too large", Limit::FileSize),
    ("Read-only file system", Limit::Files),
    ("Network is unreachable", Limit::Network),
    ("Address family not supported", Limit::Network),
    ("Temporary failure in name resolution", Limit::Network),
    ("Connection refused", Limit::Network),
    ("Function not implemented", Limit::SystemCall),
];

/// Number of lines at the end of the standard error in which the text of a limit is looked for.
const LINES: usize = 5;

/// Returns the error for the limit that ended a program, by the signal of its end or by what it printed when it failed;
/// `None` if no limit is found, or if the status is 0.
pub(super) fn breach(status: i32, err: &Capture, sandbox: &Sandbox) -> Option<SandboxError> {
    let limit = match status - KILLED_BY {
        9 => Limit::Killed,
        24 => Limit::Cpu,
        25 => Limit::FileSize,
        31 => Limit::SystemCall,
        _ if status == 0 => return None,
        _ => said(err)?,
    };
    let sentence = wording::breach(limit, sandbox);
    let message = wording::with_stderr(&sentence, &err.tail(sandbox.output));
    Some(SandboxError::breach(limit, message))
}

/// Begins of the errors that the programs which make a box print if they fail, with the statuses that they end with
/// then: the script in `bash`, `bwrap`, `prlimit` and `timeout`.
const STARTS: &[(&str, &[i32])] = &[
    ("sandbox: ", &[1, 126, 127]),
    ("bwrap: ", &[1]),
    ("prlimit: ", &[1, 126, 127]),
    ("timeout: ", &[125, 126, 127]),
    ("/usr/bin/timeout: ", &[125, 126, 127]),
];

/// Returns the error for a program that was not started, in the words of the programs that make the box; `None` if the
/// outputs do not look like that.
pub(super) fn not_started(status: i32, out: &Capture, err: &Capture) -> Option<SandboxError> {
    if out.total > 0 || err.total > err.end.len() as u64 {
        return None;
    }
    let said = output::safe(&err.end);
    let line = said.lines().next()?;
    let is_start =
        |(begin, statuses): &(&str, &[i32])| line.starts_with(begin) && statuses.contains(&status);
    let failed = STARTS.iter().any(is_start);
    failed.then(|| SandboxError::start(wording::not_started(&line)))
}

fn said(err: &Capture) -> Option<Limit> {
    let text = String::from_utf8_lossy(&err.end);
    let lines = text.lines().rev().filter(|line| !line.trim().is_empty());
    lines.take(LINES).find_map(|line| {
        let found = SAID.iter().find(|(text, _)| line.contains(text));
        found.map(|(_, limit)| *limit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capture(text: &str) -> Capture {
        Capture {
            begin: text.into(),
            end: text.into(),
            total: text.len() as u64,
        }
    }

    #[test]
    fn a_start_that_failed_is_no_result() {
        let failed = |status, out, err| not_started(status, &capture(out), &capture(err)).is_some();
        for (status, err) in [
            (1, "bwrap: Can't find source path /x: No such file\n"),
            (1, "sandbox: line 6: /tmp/x: No such file or directory\n"),
            (126, "sandbox: line 8: /usr/bin/bwrap: Permission denied\n"),
            (1, "prlimit: failed to set the NOFILE resource limit\n"),
            (
                127,
                "prlimit: failed to execute /usr/bin/timeout: No such file\n",
            ),
            (
                127,
                "/usr/bin/timeout: failed to run command 'x': No such file\n",
            ),
            (
                126,
                "timeout: failed to run command 'x': Exec format error\n",
            ),
        ] {
            assert!(failed(status, "", err), "{err}");
            assert!(!failed(status, "printed", err), "{err}");
            assert!(!failed(0, "", err), "{err}");
        }
        assert!(!failed(1, "", "timeout: told by the program\n"));
        assert!(!failed(1, "", "grep: x: No such file or directory\n"));
        assert!(!failed(127, "", ""));
    }

    #[test]
    fn a_limit_is_told_with_the_end_of_the_standard_error() {
        let told = |err: &Capture, most| {
            let sandbox = Sandbox::new().output(most);
            breach(1, err, &sandbox).unwrap().to_string()
        };
        let err = capture("Traceback\n  line 7\nMemoryError\n");
        assert!(told(&err, 64_000).ends_with(":\nTraceback\n  line 7\nMemoryError"));
        assert!(told(&err, 20).ends_with(":\nMemoryError"));
        let silent = breach(152, &capture(""), &Sandbox::new()).unwrap();
        assert!(!silent.to_string().contains('\n'), "{silent}");
    }

    fn limit(status: i32, err: &str) -> Option<Limit> {
        let err = capture(err);
        breach(status, &err, &Sandbox::new()).and_then(|error| error.limit())
    }

    #[test]
    fn a_limit_is_known_by_the_signal_or_by_what_the_program_says() {
        assert_eq!(limit(152, ""), Some(Limit::Cpu));
        assert_eq!(limit(159, "MemoryError"), Some(Limit::SystemCall));
        assert_eq!(limit(137, ""), Some(Limit::Killed));
        assert_eq!(limit(1, "Traceback\nMemoryError\n\n"), Some(Limit::Memory));
        assert_eq!(limit(1, "sh: 1: Cannot fork"), Some(Limit::Processes));
        assert_eq!(limit(1, "KeyError: 'x'"), None);
        assert_eq!(limit(0, "MemoryError"), None, "it went on");
        let long = format!("MemoryError\n{}", "another line\n".repeat(LINES));
        assert_eq!(limit(1, &long), None, "that is not why it ended");
    }
}
