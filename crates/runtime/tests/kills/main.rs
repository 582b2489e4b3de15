//! Runs that are killed at random moments and restarted: no payment is lost or repeated.
//!
//! `AGENTS_KILLS=200 cargo test --release -p typed-agents-runtime --test kills -- --nocapture` kills until this number of kills
//! have hit a running payment, in a journal and in each store; the default is small. Controls with deliberate errors
//! show that the test finds double payments.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]

#[path = "../../../../tests/examples/built.rs"]
mod built;
mod journals;
#[cfg(unix)]
mod people;
#[cfg(unix)]
mod stores;

use std::{
    path::PathBuf,
    process::Child,
    thread,
    time::{Duration, Instant},
};

/// Longest time that one process may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Returns the number of kills that have to hit a running payment.
fn wanted(by_default: usize) -> usize {
    let said = std::env::var("AGENTS_KILLS").ok();
    said.and_then(|said| said.parse().ok())
        .unwrap_or(by_default)
}

/// The example that does it right.
const RIGHT: &str = "payments";

/// Returns the path of a built example.
fn program(name: &str) -> PathBuf {
    built::EXAMPLES.join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

/// Returns a random number below this one.
fn below(state: &mut u64, bound: u64) -> u64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % bound
}

/// Waits this long for a process, then kills it; returns its output if it had ended.
fn wait(mut child: Child, time: Duration) -> Option<String> {
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            let output = child.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(status.success(), "{said}");
            return Some(String::from_utf8(output.stdout).unwrap());
        }
        if began.elapsed() >= time {
            child.kill().unwrap();
            child.wait().unwrap();
            return None;
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// The figures of the last line, which is `paid P, in doubt D`.
fn counts(said: &str) -> (usize, usize) {
    let figures = said.lines().last().and_then(|line| {
        let (paid, in_doubt) = line.strip_prefix("paid ")?.split_once(", in doubt ")?;
        Some((paid.parse().ok()?, in_doubt.parse().ok()?))
    });
    figures.unwrap_or_else(|| panic!("it ends with `paid P, in doubt D`, and not so: {said:?}"))
}

/// A test that found no figures would find no fault either.
#[test]
#[should_panic(expected = "it ends with `paid P, in doubt D`")]
fn an_output_without_figures_is_a_failure() {
    counts("paid ten times\n");
}
