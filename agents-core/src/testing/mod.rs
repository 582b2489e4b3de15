//! Scripted model for tests, and a handle that inspects the requests that the model received.
//!
//! With this feature, every run checks at its end that its facts lead to the state that it is in. Programs that measure
//! runs turn the check off: [`check_runs`].

pub(crate) mod oracle;
mod scripted;

pub use scripted::{ReceivedRequest, Script, ScriptedModel};

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
