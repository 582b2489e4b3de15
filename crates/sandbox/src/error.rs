use agents_core::{Code, ToolFailure};
use std::{error::Error, fmt};

/// Limit of a box that a program has run into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Limit {
    /// Seconds of CPU that a process may use.
    Cpu,
    /// Memory that a process may have.
    Memory,
    /// Time after which the program is ended.
    Time,
    /// Number of files that a process may have open.
    OpenFiles,
    /// Number of processes and threads.
    Processes,
    /// Number of bytes of one file.
    FileSize,
    /// Number of bytes of all files in `/tmp` together, and of those in `/dev/shm`.
    Disk,
    /// Number of bytes that the program may write to its standard output, and to its standard error.
    Output,
    /// The program tried to write outside of `/tmp` and the writable folders.
    Files,
    /// The program tried to use the network, which a box does not have.
    Network,
    /// The program made a system call that no program in a box may make.
    SystemCall,
    /// The program was killed with `SIGKILL`, by the kernel or by itself. Why is not known.
    Killed,
    /// Number of instructions that a WebAssembly module may take.
    Fuel,
    /// Stack that a WebAssembly module may use: calls within calls.
    Stack,
    /// A mistake of a WebAssembly module that ends it, such as a division by zero or a panic.
    Trap,
}

/// Error of a call whose program ran into a limit of its box, or could not be started.
///
/// Arms get it from the tools of this crate:
///
/// ```
/// use agents::{AgentBuilder, recovery::{CallError, Execution, Failure, escalate}};
/// use agents_sandbox::{Limit, SandboxError};
///
/// let analyst = AgentBuilder::<String, String>::new("analyst").on_error(|error, _| match error {
///     CallError::Execution(Failure::Returned(error)) => match error.downcast_ref::<SandboxError>()?.limit()? {
///         Limit::Time => Some(escalate::<Execution>("the work takes too long for its box").into()),
///         _ => None,
///     },
///     _ => None,
/// });
/// # let _ = analyst;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxError {
    code: Code,
    limit: Option<Limit>,
    message: String,
}

impl SandboxError {
    pub(crate) fn breach(limit: Limit, message: String) -> Self {
        SandboxError {
            code: Code::SandboxError,
            limit: Some(limit),
            message,
        }
    }

    /// Creates the error of a call whose box could not be started.
    pub(crate) fn start(message: String) -> Self {
        SandboxError {
            code: Code::SandboxError,
            limit: None,
            message,
        }
    }

    /// Creates the error of a call whose job cannot be given to a program.
    pub(crate) fn job(message: String) -> Self {
        SandboxError {
            code: Code::ValidationError,
            limit: None,
            message,
        }
    }

    /// Returns the limit that the program ran into; `None` if the program was not started, or if its box failed.
    ///
    /// [`Limit::Time`] and [`Limit::Output`] are known by the tool itself, and so are all limits of a WebAssembly module. All
    /// others are hints. They are read from the signal that ended the program and from its standard error; a program
    /// can forge both. It can also forge the words of a box that was not started. Base no decision on a hint that would
    /// do harm if the hint were wrong. The limits apply in any case.
    pub fn limit(&self) -> Option<Limit> {
        self.limit
    }
}

impl fmt::Display for SandboxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for SandboxError {}

impl ToolFailure for SandboxError {
    fn code(&self) -> Code {
        self.code
    }
}

/// Error of a tool that could not be made: this platform does not enforce what its sandbox promises, or its module is
/// refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unenforced(String);

impl Unenforced {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Unenforced(message.into())
    }
}

impl fmt::Display for Unenforced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Unenforced {}
