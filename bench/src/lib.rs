//! Code shared by all contenders: the task, the figures, and their measurement.
//!
//! Each contender is a separate program, so that its CPU time and memory are measured alone. Its arguments are the
//! server's address, the turns per run, the number of runs, and the number of runs at once. It prints one line of
//! JSON.

pub mod contest;
pub mod minimal;
pub mod peers;
pub mod plot;
pub mod report;
pub mod table;

use futures_util::StreamExt;
use serde::{Deserialize, Serialize};
use std::{env, fs, future::Future, ops::Range, process::Command, time::Instant};

/// The user's question at the start of every run.
pub const QUESTION: &str = "What is 17 + 25?";
/// The system prompt of every agent.
pub const PROMPT: &str = "You are a math agent.";

/// The key that the clients of OpenAI send; the server of this package needs no key.
pub const KEY: &str = "a-key";

/// The work of a contender, which its program gets from the command line.
pub struct Task {
    pub url: String,
    pub runs: usize,
    pub width: usize,
    pub turns: usize,
}

impl Task {
    /// Reads the task from the command line: `URL TURNS RUNS WIDTH`.
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

/// The figures that were measured for a contender.
#[derive(Debug, Serialize, Deserialize)]
pub struct Figures {
    pub name: String,
    /// Number of runs that ended with the right answer.
    pub right: usize,
    /// Microseconds of CPU for each request to the model.
    pub cpu_us: f64,
    /// Microseconds on the clock for each request to the model.
    pub wall_us: f64,
    /// Kilobytes of peak resident memory beyond the memory before the runs, divided by the number of runs at once.
    pub kb_per_run: f64,
}

/// Runs the contender's loop and prints its figures. `one` performs one run and returns its answer.
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

/// Returns the CPU time of this process so far, user and system, in microseconds.
fn cpu_us() -> f64 {
    ticks(11..13) * 10_000.0
}

/// Returns the CPU time of all finished child processes in seconds.
pub fn children_s() -> f64 {
    ticks(13..15) / 100.0
}

/// Returns the sum of these fields of `/proc/self/stat`. Field 0 is the first one after the program's name in
/// parentheses. Linux has 100 ticks a second.
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

/// Returns the output of a program without the final line break; empty if the program cannot be run.
pub fn command_output(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).output();
    output.map_or_else(
        |_| String::new(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    )
}
