use super::WasmSandbox;
use crate::{Job, Limit, capture::Capture};
use std::{error::Error, fmt};
use wasmtime::ResourceLimiter;

/// State of one call of a module on the side of the host: what the module is given, and what it has written.
pub(super) struct Host {
    pub(super) args: Vec<String>,
    pub(super) env: Vec<String>,
    pub(super) stdin: Vec<u8>,
    /// Number of bytes of the standard input that the module has read.
    pub(super) read: usize,
    pub(super) out: Capture,
    pub(super) err: Capture,
    /// Number of bytes of each output that the model is shown.
    pub(super) shown: usize,
    /// Number of bytes of memory that the module may still take.
    memory_left: u64,
}

/// Number of bytes that an entry of a table counts as.
const ENTRY: u64 = 16;

impl Host {
    pub(super) fn new(name: &str, sandbox: &WasmSandbox, job: Job) -> Self {
        let name = std::iter::once(name.to_owned());
        let variable = |(name, value): &(String, String)| format!("{name}={value}");
        Host {
            args: name.chain(job.args).collect(),
            env: sandbox.env.iter().map(variable).collect(),
            stdin: job.stdin,
            read: 0,
            out: Capture::default(),
            err: Capture::default(),
            shown: sandbox.output,
            memory_left: sandbox.memory,
        }
    }

    /// Subtracts bytes from the memory that is left. If there are not so many, the error ends the module.
    fn take(&mut self, bytes: u64) -> wasmtime::Result<bool> {
        match self.memory_left.checked_sub(bytes) {
            Some(left) => self.memory_left = left,
            None => return Err(wasmtime::Error::new(Stop::Breach(Limit::Memory))),
        }
        Ok(true)
    }
}

impl ResourceLimiter for Host {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if maximum.is_some_and(|maximum| desired > maximum) {
            return Ok(false);
        }
        self.take(desired.saturating_sub(current) as u64)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if maximum.is_some_and(|maximum| desired > maximum) {
            return Ok(false);
        }
        let entries = desired.saturating_sub(current) as u64;
        self.take(entries.saturating_mul(ENTRY))
    }
}

/// Reason why the host ends a module before its code does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The module has ended with this status.
    Exit(i32),
    Breach(Limit),
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Exit(status) => write!(f, "the module ended with the status {status}"),
            Stop::Breach(limit) => write!(f, "the module reached a limit: {limit:?}"),
        }
    }
}

impl Error for Stop {}
