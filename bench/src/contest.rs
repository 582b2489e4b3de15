//! A contest: every contender does the same work, in rounds, against a model on the loopback interface.
//!
//! The model runs on one core and the contender on the other (`taskset`), with one worker thread each. Each figure is
//! the best of the rounds, since other programs on the machine only add time.

use crate::{
    Figures,
    table::{Cell, Row, Table},
};
use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::Duration,
};

/// A workload that all contenders are measured with.
pub struct Work {
    pub name: &'static str,
    pub turns: usize,
    pub runs: usize,
    /// Number of runs that are under way at once.
    pub width: usize,
    /// Time that the model takes for a reply, in milliseconds.
    pub delay: u64,
}

/// Workload of runs with 10 turns, one run at a time.
pub const SHORT: Work = Work {
    name: "10 turns, one run at a time",
    turns: 10,
    runs: 1000,
    width: 1,
    delay: 0,
};
/// Workload of runs with 100 turns, one run at a time.
pub const LONG: Work = Work {
    name: "100 turns, one run at a time",
    turns: 100,
    runs: 100,
    width: 1,
    delay: 0,
};

/// The contenders, and how often each is measured, as the command line names them.
pub struct Contest {
    contenders: Vec<&'static str>,
    pub rounds: usize,
    /// Is `true` if the figures are written into `results/` and the README.
    pub write: bool,
    /// Folder in which the programs of the contenders are.
    bins: PathBuf,
}

impl Contest {
    /// Reads `[ROUNDS] [CONTENDERS] [--write]` from the command line, and builds the programs if some are missing.
    /// Contenders are selected by their programs; the default is all.
    pub fn from_args(all: &[&'static str]) -> Contest {
        let args: Vec<String> = std::env::args().skip(1).collect();
        let named = |bin: &&&str| args.iter().any(|text| text == **bin);
        let mut contenders: Vec<_> = all.iter().filter(named).copied().collect();
        if contenders.is_empty() {
            contenders = all.into();
        }
        let here = std::env::current_exe().expect("this program has a path");
        let bins = here.parent().expect("programs lie in a folder").to_owned();
        let mut needed = contenders.iter().chain(&["server"]);
        if needed.any(|bin| !bins.join(bin).exists()) {
            build();
        }
        Contest {
            contenders,
            rounds: args.iter().find_map(|text| text.parse().ok()).unwrap_or(3),
            write: args.iter().any(|text| text == "--write"),
            bins,
        }
    }

    /// Returns the best figures of each contender, with the number of right answers of its worst round, and prints
    /// them. They are printed in comparison with the first contender.
    pub fn best(&self, port: usize, work: &Work) -> Vec<Figures> {
        let _server = Server::start(&self.bins, port, work);
        let mut best: Vec<Figures> = Vec::new();
        for _ in 0..self.rounds {
            for &bin in &self.contenders {
                let Some(now) = self.run(bin, port, work) else {
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
        print(work, &best);
        best
    }

    fn run(&self, bin: &str, port: usize, work: &Work) -> Option<Figures> {
        let url = format!("http://127.0.0.1:{port}");
        let output = pinned(self.bins.join(bin), "0")
            .arg(&url)
            .args([work.turns, work.runs, work.width].map(|number| number.to_string()))
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
}

fn print(work: &Work, best: &[Figures]) {
    println!("\n{}", work.name);
    println!(
        "  {:<22} {:>12} {:>12} {:>12} {:>9} {:>9}",
        "", "CPU/turn µs", "wall/turn µs", "kB/run", "CPU ×", "kB ×"
    );
    let (cpu, kb) = best
        .first()
        .map_or((1.0, 1.0), |first| (first.cpu_us, first.kb_per_run));
    for figures in best {
        let Figures {
            name,
            right,
            cpu_us,
            wall_us,
            kb_per_run,
        } = figures;
        let wrong = if *right == work.runs {
            String::new()
        } else {
            format!("  ({right} of {} right)", work.runs)
        };
        println!(
            "  {name:<22} {cpu_us:>12.1} {wall_us:>12.1} {kb_per_run:>12.1} {:>9.2} {:>9.2}{wrong}",
            cpu_us / cpu,
            kb_per_run / kb,
        );
    }
}

/// Returns the rows of a table: one for each contender, with a cell for each workload. A workload is given by its
/// number of runs and its figures.
pub fn rows(works: &[(usize, Vec<Figures>)], figure: fn(&Figures) -> f64) -> Vec<Row> {
    let cell = |(runs, all): &(usize, Vec<Figures>), name: &str| {
        let figures = all.iter().find(|figures| figures.name == name);
        figures.map_or_else(Cell::default, |figures| Cell {
            wrong: figures.right != *runs,
            ..Cell::of(figure(figures))
        })
    };
    let names = works.first().into_iter().flat_map(|(_, all)| all.iter());
    names
        .map(|Figures { name, .. }| Row {
            name: name.clone(),
            cells: works.iter().map(|all| cell(all, name)).collect(),
        })
        .collect()
}

/// Runs the contest with runs of 10 and of 100 turns, and returns the CPU time for each request.
pub fn turns(name: &str, title: &str, contest: &Contest, port: usize) -> Table {
    let works = [
        (SHORT.runs, contest.best(port, &SHORT)),
        (LONG.runs, contest.best(port + 1, &LONG)),
    ];
    let rounds = contest.rounds;
    Table {
        name: name.into(),
        title: title.into(),
        unit: "microseconds".into(),
        method: format!(
            "CPU time, user and system, of a process that runs an agent with one tool against a model on the loopback \
             interface that answers after a millisecond, for each request; one worker thread on one core, the model on \
             the other; the best of {rounds} rounds."
        ),
        logarithmic: false,
        less: true,
        columns: vec!["10 turns".into(), "100 turns".into()],
        rows: rows(&works, |all| all.cpu_us),
    }
}

/// Builds the other programs of this package; `cargo run` builds only one.
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

fn pinned(program: PathBuf, core: &str) -> Command {
    let mut command = Command::new("taskset");
    command.args(["-c", core]).arg(program);
    command
}

struct Server(Child);

impl Server {
    fn start(bins: &Path, port: usize, work: &Work) -> Server {
        let child = pinned(bins.join("server"), "1")
            .args([
                port.to_string(),
                work.turns.to_string(),
                work.delay.to_string(),
            ])
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
