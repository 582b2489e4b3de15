//! Measures what a box adds to a call: `cargo run -p agents-sandbox --example box_cost`.

use agents::{Effects, Tool, tool::ToolContext};
use agents_sandbox::{CommandTool, Job, PythonArgs, PythonTool, Sandbox};
use std::{
    error::Error,
    time::{Duration, Instant},
};
use tokio::process::Command;

/// Calls that are measured, of each kind.
const CALLS: usize = 100;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let begun = Instant::now();
    let command = CommandTool::new(
        "nothing",
        "Does nothing.",
        Effects::None,
        "/usr/bin/true",
        Sandbox::new(),
        |(): ()| Job::new(),
    )?;
    println!("a tool is made in {:?}", begun.elapsed());
    let python = PythonTool::new(Effects::None, Sandbox::new())?;
    let cx = ToolContext::detached("nothing");

    let mut times = Vec::new();
    for _ in 0..CALLS {
        let begun = Instant::now();
        Command::new("/usr/bin/true").output().await?;
        let alone = begun.elapsed();
        command.call((), &cx).await?;
        let boxed = begun.elapsed() - alone;
        Command::new("/usr/bin/python3")
            .args(["-I", "-c", ""])
            .output()
            .await?;
        let python_alone = begun.elapsed() - alone - boxed;
        let args = PythonArgs {
            code: String::new(),
        };
        python.call(args, &cx).await?;
        let python_boxed = begun.elapsed() - alone - boxed - python_alone;
        times.push([alone, boxed, python_alone, python_boxed]);
    }
    let median = |kind: usize| -> Duration {
        let mut of_kind: Vec<_> = times.iter().map(|times| times[kind]).collect();
        of_kind.sort();
        of_kind[CALLS / 2]
    };
    println!("medians of {CALLS} calls:");
    println!(
        "  /usr/bin/true    {:>8.2?} alone, {:>8.2?} in a box",
        median(0),
        median(1)
    );
    println!(
        "  python3, no code {:>8.2?} alone, {:>8.2?} in a box",
        median(2),
        median(3)
    );
    Ok(())
}
