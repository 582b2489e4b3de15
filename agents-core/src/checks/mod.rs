//! Checks of runs in tests: each run checks its facts at its end, and the oracle records what runs do.

pub(crate) mod oracle;

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

static CHECKS: AtomicBool = AtomicBool::new(true);

/// Sets whether runs that begin from now on check themselves at their end; by default, they do. The check keeps every
/// fact as text, so it costs time and memory.
///
/// ```
/// # use agents_core as agents;
/// // In a benchmark that is built with the tests' features.
/// agents::testing::check_runs(false);
/// ```
pub fn check_runs(checks: bool) {
    CHECKS.store(checks, Relaxed);
}

pub(crate) fn checks_runs() -> bool {
    CHECKS.load(Relaxed)
}
