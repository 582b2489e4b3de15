//! Thread that reminds modules of the time. A module looks at its deadline with each tick.

use std::{
    io,
    sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError},
    thread,
    time::Duration,
};
use wasmtime::Engine;

/// Time between two ticks of the clock, by which the engine notices that a module's time is over.
const TICK: Duration = Duration::from_millis(10);

/// Clock that ticks while modules run: the number of running modules, and the signal for its thread that a first one
/// has begun.
#[derive(Default)]
struct Clock {
    running: Mutex<usize>,
    begun: Condvar,
}

impl Clock {
    fn running(&self) -> MutexGuard<'_, usize> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Guard of a module that runs: the clock ticks until it is dropped.
pub(super) struct Ticking(&'static Clock);

impl Ticking {
    /// Counts a module that begins to run, so that the clock ticks.
    pub(super) fn start(engine: &Engine) -> io::Result<Self> {
        let clock = clock(engine)?;
        *clock.running() += 1;
        clock.begun.notify_one();
        Ok(Ticking(clock))
    }
}

impl Drop for Ticking {
    fn drop(&mut self) {
        *self.0.running() -= 1;
    }
}

fn clock(engine: &Engine) -> io::Result<&'static Clock> {
    static CLOCK: OnceLock<Clock> = OnceLock::new();
    static THREAD: Mutex<bool> = Mutex::new(false);
    let clock = CLOCK.get_or_init(Clock::default);
    let mut has_thread = THREAD.lock().unwrap_or_else(PoisonError::into_inner);
    if !*has_thread {
        let engine = engine.clone();
        thread::Builder::new()
            .name("agents-wasm-clock".to_owned())
            .spawn(move || tick(clock, &engine))?;
        *has_thread = true;
    }
    Ok(clock)
}

fn tick(clock: &Clock, engine: &Engine) {
    loop {
        let running = clock.running();
        let none = |running: &mut usize| *running == 0;
        drop(clock.begun.wait_while(running, none));
        thread::sleep(TICK);
        engine.increment_epoch();
    }
}
