//! Sandbox for `agents`: code of unknown origin runs in a box.
//!
//! [`PythonTool`] runs the code that a model writes. [`CommandTool`] runs a program that you choose, with arguments that you
//! make from those of the model.
//!
//! ```no_run
//! use agents::{Effects, prelude::*};
//! use agents_sandbox::{PythonTool, Sandbox};
//!
//! # fn main() -> Result<(), agents_sandbox::Unenforced> {
//! let sandbox = Sandbox::new().memory(128_000_000).read_only("/srv/reports", "/reports");
//! let python = PythonTool::new(Effects::Reads, sandbox)?;
//! let analyst = AgentBuilder::<String, String>::new("analyst").tool(python).build();
//! # let _ = analyst;
//! # Ok(())
//! # }
//! ```
//!
//! ```text
//! arguments ──► Job ──► bash (closes files) ──► bwrap (namespaces, mounts, seccomp) ──► prlimit ──► timeout ──► program
//! ```
//!
//! The box is made by bubblewrap (`bwrap`), so this works on Linux only. When a tool is made, a first box is started that
//! checks every limit. If the platform does not enforce one of them, the tool is refused: [`Unenforced`] says why. No program
//! runs without its box.
//!
//! | limit | enforced by | default |
//! |-|-|-|
//! | files | a mount namespace: `/usr`, `/bin`, `/sbin`, `/lib*`, two entries of `/etc`, and your [folders](Sandbox::read_only) | no folder |
//! | network | a network namespace with nothing but its own loopback | none, always |
//! | processes seen and killed | a process namespace with a `/proc` of its own | its own, always |
//! | privileges | a user namespace without capabilities, which makes no other; `no_new_privs` | none, always |
//! | system calls | a seccomp filter | see [below](#system-calls) |
//! | [time](Sandbox::time) | the tool, and `timeout` in the box | 10 s |
//! | [CPU](Sandbox::cpu) of each process | `RLIMIT_CPU` | 5 s |
//! | [memory](Sandbox::memory) of each process | `RLIMIT_AS` | 256 MB |
//! | [processes](Sandbox::processes) and threads | `RLIMIT_NPROC` | 16 |
//! | [open files](Sandbox::open_files) of each process | `RLIMIT_NOFILE` | 64 |
//! | [size of a file](Sandbox::file_size) | `RLIMIT_FSIZE` | 16 MB |
//! | [disk](Sandbox::disk): `/tmp`, and `/dev/shm` | tmpfs with a size, each | 64 MB |
//! | [output](Sandbox::output) | the tool | 64 kB are shown; 16 times as much ends the program |
//!
//! If a program exceeds a limit and fails, the call fails with [`SandboxError`], whose code is `SANDBOX_ERROR` and whose
//! sentence names the limit and the remedy. A program that ends with a status other than 0 for another reason is no error:
//! the model gets the status and the output.
//!
//! # System calls
//!
//! A program is killed if it traces another one, mounts, calls `unshare` or `setns`, changes its root, loads code into the kernel
//! (`bpf`, modules, kexec), uses kernel keys, sets the clock, or opens files by handles. New user namespaces by `clone` fail.
//! `io_uring`, `memfd_create`, and memory and messages of System V fail with `ENOSYS`: they would be a way around this filter, or
//! memory that no limit counts.
//!
//! # What is not enforced
//!
//! - Memory is limited for each process, not for the box: at most [`memory`](Sandbox::memory) times
//!   [`processes`](Sandbox::processes), and twice the [`disk`](Sandbox::disk). The same holds for the CPU. There is no cgroup.
//! - Buffers of the kernel, such as those of pipes, and the entries of empty files are not counted.
//! - The box shares the kernel with the host. A defect of the kernel that these system calls reach is a way out. Where this is
//!   not enough, run the whole agent in a virtual machine.
//! - A program reads everything below `/usr`, and some facts about the host in `/proc`, such as its load and the paths of your
//!   folders.
//! - A socket in a mounted folder is a way to the service behind it. A writable folder may get symbolic links: what reads it
//!   later must not follow them.
//! - Folders of one tool must not overlap where they can be written, and are looked at again before each run. Two tools are not
//!   checked against each other: if one can write where the folder of the other is, its program may put a link there between the
//!   look and the mount. Give each tool folders of its own.
//! - If the process of the agent itself is killed within the first milliseconds of a box, the box may go on, for at most its
//!   [time](Sandbox::time) and a second.
//!
//! If the agent runs as root, the programs run as the user 65534 (`nobody`), who has to be able to read, or write, the
//! folders.

// What a box needs has no use where there is none.
#![cfg_attr(not(target_os = "linux"), allow(dead_code))]

mod command_tool;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
mod error;
mod folder;
mod job;
#[cfg(target_os = "linux")]
mod linux;
mod output;
mod python_tool;
mod sandbox;
mod wording;

pub use command_tool::CommandTool;
pub use error::{Limit, SandboxError, Unenforced};
pub use job::Job;
pub use output::Ran;
pub use python_tool::{PythonArgs, PythonTool};
pub use sandbox::Sandbox;

#[cfg(not(target_os = "linux"))]
use elsewhere::Ready;
#[cfg(target_os = "linux")]
use linux::Ready;

#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../book/src/sandbox.md")]
    struct Sandbox;
}
