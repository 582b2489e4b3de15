use agents_core::{Code, ToolFailure};
use std::{error::Error, fmt};

/// Limit of a box that a program ran into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Limit {
    /// Seconds of CPU of a process.
    Cpu,
    /// Memory of a process.
    Memory,
    /// Time until the program has to end.
    Time,
    /// Open files of a process.
    OpenFiles,
    /// Processes and threads.
    Processes,
    /// Size of one file.
    FileSize,
    /// Bytes of all files.
    Disk,
    /// Bytes of output.
    Output,
    /// Writing outside of `/tmp` and the writable folders.
    Files,
    /// The network.
    Network,
    /// A system call that no program in a box may make.
    SystemCall,
    /// The program was killed by the kernel, which does not say why.
    Killed,
    /// Instructions of a WebAssembly module.
    Fuel,
    /// Stack of a WebAssembly module: calls within calls.
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

    /// Creates the error of a box that could not be started.
    pub(crate) fn start(message: String) -> Self {
        SandboxError {
            code: Code::SandboxError,
            limit: None,
            message,
        }
    }

    /// Creates the error of a job that no program can be given.
    pub(crate) fn job(message: String) -> Self {
        SandboxError {
            code: Code::ValidationError,
            limit: None,
            message,
        }
    }

    /// Returns the limit that the program ran into; `None` if the program was not started.
    ///
    /// [`Limit::Time`] and [`Limit::Output`] are known by the tool itself, and so are all limits of a WebAssembly module. All
    /// others are hints. They are read from the signal
    /// that ended the program and from its standard error; a program can forge both. It can also forge the words of a box
    /// that was not started. Decide nothing by them that matters if they are wrong. The limits hold in any case.
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

/// Error of a tool that was not made: this platform does not enforce what its sandbox promises, or its module is refused.
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
