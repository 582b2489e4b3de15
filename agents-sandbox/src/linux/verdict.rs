use super::capture::Capture;
use crate::{Limit, Sandbox, SandboxError, output, wording};

/// Status of a program that was ended by a signal, as shells tell it.
const KILLED_BY: i32 = 128;

/// Texts by which programs say that a limit stopped them. A limit holds whether or not a program says so: these texts only
/// name it.
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

/// Lines at the end of the standard error in which these texts are looked for.
const LINES: usize = 5;

/// Returns the limit that ended a program; `None` if the program ended by itself.
pub(super) fn breach(status: i32, err: &Capture, sandbox: &Sandbox) -> Option<SandboxError> {
    let limit = match status - KILLED_BY {
        9 => Limit::Killed,
        24 => Limit::Cpu,
        25 => Limit::FileSize,
        31 => Limit::SystemCall,
        _ if status == 0 => return None,
        _ => said(err)?,
    };
    Some(SandboxError::breach(limit, wording::breach(limit, sandbox)))
}

/// Returns what bubblewrap says if it made no box.
pub(super) fn not_started(status: i32, out: &Capture, err: &Capture) -> Option<SandboxError> {
    let said = output::safe(&err.end);
    let said = said
        .lines()
        .next()
        .filter(|line| line.starts_with("bwrap: "));
    let said =
        said.filter(|_| status == 1 && out.total == 0 && err.total == err.end.len() as u64)?;
    Some(SandboxError::start(wording::not_started(&said)))
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

    fn limit(status: i32, err: &str) -> Option<Limit> {
        let err = Capture {
            begin: err.into(),
            end: err.into(),
            total: err.len() as u64,
        };
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
