//! Texts of the sandbox: those that models are told first, then those that authors are told.

#[cfg(feature = "wasm")]
use crate::WasmSandbox;
use crate::{Limit, Sandbox};
use std::{
    fmt::{Display, Write},
    path::Path,
    time::Duration,
};

// ---- what the tools are ----

pub(crate) const PYTHON: &str = "Runs Python 3 code and returns its exit status and what it printed. Nothing is kept between calls.";

pub(crate) fn description(what: &str, sandbox: &Sandbox) -> String {
    let mut text = format!(
        "{what} It runs in a box without a network. Limits: {:?}, {} s of CPU, {} of memory, {} processes, {} open files, {} \
         for a file, {} for all files in `/tmp`; output beyond {} is cut.",
        sandbox.time,
        sandbox.cpu_seconds(),
        size(sandbox.memory),
        sandbox.processes,
        sandbox.open_files,
        size(sandbox.file_size),
        size(sandbox.disk),
        size(sandbox.output as u64),
    );
    for folder in &sandbox.folders {
        let how = if folder.is_writable {
            "writable"
        } else {
            "read-only"
        };
        // Writing to a `String` does not fail.
        let _ = write!(text, " `{}` is {how}.", folder.at.display());
    }
    text
}

#[cfg(feature = "wasm")]
pub(crate) fn wasm_description(what: &str, sandbox: &WasmSandbox) -> String {
    format!(
        "{what} It runs in a box without files and without a network. Limits: {:?}, {} instructions, {} of memory; output \
         beyond {} is cut.",
        sandbox.time,
        sandbox.fuel,
        size(sandbox.memory),
        size(sandbox.output as u64),
    )
}

// ---- limits that a program ran into ----

/// Returns the error text for a limit that a program has run into: what happened, and what the author of the tool or of
/// the code can do.
pub(crate) fn breach(limit: Limit, sandbox: &Sandbox) -> String {
    match limit {
        Limit::Cpu => format!(
            "a process used more than {} s of CPU; allow more with `.cpu(..)`, or ask for less",
            sandbox.cpu_seconds()
        ),
        Limit::Memory => format!(
            "a process wanted more than {} of memory; allow more with `.memory(..)`, or ask for less",
            size(sandbox.memory)
        ),
        Limit::Time => format!(
            "the program did not end within {:?}, and was killed; allow more with `.time(..)`, or ask for less",
            sandbox.time
        ),
        Limit::OpenFiles => format!(
            "a process opened more than {} files; allow more with `.open_files(..)`, or close some",
            sandbox.open_files
        ),
        Limit::Processes => format!(
            "the program wanted more than {} processes and threads; allow more with `.processes(..)`, or use fewer",
            sandbox.processes
        ),
        Limit::FileSize => format!(
            "a file became larger than {}; allow more with `.file_size(..)`, or write less",
            size(sandbox.file_size)
        ),
        Limit::Disk => format!(
            "the files in `/tmp` became larger than {}; allow more with `.disk(..)`, or write less",
            size(sandbox.disk)
        ),
        Limit::Output => format!(
            "the program wrote more than 16 times the {} of output that are shown, and was killed; allow more with \
             `.output(..)`, or print less",
            size(sandbox.output as u64)
        ),
        Limit::Files => "the program wanted to write where it may only read; mount a folder with `.writable(..)`, or write \
                         to `/tmp`"
            .to_owned(),
        Limit::Network => "the program wanted the network, and its box has none; fetch the data with another tool, and hand \
                           it over as input"
            .to_owned(),
        Limit::SystemCall => "the program made a system call that its box forbids; use a tool without a sandbox for trusted \
                              work of that kind, or do without"
            .to_owned(),
        Limit::Killed => format!(
            "the program was killed, by itself or by the kernel: the machine may be out of memory, or a process ignored the \
             limit of {} s of CPU; ask for less",
            sandbox.cpu_seconds()
        ),
        Limit::Fuel | Limit::Stack | Limit::Trap => {
            "the module reached a limit; ask for less".to_owned()
        }
    }
}

/// Returns the error text for a limit that a WebAssembly module has run into.
#[cfg(feature = "wasm")]
pub(crate) fn wasm_breach(limit: Limit, sandbox: &WasmSandbox) -> String {
    match limit {
        Limit::Fuel => format!(
            "the module took more than {} instructions; allow more with `.fuel(..)`, or ask for less",
            sandbox.fuel
        ),
        Limit::Memory => format!(
            "the module wanted more than {} of memory; allow more with `.memory(..)`, or ask for less",
            size(sandbox.memory)
        ),
        Limit::Time => format!(
            "the module did not end within {:?}, and was stopped; allow more with `.time(..)`, or ask for less",
            sandbox.time
        ),
        Limit::Output => format!(
            "the module wrote more than 16 times the {} of output that are shown, and was stopped; allow more with \
             `.output(..)`, or print less",
            size(sandbox.output as u64)
        ),
        Limit::Stack => "the module used more than 512 KiB of stack: calls within calls without an end, as a rule; ask for less".to_owned(),
        _ => "the module was stopped; ask for less".to_owned(),
    }
}

/// Returns the error text for a mistake of a module, in the words of wasmtime.
#[cfg(feature = "wasm")]
pub(crate) fn trapped(why: &dyn Display) -> String {
    format!("the module made a mistake that ends it ({why}); try other arguments")
}

/// Returns an error text with the end of the standard error, where the program may say more.
pub(crate) fn with_stderr(sentence: &str, end: &str) -> String {
    match end {
        "" => sentence.to_owned(),
        end => format!("{sentence}. The end of its standard error:\n{end}"),
    }
}

// ---- jobs that no program can be given ----

pub(crate) fn nul_in_argument(argument: &str) -> String {
    format!(
        "the argument {argument:?} has a zero byte, which no program can be given; leave it out"
    )
}

pub(crate) fn argument_too_long(bytes: usize) -> String {
    format!(
        "an argument has {bytes} bytes, and 131071 are possible; hand it over by `.stdin(..)` or `.file(..)`"
    )
}

pub(crate) fn arguments_too_long(bytes: usize) -> String {
    format!(
        "the arguments have {bytes} bytes, and 1000000 are possible; hand them over by `.stdin(..)` or `.file(..)`"
    )
}

pub(crate) fn not_a_file_name(name: &str) -> String {
    format!("{name:?} is no name of a file; use a plain name without `/`")
}

pub(crate) fn file_twice(name: &str) -> String {
    format!("two files have the name {name:?}; give each a name of its own")
}

#[cfg(feature = "wasm")]
pub(crate) const NO_FILES: &str =
    "a module has no files; hand the text over by `.stdin(..)` or `.arg(..)`";

// ---- output ----

pub(crate) fn cut(shown: usize, total: u64) -> String {
    format!("\n… (cut: these are {shown} of {total} bytes)")
}

// ---- boxes that are not started ----

pub(crate) fn not_started(error: &impl Display) -> String {
    format!(
        "the box could not be started: {error}; check bubblewrap and the temporary folder of this machine"
    )
}

pub(crate) fn folder_moved(source: &Path) -> String {
    format!(
        "the box could not be started: `{}` is not there any more, or is reached by a link; put it back, or make the tool anew",
        source.display()
    )
}

// ==== texts for authors alone ====

#[cfg(not(target_os = "linux"))]
pub(crate) const NOT_LINUX: &str = "a sandbox needs Linux, for its namespaces; run the agent there, for example in a virtual machine";

pub(crate) fn program_missing(name: &str, package: &str) -> String {
    format!(
        "`{name}` is not installed, and without it nothing is run; install the package `{package}`"
    )
}

pub(crate) fn no_filter(arch: &str, error: &dyn Display) -> String {
    format!(
        "no filter of system calls can be made for `{arch}`: {error}; use `x86_64`, `aarch64` or `riscv64`"
    )
}

pub(crate) fn no_box(why: &str) -> String {
    format!(
        "no box can be made on this machine: {why}; bubblewrap 0.8 has to be there and user namespaces have to be allowed, \
         and each limit has to leave room for a shell"
    )
}

pub(crate) fn probe_timed_out(after: Duration) -> String {
    format!("the first box did not end within {after:?}")
}

pub(crate) fn not_so(name: &str, wanted: &str, is: &str) -> String {
    format!(
        "this platform does not enforce a limit: in the box, `{name}` is {is} instead of {wanted}; choose another limit, or \
         another machine"
    )
}

pub(crate) fn network_seen(name: &str) -> String {
    format!(
        "this platform does not take the network away: the box has `{name}`; use another machine"
    )
}

pub(crate) fn file_left_open(fd: &str) -> String {
    format!(
        "a file of this process is open in the box, as descriptor {fd}; open it with `O_CLOEXEC`"
    )
}

pub(crate) const PROCESSES_UNLIMITED: &str = "this platform does not limit the number of processes in a box; use Linux 5.14 or later, and do not run as root";

pub(crate) fn not_writable(folder: &str, steps_down: bool) -> String {
    match steps_down {
        true => format!(
            "`{folder}` cannot be written in the box; the agent runs as root, and programs as the user 65534: give the folder \
             to that user"
        ),
        false => {
            format!("`{folder}` cannot be written in the box; let the user of the agent write it")
        }
    }
}

pub(crate) fn program_not_in_box(program: &Path) -> String {
    format!(
        "`{}` is no program in the box; give an absolute path below `/usr`, or mount its folder with `.read_only(..)`",
        program.display()
    )
}

pub(crate) fn not_a_variable(name: &str) -> String {
    format!(
        "the variable {name:?} of the environment has a name or a value that cannot be set; leave out `=` and zero bytes"
    )
}

pub(crate) fn variable_of_loader(name: &str) -> String {
    format!(
        "the variable `{name}` of the environment would change the programs that limit the box, too; leave it out, or set it by a \
         script that is the program"
    )
}

pub(crate) fn writes_undeclared(folder: &Path) -> String {
    format!(
        "the program can write to `{}`, and the tool does not say so; declare `Effects::Writes`, or mount the folder with \
         `.read_only(..)`",
        folder.display()
    )
}

pub(crate) const FOLDER_NOT_FOUND: &str = "it is not there; create it first";
pub(crate) const FOLDER_NEVER: &str =
    "it would open the box to the whole machine; mount the folder that is needed";
pub(crate) const FOLDER_OF_RUNS: &str = "it has to do with the files of other boxes in the temporary folder; mount another folder, or one in it";

pub(crate) fn folder_in_writable(writable: &Path) -> String {
    format!(
        "it is also in `{}`, which can be written, so that the program could put a link in its place; mount folders that do not \
         overlap, or all of them with `.read_only(..)`",
        writable.display()
    )
}

pub(crate) fn place_in_writable(at: &Path, writable: &Path) -> String {
    format!(
        "its place `{}` is within `{}`, which can be written, so that a link could lead it elsewhere; choose a place outside of \
         that",
        at.display(),
        writable.display()
    )
}

/// Error of a folder that is not mounted. `why` is one of the constants above, [`folder_misplaced`], or one of the
/// texts of folders that overlap.
pub(crate) fn folder_refused(source: &Path, why: &str) -> String {
    format!("`{}` is not mounted: {why}", source.display())
}

pub(crate) fn folder_misplaced(at: &Path) -> String {
    format!(
        "`{}` is no place for it; choose an absolute path that is not one of the box's own, such as `/data`",
        at.display()
    )
}

// ---- modules that are refused ----

#[cfg(feature = "wasm")]
pub(crate) fn no_wasm(error: &dyn Display) -> String {
    format!("wasmtime cannot run modules on this machine: {error}; use another machine")
}

#[cfg(feature = "wasm")]
pub(crate) fn module_broken(why: &str) -> String {
    format!(
        "the module is not valid: {why}; give the bytes of a `.wasm` file that was compiled for `wasm32-wasip1`"
    )
}

#[cfg(feature = "wasm")]
pub(crate) const NO_START: &str = "the module has no function `_start` without parameters; compile it as a program, not as a library";

#[cfg(feature = "wasm")]
pub(crate) const NO_MEMORY: &str = "the module exports no memory of the name `memory`; export it, as compilers do for `wasm32-wasip1`";

#[cfg(feature = "wasm")]
pub(crate) fn module_too_large(wanted: u64, most: u64) -> String {
    format!(
        "the module begins with {wanted} bytes of memory, and {} are allowed; allow more with `.memory(..)`",
        size(most)
    )
}

#[cfg(feature = "wasm")]
pub(crate) fn import_refused(name: &str, right: &str) -> String {
    format!(
        "the module imports `{name}`, which it was not given; give it with `{right}`, or compile the module without"
    )
}

#[cfg(feature = "wasm")]
pub(crate) fn right_never_given(name: &str) -> String {
    format!(
        "the module imports `{name}`, and a module has no files, sockets, waits or signals; compile it without, or run the \
         program with `CommandTool`"
    )
}

#[cfg(feature = "wasm")]
pub(crate) fn import_unknown(module: &str, name: &str) -> String {
    format!(
        "the module imports `{name}` of `{module}`, which is not there; compile it for `wasm32-wasip1`"
    )
}

/// Returns bytes as people write them, such as `64 MB`.
fn size(bytes: u64) -> String {
    match bytes {
        0 => "0 bytes".to_owned(),
        bytes if bytes.is_multiple_of(1_000_000) => format!("{} MB", bytes / 1_000_000),
        bytes if bytes.is_multiple_of(1_000) => format!("{} kB", bytes / 1_000),
        bytes => format!("{bytes} bytes"),
    }
}
