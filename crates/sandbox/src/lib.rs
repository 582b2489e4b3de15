//! Sandbox for `agents`: code of unknown origin runs in a box.
//!
//! [`PythonTool`] runs the code that a model writes. [`CommandTool`] runs a program that you choose, with arguments that you
//! make from those of the model. With the feature `wasm`, `WasmTool` runs a WebAssembly module, on any system.
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
//! The box of a program is made by bubblewrap (`bwrap`), so this works on Linux only. When a tool is made, a first box is started that
//! looks at itself: at its user, capabilities, `no_new_privs` and that there is a seccomp filter; at the limits of CPU,
//! memory, open files, size of a file, processes and core files, as the kernel tells them; at its network interfaces, at files
//! left open, at whether folders that are to be written can be; and whether a second process can be started where one is
//! allowed. If one of these is not as it should be, the tool is refused: [`Unenforced`] says why. What the other limits do,
//! such as each system call of the filter, the sizes of the file systems and the time, is not tried. No program runs without
//! its box.
//!
//! | limit | enforced by | default |
//! |-|-|-|
//! | files | a mount namespace: `/usr`, `/bin`, `/sbin`, `/lib*`, two entries of `/etc`, and your [folders](Sandbox::read_only) | no folder |
//! | network | a network namespace with nothing but its own loopback, and a filter of the families of sockets | none, always |
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
//! A program is killed if it traces another one, mounts, calls `unshare` or `setns`, or changes its root. It is killed as well
//! if it loads code into the kernel (`bpf`, modules, kexec), uses kernel keys, sets the clock, or opens files by handles. New
//! user namespaces by `clone` fail. `io_uring`, `memfd_create`, and memory, messages and semaphores of System V fail with `ENOSYS`: they would be a way
//! around this filter, or memory that no limit counts. Sockets of other families than UNIX, INET, INET6 and NETLINK fail with
//! `EAFNOSUPPORT`, among them those that reach the host of a virtual machine.
//!
//! # What is not enforced
//!
//! - Memory is limited for each process, not for the box, and each process that a program starts has the limit anew: at most
//!   [`memory`](Sandbox::memory) times [`processes`](Sandbox::processes), and twice the [`disk`](Sandbox::disk). The CPU of a box
//!   is bounded by its time. There is no cgroup.
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
//! - If the process of the agent is killed, its boxes die with it, except within the first milliseconds of a box. A box that
//!   goes on then is ended by its own `timeout`, a second after its [time](Sandbox::time). That is no guarantee against
//!   hostile code, which can stop `timeout`; the limits of CPU and memory of each process still hold.
//! - The folders of runs (`agents-sandbox-*`, with the input of programs) stay in the temporary folder if the process of the agent
//!   is killed. Remove them at its next start.
//! - Sockets of the families UNIX, INET, INET6 and NETLINK can be made. The first three lead no further than the box and its
//!   folders. By the last one, a program asks the kernel what it tells any user without privileges.
//! - Variables of [`Sandbox::env`] apply to `prlimit` and `timeout`, too, which start the program. Names that begin with `LD_` are
//!   refused; others that change how programs run, such as `GLIBC_TUNABLES`, are yours to judge.
//! - Which limit a program ran into is a hint that the program can forge: see [`SandboxError::limit`].
//!
//! If the agent runs as root, the programs run as the user 65534 (`nobody`), who has to be able to read, or write, the
//! folders.
//!
//! # Features
//!
//! | feature | adds | default |
//! |-|-|-|
//! | `wasm` | `WasmTool`: WebAssembly modules, run by wasmtime, which compiles for minutes | no |

// On docs.rs every item shows the feature that it needs.
#![cfg_attr(docsrs, feature(doc_cfg))]
// What a box needs has no use where there is none.
#![cfg_attr(not(target_os = "linux"), allow(dead_code))]

mod capture;
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
#[cfg(feature = "wasm")]
mod wasm;
mod wording;

pub use command_tool::CommandTool;
pub use error::{Limit, SandboxError, Unenforced};
pub use job::Job;
pub use output::Ran;
pub use python_tool::{PythonArgs, PythonTool};
pub use sandbox::Sandbox;
#[cfg(feature = "wasm")]
pub use wasm::{WasmSandbox, WasmTool};

#[cfg(not(target_os = "linux"))]
use elsewhere::Ready;
#[cfg(target_os = "linux")]
use linux::Ready;

#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../../../book/src/sandbox.md")]
    struct Sandbox;
    #[cfg(feature = "wasm")]
    #[doc = include_str!("../../../book/src/webassembly.md")]
    struct WebAssembly;
}
