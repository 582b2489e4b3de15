//! What every contender shares: the task, the figures, how they are taken.
//!
//! A contender is a program of its own, so that its CPU time and its memory are its alone. It is
//! given the server's address, the turns of a run, the runs, and how many go on at once; it prints
//! one line of JSON.

pub mod peers;
pub mod plot;
pub mod report;

use futures_util::StreamExt;
use serde::{Deserialize, Serialize};
use std::{env, fs, future::Future, ops::Range, process::Command, time::Instant};

/// The question every run begins with.
pub const QUESTION: &str = "What is 17 + 25?";
/// What every agent is told to be.
pub const PROMPT: &str = "You are a math agent.";

/// What a contender is asked to do.
pub struct Task {
    pub url: String,
    pub runs: usize,
    pub width: usize,
    pub turns: usize,
}

impl Task {
    /// From the command line: `URL TURNS RUNS WIDTH`.
    pub fn from_args() -> Task {
        let args: Vec<String> = env::args().collect();
        let number = |at: usize| args.get(at).and_then(|text| text.parse().ok()).unwrap_or(1);
        let url = args
            .get(1)
            .cloned()
            .unwrap_or_else(|| "http://127.0.0.1:19090".into());
        Task {
            url,
            turns: number(2),
            runs: number(3),
            width: number(4),
        }
    }
}

/// What a contender measured.
#[derive(Debug, Serialize, Deserialize)]
pub struct Figures {
    pub name: String,
    /// Runs that ended with the right answer.
    pub right: usize,
    /// Microseconds of CPU for each request to the model.
    pub cpu_us: f64,
    /// Microseconds on the clock for each request to the model.
    pub wall_us: f64,
    /// Kilobytes of resident memory at the peak beyond those before the runs, for each run at once.
    pub kb_per_run: f64,
}

/// Runs the contender's loop and prints its figures. `one` is one whole run and gives its answer.
pub async fn measure<F, Fut>(name: &str, task: &Task, one: F)
where
    F: Fn() -> Fut,
    Fut: Future<Output = String>,
{
    for _ in 0..5 {
        assert!(one().await.contains("done"), "{name} gives a wrong answer");
    }
    let before = resident("VmRSS:");
    let (clock, cpu) = (Instant::now(), cpu_us());
    let mut runs = futures_util::stream::iter(0..task.runs)
        .map(|_| one())
        .buffer_unordered(task.width);
    let mut right = 0;
    while let Some(answer) = runs.next().await {
        right += usize::from(answer.contains("done"));
    }
    let requests = (task.runs * (task.turns + 1)) as f64;
    let figures = Figures {
        name: name.into(),
        right,
        cpu_us: (cpu_us() - cpu) / requests,
        wall_us: clock.elapsed().as_secs_f64() * 1e6 / requests,
        kb_per_run: resident("VmHWM:").saturating_sub(before) as f64 / task.width as f64,
    };
    println!(
        "{}",
        serde_json::to_string(&figures).expect("figures are numbers")
    );
}

/// CPU time of this process so far, user and system.
fn cpu_us() -> f64 {
    ticks(11..13) * 10_000.0
}

/// CPU time, in seconds, of all that this process has started and seen the end of.
pub fn children_s() -> f64 {
    ticks(13..15) / 100.0
}

/// The sum of these fields of `/proc/self/stat`, counted from the one after the name in parentheses, which is
/// field 3. Linux has 100 ticks a second.
fn ticks(of: Range<usize>) -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").expect("this needs Linux");
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    fields[of]
        .iter()
        .filter_map(|text| text.parse::<f64>().ok())
        .sum()
}

fn resident(key: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("this needs Linux");
    let line = status
        .lines()
        .find(|line| line.starts_with(key))
        .unwrap_or_default();
    line.split_whitespace()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or(0)
}

/// What a program says, without the end of the line; empty if there is none of that name.
pub fn said(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).output();
    output.map_or_else(
        |_| String::new(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    )
}
