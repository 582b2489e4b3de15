use std::time::Duration;

/// Settings of the box in which a [`WasmTool`](crate::WasmTool) runs its module: its limits and its rights.
///
/// A module has no files and no network, whatever is set.
///
/// ```
/// use agents_sandbox::WasmSandbox;
///
/// let sandbox = WasmSandbox::new().fuel(10_000_000).memory(8_000_000).random();
/// # let _ = sandbox;
/// ```
#[derive(Clone, Debug)]
pub struct WasmSandbox {
    pub(crate) fuel: u64,
    pub(crate) memory: u64,
    pub(crate) time: Duration,
    pub(crate) output: usize,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) has_clock: bool,
    pub(crate) has_random: bool,
}

impl Default for WasmSandbox {
    fn default() -> Self {
        WasmSandbox::new()
    }
}

impl WasmSandbox {
    /// Creates the settings of a box without rights: 1,000,000,000 instructions, 64 MB of memory, 10 seconds, and 64 kB of
    /// output that is shown.
    pub fn new() -> Self {
        WasmSandbox {
            fuel: 1_000_000_000,
            memory: 64_000_000,
            time: Duration::from_secs(10),
            output: 64_000,
            env: Vec::new(),
            has_clock: false,
            has_random: false,
        }
    }

    /// Sets how many instructions a call may take; 1,000,000,000 by default, which is some seconds at most. A byte that is
    /// copied or filled counts as one. A call that takes more always ends at the same place.
    #[must_use]
    pub fn fuel(mut self, instructions: u64) -> Self {
        self.fuel = instructions;
        self
    }

    /// Sets how many bytes of memory the module may have; 64 MB by default. An entry of a table counts as 16 bytes.
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// Sets the time after which the module is stopped; 10 seconds by default.
    #[must_use]
    pub fn time(mut self, time: Duration) -> Self {
        self.time = time;
        self
    }

    /// Sets how many bytes of the standard output the model is shown, and how many of the standard error; 64 kB by default. A
    /// module that writes more than 16 times as much to one of them is ended.
    #[must_use]
    pub fn output(mut self, bytes: usize) -> Self {
        self.output = bytes;
        self
    }

    /// Sets a variable of the environment. A module has no other variables than those.
    ///
    /// The module sees the value, and may print it for the model: no place for a secret.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Gives the module the time of the machine (`clock_time_get`). Its tool then has [`Effects::Reads`], since its
    /// result does not depend on its input alone.
    ///
    /// [`Effects::Reads`]: agents_core::Effects::Reads
    #[must_use]
    pub fn clock(mut self) -> Self {
        self.has_clock = true;
        self
    }

    /// Gives the module random bytes (`random_get`). Its tool then has [`Effects::Reads`], since its result does not
    /// depend on its input alone.
    ///
    /// Code of Rust that has a `HashMap` asks for them.
    ///
    /// [`Effects::Reads`]: agents_core::Effects::Reads
    #[must_use]
    pub fn random(mut self) -> Self {
        self.has_random = true;
        self
    }
}
