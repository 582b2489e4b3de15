//! Failures of a command, and the exit codes that they end with.

use crate::screen::shown;
use std::{io, process::ExitCode};

/// Reason why a command ends before all is done, or with an exit code other than 0.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command was used wrongly: exit code 2.
    Usage(String),
    /// The command has failed, for this reason: exit code 1.
    Failed(String),
    /// The result of the command is negative, and was printed: exit code 1. Examples are an audit trail that was
    /// changed, and a decision that failed.
    No,
    /// The reader of the output has closed the pipe, so that nobody is left to be told: exit code 0.
    Unread,
}

impl Failure {
    pub(crate) fn failed(why: impl Into<String>) -> Self {
        Failure::Failed(why.into())
    }

    /// Prints the failure to the standard error, and returns the exit code.
    pub(crate) fn report(self) -> ExitCode {
        match self {
            Failure::Usage(why) => {
                complain(&why);
                ExitCode::from(2)
            }
            Failure::Failed(why) => {
                complain(&why);
                ExitCode::FAILURE
            }
            Failure::No => ExitCode::FAILURE,
            Failure::Unread => ExitCode::SUCCESS,
        }
    }

    /// Returns the reason for the failure in words.
    pub(crate) fn why(&self) -> &str {
        match self {
            Failure::Usage(why) | Failure::Failed(why) => why,
            Failure::No | Failure::Unread => "",
        }
    }
}

/// Prints an error as a line to the standard error.
pub(crate) fn complain(why: &str) {
    use io::Write;
    // There is nobody else to be told.
    let _ = writeln!(io::stderr(), "error: {}", shown(why));
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::Unread,
            _ => Failure::failed(error.to_string()),
        }
    }
}
