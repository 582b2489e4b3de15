//! Runs every contender on the same work over Ollama's wire and prints their costs side by side.
//!
//! `cargo run --release --manifest-path bench/Cargo.toml [-- [ROUNDS] [CONTENDERS] [--write]]`
//!
//! Arguments such as `hand ours wire` select contenders by their programs; the default is all. `--write` writes the
//! figures into `results/` and the README.

use agents_bench::{
    contest::{self, Contest, Work},
    table::Table,
};

const WIDE: Work = Work {
    name: "10 turns, 500 runs at once",
    turns: 10,
    runs: 1000,
    width: 500,
    delay: 20,
};
const CONTENDERS: [&str; 6] = ["hand", "ours", "everything", "wire", "autoagents", "rig"];

fn main() {
    let contest = Contest::from_args(&CONTENDERS);
    let title = "CPU for a turn with a tool call";
    let turns = contest::turns("turns", title, &contest, 19090);
    let wide = contest.best(19092, &WIDE);
    let memory = Table {
        name: "memory".into(),
        title: "Memory for a run, 500 at once".into(),
        unit: "kB".into(),
        method: format!(
            "Resident memory at its peak, less that before the runs, for each of 500 runs of 10 turns at once, its \
             connection included; the model answers after 20 ms; the best of {} rounds.",
            contest.rounds
        ),
        logarithmic: false,
        less: true,
        columns: vec!["500 runs at once".into()],
        rows: contest::rows(&[(WIDE.runs, wide)], |all| all.kb_per_run),
    };
    if contest.write {
        for table in [turns, memory] {
            table.write().expect("the results can be written");
        }
    }
}
