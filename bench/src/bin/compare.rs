//! Runs every contender on the same work and prints their costs side by side.
//!
//! `cargo run --release --manifest-path bench/Cargo.toml [-- [ROUNDS] [CONTENDERS] [--write]]`
//!
//! Arguments such as `hand ours wire` select contenders by their programs; the default is all. `--write` writes the
//! figures into `results/` and the README.
//!
//! The server runs on one core and the contender on the other (`taskset`), with one worker thread each. Each figure is
//! the best of the rounds, since other programs on the machine only add time.

use agents_bench::{
    Figures,
    table::{Cell, Row, Table},
};
use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::Duration,
};

/// Workloads: name, turns, runs, runs at once, and the model's delay in milliseconds.
const WORK: [(&str, usize, usize, usize, u64); 3] = [
    ("10 turns, one run at a time", 10, 1000, 1, 0),
    ("100 turns, one run at a time", 100, 100, 1, 0),
    ("10 turns, 500 runs at once", 10, 1000, 500, 20),
];
const CONTENDERS: [&str; 6] = ["hand", "ours", "everything", "wire", "autoagents", "rig"];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let rounds = args.iter().find_map(|text| text.parse().ok()).unwrap_or(3);
    let named = |bin: &&str| args.iter().any(|text| text == bin);
    let mut contenders: Vec<&str> = CONTENDERS.into_iter().filter(named).collect();
    if contenders.is_empty() {
        contenders = CONTENDERS.into();
    }
    let here = std::env::current_exe().expect("this program has a path");
    let bins = here.parent().expect("programs lie in a folder");
    for bin in contenders.iter().chain(&["server"]) {
        if !bins.join(bin).exists() {
            build();
            break;
        }
    }
    let mut found = Vec::new();
    for (at, (name, turns, runs, width, delay)) in WORK.into_iter().enumerate() {
        let port = 19090 + at;
        let _server = Server::start(bins, port, turns, delay);
        println!("\n{name}");
        println!(
            "  {:<22} {:>12} {:>12} {:>12} {:>9} {:>9}",
            "", "CPU/turn µs", "wall/turn µs", "kB/run", "CPU ×", "kB ×"
        );
        let mut best: Vec<Figures> = Vec::new();
        for _ in 0..rounds {
            for &bin in &contenders {
                let Some(now) = run(bins, bin, port, turns, runs, width) else {
                    continue;
                };
                match best.iter_mut().find(|held| held.name == now.name) {
                    Some(held) => {
                        held.cpu_us = held.cpu_us.min(now.cpu_us);
                        held.wall_us = held.wall_us.min(now.wall_us);
                        held.kb_per_run = held.kb_per_run.min(now.kb_per_run);
                        held.right = held.right.min(now.right);
                    }
                    None => best.push(now),
                }
            }
        }
        let (cpu, kb) = best
            .first()
            .map_or((1.0, 1.0), |hand| (hand.cpu_us, hand.kb_per_run));
        for figures in &best {
            let Figures {
                name,
                right,
                cpu_us,
                wall_us,
                kb_per_run,
            } = figures;
            let wrong = if *right == runs {
                String::new()
            } else {
                format!("  ({right} of {runs} right)")
            };
            println!(
                "  {name:<22} {cpu_us:>12.1} {wall_us:>12.1} {kb_per_run:>12.1} {:>9.2} {:>9.2}{wrong}",
                cpu_us / cpu,
                kb_per_run / kb,
            );
        }
        found.push(best);
    }
    if args.iter().any(|text| text == "--write") {
        for table in tables(&found, rounds) {
            table.write().expect("the results can be written");
        }
    }
}

/// Returns the tables of CPU time per turn and memory per run.
fn tables(found: &[Vec<Figures>], rounds: usize) -> [Table; 2] {
    let [short, long, wide] = found else {
        panic!("every work has its figures");
    };
    let of = |all: &[Figures], name: &str, figure: fn(&Figures) -> f64| {
        let figures = all.iter().find(|figures| figures.name == name);
        figures.map_or_else(Cell::default, |figures| Cell::of(figure(figures)))
    };
    let rows = |cells: &dyn Fn(&str) -> Vec<Cell>| -> Vec<Row> {
        let names = short.iter().map(|figures| figures.name.clone());
        names
            .map(|name| Row {
                cells: cells(&name),
                name,
            })
            .collect()
    };
    let turns = Table {
        name: "turns".into(),
        title: "CPU for a turn with a tool call".into(),
        unit: "microseconds".into(),
        method: format!(
            "CPU time, user and system, of a process that runs an agent with one tool against a model on the loopback \
             interface that answers at once, for each request; one worker thread on one core, the model on the other; \
             the best of {rounds} rounds."
        ),
        logarithmic: false,
        less: true,
        columns: vec!["10 turns".into(), "100 turns".into()],
        rows: rows(&|name| {
            vec![
                of(short, name, |all| all.cpu_us),
                of(long, name, |all| all.cpu_us),
            ]
        }),
    };
    let memory = Table {
        name: "memory".into(),
        title: "Memory for a run, 500 at once".into(),
        unit: "kB".into(),
        method: format!(
            "Resident memory at its peak, less that before the runs, for each of 500 runs of 10 turns at once, its \
             connection included; the model answers after 20 ms; the best of {rounds} rounds."
        ),
        logarithmic: false,
        less: true,
        columns: vec!["500 runs at once".into()],
        rows: rows(&|name| vec![of(wide, name, |all| all.kb_per_run)]),
    };
    [turns, memory]
}

/// Builds the other programs of this package; `cargo run` builds only this one.
fn build() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let status = Command::new(env!("CARGO"))
        .args(["build", "--release", "--bins", "--manifest-path"])
        .arg(manifest)
        .status();
    assert!(
        status.is_ok_and(|status| status.success()),
        "the contenders do not build"
    );
}

fn run(
    bins: &Path,
    bin: &str,
    port: usize,
    turns: usize,
    runs: usize,
    width: usize,
) -> Option<Figures> {
    let url = format!("http://127.0.0.1:{port}");
    let output = pinned(bins.join(bin), "0")
        .args([
            &url,
            &turns.to_string(),
            &runs.to_string(),
            &width.to_string(),
        ])
        .env("TOKIO_WORKER_THREADS", "1")
        .env("OLLAMA_API_BASE_URL", &url)
        .stderr(Stdio::inherit())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let figures = text
        .lines()
        .last()
        .and_then(|line| serde_json::from_str(line).ok());
    if figures.is_none() {
        eprintln!("{bin} gave no figures");
    }
    figures
}

fn pinned(program: PathBuf, core: &str) -> Command {
    let mut command = Command::new("taskset");
    command.args(["-c", core]).arg(program);
    command
}

struct Server(Child);

impl Server {
    fn start(bins: &Path, port: usize, turns: usize, delay: u64) -> Server {
        let child = pinned(bins.join("server"), "1")
            .args([port.to_string(), turns.to_string(), delay.to_string()])
            .spawn()
            .expect("the server starts");
        sleep(Duration::from_millis(500));
        Server(child)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}
