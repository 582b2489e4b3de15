use super::{
    clock::Ticking,
    host::{Host, Stop},
    module::Compiled,
};
use crate::{Job, Limit, Ran, SandboxError, capture::Capture, wording};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Instant,
};
use tokio::task::spawn_blocking;
use tracing::Instrument;
use wasmtime::{Error, Store, Trap, UpdateDeadline};

/// Runs a module with this job, on a thread for blocking work. If the future is dropped, the module is stopped.
pub(super) async fn run(
    compiled: &Arc<Compiled>,
    name: &str,
    job: Job,
) -> Result<Ran, SandboxError> {
    let sandbox = &compiled.sandbox;
    let span = tracing::info_span!(
        "sandbox",
        module = name,
        time_ms = u64::try_from(sandbox.time.as_millis()).unwrap_or(u64::MAX),
        fuel = sandbox.fuel,
        memory = sandbox.memory,
        output = sandbox.output,
        status = tracing::field::Empty,
        limit = tracing::field::Empty,
    );
    let work = async {
        let ran = in_thread(compiled, name, job).await;
        let span = tracing::Span::current();
        match &ran {
            Ok(ran) => span.record("status", ran.status),
            Err(error) => span.record("limit", tracing::field::debug(error.limit())),
        };
        ran
    };
    work.instrument(span).await
}

/// Guard that stops a running module when it is dropped.
struct StopWith(Arc<AtomicBool>);

impl Drop for StopWith {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

async fn in_thread(compiled: &Arc<Compiled>, name: &str, job: Job) -> Result<Ran, SandboxError> {
    job.check()?;
    if !job.files.is_empty() {
        return Err(SandboxError::job(wording::NO_FILES.to_owned()));
    }
    let sandbox = &compiled.sandbox;
    let stop = StopWith(Arc::default());
    let until = Instant::now().checked_add(sandbox.time);
    let is_over = {
        let stopped = stop.0.clone();
        move || stopped.load(Relaxed) || until.is_some_and(|until| Instant::now() >= until)
    };
    let host = Host::new(name, sandbox, job);
    let module = compiled.clone();
    let mut work = spawn_blocking(move || to_its_end(&module, host, is_over));
    match tokio::time::timeout(sandbox.time, &mut work).await {
        Ok(Ok(ran)) => ran,
        Ok(Err(error)) => Err(SandboxError::start(wording::not_started(&error))),
        // The module sees it at its next tick, or when it gets its thread.
        Err(_) => Err(breach(compiled, Limit::Time, "")),
    }
}

/// Runs a module until it ends, in a store of its own.
fn to_its_end(
    compiled: &Compiled,
    host: Host,
    is_over: impl Fn() -> bool + Send + Sync + 'static,
) -> Result<Ran, SandboxError> {
    // It may have waited long for its thread.
    if is_over() {
        return Err(breach(compiled, Limit::Time, ""));
    }
    let failed = |error: &dyn std::fmt::Display| SandboxError::start(wording::not_started(&error));
    let engine = compiled.instance.module().engine();
    let _ticking = Ticking::start(engine).map_err(|error| failed(&error))?;
    let mut store = Store::new(engine, host);
    store.limiter(|host| host);
    let set = store.set_fuel(compiled.sandbox.fuel);
    set.map_err(|error| failed(&error))?;
    store.set_epoch_deadline(1);
    store.epoch_deadline_callback(move |_| match is_over() {
        true => Err(Error::new(Stop::Breach(Limit::Time))),
        false => Ok(UpdateDeadline::Continue(1)),
    });
    let start = compiled.instance.instantiate(&mut store);
    let start = start.and_then(|instance| instance.get_typed_func::<(), ()>(&mut store, "_start"));
    let ended = start.and_then(|start| start.call(&mut store, ()));
    let Host { out, err, .. } = store.into_data();
    match ended {
        Ok(()) => Ok(ran(0, &out, &err)),
        Err(error) => match why(&error) {
            Stop::Exit(status) => Ok(ran(status, &out, &err)),
            Stop::Breach(Limit::Trap) => {
                let sentence = wording::trapped(&error.root_cause());
                let tail = err.tail(compiled.sandbox.output);
                let message = wording::with_stderr(&sentence, &tail);
                Err(SandboxError::breach(Limit::Trap, message))
            }
            Stop::Breach(limit) => {
                let tail = err.tail(compiled.sandbox.output);
                Err(breach(compiled, limit, &tail))
            }
        },
    }
}

fn ran(status: i32, out: &Capture, err: &Capture) -> Ran {
    Ran::new(status, (&out.begin, out.total), (&err.begin, err.total))
}

fn breach(compiled: &Compiled, limit: Limit, tail: &str) -> SandboxError {
    let sentence = wording::wasm_breach(limit, &compiled.sandbox);
    SandboxError::breach(limit, wording::with_stderr(&sentence, tail))
}

/// Returns the reason why a module has ended with this error.
fn why(error: &Error) -> Stop {
    if let Some(stop) = error.downcast_ref::<Stop>() {
        return *stop;
    }
    Stop::Breach(match error.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => Limit::Fuel,
        Some(Trap::StackOverflow) => Limit::Stack,
        _ => Limit::Trap,
    })
}
