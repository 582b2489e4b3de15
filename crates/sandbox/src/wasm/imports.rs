//! Functions of WASI preview 1 that modules can be given. There are none for files, sockets or processes.

use super::{
    WasmSandbox,
    host::{Host, Stop},
};
use crate::{Limit, wording};
use std::time::{SystemTime, UNIX_EPOCH};
use wasmtime::{Caller, Engine, Error, Extern, Linker, Result, Trap};

/// Name of the module from which modules import the functions of WASI.
const WASI: &str = "wasi_snapshot_preview1";

/// Functions that every module may import.
const ALWAYS: &[&str] = &[
    "args_get",
    "args_sizes_get",
    "environ_get",
    "environ_sizes_get",
    "fd_close",
    "fd_fdstat_get",
    "fd_prestat_dir_name",
    "fd_prestat_get",
    "fd_read",
    "fd_seek",
    "fd_write",
    "proc_exit",
    "sched_yield",
];

/// Functions that a module may import if its settings give it the clock.
const CLOCK: &[&str] = &["clock_res_get", "clock_time_get"];

/// Function that a module may import if its settings give it random bytes.
const RANDOM: &str = "random_get";

// Numbers by which WASI says what went wrong.
const OK: i32 = 0;
const BAD_FILE: i32 = 8;
const INVALID: i32 = 28;
const NO_SEEK: i32 = 70;

/// Returns why a module may not have an import; `None` if it may.
pub(super) fn refused(module: &str, name: &str, sandbox: &WasmSandbox) -> Option<String> {
    let is_given = module == WASI
        && (ALWAYS.contains(&name)
            || (sandbox.has_clock && CLOCK.contains(&name))
            || (sandbox.has_random && name == RANDOM));
    if is_given {
        return None;
    }
    Some(match (module, name) {
        (WASI, name) if CLOCK.contains(&name) => wording::import_refused(name, ".clock()"),
        (WASI, RANDOM) => wording::import_refused(RANDOM, ".random()"),
        (WASI, name) => wording::right_never_given(name),
        (module, name) => wording::import_unknown(module, name),
    })
}

/// Returns all functions that modules may import. Each module is linked with those that it imports.
pub(super) fn linker(engine: &Engine) -> Result<Linker<Host>> {
    let mut linker = Linker::new(engine);
    linker.func_wrap(
        WASI,
        "args_sizes_get",
        |mut caller: Caller<'_, Host>, count: u32, size: u32| {
            let (strings, bytes) = sizes(&caller.data().args);
            write_u32(&mut caller, count, strings)?;
            write_u32(&mut caller, size, bytes)?;
            Ok(OK)
        },
    )?;
    linker.func_wrap(
        WASI,
        "args_get",
        |mut caller: Caller<'_, Host>, list: u32, text: u32| {
            let args = caller.data().args.clone();
            write_strings(&mut caller, &args, list, text)
        },
    )?;
    linker.func_wrap(
        WASI,
        "environ_sizes_get",
        |mut caller: Caller<'_, Host>, count: u32, size: u32| {
            let (strings, bytes) = sizes(&caller.data().env);
            write_u32(&mut caller, count, strings)?;
            write_u32(&mut caller, size, bytes)?;
            Ok(OK)
        },
    )?;
    linker.func_wrap(
        WASI,
        "environ_get",
        |mut caller: Caller<'_, Host>, list: u32, text: u32| {
            let env = caller.data().env.clone();
            write_strings(&mut caller, &env, list, text)
        },
    )?;
    linker.func_wrap(WASI, "fd_read", fd_read)?;
    linker.func_wrap(WASI, "fd_write", fd_write)?;
    linker.func_wrap(WASI, "fd_close", |fd: u32| known(fd, OK))?;
    linker.func_wrap(WASI, "fd_seek", |fd: u32, _: i64, _: u32, _: u32| {
        known(fd, NO_SEEK)
    })?;
    linker.func_wrap(
        WASI,
        "fd_fdstat_get",
        |mut caller: Caller<'_, Host>, fd: u32, at: u32| {
            // A file of no known kind, with no flags and no rights that could be handed on.
            write(&mut caller, at, &[0; 24])?;
            Ok::<_, Error>(known(fd, OK))
        },
    )?;
    // There are no folders.
    linker.func_wrap(WASI, "fd_prestat_get", |_: u32, _: u32| BAD_FILE)?;
    linker.func_wrap(WASI, "fd_prestat_dir_name", |_: u32, _: u32, _: u32| {
        BAD_FILE
    })?;
    linker.func_wrap(WASI, "sched_yield", || OK)?;
    linker.func_wrap(WASI, "proc_exit", |status: i32| -> Result<()> {
        Err(Error::new(Stop::Exit(status)))
    })?;
    linker.func_wrap(
        WASI,
        "clock_time_get",
        |mut caller: Caller<'_, Host>, _: u32, _: i64, at: u32| {
            let now = SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap_or_default();
            let now = u64::try_from(now.as_nanos()).unwrap_or(u64::MAX);
            write(&mut caller, at, &now.to_le_bytes())?;
            Ok::<_, Error>(OK)
        },
    )?;
    linker.func_wrap(
        WASI,
        "clock_res_get",
        |mut caller: Caller<'_, Host>, _: u32, at: u32| {
            write(&mut caller, at, &1_000u64.to_le_bytes())?;
            Ok::<_, Error>(OK)
        },
    )?;
    linker.func_wrap(
        WASI,
        RANDOM,
        |mut caller: Caller<'_, Host>, at: u32, length: u32| {
            charge(&mut caller, u64::from(length))?;
            let (memory, _) = memory(&mut caller)?;
            let bytes = range(memory, at, length)?;
            let filled = getrandom::fill(bytes);
            filled.map_err(|error| Error::msg(error.to_string()))?;
            Ok::<_, Error>(OK)
        },
    )?;
    Ok(linker)
}

fn fd_read(mut caller: Caller<'_, Host>, fd: u32, list: u32, count: u32, at: u32) -> Result<i32> {
    if fd != 0 {
        return Ok(BAD_FILE);
    }
    let buffers = buffers(&mut caller, list, count)?;
    let (memory, host) = memory(&mut caller)?;
    let before = host.read;
    for (start, length) in buffers {
        let into = range(memory, start, length)?;
        let rest = &host.stdin[host.read..];
        let part = rest.len().min(into.len());
        into[..part].copy_from_slice(&rest[..part]);
        host.read += part;
    }
    let total = host.read - before;
    write_u32(&mut caller, at, total as u32)?;
    Ok(OK)
}

fn fd_write(mut caller: Caller<'_, Host>, fd: u32, list: u32, count: u32, at: u32) -> Result<i32> {
    if !matches!(fd, 1 | 2) {
        return Ok(BAD_FILE);
    }
    let mut total = 0_u32;
    let buffers = buffers(&mut caller, list, count)?;
    let (memory, host) = memory(&mut caller)?;
    let capture = if fd == 1 {
        &mut host.out
    } else {
        &mut host.err
    };
    for (start, length) in buffers {
        let Some(sum) = total.checked_add(length) else {
            return Ok(INVALID);
        };
        total = sum;
        capture.add(range(memory, start, length)?, host.shown);
        if capture.is_too_much(host.shown) {
            return Err(Error::new(Stop::Breach(Limit::Output)));
        }
    }
    write_u32(&mut caller, at, total)?;
    Ok(OK)
}

/// Returns this answer for one of the three files that a module has (standard input, output and error), else the error
/// of an unknown file.
fn known(fd: u32, answer: i32) -> i32 {
    if fd <= 2 { answer } else { BAD_FILE }
}

/// Takes fuel from the module for work that the host does for it, so that no loop over it is cheaper than one over
/// instructions.
fn charge(caller: &mut Caller<'_, Host>, work: u64) -> Result<()> {
    match caller.get_fuel()?.checked_sub(work) {
        Some(left) => caller.set_fuel(left),
        None => Err(Trap::OutOfFuel.into()),
    }
}

/// Returns the memory of the module that calls a function of the host, and the state of the call.
fn memory<'a>(caller: &'a mut Caller<'_, Host>) -> Result<(&'a mut [u8], &'a mut Host)> {
    match caller.get_export("memory") {
        Some(Extern::Memory(memory)) => Ok(memory.data_and_store_mut(caller)),
        // The export was there when the module was compiled.
        _ => Err(Trap::MemoryOutOfBounds.into()),
    }
}

fn range(memory: &mut [u8], at: u32, length: u32) -> Result<&mut [u8]> {
    let start = at as usize;
    let part = start
        .checked_add(length as usize)
        .and_then(|end| memory.get_mut(start..end));
    part.ok_or_else(|| Trap::MemoryOutOfBounds.into())
}

fn write(caller: &mut Caller<'_, Host>, at: u32, bytes: &[u8]) -> Result<()> {
    charge(caller, bytes.len() as u64)?;
    let (memory, _) = memory(caller)?;
    range(memory, at, bytes.len() as u32)?.copy_from_slice(bytes);
    Ok(())
}

fn write_u32(caller: &mut Caller<'_, Host>, at: u32, number: u32) -> Result<()> {
    write(caller, at, &number.to_le_bytes())
}

/// Fuel that a module pays for each buffer that the host looks at.
const LOOK: u64 = 16;

/// Returns the buffers of a list in the memory: where each starts, and its bytes.
fn buffers(caller: &mut Caller<'_, Host>, list: u32, count: u32) -> Result<Vec<(u32, u32)>> {
    charge(caller, u64::from(count) * LOOK)?;
    let (memory, _) = memory(caller)?;
    let length = count.checked_mul(8).ok_or(Trap::MemoryOutOfBounds)?;
    let (pairs, _) = range(memory, list, length)?.as_chunks::<8>();
    let number = |bytes: [u8; 4]| u32::from_le_bytes(bytes);
    let pair = |&[a, b, c, d, e, f, g, h]: &[u8; 8]| (number([a, b, c, d]), number([e, f, g, h]));
    Ok(pairs.iter().map(pair).collect())
}

/// Returns the number of strings, and their bytes with a zero behind each, as WASI asks for them.
fn sizes(strings: &[String]) -> (u32, u32) {
    let bytes: usize = strings.iter().map(|string| string.len() + 1).sum();
    (strings.len() as u32, bytes as u32)
}

/// Writes strings into the memory of the module with a zero behind each, and the list of the places where they are.
fn write_strings(
    caller: &mut Caller<'_, Host>,
    strings: &[String],
    list: u32,
    text: u32,
) -> Result<i32> {
    let (mut places, mut bytes) = (Vec::new(), Vec::new());
    for string in strings {
        let place = text.wrapping_add(bytes.len() as u32);
        places.extend(place.to_le_bytes());
        bytes.extend(string.as_bytes());
        bytes.push(0);
    }
    write(caller, list, &places)?;
    write(caller, text, &bytes)?;
    Ok(OK)
}
