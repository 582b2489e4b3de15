use crate::folder::Folder;
use std::{path::PathBuf, time::Duration};

/// Settings of a box in which a program runs: its limits and its folders.
///
/// ```
/// use agents_sandbox::Sandbox;
/// use std::time::Duration;
///
/// let sandbox = Sandbox::new()
///     .time(Duration::from_secs(30))
///     .memory(512_000_000)
///     .read_only("/srv/reports", "/reports")
///     .env("TZ", "UTC");
/// # let _ = sandbox;
/// ```
#[derive(Clone, Debug)]
pub struct Sandbox {
    pub(crate) time: Duration,
    pub(crate) cpu: Duration,
    pub(crate) memory: u64,
    pub(crate) processes: u32,
    pub(crate) open_files: u32,
    pub(crate) file_size: u64,
    pub(crate) disk: u64,
    pub(crate) output: usize,
    pub(crate) folders: Vec<Folder>,
    pub(crate) env: Vec<(String, String)>,
}

impl Default for Sandbox {
    fn default() -> Self {
        Sandbox::new()
    }
}

impl Sandbox {
    /// Creates the settings of a box without folders, with the [limits by default](crate).
    pub fn new() -> Self {
        Sandbox {
            time: Duration::from_secs(10),
            cpu: Duration::from_secs(5),
            memory: 256_000_000,
            processes: 16,
            open_files: 64,
            file_size: 16_000_000,
            disk: 64_000_000,
            output: 64_000,
            folders: Vec::new(),
            env: Vec::new(),
        }
    }

    /// Sets the time after which the whole box is killed; 10 seconds by default.
    #[must_use]
    pub fn time(mut self, time: Duration) -> Self {
        self.time = time;
        self
    }

    /// Sets the time that each process may use a CPU, in whole seconds, rounded up; 5 seconds by default.
    #[must_use]
    pub fn cpu(mut self, cpu: Duration) -> Self {
        self.cpu = cpu;
        self
    }

    /// Sets how many bytes of address space each process may have; 256 MB by default. Threads and mapped files count.
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// Sets how many processes and threads may run at once; 16 by default.
    #[must_use]
    pub fn processes(mut self, most: u32) -> Self {
        self.processes = most;
        self
    }

    /// Sets how many files, pipes and sockets each process may have open; 64 by default.
    #[must_use]
    pub fn open_files(mut self, most: u32) -> Self {
        self.open_files = most;
        self
    }

    /// Sets how many bytes one file may have; 16 MB by default.
    #[must_use]
    pub fn file_size(mut self, bytes: u64) -> Self {
        self.file_size = bytes;
        self
    }

    /// Sets how many bytes all files in `/tmp` may have, and all in `/dev/shm`; 64 MB by default. Both are in memory,
    /// and are gone when the program has ended. The limit does not apply to writable folders of the host.
    #[must_use]
    pub fn disk(mut self, bytes: u64) -> Self {
        self.disk = bytes;
        self
    }

    /// Sets how many bytes of the standard output the model is shown, and how many of the standard error; 64 kB by default. A
    /// program that writes more than 16 times as much to one of them is ended.
    #[must_use]
    pub fn output(mut self, bytes: usize) -> Self {
        self.output = bytes;
        self
    }

    /// Mounts a folder or a file of the host at this path of the box, where it can be read.
    ///
    /// The path must not be one of the box's own, such as `/usr`, `/etc` or `/tmp` itself. A folder below `/tmp` is possible.
    #[must_use]
    pub fn read_only(self, source: impl Into<PathBuf>, at: impl Into<PathBuf>) -> Self {
        self.folder(source.into(), at.into(), false)
    }

    /// Mounts a folder of the host at this path of the box, where it can be read and written. A tool with such a box has to
    /// declare that it writes.
    ///
    /// What a program writes there may be anything, for example a symbolic link out of the folder, and of any amount.
    /// No other folder of the box may be within this one, on the host or in the box. Two tools whose folders overlap are not
    /// checked against each other: see [what is not enforced](crate#what-is-not-enforced).
    #[must_use]
    pub fn writable(self, source: impl Into<PathBuf>, at: impl Into<PathBuf>) -> Self {
        self.folder(source.into(), at.into(), true)
    }

    fn folder(mut self, source: PathBuf, at: PathBuf, is_writable: bool) -> Self {
        self.folders.push(Folder {
            source,
            at,
            is_writable,
        });
        self
    }

    /// Sets a variable of the environment. Besides such variables, a program has `PATH`, `HOME` and `LANG`, and nothing
    /// of the environment of the agent.
    ///
    /// `prlimit` and `timeout`, which start the program, have the variable, too. A name that begins with `LD_` is
    /// refused.
    ///
    /// The program sees the value, and so does a model that lets the program print it: no place for a secret.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Returns the seconds of CPU of a process, rounded up.
    pub(crate) fn cpu_seconds(&self) -> u64 {
        whole_seconds(self.cpu)
    }

    /// Returns the time of the box in whole seconds, rounded up.
    pub(crate) fn time_seconds(&self) -> u64 {
        whole_seconds(self.time)
    }
}

fn whole_seconds(time: Duration) -> u64 {
    let up = u64::from(time.subsec_nanos() > 0);
    time.as_secs().saturating_add(up).max(1)
}
